"""Hardware and price rows: sourced, dated, found by id, and doubted when old."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from gpuladder.errors import Severity, UsageError
from gpuladder.sizing import catalogue


def test_every_row_has_a_source_and_a_date():
    """A price could be used that nobody can trace."""
    dated = [
        *catalogue.hardware_rows().values(),
        *catalogue.price_rows().values(),
        *catalogue.rate_rows().values(),
    ]
    assert len(dated) > 200
    for row in dated:
        assert row.source
        assert date(2025, 1, 1) < row.as_of < date(2027, 1, 1)


def test_every_price_is_of_known_hardware_and_positive():
    """A price would never be found, or make a node free."""
    known = catalogue.hardware_rows()
    for key, quote in catalogue.price_rows().items():
        assert quote.hardware in known
        assert key.startswith(f"{quote.hardware}/{quote.provider}/{quote.kind}")
        assert 0.01 < quote.price_per_gpu_hour < 30


@pytest.mark.parametrize(
    ("name", "identifier", "peak"),
    [
        ("h100", "h100", 989),
        ("H100", "h100", 989),
        ("NVIDIA H100 SXM5", "h100", 989),
        ("A100", "a100-80", 312),
        ("NVIDIA A100 PCIe", "a100-80-pcie", 312),
        ("B200", "b200", 2250),
    ],
)
def test_hardware_is_found_by_its_usual_names(name, identifier, peak):
    """A user's name for a GPU would not be understood, or its peak be that with sparsity."""
    found = catalogue.hardware(name)
    assert (found.id, found.peak_tflops) == (identifier, peak)


def test_unknown_ids_are_refused_with_what_is_known():
    """A misspelt id would be taken for another row."""
    with pytest.raises(UsageError, match="h100"):
        catalogue.hardware("h1000")
    with pytest.raises(UsageError, match="h100/aws/on_demand"):
        catalogue.price("h100/nobody/on_demand")
    assert catalogue.price("h100/aws/on_demand").price_per_gpu_hour == 6.88


def test_old_prices_are_doubted_and_fresh_ones_are_not():
    """A budget would rest on prices of last year without a word."""
    quote = catalogue.price("h100/aws/on_demand")
    fresh = quote.as_of + timedelta(days=catalogue.STALE_DAYS)
    assert catalogue.stale([quote], fresh) is None
    warning = catalogue.stale([quote], fresh + timedelta(days=1))
    assert warning.severity is Severity.WARNING
    assert "2026-01-21" in warning.what
    assert "91 days ago" in warning.what


def test_the_lowest_price_of_a_kind():
    """The cheapest node would be dearer than what is on offer, or on machines nobody verified."""
    lowest = catalogue.lowest_prices("on_demand")["h100"]
    rows = [
        row.price_per_gpu_hour
        for row in catalogue.price_rows().values()
        if row.hardware == "h100" and row.kind == "on_demand"
    ]
    assert lowest.price_per_gpu_hour == min(rows)
    assert catalogue.lowest_prices("on_demand", verified_only=True)["h100"].verified


@pytest.mark.parametrize(
    ("provider", "market"),
    [
        ("aws", "hyperscaler"),
        ("azure-eastus", "hyperscaler"),
        ("vast-ai", "decentralised"),
        ("Akash", "decentralised"),
        ("coreweave", "neocloud"),
        ("our-own-cloud", "neocloud"),
    ],
)
def test_the_side_of_the_market_by_name(provider, market):
    """Escrow and egress would be billed as on another side of the market."""
    assert catalogue.market_of(provider) == market


def test_a_catalogue_of_ones_own(tmp_path):
    """Negotiated prices could not be used."""
    path = tmp_path / "mine.csv"
    path.write_text("hardware,memory_gb,price_per_gpu_hour\nX,80,1.5\nY,48,\n")
    rows = catalogue.read_priced_memory(path)
    assert [(row.hardware, row.memory_gb, row.price_per_gpu_hour) for row in rows] == [
        ("X", 80.0, 1.5),
        ("Y", 48.0, None),
    ]
    path.write_text("hardware,memory_gb,price_per_gpu_hour\nX,-80,1.5\n")
    with pytest.raises(UsageError, match=r"mine\.csv:2"):
        catalogue.read_priced_memory(path)


@pytest.mark.parametrize(
    ("rows", "words"),
    [("X,80,1,5\n", r"mine\.csv:2: more cells than columns"), ("", "no rows")],
)
def test_a_catalogue_with_decimal_commas_or_without_rows_is_refused(tmp_path, rows, words):
    """1,5 would be read as 1, or a run be said to fit nowhere for want of any node."""
    path = tmp_path / "mine.csv"
    path.write_text("hardware,memory_gb,price_per_gpu_hour\n" + rows)
    with pytest.raises(UsageError, match=words):
        catalogue.read_priced_memory(path)


def test_a_name_with_several_memories_is_told_apart_by_them():
    """A card of 40 GB would be billed at the list price of the one with 80."""
    assert catalogue.find_hardware("A100", memory_gb=40).id == "a100-40"
    assert catalogue.find_hardware("A100", memory_gb=80).id == "a100-80"
    assert catalogue.find_hardware("H100", memory_gb=80).id == "h100"
    assert catalogue.find_hardware("H100", memory_gb=79.6).id == "h100"


def test_hardware_says_what_was_read_of_it():
    """A peak nobody read, or one with sparsity, would be divided by.

    Where a source prints the peak with sparsity, the row has half of it.
    """
    rows = catalogue.hardware_rows()
    assert sum(not row.verified for row in rows.values()) < len(rows) / 4
    for row in rows.values():
        assert row.verified != ("not found" in row.source)
        assert " GB" in row.source
    sparse = {"h100": 1979, "h100-pcie": 1513, "a100-80": 624, "l4": 242, "a40": 299.4}
    for name, printed in sparse.items():
        assert rows[name].peak_tflops == pytest.approx(printed / 2, rel=1e-3)


def test_peaks_of_cards_follow_from_their_cores():
    """A peak could be that of another card, or with the accumulation that training cannot use.

    Tensor cores × FLOP a cycle × boost clock: 256 with FP32 accumulation at full rate on Ampere and
    Ada cards for work, 128 on GeForce (NVIDIA's white papers; karpathy/llm.c, mfu.h).
    """
    cores = {
        "rtx-a4000": (192, 256, 1.560),
        "rtx-a6000": (336, 256, 1.800),
        "a40": (336, 256, 1.740),
        "rtx-6000-ada": (568, 256, 2.505),
        "rtx-3090": (328, 128, 1.695),
        "rtx-4090": (512, 128, 2.520),
        "rtx-5090": (680, 128, 2.407),
    }
    for name, (count, flops, gigahertz) in cores.items():
        peak = count * flops * gigahertz * 1e-3
        assert catalogue.hardware(name).peak_tflops == pytest.approx(peak, rel=5e-3), name


def test_prices_of_some_providers():
    """A provider's offer would be shown that was filtered out."""
    lowest = catalogue.lowest_prices("on_demand", providers=("aws",))
    assert {quote.provider for quote in lowest.values()} == {"aws"}
    assert lowest["h100"].price_per_gpu_hour == 6.88

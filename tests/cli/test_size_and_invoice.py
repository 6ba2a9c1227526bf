"""``size`` and ``invoice``: documents, exit codes, and words for a person."""

from __future__ import annotations

import pytest

from gpuladder.cli import main as entry

SHEET = [
    "gpu_hours",
    "train_flops",
    "memory_gb",
    "fabric",
    "fabric_reason",
    "fits",
    "goodput",
    "checkpoint_interval_minutes",
    "warnings",
]


def test_size_of_a_run_given_on_the_line(gpuladder, document):
    """The first question, how many GPU-hours, could not be asked without a scenario."""
    done = gpuladder("size", "--params", "13B", "--tokens", "2e9", "--mfu", "0.4", "--json")
    assert done.returncode == 0, done.stderr
    found = document(done)
    assert list(found) == SHEET
    assert found["gpu_hours"] == pytest.approx(1.56e20 / (989e12 * 0.4 * 3600))
    assert found["train_flops"] == 1.56e20
    assert list(found["fits"][0]) == ["hardware", "gpus", "price_per_hour"]


def test_size_of_a_scenario_with_one_workload(gpuladder, data, document):
    """The sheet of a scenario would have another shape than that of a run."""
    found = document(gpuladder("size", data / "workload.yaml", "--json"))
    assert list(found) == SHEET
    assert found["memory_gb"] == 175.0
    assert found["fits"] == [{"hardware": "H100", "gpus": 4, "price_per_hour": 12.0}]


def test_the_sheet_names_formulas_and_sources(gpuladder, data):
    """A reader could not check a figure on paper."""
    done = gpuladder("size", data / "workload.yaml")
    assert "FLOPs ÷ (peak × MFU)" in done.stdout
    assert "arXiv" in done.stdout


def test_a_catalogue_of_ones_own(gpuladder, tmp_path, document):
    """Negotiated prices could not be used, or the shipped ones would still be doubted."""
    (tmp_path / "mine.csv").write_text(
        "hardware,memory_gb,price_per_gpu_hour\nA30,24,0.05\nA40,48,0.06\n"
    )
    flags = ("--params", "27B", "--tokens", "1B", "--method", "lora", "--catalogue", "mine.csv")
    found = document(gpuladder("size", *flags, "--json"))
    assert found["fits"] == [
        {"hardware": "A40", "gpus": 2, "price_per_hour": 0.12},
        {"hardware": "A30", "gpus": 4, "price_per_hour": 0.2},
    ]
    assert found["warnings"] == []


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        ((), "nothing to size"),
        (("--params", "13B"), "tokens"),
        (("--params", "13X", "--tokens", "1B"), "13e9 or 13B"),
        (("--params", "13B", "--tokens", "1B", "--mfu", "40"), "percentage"),
        (("--params", "13B", "--tokens", "2B", "--gpu-hours", "30000"), "30,000 was given"),
        (("--params", "13B", "--tokens", "2B", "--hardware", "H1000"), "catalogue"),
        (("scenario.yaml", "--params", "13B", "--tokens", "2B"), "both given"),
    ],
)
def test_what_cannot_be_sized_is_said(gpuladder, flags, word):
    """A slip would end in a traceback or in a number."""
    done = gpuladder("size", *flags)
    assert done.returncode == 2
    assert done.stdout == ""
    assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_a_scenario_without_a_workload_has_nothing_to_size(gpuladder, data):
    """Stated hours would be shown as if they had been worked out."""
    done = gpuladder("size", data / "tiny.yaml")
    assert done.returncode == 2
    assert "no campaign states a `workload`" in done.stderr


def test_invoice_of_a_scenario_and_of_its_run(gpuladder, data, document, tmp_path):
    """The invoice of a plan would not be the plan's cost."""
    found = document(gpuladder("invoice", data / "workload.yaml", "--json"))
    (campaign,) = found["campaigns"]
    assert campaign["id"] == "tuning"
    assert campaign["markets"][0]["market"] == "hyperscaler_on_demand"
    solved = document(gpuladder("solve", data / "workload.yaml", "--json"))
    found = document(gpuladder("invoice", tmp_path / "reports" / "workload", "--json"))
    plan = found["campaigns"][0]["markets"][0]
    assert plan["market"] == "plan"
    compute = sum(line["low"] for line in plan["lines"][:4])
    assert compute == pytest.approx(solved["campaigns"][0]["loaded_cost"])


def test_the_invoice_in_words(gpuladder, data):
    """A person could not read it beside the others."""
    done = gpuladder("invoice", data / "workload.yaml")
    assert done.returncode == 0, done.stderr
    for word in ("ideal hours", "per completed run", "due at start", "hyperscaler_on_demand"):
        assert word in done.stdout


RUN = ("size", "--params", "13B", "--tokens", "2B")


@pytest.mark.parametrize(
    "flag",
    [
        "--params",
        "--tokens",
        "--mfu",
        "--gpu-hours",
        "--micro-batch",
        "--sequence",
        "--interval-minutes",
        "--node-mtbf-hours",
        "--runs",
    ],
)
def test_numbers_that_are_none_are_refused(flag, capsys):
    """A slip on the line would end in a traceback, or in a sheet of nonsense."""
    for value in ("0", "nan", "inf", "-1"):
        assert entry.main([*RUN, f"{flag}={value}"]) == 2, (flag, value)
        assert flag in capsys.readouterr().err


@pytest.mark.parametrize("flags", [("--campaign", "x"), ("--set", "name=x")])
def test_flags_of_a_scenario_are_refused_without_one(gpuladder, flags):
    """A reader would think the change had been counted."""
    done = gpuladder(*RUN, *flags)
    assert done.returncode == 2
    assert f"{flags[0]} would count for nothing" in done.stderr


def test_flags_of_a_run_are_refused_with_a_scenario(gpuladder, data):
    """`--mfu` beside a scenario would change nothing without a word."""
    done = gpuladder("size", data / "workload.yaml", "--mfu", "0.3", "--checkpoint-minutes", "5")
    assert done.returncode == 2
    assert "--checkpoint-minutes, --mfu would count for nothing" in done.stderr


def test_a_catalogue_prices_the_compute_too(gpuladder, tmp_path):
    """Nodes would be shown at negotiated prices and the run's bill at the list's."""
    (tmp_path / "mine.csv").write_text("hardware,memory_gb,price_per_gpu_hour\nH100,80,7\n")
    done = gpuladder(*RUN, "--mfu", "0.4", "--catalogue", "mine.csv")
    assert "109.5 × 7, on h100" in done.stdout
    done = gpuladder(*RUN, "--catalogue", "mine.csv", "--price-kind", "spot")
    assert done.returncode == 2


def test_that_no_node_holds_a_copy_is_said(gpuladder):
    """An empty list of nodes would look like a fault: 405B × 2 × 4 are 3,240 GB, 4,050 at 0.8."""
    run = ("--params", "405B", "--tokens", "1T", "--method", "full_finetune")
    done = gpuladder("size", *run)
    assert done.returncode == 0
    assert "smallest node that fits: none: one copy is spread over nodes" in done.stdout
    assert "no node has 3,240.0 ÷ 0.8 = 4,050.0 GB" in done.stdout


def test_a_run_is_billed_as_it_was_solved(gpuladder, data, tmp_path):
    """The plan of one scenario would be billed at the prices of another."""
    done = gpuladder("solve", data / "tiny.yaml", "--no-analysis", "-o", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    (home,) = (tmp_path / "runs").iterdir()
    done = gpuladder("invoice", home, "--set", "discount_rate=0.1")
    assert done.returncode == 2
    assert "a solved run was given with --set" in done.stderr


def test_the_seven_lines_are_on_the_line(gpuladder, document):
    """A cadence, a place or a failure rate could be sized from a file alone.

    LoRA of 70e9 × 1e9 tokens at 40 % of 312 TFLOPS: 4 × 70e9 × 1e9 ÷ (312e12 × 0.4 × 3,600) = 623.2
    hours; six times 3,739.
    """
    flags = (
        *("--params", "70B", "--tokens", "1B", "--method", "lora", "--usable-share", "0.9"),
        *("--every", "4 weeks", "--count", "6", "--time-limit", "20 days"),
        *("--preemption", "never", "--interval-minutes", "60", "--checkpoint-minutes", "2"),
        *("--restart-minutes", "10", "--node-mtbf-hours", "2000", "--checkpoint-gb", "5"),
        *("--kept", "3", "--mfu", "0.4", "--mfu-low", "0.3", "--scaling", "8=8,16=14"),
        *("--place-hardware", "a100-80", "--place-hardware", "h100", "--place-verified"),
        *("--earliest", "2026-09-01", "--deadline", "2026-09-20"),
    )
    done = gpuladder("size", *flags)
    assert done.returncode == 0, done.stderr
    for words in (
        "623 GPU-hours on a100-80",
        "GPU-hours of all 6 times, one every 4 weeks: 3,739.3 GPU-hours",
        "of 19 days: kept",  # 1 to 20 September, less than the limit of 20
        "the work must not be stopped",
        "2,000 ÷ 1",
        "5 × 3 kept",
        "320 GB × 0.9 ≥ 175.0 GB",
        "largest size at which a further device pays: 16.0 GPUs",
    ):
        assert words in done.stdout, words
    found = document(gpuladder("size", *flags, "--json"))
    assert list(found) == SHEET
    assert {fit["hardware"] for fit in found["fits"]} == {"a100-80", "h100"}
    assert found["checkpoint_interval_minutes"] == 60


@pytest.mark.parametrize(
    ("flags", "place", "word"),
    [
        (("--params", "13XB"), "--params", "13e9 or 13B"),
        (("--params", "13,000,000"), "--params", "nothing between thousands"),
        (("--params", ""), "--params", "a number is needed"),
        (("--mfu", "40%"), "--mfu", "40% is 0.4"),
        (("--sequence", "8K"), "--sequence", "in digits"),
        (("--layers", "40"), "--layers, --hidden", "together or not at all"),
        (("--usable-share", "80"), "--usable-share", "80 % is 0.8"),
        (("--communication-share", "20"), "--communication-share", "20 % is 0.2"),
        (("--scaling", "8:1"), "--scaling", "8=1,16=1.9"),
        (("--scaling", "8=1,8=2"), "--scaling", "each number of GPUs once"),
        (("--every", "4 weaks", "--count", "2"), "--every", "not a span"),
        (("--every", "4 weeks"), "--every", "`count` is missing"),
        (("--earliest", "2026-09-01"), "--earliest, --deadline", "together or not at all"),
        (
            ("--earliest", "2026-09-02", "--deadline", "2026-09-01"),
            "--earliest, --deadline",
            "is not after",
        ),
        (("--interval-minutes", "soon"), "--interval-minutes", "'auto'"),
        (("--place-hardware", "H1000"), "--place-hardware", "not in the hardware catalogue"),
        (("--place-provider", "nobody"), "--place-provider", "not in the prices"),
        (("--gpu-hours", "30K"), "--gpu-hours", "30,000 was given, 274 times more"),
        (("--active-params", "20B"), "--params, --active-params", "is more than"),
    ],
)
def test_a_wrong_flag_is_named_with_what_to_write(flags, place, word, capsys):
    """A slip would be answered with the name of another flag, or with the parser's own words."""
    assert entry.main([*RUN, *(() if "--mfu" in flags else ("--mfu", "0.4")), *flags]) == 2
    said = capsys.readouterr().err
    assert f"] {place}: " in said
    assert word in said
    assert "Value error" not in said


def test_several_wrong_flags_are_said_at_once(capsys):
    """Each slip would take another try."""
    wrong = ("--params", "0", "--tokens", "x", "--mfu", "abc", "--kept", "-1")
    assert entry.main(["size", *wrong]) == 2
    said = capsys.readouterr().err
    for flag in wrong[::2]:
        assert f"] {flag}: " in said


def test_one_node_is_one_node(gpuladder):
    """The sheet would speak of 1 nodes."""
    done = gpuladder(*RUN, "--mfu", "0.4")
    assert "1 node:" in done.stdout
    assert "1 nodes" not in done.stdout + done.stderr


def test_what_loading_says_is_said_once_with_its_place(gpuladder, data, document):
    """A warning would be repeated, or be missing from the document."""
    setting = "campaigns.tuning.workload.run.micro_batch=8"
    done = gpuladder("size", data / "workload.yaml", "--set", setting)
    assert done.stderr.count("GL-S918") == 1
    assert f"--set {setting.partition('=')[0]}" in done.stderr
    found = document(gpuladder("size", data / "workload.yaml", "--set", setting, "--json"))
    assert [text[:7] for text in found["warnings"]] == ["GL-S918"]


def test_pools_and_kinds_of_a_scenario(gpuladder, data):
    """Where the run may go would be shown with a cadence alone."""
    done = gpuladder("size", data / "workload.yaml")
    assert "pool east: admissible" in done.stdout
    assert "on demand in pool east: admissible" in done.stdout

"""The page on sizing says what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from gpuladder.analysis.invoice_markets import MARKETS
from gpuladder.scenario.schema import OwnedOffer
from gpuladder.sizing import owned, spec
from gpuladder.sizing.invoice import LINES

PAGE = (Path(__file__).parents[2] / "optimizer" / "SIZING.md").read_text(encoding="utf-8")


def test_the_python_example_runs(capsys):
    """A reader's first lines of code would fail."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(block, "SIZING.md", "exec"), {})
    assert "FLOP" in capsys.readouterr().out


def test_every_key_line_and_market_is_on_the_page():
    """A key could be written that no page explains."""
    records = (
        spec.Workload,
        spec.Run,
        spec.Cadence,
        spec.Checkpoints,
        spec.MfuBand,
        spec.Placement,
        spec.InvoiceTerms,
        spec.ProviderTerms,
        owned.Financing,
        owned.ResidualPoint,
        owned.Depreciation,
    )
    words = {name for record in records for name in record.model_fields} | {*LINES, *MARKETS}
    assert [word for word in sorted(words) if f"`{word}`" not in PAGE] == []


def test_the_owned_offer_of_the_page_is_one():
    """A reader would copy an offer that is refused."""
    (block,) = re.findall(r"```yaml\n(offers:.*?)```", PAGE, re.DOTALL)
    (row,) = yaml.safe_load(block)["offers"]
    offer = OwnedOffer.model_validate(row)
    assert offer.financing is not None
    assert offer.depreciation.salvage_share == 0.05

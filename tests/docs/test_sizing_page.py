"""The page on sizing says what the program does."""

from __future__ import annotations

import re
from pathlib import Path

from gpuladder.analysis.invoice_markets import MARKETS
from gpuladder.sizing import spec
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
        spec.OwnedTerms,
    )
    words = {name for record in records for name in record.model_fields} | {*LINES, *MARKETS}
    assert [word for word in sorted(words) if f"`{word}`" not in PAGE] == []

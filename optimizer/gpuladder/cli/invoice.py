"""``gpuladder invoice``: what each campaign is billed, line by line and side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuladder.cli.options import common, console_of, overrides
from gpuladder.errors import Problem, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.sizing.invoice import Amount, CampaignInvoice
    from gpuladder.sizing.invoice_tables import Invoice, OwnedQuarterRow


@click.command(short_help="Bill each campaign line by line, on each side of the market.")
@click.argument("scenario", type=click.Path(path_type=Path))
@overrides
@common
@click.pass_context
def invoice(
    context: click.Context,
    scenario: Path,
    settings: tuple[str, ...],
    overlays: tuple[Path, ...],
) -> None:
    """Bill the campaigns of SCENARIO: a scenario, or the folder of a solved run.

    For a run the market `plan` comes first; its compute lines sum to the plan's loaded costs.
    """
    from datetime import UTC, datetime

    from gpuladder.analysis.invoice import invoice as bill
    from gpuladder.analysis.owned import owned_quarters
    from gpuladder.pipeline import read_run
    from gpuladder.report.run_folder import LATEST, PLAN
    from gpuladder.scenario.loading import load

    console = console_of(context)
    today = datetime.now(tz=UTC).date()
    is_run = scenario.is_dir() and any((scenario / name).is_file() for name in (PLAN, LATEST))
    if is_run and (settings or overlays):
        raise UsageError(
            Problem(
                code="GL-U001",
                where=str(scenario),
                what="a solved run was given with --set or --with",
                why="its plan was made for the scenario as it stands in the run",
                fix="solve the changed scenario and bill that run, or bill the scenario itself",
            )
        )
    if is_run:
        result = read_run(scenario)
        found = bill(result.scenario, result=result, today=today)
        accounts = owned_text(owned_quarters(result.scenario, result.plan))
    else:
        loaded = load(scenario, overrides=settings, overlays=overlays)
        console.problems(loaded.warnings)
        found = bill(loaded.scenario, today=today)
        accounts = ""
    console.problems(found.warnings)
    console.document(found.record())
    console.data("\n\n".join(filter(None, (invoice_text(found), accounts))))


def invoice_text(found: Invoice) -> str:
    """Return the invoices as a reader sees them."""
    return "\n\n".join(_campaign_text(each, found.currency) for each in found.campaigns)


def owned_text(rows: Sequence[OwnedQuarterRow]) -> str:
    """Return the accounts of owned hardware by quarter; nothing when none is owned."""
    if not rows:
        return ""
    titles = (
        "book",
        "depreciation",
        "book after",
        "market",
        "sale gain",
        "interest",
        "repaid",
        "debt",
        "paid",
    )
    lines = [
        "owned hardware in the accounts, by quarter, undiscounted",
        f"  {'order':<28}{'quarter from':<14}" + "".join(f"{title:>14}" for title in titles),
    ]
    for row in rows:
        each = row.quarter
        values = (
            each.opening_book,
            each.depreciation,
            each.closing_book,
            each.market_value,
            each.disposal_gain,
            each.interest,
            each.principal,
            each.closing_debt,
            each.payments,
        )
        name = f"{row.offer} {row.start} × {row.gpus}"
        cells = "".join(f"{value:>14,.0f}" for value in values)
        lines.append(f"  {name:<28}{each.quarter_start!s:<14}{cells}")
    return "\n".join(lines)


def _campaign_text(campaign: CampaignInvoice, currency: str) -> str:
    is_span = any(market.total.low != market.total.high for market in campaign.markets)
    lines = [f"{campaign.id} ({currency}{'; cheapest – dearest bill' if is_span else ''})"]
    if campaign.markets:
        names = [market.market for market in campaign.markets]
        width = max(22, *(len(name) + 2 for name in names))
        lines.append(" " * 28 + "".join(f"{name:>{width}}" for name in names))
        columns = [
            [_span(line.amount) if line.known else "not known" for line in market.lines]
            + [
                _span(market.total),
                "none" if market.per_run is None else _span(market.per_run),
                _span(market.escrow),
            ]
            for market in campaign.markets
        ]
        titles = [line.line for line in campaign.markets[0].lines]
        for number, title in enumerate([*titles, "total", "per completed run", "due at start"]):
            cells = "".join(f"{column[number]:>{width}}" for column in columns)
            lines.append(f"  {title.replace('_', ' '):<26}{cells}")
        for market in campaign.markets:
            note = "; ".join((", ".join(market.offers), *market.notes))
            lines.append(f"  {market.market}: {note}")
    lines += [f"  {each.market}: barred ({each.reason})" for each in campaign.refused]
    return "\n".join(lines)


def _span(amount: Amount) -> str:
    low, high = f"{amount.low:,.0f}", f"{amount.high:,.0f}"
    return low if low == high else f"{low} – {high}"

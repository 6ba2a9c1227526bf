"""``import_prices``: a price list as the offers of a scenario."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gpuladder.errors import Problem, Severity, UsageError
from gpuladder.review.imports import problems
from gpuladder.review.imports.columns import Field, near
from gpuladder.review.imports.prices.catalogue_check import implausible
from gpuladder.review.imports.prices.layouts import FIELDS, LAYOUTS, NODE, recognise
from gpuladder.review.imports.prices.listing import Listing, PriceOptions
from gpuladder.review.imports.prices.offers import build_offers
from gpuladder.review.imports.prices.outliers import LEAST_PEERS, is_outlier, peer_medians
from gpuladder.review.imports.rows import TableOptions, open_table, read_header
from gpuladder.review.prices_result import ImportedPrices
from gpuladder.sizing.catalogue import STALE_DAYS

if TYPE_CHECKING:
    from gpuladder.review.imports.prices.layouts import Layout, LayoutName
    from gpuladder.review.imports.prices.listing import Price
    from gpuladder.review.prices_result import PriceSource, Refused

_SHOWN = 10


def import_prices(
    path: str | Path,
    *,
    layout: LayoutName | Literal["auto"] = "auto",
    options: PriceOptions | None = None,
    today: date | None = None,
) -> ImportedPrices:
    """Read a price list.

    Parameters
    ----------
    path : str or pathlib.Path
        CSV or Parquet, a row for each price, or for each thing sold with several columns of prices.
    layout : {"auto", "gpu-pricing", "gpu-rental-prices", "capacity-blocks", "aws-list", "csv"}
        How it is laid out; by its columns when ``auto``.
    options : PriceOptions, optional
        What the list does not say.
    today : datetime.date, optional
        For the warning about old prices; the current day when left out.

    Raises
    ------
    UsageError
        When it cannot be read, currency, date or unit of the prices is not stated, or no price is
        left.
    """
    path, said = Path(path), options or PriceOptions(table=TableOptions())
    table = said.table
    if table.clock.timezone is None:  # dates have no zone
        table = replace(table, clock=replace(table.clock, timezone="UTC"))
    header = read_header(path, table)
    form = recognise(header) if layout == "auto" else LAYOUTS[layout]
    said, columns = _with_layout(path, form, said, header)
    named = {f"price_{number}": each.column for number, each in enumerate(said.prices)}
    table = replace(table, columns={**columns, **table.columns, **named})
    fields = (*FIELDS, *(Field(name=name, meaning="the price") for name in named))
    with open_table(path, fields, table) as opened:
        listing = Listing(opened, form, said.prices, said)
        for rows in opened:
            listing.take(rows)
        sound = _without_outliers(listing, said.outlier_factor)
        offers, pools, sources, taken = build_offers(sound, listing, said)
        counts = opened.ledger.result(listing.finish(taken))
    if not offers:
        raise problems.nothing_left(str(path), "\n".join((counts.text, *_lines(listing.refused))))
    refused = sorted(listing.refused, key=lambda each: each.place)
    now = today or datetime.now(UTC).date()
    return ImportedPrices(
        source=path.name,
        layout=form.name,
        currency=str(listing.currency),
        per=str(said.per),
        offers=tuple(sorted(offers, key=lambda row: str(row["id"]))),
        pools=tuple(pools),
        sources=tuple(sources),
        refused=tuple(refused),
        rows=counts,
        outlier_factor=said.outlier_factor,
        assumptions=tuple(_assumptions(said, sound)),
        warnings=(
            *_warnings(path, refused, sources, now),
            *implausible(taken, str(listing.currency)),
        ),
    )


def _with_layout(
    path: Path, form: Layout, said: PriceOptions, header: tuple[str, ...]
) -> tuple[PriceOptions, dict[str, str]]:
    """Return the options with what the layout says, and the layout's columns."""
    prices = said.prices or tuple(each for each in form.prices if each.column in header)
    missing = [each.column for each in prices or form.prices if each.column not in header]
    if missing:
        raise UsageError(
            Problem(
                code="GL-I003",
                where=str(path),
                what=f"no column of prices `{missing[0]}`{near(missing[0], filter(None, header))}",
                why=f"columns of the file: {', '.join(filter(None, header)) or 'none'}",
                fix="name it: --price-column COLUMN, or COLUMN=KIND",
            )
        )
    per = said.per or form.per
    if per is None:
        raise UsageError(
            Problem(
                code="GL-I051",
                where=str(path),
                what="whether a price is of a GPU or of a node is not stated",
                why="a node of eight taken for a GPU would be eight times too dear",
                fix="state it: --per gpu, or --per node with the column `gpus` or --gpus-per-node",
            )
        )
    columns = {name: column for name, column in form.columns.items() if column in header}
    values = {**form.values, **said.values}
    if said.currency is not None:
        values["currency"] = said.currency
    return replace(said, prices=prices, per=per, values=values), columns


def _without_outliers(listing: Listing, factor: float) -> list[Price]:
    """Return the prices that are not far from all others of their GPU and kind."""
    groups: dict[tuple[str, ...], list[Price]] = defaultdict(list)
    for price in listing.prices:
        groups[price.peers].append(price)
    sound = []
    for group in groups.values():
        medians = peer_medians([price.value for price in group])
        for price, median in zip(group, medians, strict=True):
            if median is not None and is_outlier(price.value, median, factor):
                listing.refuse(
                    price,
                    f"{factor:g} times more or less than the median of its GPU and kind",
                    f"{price.value:.4g} per GPU-hour, and {median:.4g} is the median of the "
                    f"{len(group) - 1} others",
                )
            else:
                sound.append(price)
    return sound


def _assumptions(said: PriceOptions, sound: list[Price]) -> list[str]:
    alone: dict[tuple[str, ...], int] = defaultdict(int)
    for price in sound:
        alone[price.peers] += 1
    few = sum(count for count in alone.values() if count <= LEAST_PEERS)
    of = "node, divided by its GPUs" if said.per == NODE else "GPU"
    lines = [f"a price is of a {of}, per hour"]
    lines += [f"`{name}` is {value} in every row" for name, value in sorted(said.values.items())]
    gaps = _gaps(sound)
    if gaps:
        lines.append(f"{gaps:,} times an offer was not listed for a while: its last price holds")
    if few:
        lines.append(f"{few:,} prices have fewer than {LEAST_PEERS} others to be compared with")
    if any(price.kind not in ("on_demand", "spot") for price in sound):
        lines.append("lead times are not in a price list: none, unless stated with --offer")
    return lines


def _gaps(sound: list[Price]) -> int:
    """Return how often an offer was listed again after it had been missing."""
    spells: dict[tuple[object, ...], list[Price]] = defaultdict(list)
    for price in sound:
        spells[price.identity].append(price)
    return sum(
        (later.first - earlier.last).days > 1 and earlier.last > earlier.first
        for group in spells.values()
        for earlier, later in pairwise(sorted(group, key=lambda price: price.first))
    )


def _warnings(
    path: Path, refused: list[Refused], sources: list[PriceSource], today: date
) -> list[Problem]:
    found = []
    if refused:
        found.append(
            Problem(
                code="GL-I052",
                where=str(path),
                what="\n".join((f"{len(refused):,} prices are refused", *_lines(refused))),
                why="a price of zero, or far from all others of its kind, would decide the plan",
                fix="see refused.csv; --outlier-factor sets how far is too far",
                severity=Severity.WARNING,
            )
        )
    old = {each.offer: each.last_seen for each in sources}
    for each in sources:
        old[each.offer] = max(old[each.offer], each.last_seen)
    days = {offer: (today - seen).days for offer, seen in old.items()}
    stale = [offer for offer, age in days.items() if age > STALE_DAYS]
    if stale:
        oldest = max(stale, key=lambda offer: days[offer])
        found.append(
            Problem(
                code="GL-I053",
                where=str(path),
                what=f"{len(stale):,} of {len(old):,} offers were last seen more than {STALE_DAYS} "
                f"days ago, the oldest on {old[oldest]}, {days[oldest]} days ago",
                why="prices of GPU-hours have moved by a third within half a year, both ways",
                fix="import a newer list before signing on its prices",
                severity=Severity.WARNING,
            )
        )
    return found


def _lines(refused: list[Refused]) -> list[str]:
    """Return the refused prices, the first few of each reason."""
    by_reason: dict[str, list[Refused]] = defaultdict(list)
    for each in refused:
        by_reason[each.reason].append(each)
    lines = []
    for reason, group in sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0])):
        shown = "; ".join(each.text for each in group[:_SHOWN])
        rest = [each.place for each in group[_SHOWN:]]
        more = f"; and {len(rest):,} more, on {_ranges(rest)}" if rest else ""
        lines.append(f"  {len(group):,} × {reason}: {shown}{more}")
    return lines


def _ranges(places: list[int]) -> str:
    """Return places in order as a person writes them: ``12-15, 20``."""
    spans: list[tuple[int, int]] = []
    for place in places:
        if spans and place <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], place)
        else:
            spans.append((place, place))
    return ", ".join(f"{low}" if low == high else f"{low}-{high}" for low, high in spans)

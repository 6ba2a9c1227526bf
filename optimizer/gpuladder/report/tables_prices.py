"""An imported price list as tables: pools, where each price is from, and what was refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.report.fields import count, number, tabulate, text
from gpuladder.report.table import Column, Format, Table, aligned
from gpuladder.scenario.writing import table_text

if TYPE_CHECKING:
    from gpuladder.review.prices_result import ImportedPrices

_SHOWN = 25


def offers_csv(found: ImportedPrices) -> str:
    """Return the offers as the CSV file that a scenario reads."""
    return table_text("offers", [dict(row) for row in found.offers], found.currency)


def prices_tables(found: ImportedPrices) -> tuple[Table, ...]:
    """Return the tables beside the offers: pools, sources, refused prices, dropped rows."""
    return _pools(found), _sources(found), _refused(found), _dropped(found)


def _pools(found: ImportedPrices) -> Table:
    return tabulate(
        "pools",
        "Pools as a scenario reads them",
        (
            text("id", "Pool"),
            text("provider", "Provider"),
            text("region", "Region"),
            text("hardware", "Hardware", "To be described in the scenario's `hardware`"),
        ),
        found.pools,
        currency=found.currency,
    )


def _sources(found: ImportedPrices) -> Table:
    price = f"{found.currency}/hour"
    return Table(
        name="sources",
        title="Where each price is from",
        columns=(
            Column(key="offer", title="Offer"),
            Column(key="place", title=found.rows.places.capitalize(), format=Format.COUNT),
            Column(key="as_of", title="As of", format=Format.DATE),
            Column(key="last_seen", title="Last seen", format=Format.DATE),
            Column(key="listed", title="As listed", unit=price, format=Format.PRICE),
            Column(key="per", title="Per"),
            Column(key="gpus", title="GPUs", format=Format.NUMBER),
            Column(
                key="price", title="Price", unit=f"{found.currency}/GPU-hour", format=Format.PRICE
            ),
        ),
        rows=tuple(
            (
                row.offer,
                row.place,
                row.as_of,
                row.last_seen,
                row.listed,
                row.per,
                row.gpus,
                row.price,
            )
            for row in found.sources
        ),
    )


def _refused(found: ImportedPrices) -> Table:
    return tabulate(
        "refused",
        "Prices that were not taken, and why",
        (
            count("place", found.rows.places.capitalize()),
            text("what", "What"),
            text("listed", "As listed"),
            text("reason", "Why"),
            text("detail", "Detail"),
        ),
        found.refused,
        currency=found.currency,
    )


def _dropped(found: ImportedPrices) -> Table:
    return tabulate(
        "dropped",
        "Rows that do not count, and why",
        (
            number("rows", "Rows", read=lambda row: row.count),
            text("reason", "Why", read=lambda row: row.text),
        ),
        found.rows.reasons,
        currency=found.currency,
    )


def prices_text(found: ImportedPrices) -> str:
    """Return what was read as a person reads it: rows, assumptions, offers."""
    header = ["offer", "kind", f"price ({found.currency}/GPU-h)", "steps", "last seen"]
    last: dict[str, str] = {}
    for source in found.sources:
        last[source.offer] = max(last.get(source.offer, ""), source.last_seen.isoformat())
    lines = [header]
    for row in found.offers[:_SHOWN]:
        path = row.get("price_path", [{"price": row.get("price")}])
        lines.append(
            [row["id"], row["kind"], f"{path[-1]['price']:,.4f}", str(len(path)), last[row["id"]]]
        )
    parts = [
        found.rows.text,
        f"{found.source} ({found.layout}): {len(found.offers):,} offers in {len(found.pools):,} "
        f"pools, {len(found.refused):,} prices refused\n"
        + "\n".join(f"  {line}" for line in found.assumptions),
        "\n".join(aligned(lines, right={2, 3})),
    ]
    if len(found.offers) > _SHOWN:
        parts[-1] += f"\n… and {len(found.offers) - _SHOWN:,} more"
    return "\n\n".join(parts)

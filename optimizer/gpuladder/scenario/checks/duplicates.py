"""Nothing may be written twice, also not after tenor lists and repeats are written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.scenario.source import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield ids used twice, clashes of generated ids, and rows that say the same."""
    for table in TABLES:
        if table != "demand":
            yield from _ids(context, table)
    yield from _generated(context)
    yield from _same_offers(context)
    yield from _demand(context)
    yield from _policy(context)


def _ids(context: Context, table: str) -> Iterator[Problem]:
    for name, indices in context.ids(table).items():
        for index in indices[1:]:
            first = context.locations.place((table, indices[0]))
            rows = context.rows.get(table, {})
            same = rows.get(index) is not None and rows.get(index) == rows.get(indices[0])
            yield context.error(
                "GL-S211",
                (table, index, "id"),
                f"the row `{name}` is written twice" if same else f"the id `{name}` is used twice",
                why=f"the first is at {first}; a plan could not say which one it means",
                fix="take one out" if same else "give one of them another id",
            )


def _generated(context: Context) -> Iterator[Problem]:
    """Ids of expanded offers (``id@tenor``) and campaigns (``id#1``) must be free."""
    written = context.ids("offers")
    made: dict[str, str] = {}
    for index, term in context.terms:
        owner = context.rows["offers"][index].id
        if term.id == owner:
            continue
        if term.id in made and made[term.id] == owner:
            tenor = term.id.removeprefix(f"{owner}@")
            yield context.error(
                "GL-S212",
                ("offers", index, "tenor"),
                f"the tenor {tenor} is listed twice",
                fix="take one out",
            )
        elif term.id in written or term.id in made:
            yield context.error(
                "GL-S212",
                ("offers", index, "id"),
                f"the offer `{owner}` makes the id `{term.id}`, which is used already",
                fix="rename one of the two; ids with @ are best avoided",
            )
        made.setdefault(term.id, owner)
    campaigns = context.ids("campaigns")
    for index, campaign in context.campaigns:
        count = 0 if campaign.repeat is None else campaign.repeat.count
        for name in (f"{campaign.id}#{number + 1}" for number in range(count)):
            if name in campaigns:
                yield context.error(
                    "GL-S212",
                    ("campaigns", index, "id"),
                    f"the repeats of `{campaign.id}` make the id `{name}`, which is used already",
                    fix="rename one of the two; ids with # are best avoided",
                )


def _same_offers(context: Context) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, offer in context.offers:
        content = offer.model_copy(update={"id": ""}).model_dump_json()
        first = seen.setdefault(content, index)
        if first != index and context.rows["offers"][first].id != offer.id:
            yield context.warning(
                "GL-S213",
                ("offers", index),
                f"`{offer.id}` says the same as `{context.rows['offers'][first].id}`",
                why="if it is one offer written twice, its quota or lots count twice",
                fix="take one out, unless there really are two",
            )


def _demand(context: Context) -> Iterator[Problem]:
    seen: dict[tuple[str, object], int] = {}
    doubles = []
    for index, row in context.demand:
        first = seen.setdefault((row.pool, row.at), index)
        if first != index:
            doubles.append((first, index, row))
    if doubles:
        first, index, row = doubles[0]
        more = f" (and {len(doubles) - 1} more)" if len(doubles) > 1 else ""
        yield context.error(
            "GL-S214",
            ("demand", index, "at"),
            f"two rows for pool `{row.pool}` at {row.at}{more}",
            why=f"the first is at {context.locations.place(('demand', first))}; the duration curve "
            "would count that time twice",
            fix="add the GPUs up in one row",
        )


def _policy(context: Context) -> Iterator[Problem]:
    for key, rows in (
        ("hardware_limits", context.policy.hardware_limits),
        ("cash_budgets", context.policy.cash_budgets),
    ):
        for index, row in enumerate(rows):
            if row in rows[:index]:
                yield context.warning(
                    "GL-S213",
                    ("policy", key, index),
                    "the row is written twice",
                    fix="take one out",
                )

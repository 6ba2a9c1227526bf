"""Which orders and campaigns differ between two plans."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import fields
from typing import TYPE_CHECKING

from gpuladder.review.diff_result import (
    CampaignChange,
    CampaignFacts,
    Kind,
    OrderChange,
    OrderFacts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from gpuladder.analysis.result import CampaignRow, CommitmentRow, Result

MONEY = ("cost", "loaded_cost")
CENT = 0.005
"""Amounts that differ by less are the same."""
PART_OF_A_GPU = 1e-3
"""Sizes that differ by less are the same: an elastic campaign's come from a solver."""

Pair = tuple["CommitmentRow | None", "CommitmentRow | None"]


def order_changes(before: Result, after: Result) -> tuple[tuple[OrderChange, ...], int]:
    """Return the orders that differ, by signing date, and how many are the same.

    An order is matched by its offer and start; what is left of an offer, by the nearest start, so
    that one that only moved is one change.
    """
    is_money = before.scenario.currency == after.scenario.currency
    changes, same = [], 0
    for old, new in _pairs(before.tables.commitments, after.tables.commitments):
        row = new or old
        assert row is not None
        facts = _order(old), _order(new)
        differs = _differs(*facts, is_money=is_money)
        if not differs:
            same += 1
            continue
        changes.append(
            OrderChange(
                offer=row.offer,
                pool=row.pool,
                order_kind=row.kind,
                kind=_kind(old, new),
                differs=differs if old and new else (),
                before=facts[0],
                after=facts[1],
            )
        )
    return tuple(sorted(changes, key=_place)), same


def _place(change: OrderChange) -> tuple[date, date, str]:
    facts = change.after or change.before
    assert facts is not None
    return facts.sign_by, facts.start, change.offer


def _pairs(before: Sequence[CommitmentRow], after: Sequence[CommitmentRow]) -> Iterator[Pair]:
    old: dict[tuple[str, date], list[CommitmentRow]] = defaultdict(list)
    new: dict[tuple[str, date], list[CommitmentRow]] = defaultdict(list)
    for rows, by_place in ((before, old), (after, new)):
        for row in rows:
            by_place[row.offer, row.start].append(row)
    left_old: dict[str, list[CommitmentRow]] = defaultdict(list)
    left_new: dict[str, list[CommitmentRow]] = defaultdict(list)
    for place in dict.fromkeys([*old, *new]):
        several = min(len(old[place]), len(new[place]))
        yield from zip(old[place][:several], new[place][:several], strict=True)
        left_old[place[0]] += old[place][several:]
        left_new[place[0]] += new[place][several:]
    for offer in dict.fromkeys([*left_old, *left_new]):
        yield from _nearest(left_old[offer], left_new[offer])


def _nearest(before: Sequence[CommitmentRow], after: Sequence[CommitmentRow]) -> Iterator[Pair]:
    """Yield orders of one offer in pairs, starts as near as can be in all, then the unpaired.

    As many pairs as there can be. In the order of starts the best pairs never cross, so the least
    sum of distances follows from that of shorter lists.
    """
    old, new = (sorted(rows, key=lambda row: row.start) for rows in (before, after))
    is_swapped = len(old) > len(new)
    few, many = (new, old) if is_swapped else (old, new)
    least: list[list[float]] = [[0.0] * (len(many) + 1)]
    for number, one in enumerate(few, start=1):
        row = [math.inf] * (len(many) + 1)
        for place in range(number, len(many) + 1):
            apart = abs((many[place - 1].start - one.start).days)
            row[place] = min(row[place - 1], least[number - 1][place - 1] + apart)
        least.append(row)
    number = len(few)
    for place in range(len(many), 0, -1):
        is_alone = number == 0 or least[number][place] == least[number][place - 1]
        partner = None if is_alone else few[number - 1]
        number -= not is_alone
        other = many[place - 1]
        yield (other, partner) if is_swapped else (partner, other)


def _order(row: CommitmentRow | None) -> OrderFacts | None:
    if row is None:
        return None
    return OrderFacts(
        start=row.start,
        end=row.end,
        sign_by=row.sign_by,
        lots=row.lots,
        gpus=row.gpus,
        cost=row.cost + row.usage_cost,
    )


def campaign_changes(before: Result, after: Result) -> tuple[tuple[CampaignChange, ...], int]:
    """Return the campaigns that differ, in the order of the scenario, and how many are the same."""
    is_money = before.scenario.currency == after.scenario.currency
    old = {row.id: row for row in before.tables.campaigns}
    new = {row.id: row for row in after.tables.campaigns}
    changes, same = [], 0
    for name in dict.fromkeys([*old, *new]):
        facts = _campaign(old.get(name)), _campaign(new.get(name))
        differs = _differs(*facts, is_money=is_money)
        if not differs:
            same += 1
            continue
        is_in_both = name in old and name in new
        changes.append(
            CampaignChange(
                id=name,
                kind=_kind(old.get(name), new.get(name)),
                differs=differs if is_in_both else (),
                before=facts[0],
                after=facts[1],
            )
        )
    return tuple(changes), same


def _campaign(row: CampaignRow | None) -> CampaignFacts | None:
    if row is None:
        return None
    return CampaignFacts(
        outcome=row.outcome,
        start=row.start,
        end=row.end,
        pool=row.pool,
        spot_offer=row.spot_offer,
        gpus=row.gpus,
        loaded_cost=row.loaded_cost,
    )


def _kind(before: object | None, after: object | None) -> Kind:
    if before is None:
        return Kind.ADDED
    return Kind.REMOVED if after is None else Kind.CHANGED


def _differs(
    before: OrderFacts | CampaignFacts | None,
    after: OrderFacts | CampaignFacts | None,
    *,
    is_money: bool,
) -> tuple[str, ...]:
    """Return the facts that differ; all of them where one is missing."""
    some = before or after
    assert some is not None
    names = [field.name for field in fields(some)]
    if before is None or after is None:
        return tuple(names)
    return tuple(
        name
        for name in names
        if (is_money or name not in MONEY)
        and not _is_same(name, getattr(before, name), getattr(after, name))
    )


def _is_same(name: str, before: object, after: object) -> bool:
    if isinstance(before, float) and isinstance(after, float):
        least = CENT if name in MONEY else PART_OF_A_GPU
        return math.isclose(before, after, rel_tol=1e-9, abs_tol=least)
    return before == after

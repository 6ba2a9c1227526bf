"""Every id that is named must exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.scenario.checks.context import Context, nearest
from gpuladder.scenario.wording import join

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpuladder.errors import Problem
    from gpuladder.scenario.source import Key

_NOUNS = {
    "pools": "pool",
    "hardware": "hardware",
    "preemption_classes": "preemption class",
    "offers": "offer",
}


def check(context: Context) -> Iterator[Problem]:
    """Yield unknown pools, hardware, classes, offers, providers and residency tags."""
    pools, hardware = context.ids("pools"), context.ids("hardware")
    classes = context.ids("preemption_classes")
    providers = context.values("pools", "provider")
    for index, pool in context.table("pools"):
        yield from _unknown(context, ("pools", index, "hardware"), pool.hardware, hardware)
    for index, offer in context.offers:
        yield from _unknown(context, ("offers", index, "pool"), offer.pool, pools)
    for index, campaign in context.campaigns:
        path = ("campaigns", index)
        yield from _unknown(
            context,
            (*path, "preemption_class"),
            campaign.preemption_class,
            classes,
            "preemption_classes",
        )
        yield from _filters(context, path, campaign.pools, campaign.hardware)
        for provider in campaign.providers or ():
            yield from _unknown(context, (*path, "providers"), provider, providers, "provider")
        yield from _residency(context, path, campaign.residency or ())
    for index, buyer in context.backfill:
        yield from _filters(context, ("backfill", index), buyer.pools, buyer.hardware)
    yield from _held(context)
    yield from _demand(context)
    yield from _policy(context)


def _unknown(
    context: Context,
    path: tuple[Key, ...],
    name: str,
    known: Iterable[str],
    table: str | None = None,
) -> Iterator[Problem]:
    names = list(known)
    if name in names:
        return
    table = table or {"pool": "pools", "pools": "pools"}.get(str(path[-1]), "hardware")
    noun = _NOUNS.get(table, table)
    yield context.error(
        "GL-S201",
        path,
        f"unknown {noun} `{name}`{nearest(name, names)}",
        fix=f"known: {join(names, 8)}" if names else f"add it to the table `{table}`",
    )


def _filters(
    context: Context,
    path: tuple[Key, ...],
    pools: tuple[str, ...] | None,
    hardware: tuple[str, ...] | None,
) -> Iterator[Problem]:
    for name in pools or ():
        yield from _unknown(context, (*path, "pools"), name, context.ids("pools"), "pools")
    for name in hardware or ():
        yield from _unknown(context, (*path, "hardware"), name, context.ids("hardware"))


def _residency(context: Context, path: tuple[Key, ...], tags: tuple[str, ...]) -> Iterator[Problem]:
    known = context.values("pools", "residency")
    for tag in tags:
        if tag not in known:
            yield context.warning(
                "GL-S202",
                (*path, "residency"),
                f"no pool has the residency tag `{tag}`{nearest(tag, known)}",
                fix=f"tags of the pools: {join(sorted(known), 8) or 'none'}",
            )


def _held(context: Context) -> Iterator[Problem]:
    offers = set(context.ids("offers")) | {term.id for _, term in context.terms}
    for index, held in context.held:
        yield from _unknown(
            context, ("commitments", index, "pool"), held.pool, context.ids("pools")
        )
        if held.renewable_as is not None:
            path = ("commitments", index, "renewable_as")
            yield from _unknown(context, path, held.renewable_as, offers, "offers")


def _demand(context: Context) -> Iterator[Problem]:
    pools = context.ids("pools")
    strangers: dict[str, list[int]] = {}
    for index, row in context.demand:
        if row.pool not in pools:
            strangers.setdefault(row.pool, []).append(index)
    for name, indices in strangers.items():
        yield context.error(
            "GL-S201",
            ("demand", indices[0], "pool"),
            f"unknown pool `{name}` in {len(indices)} rows{nearest(name, pools)}",
            fix=f"known: {join(list(pools), 8)}",
        )


def _policy(context: Context) -> Iterator[Problem]:
    providers = context.values("pools", "provider")
    for index, limit in enumerate(context.policy.hardware_limits):
        path: tuple[Key, ...] = ("policy", "hardware_limits", index, "hardware")
        yield from _unknown(context, path, limit.hardware, context.ids("hardware"))
    shares = context.policy.provider_share_max
    for name in shares if isinstance(shares, dict) else ():
        path = ("policy", "provider_share_max", name)
        yield from _unknown(context, path, name, providers, "provider")

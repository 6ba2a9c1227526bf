"""What is carried over from before the horizon has to fit what it is carried into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.scenario.checks.context import nearest
from gpuladder.scenario.checks.supply import filtered
from gpuladder.scenario.expand import term_of
from gpuladder.scenario.schema import ElasticCampaign, GangCampaign, SpotOffer
from gpuladder.scenario.wording import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context
    from gpuladder.scenario.source import Key

CODE = "GL-S602"
_SLACK = 1e-9


def check(context: Context) -> Iterator[Problem]:
    """Yield runs under way, work done, and signed orders that do not fit the scenario."""
    horizon = context.horizon
    anchor = None if horizon is None else horizon.counted_from
    if horizon is not None and anchor is not None and anchor > horizon.start:
        yield context.error(
            CODE,
            ("horizon", "counted_from"),
            f"windows are counted from {anchor}, after the start {horizon.start}",
            fix="leave it out, or set it to the start of the first plan",
        )
    for index, campaign in context.campaigns:
        if isinstance(campaign, ElasticCampaign):
            if campaign.done_spot_gpu_hours > campaign.done_gpu_hours * (1 + _SLACK):
                yield context.error(
                    CODE,
                    ("campaigns", index, "done_spot_gpu_hours"),
                    f"`{campaign.id}`: {campaign.done_spot_gpu_hours:g} GPU-hours were done on "
                    f"spot, of {campaign.done_gpu_hours:g} in all",
                    fix="`done_gpu_hours` includes what was done on spot",
                )
        elif campaign.runs_on is not None:
            yield from _under_way(context, index, campaign)
    yield from _so_far(context)
    yield from _signed(context)


def _under_way(context: Context, index: int, gang: GangCampaign) -> Iterator[Problem]:
    path: tuple[Key, ...] = ("campaigns", index)
    spot = {offer.id: offer.pool for _, offer in context.metered if isinstance(offer, SpotOffer)}
    place = str(gang.runs_on)
    pool = spot.get(place, place)
    if pool not in context.pools:
        known = [*context.ids("pools"), *spot]
        yield context.error(
            "GL-S201",
            (*path, "runs_on"),
            f"unknown pool or spot offer `{place}`{nearest(place, known)}",
            fix=f"known: {join(known, 8)}",
        )
        return
    if pool not in filtered(context, gang)[-1][1]:
        yield context.error(
            CODE,
            (*path, "runs_on"),
            f"`{gang.id}` runs on `{place}`, where its own filters do not let it run",
            fix="correct `runs_on`, or the filters",
        )
    own_class = context.classes.get(gang.preemption_class)
    most = 1.0 if own_class is None else gang.spot_share_max(own_class)
    if place in spot and (most < 1 or gang.tenancy == "dedicated"):
        yield context.error(
            CODE,
            (*path, "runs_on"),
            f"`{gang.id}` runs on the spot offer `{place}`, and may not run on spot",
            fix="correct `runs_on`, its class or its tenancy",
        )
    if len(gang.gpus) > 1 or gang.repeat is not None:
        yield context.error(
            CODE,
            (*path, "gpus" if len(gang.gpus) > 1 else "repeat"),
            f"`{gang.id}` runs already, so it has one size and happens once",
            fix="write the size it has, and further runs as campaigns of their own",
        )
    if context.grid is not None and gang.earliest > context.grid.start:
        yield context.error(
            CODE,
            (*path, "earliest"),
            f"`{gang.id}` runs already, and may not run before {gang.earliest}",
            fix=f"set `earliest` to {context.grid.start} or before",
        )


def _so_far(context: Context) -> Iterator[Problem]:
    so_far = context.policy.so_far
    if so_far.spot_gpu_hours > so_far.gpu_hours * (1 + _SLACK):
        yield context.error(
            CODE,
            ("policy", "so_far", "spot_gpu_hours"),
            f"{so_far.spot_gpu_hours:g} GPU-hours were done on spot, of {so_far.gpu_hours:g} in "
            "all",
            fix="`gpu_hours` includes what was done on spot",
        )
    providers = context.values("pools", "provider")
    for name in so_far.provider_gpu_hours:
        if name not in providers:
            yield context.error(
                "GL-S201",
                ("policy", "so_far", "provider_gpu_hours", name),
                f"unknown provider `{name}`{nearest(name, providers)}",
                fix=f"known: {join(sorted(providers), 8)}",
            )


def _signed(context: Context) -> Iterator[Problem]:
    terms = {term.id: term for _, term in context.terms}
    for index, held in context.held:
        path: tuple[Key, ...] = ("commitments", index)
        for number, due in enumerate(held.dues):
            if due.on > held.end:
                yield context.error(
                    CODE,
                    (*path, "dues", number, "on"),
                    f"`{held.id}` ends on {held.end}, and a payment is due on {due.on}",
                    fix="check the dates",
                )
        if held.offer is None:
            continue
        term = terms.get(held.offer)
        if term is None:
            yield context.error(
                "GL-S201",
                (*path, "offer"),
                f"unknown committed offer `{held.offer}`{nearest(held.offer, terms)}",
                fix=f"known: {join(list(terms), 8)}; one tenor of a list is written id@tenor",
            )
        elif (held.pool, held.kind) != (term.pool, getattr(term, "kind", "")):
            yield context.error(
                CODE,
                (*path, "offer"),
                f"`{held.id}` is {held.kind} in `{held.pool}`, and its offer `{term.id}` another "
                "kind or in another pool",
                fix="name the offer under which it was signed",
            )
        elif term_of(term).after(held.start) != held.end:
            yield context.warning(
                CODE,
                (*path, "end"),
                f"`{held.id}` ends on {held.end}, and a term of `{term.id}` from {held.start} on "
                f"{term_of(term).after(held.start)}",
                fix="check the dates",
            )

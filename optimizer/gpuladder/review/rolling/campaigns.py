"""Campaigns after a date: those done left out, those begun with what is left of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.economics import discount_factor
from gpuladder.review.rows import RollNote
from gpuladder.scenario.expand import expand_campaign
from gpuladder.scenario.schema import ElasticCampaign, PreemptionClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from gpuladder.review.rolling.state import Progress
    from gpuladder.scenario.schema import Campaign, Scenario

KEPT_OFF_SPOT = "never on spot"


def remaining(
    scenario: Scenario, progress: Mapping[str, Progress], to: date
) -> tuple[tuple[Campaign, ...], tuple[PreemptionClass, ...], tuple[RollNote, ...]]:
    """Return the campaigns still to be done, classes they need beside the scenario's, and notes.

    A family of repeats stays as it is written while none of them has begun.
    """
    # Dropping is weighed at face value against costs discounted to the start of the horizon, so
    # that it keeps its weight only when it is stated in money of the new start.
    value = 1.0 / discount_factor(scenario.discount_rate, (to - scenario.horizon.start).days)
    classes = {item.id: item for item in scenario.preemption_classes}
    campaigns: list[Campaign] = []
    added: dict[str, PreemptionClass] = {}
    notes: list[RollNote] = []
    for written in scenario.campaigns:
        singles = expand_campaign(written)
        if all(one.id not in progress and one.earliest >= to for one in singles):
            campaigns.append(_revalued(written, value))
            continue
        if written.repeat is not None:
            left = [one.id for one in singles if not _is_over(progress.get(one.id))]
            notes.append(RollNote(subject=written.id, text=_repeats_text(len(singles), left)))
        for one in singles:
            state = progress.get(one.id)
            if state is not None and state.is_over:
                if written.repeat is None:
                    notes.append(RollNote(subject=one.id, text="done, dropped or past: left out"))
                continue
            rest = _revalued(_single(one), value).model_copy(
                update={"earliest": max(one.earliest, to)}
            )
            if state is not None:
                rest, note = _rest(rest, state, classes[one.preemption_class])
                notes.append(note)
                if rest.preemption_class not in classes:
                    added[rest.preemption_class] = classes[one.preemption_class].model_copy(
                        update={"id": rest.preemption_class, "spot_share_max": 0.0}
                    )
            campaigns.append(rest)
    if value != 1.0 and any(item.drop_cost for item in campaigns):
        text = f"what dropping costs is stated in money of {to}: times {value:.6g}"
        notes.append(RollNote(subject="campaigns", text=text))
    return tuple(campaigns), tuple(added.values()), tuple(notes)


def work_left(campaign: Campaign, state: Progress) -> float:
    """Return the share of a campaign's work that is left."""
    return max(1.0 - state.work / campaign.work, 0.0)


def _is_over(state: Progress | None) -> bool:
    return state is not None and state.is_over


def _repeats_text(count: int, left: Iterable[str]) -> str:
    names = ", ".join(left)
    return f"{count} repeats written out; left: {names}" if names else "all repeats are over"


def _revalued(campaign: Campaign, value: float) -> Campaign:
    if not campaign.drop_cost or value == 1.0:
        return campaign
    return campaign.model_copy(update={"drop_cost": campaign.drop_cost * value})


def _single(campaign: Campaign) -> Campaign:
    """Return a repeat that stands for itself: its workload would repeat it again."""
    workload = campaign.workload
    if workload is None or workload.cadence is None:
        return campaign
    once = workload.model_copy(update={"cadence": None})
    return campaign.model_copy(update={"workload": once})


def _rest(
    campaign: Campaign, state: Progress, own_class: PreemptionClass
) -> tuple[Campaign, RollNote]:
    """Return what is left of a campaign that has begun.

    Costs beside GPU-hours shrink with the work. The workload is left out: it would be sized whole.
    """
    share = work_left(campaign, state)
    update: dict[str, object] = {
        "gpu_hours": campaign.gpu_hours * share,
        "workload": None,
        "egress_gb": campaign.egress_gb * share,
        "staff_cost": campaign.staff_cost * share,
    }
    if state.deadline is not None:
        update["deadline"] = state.deadline
    if isinstance(campaign, ElasticCampaign):
        if campaign.drop_cost is not None:
            update["drop_cost"] = campaign.drop_cost * share
        never = campaign.spot_share_max(own_class) == 0.0 < own_class.spot_share_max
        if never:
            update["preemption_class"] = f"{own_class.id} ({KEPT_OFF_SPOT})"
        elif 0.0 < own_class.spot_share_max < 1.0:
            update["done_gpu_hours"] = campaign.done_gpu_hours + state.work
            update["done_spot_gpu_hours"] = campaign.done_spot_gpu_hours + state.spot_work
        text = f"{1.0 - share:.1%} done; {campaign.gpu_hours * share:,.6g} useful GPU-hours left"
    elif state.place is not None:
        update |= {
            "gpus": (state.gpus,),
            "runs_on": state.place,
            "max_duration": None,
            "drop_cost": None,
            "scaling": {k: v for k, v in campaign.scaling.items() if k == state.gpus},
        }
        text = f"under way on {state.gpus} GPUs of {state.place}, {share:.1%} left"
    else:
        text = "has not begun"
    return campaign.model_copy(update=update), RollNote(subject=campaign.id, text=text)

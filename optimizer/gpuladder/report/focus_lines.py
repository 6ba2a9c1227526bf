"""What a charge is in FOCUS terms: the words of that specification for the charges of a plan.

The rules come from the FinOps Open Cost and Usage Specification 1.3 and 1.4 (focus.finops.org). A
*commitment discount* is publicly offered: of the kinds here that is ``reserved``, unless it is told
to be negotiated. Everything else with a term is a contract with reserved capacity.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING

from gpuladder.analysis.charge_rows import ChargeRow, Part, TermRow, User
from gpuladder.errors import Problem, UsageError
from gpuladder.report.labels import kind_label, line_label
from gpuladder.scenario.expand import expand
from gpuladder.timegrid import add_months

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpuladder.scenario.schema import Pool, Scenario


class FocusVersion(StrEnum):
    """Version of the specification whose columns are written."""

    V1_3 = "1.3"
    V1_4 = "1.4"


GPU_HOURS = "GPU-Hours"
_FREQUENCIES = {Part.PREPAID: "One-Time", Part.RECURRING: "Recurring"}
_CATEGORIES = {Part.PREPAID: "Purchase", Part.RECURRING: "Purchase", Part.REVENUE: "Adjustment"}
_STATUSES = {Part.USED: "Used", Part.UNUSED: "Unused"}
_PURCHASES = (Part.PREPAID, Part.RECURRING)
_SKUS = {Part.FEE: "use", Part.METERED: "use", Part.USED: "use"}


@dataclass(frozen=True, slots=True)
class Offers:
    """Which commitments are publicly offered, and which are negotiated.

    Attributes
    ----------
    negotiated : frozenset of str
        Offers, expanded offers and held commitments told to be negotiated, by id.
    """

    negotiated: frozenset[str] = frozenset()

    @classmethod
    def of(cls, scenario: Scenario, negotiated: Iterable[str]) -> Offers:
        """Return what a scenario's offers are when some are negotiated.

        Raises
        ------
        UsageError
            When the scenario has neither an offer nor a held commitment of such an id.
        """
        wanted = frozenset(negotiated)
        known = {offer.id for offer in scenario.offers} | {item.id for item in scenario.commitments}
        known |= set(expand(scenario).committed)
        problems = [
            Problem(
                code="GL-U007",
                where="--negotiated",
                what=f"no offer or held commitment {name!r} in {scenario.name!r}",
                fix=f"one of: {', '.join(get_close_matches(name, known, 5, 0.3) or sorted(known))}",
            )
            for name in sorted(wanted - known)
        ]
        if problems:
            raise UsageError(problems)
        return cls(wanted)

    def is_public(self, term: TermRow) -> bool:
        """Tell whether a commitment is bought as publicly offered."""
        names = {term.offer, term.id, term.offer.rpartition("@")[0]}
        is_open = term.kind in ("reserved", "burst_window") and not term.is_flex
        return is_open and not names & self.negotiated

    def is_discount(self, term: TermRow) -> bool:
        """Tell whether a commitment is a commitment discount."""
        return term.kind == "reserved" and self.is_public(term)


@dataclass(frozen=True, slots=True)
class Line:
    """One charge with what FOCUS asks about it.

    Attributes
    ----------
    charge : ChargeRow
    term : TermRow or None
        The commitment it belongs to.
    pool : Pool
        Where the capacity is.
    currency, plan_status : str
    is_discount : bool
        Whether the commitment is a commitment discount.
    """

    charge: ChargeRow
    term: TermRow | None
    pool: Pool
    currency: str
    plan_status: str
    is_discount: bool

    @property
    def month(self) -> date:
        """First day of the billing period."""
        return self.charge.begin.replace(day=1)

    @property
    def month_end(self) -> date:
        """Day after the last of the billing period."""
        return add_months(self.month, 1)

    @property
    def end(self) -> date:
        """End of the charge period; what falls on one day lasts that day."""
        return max(self.charge.end, self.charge.begin + timedelta(days=1))

    @property
    def category(self) -> str:
        """Purchase, Usage or Adjustment."""
        return _CATEGORIES.get(self.charge.part, "Usage")

    @property
    def frequency(self) -> str:
        """One-Time, Recurring or Usage-Based; the instalments of a loan recur."""
        if self.charge.line == "owned_loan":
            return "Recurring"
        return _FREQUENCIES.get(self.charge.part, "Usage-Based")

    @property
    def pricing_category(self) -> str | None:
        """Standard, Dynamic (spot), or Committed where a commitment discount is used or not."""
        if self.charge.part is Part.REVENUE:
            return None
        if self.is_discount and self.charge.part in _STATUSES:
            return "Committed"
        return "Dynamic" if self.charge.kind == "spot" else "Standard"

    @property
    def discount_status(self) -> str | None:
        """Used or Unused, of a commitment discount."""
        return _STATUSES.get(self.charge.part) if self.is_discount else None

    @property
    def reservation(self) -> str | None:
        """The reserved capacity it belongs to, where that is no commitment discount."""
        return None if self.is_discount or self.term is None else self.term.id

    @property
    def reservation_status(self) -> str | None:
        """Used or Unused, of reserved capacity; a fee for use is a use of it."""
        if self.reservation is None:
            return None
        return "Used" if self.charge.part is Part.FEE else _STATUSES.get(self.charge.part)

    @property
    def consumed(self) -> float | None:
        """GPU-hours in use; a fee for use is about hours that are counted already."""
        counts = self.charge.part in (Part.USED, Part.METERED)
        return self.charge.quantity if counts else None

    @property
    def priced(self) -> float | None:
        """The priced quantity; none of what buyers pay, which is no price of a provider."""
        return None if self.charge.part is Part.REVENUE else self.charge.quantity

    @property
    def sku(self) -> str | None:
        """The price that the charge is made at."""
        if self.charge.part is Part.REVENUE:
            return None
        return f"{self.charge.offer}/{_SKUS.get(self.charge.part, 'hold')}"

    @property
    def resource(self) -> str | None:
        """The commitment, where it is bought or unused."""
        is_its_own = self.charge.part in (*_PURCHASES, Part.UNUSED)
        return self.term.id if self.term is not None and is_its_own else None

    @property
    def list_price(self) -> float | None:
        """On-demand list price of what is used; else the price paid, which is its own list price.

        None where use has no on-demand price to compare with.
        """
        charge = self.charge
        if charge.part is Part.USED or charge.kind == "spot":
            return charge.list_price
        return _price(self._paid, self.priced)

    @property
    def list_cost(self) -> float:
        """List price × quantity; without a list price the cost of the purchases it comes from."""
        if self.list_price is None or self.priced is None:
            return self._paid
        return self.list_price * self.priced

    @property
    def contracted_price(self) -> float | None:
        """The price of a negotiated contract; the list price of all else."""
        if self.charge.part is not Part.USED or self.is_discount or self.term is None:
            return self.list_price
        is_bought = self.term.kind == "owned" and self.term.price == 0.0
        return _price(self._paid, self.priced) if is_bought else self.term.price

    @property
    def contracted_cost(self) -> float:
        """Contracted price × quantity; without a price as the list cost."""
        if self.contracted_price is None or self.priced is None:
            return self.list_cost
        return self.contracted_price * self.priced

    @property
    def discount_quantity(self) -> float | None:
        """GPU-hours of a commitment discount, paid for or used or not."""
        return self.charge.quantity if self.is_discount else None

    @property
    def contract_applied(self) -> str | None:
        """Which contract commitment it counts for, and with how much, as JSON.

        Usage commitments count GPU-hours; what is not priced by them counts with its cost. The key
        that does not apply is null: 1.3 wants all five, 1.4 one of the two.
        """
        if self.term is None or self.charge.part is Part.FEE:
            return None
        is_usage = self.charge.unit == GPU_HOURS and self.charge.line != "owned_opex"
        amount = number(self.charge.quantity if is_usage else self.charge.billed)
        fields = {
            "ContractId": json.dumps(self.term.id, ensure_ascii=False),
            "ContractCommitmentId": json.dumps(self.term.id, ensure_ascii=False),
            "ContractCommitmentAppliedCost": "null" if is_usage else amount,
            "ContractCommitmentAppliedQuantity": amount if is_usage else "null",
            "ContractCommitmentAppliedUnit": json.dumps(GPU_HOURS) if is_usage else "null",
        }
        body = ", ".join(f'"{key}": {value}' for key, value in fields.items())
        return f'{{"Elements": [{{{body}}}]}}'

    @property
    def tags(self) -> str | None:
        """What the campaign that uses it would be tagged with, as JSON."""
        use = self.charge.use
        if use is None or use.by is not User.CAMPAIGN:
            return None
        known = {
            "campaign": use.name,
            "preemption_class": use.preemption_class,
            "team": use.team,
        }
        tags = {key: value for key, value in known.items() if value is not None}
        return json.dumps(tags, ensure_ascii=False)

    @property
    def name(self) -> str:
        """What is bought or used: the offer, or the held commitment."""
        is_held = self.term is not None and self.term.is_held
        return self.term.id if is_held and self.term is not None else self.charge.offer

    @property
    def description(self) -> str:
        """What the charge is for, in words."""
        charge, offer = self.charge, self.name
        if charge.part in _PURCHASES:
            kind = "Already held" if charge.line == "held" else line_label(charge.line or "")
            when = "paid in one piece" if charge.part is Part.PREPAID else "as time goes by"
            return f"Forecast: {kind}, {self.name}, {when}"
        words = {
            Part.USED: f"Forecast: {offer} in use",
            Part.UNUSED: f"Forecast: {offer} not in use",
            Part.METERED: f"Forecast: {kind_label(charge.kind)}, {offer}",
            Part.FEE: f"Forecast: charge for using {offer}",
            Part.REVENUE: f"Forecast: idle capacity sold to {offer}",
        }
        after = ", after the horizon: no use is planned there" if charge.is_after_horizon else ""
        return words[charge.part] + after

    @property
    def _paid(self) -> float:
        """What the charge costs: as billed, or its part of what was billed elsewhere."""
        return self.charge.effective if self.charge.part in _STATUSES else self.charge.billed


def _price(cost: float, quantity: float | None) -> float | None:
    return cost / quantity if quantity else None


def number(value: float | None) -> str | None:
    """Return a number as FOCUS writes it: all digits, without an exponent or a plus."""
    return None if value is None else format(Decimal(repr(value + 0.0)), "f")


def moment(day: date) -> str:
    """Return a date as FOCUS writes it; dates without a zone are taken as UTC."""
    return f"{day.isoformat()}T00:00:00Z"


def stamp(instant: datetime) -> str:
    """Return a moment of UTC as FOCUS writes it."""
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}"

"""The plan's charges and commitments as FOCUS-shaped tables.

Column IDs, their order (own columns last, each group by name), units, dates and nulls follow the
specification; an empty cell is null. FOCUS-shaped, not conformant: these are forecasts and not
billing data, and what a plan does not have (accounts, invoices) is null and never made up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gpuladder.analysis.charge_rows import Charges, Part
from gpuladder.report.focus_lines import GPU_HOURS, FocusVersion, Line, Offers, moment, number
from gpuladder.report.focus_tranches import Tranche
from gpuladder.report.labels import kind_label
from gpuladder.report.table import Cell, Column, Table

if TYPE_CHECKING:
    from datetime import datetime

    from gpuladder.analysis.result import Result

RECORD = "Forecast"
COST_AND_USAGE = "cost_and_usage"
CONTRACT_COMMITMENT = "contract_commitment"

_LineField = tuple[str, Callable[[Line], Cell], str]
_TermField = tuple[str, Callable[[Tranche], Cell], str]


def _rung(line: Line) -> str | None:
    if line.charge.part is Part.REVENUE:
        return None
    return "flex" if line.term is not None and line.term.is_flex else line.charge.kind


def _when_discount(value: Callable[[Line], str | None]) -> Callable[[Line], str | None]:
    return lambda line: value(line) if line.is_discount else None


def _use(key: str) -> Callable[[Line], Cell]:
    def read(line: Line) -> Cell:
        use = line.charge.use
        value = None if use is None else getattr(use, key)
        return str(value) if value is not None else None

    return read


def _campaign(line: Line) -> str | None:
    use = line.charge.use
    return use.name if use is not None and use.by == "campaign" else None


def _buyer(line: Line) -> str | None:
    use = line.charge.use
    return use.name if use is not None and use.by == "backfill" else None


def _runs(line: Line) -> str | None:
    use = line.charge.use
    return None if use is None or line.consumed is None else number(use.runs)


_COST_AND_USAGE: tuple[_LineField, ...] = (
    ("BilledCost", lambda r: number(r.charge.billed), "Cash: what is billed in the month."),
    ("BillingAccountId", lambda _: None, "Null: a plan has no billing account."),
    ("BillingAccountName", lambda _: None, "Null: a plan has no billing account."),
    ("BillingCurrency", lambda r: r.currency, "The scenario's currency, ISO 4217."),
    ("BillingPeriodEnd", lambda r: moment(r.month_end), "First day of the next month."),
    ("BillingPeriodStart", lambda r: moment(r.month), "Calendar month."),
    (
        "CapacityReservationId",
        lambda r: r.reservation,
        "The commitment, where it is a contract with reserved capacity or bought hardware.",
    ),
    ("CapacityReservationStatus", lambda r: r.reservation_status, "Used, or Unused: idle."),
    ("ChargeCategory", lambda r: r.category, "Purchase, Usage; Adjustment: sold idle capacity."),
    ("ChargeClass", lambda _: None, "Null: no charge is a correction."),
    ("ChargeDescription", lambda r: r.description, "What the charge is for."),
    ("ChargeFrequency", lambda r: r.frequency, "One-Time, Recurring or Usage-Based."),
    ("ChargePeriodEnd", lambda r: moment(r.end), "Exclusive."),
    ("ChargePeriodStart", lambda r: moment(r.charge.begin), "Inclusive; dates taken as UTC."),
    ("CommitmentDiscountCategory", _when_discount(lambda _: "Usage"), "Of reserved offers."),
    (
        "CommitmentDiscountId",
        _when_discount(lambda r: r.charge.term),
        "The commitment, where it is publicly offered: kind reserved, not told to be negotiated.",
    ),
    ("CommitmentDiscountName", _when_discount(lambda r: r.charge.offer), "Its offer."),
    (
        "CommitmentDiscountQuantity",
        lambda r: number(r.discount_quantity),
        "GPU-hours. Over all purchases of a commitment, and over all its usage: its whole term.",
    ),
    ("CommitmentDiscountStatus", lambda r: r.discount_status, "Used, or Unused: idle."),
    ("CommitmentDiscountType", _when_discount(lambda _: "Reserved Capacity"), "Its kind."),
    ("CommitmentDiscountUnit", _when_discount(lambda _: GPU_HOURS), "Of its quantity."),
    (
        "ConsumedQuantity",
        lambda r: number(r.consumed),
        "GPU-hours in use, each counted once; null where nothing is consumed.",
    ),
    ("ConsumedUnit", lambda r: None if r.consumed is None else GPU_HOURS, "Of the quantity."),
    (
        "ContractApplied",
        lambda r: r.contract_applied,
        "JSON: the row of contract_commitment it belongs to. Sum it over usage or over purchases.",
    ),
    (
        "ContractedCost",
        lambda r: number(r.contracted_cost),
        "At the price of a negotiated contract; as ListCost where none is negotiated.",
    ),
    ("ContractedUnitPrice", lambda r: number(r.contracted_price), "Per PricingUnit."),
    (
        "EffectiveCost",
        lambda r: number(r.charge.effective),
        "Accrual: what was billed for a commitment, spread evenly over the hours of its term.",
    ),
    ("HostProviderName", lambda r: r.pool.provider, "The pool's provider."),
    ("InvoiceIssuerName", lambda r: r.pool.provider, "The pool's provider."),
    (
        "ListCost",
        lambda r: number(r.list_cost),
        "On-demand list price of what is used; as paid for all else, and where none is known.",
    ),
    (
        "ListUnitPrice",
        lambda r: number(r.list_price),
        "Per PricingUnit, averaged over the row's hours; null without a price to compare with.",
    ),
    ("PricingCategory", lambda r: r.pricing_category, "Standard, Dynamic (spot) or Committed."),
    ("PricingQuantity", lambda r: number(r.priced), "What is priced."),
    ("PricingUnit", lambda r: None if r.priced is None else r.charge.unit, "Of the quantity."),
    ("RegionId", lambda r: r.pool.region, "The pool's region."),
    ("ResourceId", lambda r: r.resource, "The commitment, where it is bought or unused."),
    ("ServiceCategory", lambda _: "Compute", "Always Compute."),
    ("ServiceName", lambda _: "GPU Compute", "Always GPU Compute."),
    ("ServiceProviderName", lambda r: r.pool.provider, "The pool's provider."),
    ("ServiceSubcategory", lambda _: "Other (Compute)", "Always Other (Compute)."),
    ("SkuId", lambda r: None if r.sku is None else r.charge.offer, "Offer, or held commitment."),
    ("SkuPriceId", lambda r: r.sku, "The offer's price for holding or for use."),
    ("Tags", lambda r: r.tags, "JSON: campaign, team and preemption class of what uses it."),
    (
        "x_AfterHorizon",
        lambda r: r.charge.is_after_horizon,
        "After the horizon end no use is planned: leave these rows out to judge idle capacity.",
    ),
    ("x_BackfillBuyer", _buyer, "Who buys idle capacity."),
    ("x_Campaign", _campaign, "The campaign that uses it."),
    ("x_CommitmentId", lambda r: r.charge.term, "The row of contract_commitment it belongs to."),
    ("x_CostLine", lambda r: r.charge.line, "Cost line it is billed under, as in tables/cash.csv."),
    ("x_Hardware", lambda r: r.pool.hardware, "The pool's hardware."),
    ("x_PlanStatus", lambda r: r.plan_status, "optimal within the gap asked for, or feasible."),
    ("x_Pool", lambda r: r.pool.id, "Where the capacity is."),
    ("x_PreemptionClass", _use("preemption_class"), "Of the campaign."),
    ("x_RecordType", lambda _: RECORD, "Forecast: a plan, and no bill."),
    ("x_RunCount", _runs, "Completed runs, by the row's part of the campaign's GPU-hours."),
    ("x_Rung", _rung, "Kind of capacity."),
    ("x_Team", _use("team"), "Of the campaign."),
    (
        "x_TruncatedTerm",
        lambda r: None if r.term is None else r.term.is_truncated,
        "Whether part of the commitment's term lies before or after the horizon.",
    ),
    ("x_UsedBy", _use("by"), "campaign, demand or backfill; null where nobody uses it."),
)

_CONTRACT: tuple[_TermField, ...] = (
    ("BillingCurrency", lambda r: r.currency, "The scenario's currency, ISO 4217."),
    ("ContractCommitmentCategory", lambda _: "Usage", "GPU-hours are committed, not an amount."),
    (
        "ContractCommitmentCost",
        lambda r: number(r.term.cost),
        "Whole term, undiscounted. Bought hardware: purchase and loan until it is valued.",
    ),
    ("ContractCommitmentDescription", lambda r: r.description, "The tranche in words."),
    ("ContractCommitmentId", lambda r: r.term.id, "Offer and start; of a held one its own id."),
    ("ContractCommitmentPeriodEnd", lambda r: moment(r.term.end), "Exclusive."),
    ("ContractCommitmentPeriodStart", lambda r: moment(r.term.start), "Inclusive."),
    ("ContractCommitmentQuantity", lambda r: number(r.term.gpu_hours), "Over the whole term."),
    ("ContractCommitmentType", lambda r: kind_label(r.rung).capitalize(), "Kind of capacity."),
    ("ContractCommitmentUnit", lambda _: GPU_HOURS, "Of the quantity."),
    ("ContractId", lambda r: r.term.id, "One contract per tranche."),
    ("ContractPeriodEnd", lambda r: moment(r.term.end), "Exclusive."),
    ("ContractPeriodStart", lambda r: moment(r.term.start), "Inclusive."),
)

_CONTRACT_1_4: tuple[_TermField, ...] = (
    ("ContractCommitmentApplicability", lambda r: r.applicability, "JSON: its own pool."),
    (
        "ContractCommitmentBenefitCategory",
        lambda r: "Discount" if r.is_discount else "Availability",
        "Discount for what is publicly offered, else Availability.",
    ),
    ("ContractCommitmentCreated", lambda r: r.written_at, "When this file was written."),
    ("ContractCommitmentDiscountPercentage", lambda r: number(r.discount), "0 to 1, off the list."),
    ("ContractCommitmentDurationType", lambda r: r.duration, "The tenor."),
    ("ContractCommitmentFulfillmentInterval", lambda _: "Hourly", "Unused hours are lost."),
    ("ContractCommitmentLastUpdated", lambda r: r.written_at, "When this file was written."),
    ("ContractCommitmentLifecycleStatus", lambda r: r.lifecycle, "Proposed: nothing is signed."),
    ("ContractCommitmentModel", lambda _: "Continuous", "Use it or lose it."),
    (
        "ContractCommitmentOfferCategory",
        lambda r: "Public" if r.is_public else "Negotiated",
        "Public: reserved and burst windows, not told to be negotiated.",
    ),
    (
        "ContractCommitmentPaymentInterval",
        lambda r: r.payment_interval,
        "One-Time when all is paid on the first day.",
    ),
    ("ContractCommitmentPaymentModel", lambda r: r.payment_model, "No, Partial or All Upfront."),
    (
        "ContractCommitmentPaymentUpfrontPercentage",
        lambda r: number(r.upfront_share),
        "0 to 1, of the cost.",
    ),
    ("InvoiceIssuerName", lambda r: r.term.provider, "The pool's provider."),
    ("ServiceProviderName", lambda r: r.term.provider, "The pool's provider."),
)

_CONTRACT_1_3_OWN: tuple[_TermField, ...] = (
    ("x_LifecycleStatus", lambda r: r.lifecycle, "Proposed: nothing is signed. A column of 1.4."),
)

_CONTRACT_OWN: tuple[_TermField, ...] = (
    ("x_Gpus", lambda r: number(r.term.gpus), "All through the term."),
    ("x_Hardware", lambda r: r.term.hardware, "The pool's hardware."),
    ("x_Lots", lambda r: None if r.term.is_held else str(r.term.lots), "Whole lots to order."),
    ("x_OfferId", lambda r: r.offer, "What to sign, or was."),
    ("x_PlanStatus", lambda r: r.plan_status, "optimal within the gap asked for, or feasible."),
    ("x_Pool", lambda r: r.term.pool, "Where the capacity is."),
    (
        "x_PrepaidCost",
        lambda r: number(r.term.prepaid) if r.term.is_held else None,
        "Paid before the horizon: no row bills it, and the effective cost of use has it.",
    ),
    ("x_RecordType", lambda _: RECORD, "Forecast: a plan, and no contract."),
    ("x_Rung", lambda r: r.rung, "Kind of capacity."),
    (
        "x_SignBy",
        lambda r: None if r.term.is_held else moment(r.term.sign_by),
        "Last day to sign: the start less the offer's lead.",
    ),
    (
        "x_TruncatedTerm",
        lambda r: r.term.is_truncated,
        "Whether part of the term lies before or after the horizon.",
    ),
    (
        "x_UnitPrice",
        lambda r: number(r.term.price) if r.rung != "owned" or r.term.is_held else None,
        "Per GPU-hour held.",
    ),
    ("x_UpfrontCost", lambda r: number(r.term.upfront), "Paid on the first day."),
)


def focus_tables(
    result: Result, charges: Charges, version: FocusVersion, offers: Offers, written: datetime
) -> tuple[Table, Table]:
    """Return the plan as the tables CostAndUsage and ContractCommitment.

    Parameters
    ----------
    result : Result
        With a plan.
    charges : Charges
        What that plan would be billed for.
    version : FocusVersion
        Columns of which version.
    offers : Offers
        Which commitments are negotiated.
    written : datetime
        Moment of writing, UTC.
    """
    return _cost_and_usage(result, charges, offers), _contracts(
        result, charges, version, offers, written
    )


def _cost_and_usage(result: Result, charges: Charges, offers: Offers) -> Table:
    terms = {term.id: term for term in charges.terms}
    pools = {pool.id: pool for pool in result.scenario.pools}
    fields = sorted(_COST_AND_USAGE, key=_place)
    rows = []
    for charge in charges.rows:
        term = None if charge.term is None else terms[charge.term]
        line = Line(
            charge=charge,
            term=term,
            pool=pools[charge.pool],
            currency=charges.currency,
            plan_status=result.plan.status.value,
            is_discount=term is not None and offers.is_discount(term),
        )
        rows.append(tuple(read(line) for _, read, _ in fields))
    return Table(
        name=COST_AND_USAGE,
        title="CostAndUsage",
        columns=tuple(_column(key, note) for key, _, note in fields),
        rows=tuple(rows),
    )


def _contracts(
    result: Result, charges: Charges, version: FocusVersion, offers: Offers, written: datetime
) -> Table:
    is_newer = version is FocusVersion.V1_4
    fields = sorted(
        (*_CONTRACT, *(_CONTRACT_1_4 if is_newer else _CONTRACT_1_3_OWN), *_CONTRACT_OWN),
        key=_place,
    )
    tranches = [
        Tranche(
            term=term,
            currency=charges.currency,
            plan_status=result.plan.status.value,
            is_public=offers.is_public(term),
            is_discount=offers.is_discount(term),
            written=written,
            horizon_start=charges.horizon_start,
        )
        for term in charges.terms
    ]
    return Table(
        name=CONTRACT_COMMITMENT,
        title="ContractCommitment",
        columns=tuple(_column(key, note) for key, _, note in fields),
        rows=tuple(tuple(read(tranche) for _, read, _ in fields) for tranche in tranches),
    )


def _place(field: tuple[str, object, str]) -> tuple[bool, str]:
    """Return where a column stands: own columns last, each group by name."""
    return field[0].startswith("x_"), field[0]


def _column(key: str, note: str) -> Column:
    words = "".join(f" {char}" if char.isupper() else char for char in key.removeprefix("x_"))
    return Column(key=key, title=words.strip(), note=note)

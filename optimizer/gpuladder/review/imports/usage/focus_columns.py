"""Columns of a FOCUS bill (CostAndUsage 1.2 and 1.3), and what their words and units mean.

FOCUS: FinOps Open Cost and Usage Specification, https://focus.finops.org.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, UsageError
from gpuladder.review.imports.columns import Field

if TYPE_CHECKING:
    from collections.abc import Iterable


def _field(name: str, column: str, meaning: str, *, required: bool = False) -> Field:
    return Field(name=name, meaning=meaning, also=(column,), required=required)


FIELDS = (
    _field("start", "ChargePeriodStart", "begin of the charge", required=True),
    _field("end", "ChargePeriodEnd", "end of the charge, exclusive", required=True),
    _field("category", "ChargeCategory", "Usage, Purchase, Tax, …", required=True),
    _field("currency", "BillingCurrency", "currency of the costs", required=True),
    _field("effective_cost", "EffectiveCost", "amortised cost", required=True),
    _field("billed_cost", "BilledCost", "cost as invoiced"),
    _field("list_cost", "ListCost", "cost at list prices"),
    _field("contracted_cost", "ContractedCost", "cost at negotiated prices"),
    _field("class", "ChargeClass", "Correction, or nothing"),
    _field("frequency", "ChargeFrequency", "One-Time, Recurring or Usage-Based"),
    _field("pricing", "PricingCategory", "Standard, Dynamic, Committed or Other"),
    _field("consumed", "ConsumedQuantity", "amount used"),
    _field("consumed_unit", "ConsumedUnit", "unit of the amount used"),
    _field("priced", "PricingQuantity", "amount priced"),
    _field("pricing_unit", "PricingUnit", "unit of the amount priced"),
    _field("commitment", "CommitmentDiscountId", "commitment that covers the row"),
    _field("commitment_category", "CommitmentDiscountCategory", "Usage or Spend"),
    _field("commitment_status", "CommitmentDiscountStatus", "Used or Unused"),
    _field("commitment_quantity", "CommitmentDiscountQuantity", "amount of the commitment"),
    _field("commitment_unit", "CommitmentDiscountUnit", "unit of that amount"),
    _field("reservation", "CapacityReservationId", "capacity reservation of the row"),
    _field("reservation_status", "CapacityReservationStatus", "Used or Unused"),
    _field("sku", "SkuId", "what is sold"),
    _field("region", "RegionId", "where it is"),
    # Until 1.3 the provider was ProviderName; a 1.3 bill may still have both.
    _field("provider", "ServiceProviderName", "who sells it"),
    _field("provider_until_1_2", "ProviderName", "who sells it, before FOCUS 1.3"),
    _field("team", "SubAccountId", "who used it"),
    _field("tags", "Tags", "tags of the resource, as JSON"),
    Field(name="pool", meaning="pool of the scenario", required=False),
)


class Status(StrEnum):
    """Whether what was committed was used."""

    NONE = ""
    USED = "used"
    UNUSED = "unused"


KINDS = {"standard": "on_demand", "dynamic": "spot", "committed": "reserved"}
"""Kind of offer by ``PricingCategory``."""
NULLS = frozenset({"", "null", "none", "nan"})
CATEGORIES = ("usage", "purchase", "tax", "credit", "adjustment")

_HOURS = {"hour": 1.0, "hr": 1.0, "minute": 1 / 60, "second": 1 / 3600, "day": 24.0}
_MACHINES = ("instance", "vm", "node", "server", "machine", "host", "compute", "reservation")
_UNIT = re.compile(r"(?:(\d+(?:\.\d+)?)\s+)?(?:([a-z]+)[\s-]+)?([a-z]+?)s?")


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """A unit of billed time.

    Attributes
    ----------
    hours : float
        Hours of one of it.
    is_gpu : bool
        Whether it is time of GPUs; else of a machine, whose GPUs have to be stated.
    """

    hours: float
    is_gpu: bool


@lru_cache(maxsize=4096)
def read_time_unit(text: str) -> TimeUnit | None:
    """Return the time unit that a FOCUS unit names; None for storage, requests and the like.

    Normalised hours are none: how many of them a machine takes, only its provider knows.

    >>> read_time_unit("GPU-Hours")
    TimeUnit(hours=1.0, is_gpu=True)
    >>> read_time_unit("100 Hours")
    TimeUnit(hours=100.0, is_gpu=False)
    >>> read_time_unit("GB-Hours") is None
    True
    """
    match = _UNIT.fullmatch(text.strip().casefold())
    if match is None or match[3] not in _HOURS:
        return None
    if match[2] is not None and match[2] != "gpu" and match[2] not in _MACHINES:
        return None
    return TimeUnit(float(match[1] or 1) * _HOURS[match[3]], match[2] == "gpu")


@dataclass(frozen=True, slots=True)
class Machine:
    """What one unit of a SKU is.

    Attributes
    ----------
    gpus : float
        GPUs of one unit.
    hardware : str
        Name of the GPU, in pools; the SKU's own when it was not stated.
    """

    gpus: float
    hardware: str


def read_machines(texts: Iterable[str]) -> dict[str, Machine]:
    """Return machines by SKU from ``SKU=GPUS`` or ``SKU=GPUS:HARDWARE``.

    Raises
    ------
    UsageError
        When one is no such statement, or contradicts another.
    """
    found: dict[str, Machine] = {}
    for text in texts:
        sku, sign, rest = text.rpartition("=")
        number, _, hardware = rest.partition(":")
        try:
            gpus = float(number)
        except ValueError:
            gpus = 0.0
        machine = Machine(gpus, hardware.strip() or sku.strip())
        if not sign or not sku.strip() or not 0 < gpus < float("inf"):
            raise UsageError(
                Problem(
                    code="GL-I049",
                    where="--gpus-per-unit",
                    what=f"not a SKU and its GPUs: {text!r}",
                    fix="write it as SKU=8, or SKU=8:h100 to name the hardware",
                )
            )
        if found.setdefault(sku.strip(), machine) != machine:
            raise UsageError(
                Problem(
                    code="GL-I049",
                    where="--gpus-per-unit",
                    what=f"`{sku.strip()}` is given twice: {found[sku.strip()].gpus:g} GPUs and "
                    f"{gpus:g}",
                )
            )
    return found

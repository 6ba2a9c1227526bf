"""How price lists are laid out: which columns hold prices, of what, in which unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from gpuladder.errors import Problem, UsageError
from gpuladder.review.imports.columns import Field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LayoutName = Literal["gpu-pricing", "gpu-rental-prices", "capacity-blocks", "aws-list", "csv"]
GPU, NODE = "gpu", "node"
COLUMN = "by the column `kind`"


def _optional(name: str, meaning: str, *also: str) -> Field:
    return Field(name=name, meaning=meaning, also=also, required=False)


FIELDS = (
    _optional("as_of", "date of the price", "snapshot", "collected_at"),
    _optional("first_day", "first day on which the price was listed"),
    _optional("last_day", "last day on which it was listed, inclusive"),
    _optional("provider", "who sells it"),
    _optional("region", "where it is", "region_code"),
    _optional("hardware", "the GPU", "gpu", "gpu_model", "accelerator"),
    _optional("memory_gb", "memory of one GPU", "vram_gb"),
    _optional("sku", "what is sold", "instance_type"),
    _optional("kind", "on demand, spot, …"),
    _optional("tier", "grade of service, beside the kind"),
    _optional("interconnect", "how its GPUs are linked"),
    _optional("currency", "currency of the price, ISO 4217"),
    _optional("gpus", "GPUs of a node", "gpus_per_node", "accelerators"),
    _optional("min_gpus", "smallest bundle sold"),
    _optional("tenor", "term, such as 12 months"),
    _optional("term_years", "term in years"),
    _optional("payment", "noUpfront, partialUpfront or allUpfront"),
)
"""What a price list may say beside prices; none is required."""

KINDS: dict[str, str | None] = {
    "on_demand": "on_demand",
    "ondemand": "on_demand",
    "secure": "on_demand",
    "standard": "on_demand",
    "spot": "spot",
    "preemptible": "spot",
    "interruptible": "spot",
    "community": "spot",
    "reserved": "reserved",
    "dedicated": "dedicated",
    "burst_window": "burst_window",
    "capacity_block": "burst_window",
    "serverless": None,
}
"""Kind of offer by the words of a list, hyphens as underscores; None is nothing to train on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceColumn:
    """A column of prices.

    Attributes
    ----------
    column : str
    kind : str
        Kind of offer; ``COLUMN`` when each row says it.
    tenor : str or None
        Term of a committed kind, where no column says it.
    """

    column: str
    kind: str = COLUMN
    tenor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a price list is laid out.

    Attributes
    ----------
    name : str
    recognised_by : frozenset of str
        Columns, in lower case, that tell it from other layouts.
    prices : tuple of PriceColumn
    per : str or None
        What a price is of: ``gpu`` or ``node``; None has to be stated.
    values : dict of str to str
        Fields that are the same in every row.
    kinds : dict of str to str or None
        Further words of its ``kind``.
    columns : dict of str to str
        Column by field, where another one than the field's own.
    """

    name: LayoutName
    recognised_by: frozenset[str] = frozenset()
    prices: tuple[PriceColumn, ...] = ()
    per: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str | None] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)


_USD = {"currency": "USD"}
LAYOUTS: dict[LayoutName, Layout] = {
    "gpu-pricing": Layout(
        name="gpu-pricing",
        recognised_by=frozenset({"collected_at", "provider", "gpu_model", "usd_gpu_hour"}),
        prices=(PriceColumn(column="usd_gpu_hour"),),
        per=GPU,
        values=_USD,
        # Its tiers mix what can be reclaimed with what cannot; its flag tells the two apart.
        columns={"kind": "is_spot"},
        kinds={"true": "spot", "false": "on_demand"},
    ),
    "gpu-rental-prices": Layout(
        name="gpu-rental-prices",
        recognised_by=frozenset({"provider", "gpu", "kind", "usd_gpu_hour", "first_day"}),
        prices=(PriceColumn(column="usd_gpu_hour"),),
        per=GPU,
        values=_USD,
    ),
    "capacity-blocks": Layout(
        name="capacity-blocks",
        recognised_by=frozenset({"instance_type", "accelerators", "usd_per_instance_hour"}),
        prices=(PriceColumn(column="usd_per_instance_hour", kind="burst_window"),),
        per=NODE,
        values={**_USD, "provider": "aws"},
        columns={"region": "region_code"},
    ),
    "aws-list": Layout(
        name="aws-list",
        recognised_by=frozenset({"instance_type", "region", "usd_hour_on_demand"}),
        prices=(
            PriceColumn(column="usd_hour_on_demand", kind="on_demand"),
            PriceColumn(
                column="usd_hour_ri_1y_standard_no_upfront", kind="reserved", tenor="1 years"
            ),
        ),
        per=NODE,
        values={**_USD, "provider": "aws"},
    ),
    "csv": Layout(name="csv", prices=(PriceColumn(column="price"),)),
}
"""The special ones first: the first that is recognised is taken."""


def recognise(header: Sequence[str]) -> Layout:
    """Return the layout that a header has."""
    known = {name.casefold() for name in header}
    return next(layout for layout in LAYOUTS.values() if layout.recognised_by <= known)


def read_price_columns(texts: Iterable[str]) -> tuple[PriceColumn, ...]:
    """Return columns of prices from ``COLUMN``, ``COLUMN=KIND`` and ``COLUMN=KIND:TENOR``.

    Raises
    ------
    UsageError
        When a kind is not known.
    """
    found = []
    for text in texts:
        column, sign, rest = text.partition("=")
        kind, _, tenor = rest.partition(":")
        known = KINDS.get(_word(kind)) if sign else COLUMN
        if known is None or not column.strip():
            raise UsageError(
                Problem(
                    code="GL-I051",
                    where="--price-column",
                    what=f"not a column of prices and its kind: {text!r}",
                    fix="write it as COLUMN=on_demand, or COLUMN=reserved:12 months",
                )
            )
        found.append(PriceColumn(column=column.strip(), kind=known, tenor=tenor.strip() or None))
    return tuple(found)


def kind_of(word: str, layout: Layout) -> str | None:
    """Return the kind of offer that a word of the list means.

    Raises
    ------
    KeyError
        When it means none that is known.
    """
    key = _word(word)
    return layout.kinds[key] if key in layout.kinds else KINDS[key]


def _word(text: str) -> str:
    return "_".join(text.casefold().replace("-", " ").replace("_", " ").split())

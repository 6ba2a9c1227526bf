"""Orders that were signed become held commitments; each is counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.economics import price_at
from gpuladder.program.limits import counts_for_ladder
from gpuladder.scenario.expand import term_of
from gpuladder.scenario.held import Due, HeldCommitment
from gpuladder.scenario.schema import DedicatedOffer, OwnedOffer
from gpuladder.sizing.owned import down_payment, loan_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from gpuladder.analysis.frame import Frame
    from gpuladder.plan import Order
    from gpuladder.scenario.expand import CommittedTerm
    from gpuladder.scenario.schema import LadderPolicy


def is_signed(frame: Frame, order: Order, to: date) -> bool:
    """Tell whether an order has to be signed before a date to start when it is planned to.

    What could still be signed on that date is left to the next decision.
    """
    return frame.tables.committed[order.offer].lead.after(to) > order.start


def name_of(order: Order) -> str:
    """Return the id that an order has as a held commitment."""
    return f"{order.offer} from {order.start}"


def held_from(frame: Frame, order: Order, to: date) -> HeldCommitment:
    """Return a signed order as a commitment held on a date.

    Of what is paid in lumps only what falls on the date or later is still due.
    """
    offer = frame.tables.committed[order.offer]
    tenor = term_of(offer)
    end = tenor.after(order.start)
    gpus = float(order.lots * offer.lot_gpus)
    is_owned = isinstance(offer, OwnedOffer)
    return HeldCommitment(
        id=name_of(order),
        pool=offer.pool,
        kind=getattr(offer, "kind"),  # noqa: B009 (each concrete class has it)
        gpus=gpus,
        start=order.start,
        end=end,
        price=(
            offer.opex_per_gpu_hour
            if isinstance(offer, OwnedOffer)
            else price_at(offer, order.start, frame.grid.start)
        ),
        tenor=tenor,
        renewable_as=offer.id,
        offer=offer.id,
        upfront=0.0 if is_owned else getattr(offer, "upfront", 0.0),
        dues=tuple(
            Due(on=on, amount=amount)
            for on, amount in _payments(offer, order, gpus)
            if on >= to and amount > 0
        ),
    )


def _payments(offer: CommittedTerm, order: Order, gpus: float) -> Iterator[tuple[date, float]]:
    """Yield all that an order makes payable beside the price of its hours, as signed."""
    if isinstance(offer, OwnedOffer):
        capex = gpus * offer.capex_per_gpu
        yield order.start, down_payment(offer, capex)
        loan = loan_of(offer, capex, order.start)
        for row in () if loan is None else loan.until(term_of(offer).after(order.start)):
            yield row.due, row.payment
    elif isinstance(offer, DedicatedOffer):
        yield order.start, offer.setup_cost


def kept(
    commitments: Iterable[HeldCommitment],
    to: date,
    window_begin: date | None,
    ladder: LadderPolicy | None,
) -> Iterator[HeldCommitment]:
    """Yield commitments that still count on a date, their payments up to it left out.

    One that has ended counts as long as the ladder's window in which it did is under way.

    Parameters
    ----------
    window_begin : date or None
        Begin of the ladder window under way; None without a ladder, or on a window's own begin.
    """
    for item in commitments:
        counts = ladder is not None and counts_for_ladder(item, ladder.min_tenor or ladder.window)
        if item.end > to or (counts and window_begin is not None and item.end > window_begin):
            dues = tuple(due for due in item.dues if due.on >= to)
            yield item if dues == item.dues else item.model_copy(update={"dues": dues})


def distinct(commitments: Iterable[HeldCommitment]) -> tuple[HeldCommitment, ...]:
    """Return commitments under different ids: a second of one name gets a number."""
    taken: set[str] = set()
    result = []
    for item in commitments:
        name, number = item.id, 1
        while name in taken:
            number += 1
            name = f"{item.id} ({number})"
        taken.add(name)
        result.append(item if name == item.id else item.model_copy(update={"id": name}))
    return tuple(result)

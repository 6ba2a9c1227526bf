"""Python's garbage collector, kept away while many objects that all stay alive are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MOST_UNSEEN = 500_000  # objects: about 100 MB, or half a large model
_unseen = 0


@contextmanager
def collector_off(*, tidy_first: bool = False) -> Iterator[None]:
    """Keep automatic garbage collection off, then restore it.

    It would look through hundreds of thousands of small objects again and again while they are
    made. What was made counts as long-lived afterwards, so that it is not looked through at once
    either. The collector does not know of it then and would never come by on its own; so with
    ``tidy_first``, once there is enough, all is looked through before more is made, and models that
    are no longer in use go. Where a process has frozen objects of its own, they stay so.
    """
    global _unseen  # noqa: PLW0603 (there is one collector per process)
    collecting = gc.isenabled()
    if tidy_first and collecting and _unseen > MOST_UNSEEN:
        gc.collect()
        _unseen = 0
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:
            _unseen += gc.get_count()[0]
            gc.freeze()  # into the permanent generation …
            gc.unfreeze()  # … and out of it into the oldest one
        if collecting:
            gc.enable()

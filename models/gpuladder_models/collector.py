"""Python's garbage collector, kept away while many objects that all stay alive are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_off() -> Iterator[None]:
    """Keep automatic garbage collection off, then restore it.

    It would look through hundreds of thousands of small objects again and again while they are
    made. What was made counts as long-lived afterwards, so that it is not looked through at once
    either; it can still be collected. Where a process has frozen objects of its own, they stay so.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:
            gc.freeze()  # into the permanent generation …
            gc.unfreeze()  # … and out of it into the oldest one
        if collecting:
            gc.enable()

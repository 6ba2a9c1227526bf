"""What Slurm writes into the columns of ``sacct``: lengths, GPUs, states, steps.

Sources: the manual of sacct (Elapsed is ``[DD-[HH:]]MM:SS``; job ids ``job``, ``array_task``,
``job+component``, steps ``job.step``; job state codes), and of slurm.conf, AccountingStorageTRES: a
job with typed GPUs is accounted under ``gres/gpu`` and under ``gres/gpu:type``, which are the same
GPUs.
"""

from __future__ import annotations

import re
from functools import lru_cache

_LENGTH = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)", re.ASCII)
_GPU = re.compile(r"gres/gpu(?::([^=,]+))?=(\d+)", re.ASCII | re.IGNORECASE)

NOT_STARTED = frozenset(("", "Unknown", "None", "None assigned", "N/A"))
"""What stands for the start of a job that has none."""
NO_END = frozenset(("Unknown", "None", "N/A"))
RUNNING = frozenset(("RUNNING", "SUSPENDED", "COMPLETING", "STOPPED", "SIGNALING", "STAGE_OUT"))
WAITING = frozenset(("PENDING", "CONFIGURING"))


@lru_cache(maxsize=65_536)
def length_seconds(text: str) -> float | None:
    """Return the seconds of ``[days-][hours:]minutes:seconds``; None when it is none.

    Examples
    --------
    >>> length_seconds("1-02:00:30")
    93630.0
    >>> length_seconds("05:30")
    330.0
    """
    match = _LENGTH.fullmatch(text)
    if match is None or (match[1] and not match[2]):
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    if seconds >= 60 or (match[2] and minutes >= 60) or (match[1] and hours >= 24):
        return None
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


@lru_cache(maxsize=65_536)
def tres_gpus(text: str) -> float | None:
    """Return the GPUs in a list of resources; None when its parts contradict each other.

    The total ``gres/gpu=N`` counts where it stands; typed GPUs are part of it. Only where it is
    missing are the types added up.

    Examples
    --------
    >>> tres_gpus("cpu=16,gres/gpu:h100=8,gres/gpu=8,node=1")
    8.0
    >>> tres_gpus("gres/gpu:a100=4,gres/gpu:h100=2")
    6.0
    >>> tres_gpus("cpu=4,mem=16G")
    0.0
    """
    total: int | None = None
    typed = 0
    for kind, number in _GPU.findall(text):
        if kind:
            typed += int(number)
        elif total is not None and total != int(number):
            return None
        else:
            total = int(number)
    if total is None:
        return float(typed)
    return None if typed > total else float(total)


@lru_cache(maxsize=4096)
def state_name(text: str) -> str:
    """Return a state without what follows it: ``CANCELLED by 1000`` is ``CANCELLED``."""
    words = text.split()
    return words[0].rstrip("+").upper() if words else ""

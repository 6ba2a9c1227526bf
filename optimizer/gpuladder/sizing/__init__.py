"""From what is trained to GPU-hours, memory, places, checkpoints and an invoice: pure formulas.

from gpuladder.sizing import Workload, machine_of, hardware, size

workload = Workload.model_validate({"run": {"params": 13e9, "tokens": 2e9}, "mfu": 0.4})
sheet = size(workload, [machine_of(hardware("h100"))])
sheet.gpu_hours  # 109.5...
"""

from gpuladder.sizing.catalogue import hardware, price
from gpuladder.sizing.machine import Machine, machine_of
from gpuladder.sizing.sheet import Interruptions, Sheet, size
from gpuladder.sizing.spec import Workload

__all__ = [
    "Interruptions",
    "Machine",
    "Sheet",
    "Workload",
    "hardware",
    "machine_of",
    "price",
    "size",
]

"""The independent auditor: whether a plan is feasible, and costs what it says.

Everything here is computed from the scenario and the plan alone, in plain code that shares nothing
with the program that found the plan.
"""

from gpuladder.audit.findings import LIMITS, AuditReport, Finding
from gpuladder.audit.report import audit

__all__ = ["LIMITS", "AuditReport", "Finding", "audit"]

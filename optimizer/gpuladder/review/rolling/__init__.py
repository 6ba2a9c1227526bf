"""Rolling: the scenario of the next decision, made from a plan; see ``roll``."""

from gpuladder.review.rolling.roll import roll

__all__ = ["roll"]

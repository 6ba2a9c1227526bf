"""What HiGHS proves of a linear program without a plan: a conflict, or a direction that pays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gpuladder.compiled import FloatArray, IntArray

# Sums of HighsIisStrategy: from the linear program, and no member can be spared. With HiGHS's own
# default a conflict of two rows came back empty.
_SMALLEST_CONFLICT = 2 | 4
_UPPER, _BOXED = 3, 4  # HighsIisBoundStatus: an upper bound is among the members


class Certificates:
    """The part of a loaded program that says why its linear program has no plan."""

    _highs: Any

    def conflict(self, seconds: float) -> tuple[IntArray, IntArray]:
        """Return a smallest set of members that cannot all hold, of an infeasible linear program.

        Parameters
        ----------
        seconds : float
            Time for making it smallest; what is left then is a conflict too.

        Returns
        -------
        rows : int32
            Positions of rows.
        columns : int32
            Positions of columns whose upper bound is a member. Both are empty where the program is
            feasible but for its integers: that is no proof that nothing is in the way.
        """
        self._highs.setOptionValue("iis_strategy", _SMALLEST_CONFLICT)
        self._highs.setOptionValue("iis_time_limit", seconds)
        _, found = self._highs.getIis()
        bounded = zip(found.col_index_, found.col_bound_, strict=True)
        columns = [column for column, bound in bounded if int(bound) in (_UPPER, _BOXED)]
        return np.array(found.row_index_, np.int32), np.array(columns, np.int32)

    def ray(self) -> FloatArray | None:
        """Return a direction, shape (num_columns,), in which an unbounded linear program pays."""
        self._highs.setOptionValue("presolve", "off")
        self._highs.run()
        self._highs.setOptionValue("presolve", "choose")
        _, has_ray, direction = self._highs.getPrimalRay()
        return np.array(direction, np.float64) if has_ray else None

"""Numbers so large or small that their differences over- or underflow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def power_of_two_scale(x: NDArray[Any]) -> float:
    """Return a power of two that brings extreme values to where no difference over- or underflows."""
    largest = max(abs(float(np.fmin.reduce(x))), abs(float(np.fmax.reduce(x))))
    if largest > 1e305:
        return 2.0**-10
    if 0.0 < largest < 1e-200:
        return 2.0**400
    return 1.0

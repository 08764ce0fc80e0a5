from collections.abc import Callable

import numpy as np
import numpy.typing as npt

_Float = npt.NDArray[np.float64]

def minimize(
    function: Callable[[_Float], tuple[float, _Float, _Float]],
    start: _Float,
    lower: _Float | None = None,
    slack: float = 0.0,
    tolerance: float = 1e-8,
    worst: float = ...,
    max_step: float = ...,
    rounding: float = 1e-15,
    max_calls: int = 1000,
) -> tuple[_Float, float, int, bool]: ...

import numpy as np
import numpy.typing as npt

_Reals = npt.NDArray[np.float32]
_Doubles = npt.NDArray[np.float64]

def standardised(x: _Reals, mean: _Reals, deviation: _Reals, farthest: float, n_threads: int) -> _Reals: ...
def probabilities(
    x: _Reals, indicators: npt.NDArray[np.int32], weights: _Doubles, n_threads: int
) -> _Doubles: ...
def gradient(
    x: _Reals, indicators: npt.NDArray[np.int32], rest: _Doubles, n_weights: int, n_threads: int
) -> _Doubles: ...

import numpy as np
import numpy.typing as npt

from aligner.models.places import Ramps

_Doubles = npt.NDArray[np.float64]
_Longs = npt.NDArray[np.int64]

def expected_distance(
    sizes: _Longs, starts: _Longs, weights: _Doubles, ramps: Ramps, direction: int
) -> tuple[float, float]: ...
def partition(I: int, J: int, ramps: Ramps, direction: int) -> _Doubles: ...

import numpy as np
import numpy.typing as npt

_Int32 = npt.NDArray[np.int32]

class Bigrams:
    V: int
    def __init__(self, ids: _Int32, offsets: npt.NDArray[np.int64], V: int) -> None: ...

def criterion(bigrams: Bigrams, classes: _Int32, C: int) -> float: ...
def exchange(
    bigrams: Bigrams, order: _Int32, classes: _Int32, C: int, temperature: float, seed: int
) -> tuple[int, float]: ...

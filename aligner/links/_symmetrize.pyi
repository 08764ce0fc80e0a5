from enum import IntEnum

import numpy as np
import numpy.typing as npt

_Positions = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]
_Scored = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float64]]

class Scan(IntEnum):
    ATOOLS = 0
    SYMAL = 1
    LILT = 2

def select(forward: _Positions, reverse: _Positions, wanted: int, by_tgt: bool, links: _Positions) -> int: ...
def grow(
    forward: _Positions,
    reverse: _Positions,
    scan: Scan,
    diagonal: bool,
    final: bool,
    both: bool,
    links: _Positions,
) -> int: ...
def blend(forward: _Scored, reverse: _Scored, product: bool, threshold: float, links: _Scored) -> int: ...

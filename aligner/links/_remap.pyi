from enum import IntEnum

import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]
_Int32 = npt.NDArray[np.int32]
_Links = tuple[_Int64, _Int32, _Int32, npt.NDArray[np.uint8] | None, npt.NDArray[np.float64] | None]
_Side = tuple[_Int64, _Int32, _Int32, _Int64, _Int32, _Int32]

class Merge(IntEnum):
    ANY = 0
    MAJORITY = 1
    MEAN = 2

def sizes(old_links: _Links, src_side: _Side, tgt_side: _Side) -> _Int64: ...
def remap(
    old_links: _Links, src_side: _Side, tgt_side: _Side, rule: Merge, n_threads: int
) -> tuple[_Int64, _Int32, _Int32, npt.NDArray[np.uint8], npt.NDArray[np.float64]]: ...

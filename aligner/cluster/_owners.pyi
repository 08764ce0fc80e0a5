import numpy as np
import numpy.typing as npt

_Int32 = npt.NDArray[np.int32]
_Int64 = npt.NDArray[np.int64]

def merge_rows(
    n_words: _Int64, src: _Int32, begins: _Int64, tgt: _Int32, rows: _Int64
) -> tuple[_Int32, _Int64]: ...
def add_rows(total: _Int64, places: _Int64, own: _Int64) -> None: ...

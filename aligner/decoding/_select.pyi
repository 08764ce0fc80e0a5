import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]
_Int32 = npt.NDArray[np.int32]

def above(
    src_offsets: _Int64,
    tgt_offsets: _Int64,
    cell_offsets: _Int64,
    scores: npt.NDArray[np.float32],
    threshold: float,
    n_threads: int,
) -> tuple[_Int64, _Int32, _Int32, npt.NDArray[np.float64]]: ...

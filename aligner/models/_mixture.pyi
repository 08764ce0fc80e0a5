import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]
_Int32 = npt.NDArray[np.int32]
_Float = npt.NDArray[np.float32]

def invert(
    src_ids: _Int32,
    src_offsets: _Int64,
    tgt_ids: _Int32,
    tgt_offsets: _Int64,
    cells: _Int32,
    cell_offsets: _Int64,
    rows: _Int64,
    t: _Float,
    null_fwd: _Float,
    null_rev: _Float,
    inv_fwd: _Float,
    inv_rev: _Float,
    loglik: npt.NDArray[np.float64],
    n_threads: int,
) -> None: ...
def count(
    src_offsets: _Int64,
    tgt_offsets: _Int64,
    cells: _Int32,
    cell_offsets: _Int64,
    rows: _Int64,
    order: _Int32,
    starts: _Int64,
    sentence: _Int32,
    blocks: _Int64,
    t: _Float,
    inv_fwd: _Float,
    inv_rev: _Float,
    agree: bool,
    counts: _Int64,
    n_threads: int,
) -> None: ...
def count_nulls(ids: _Int32, null: _Float, inverse: _Float, counts: _Int64) -> None: ...

import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]
_Int32 = npt.NDArray[np.int32]
_Float = npt.NDArray[np.float64]

def select(
    f_offsets: _Int64,
    f_src: _Int32,
    f_tgt: _Int32,
    r_offsets: _Int64,
    r_src: _Int32,
    r_tgt: _Int32,
    wanted: int,
    by_tgt: bool,
    offsets: _Int64,
    src: _Int32,
    tgt: _Int32,
) -> int: ...
def grow(
    f_offsets: _Int64,
    f_src: _Int32,
    f_tgt: _Int32,
    r_offsets: _Int64,
    r_src: _Int32,
    r_tgt: _Int32,
    symal: bool,
    diagonal: bool,
    final: bool,
    both: bool,
    offsets: _Int64,
    src: _Int32,
    tgt: _Int32,
) -> int: ...
def blend(
    f_offsets: _Int64,
    f_src: _Int32,
    f_tgt: _Int32,
    f_scores: _Float,
    r_offsets: _Int64,
    r_src: _Int32,
    r_tgt: _Int32,
    r_scores: _Float,
    product: bool,
    threshold: float,
    offsets: _Int64,
    src: _Int32,
    tgt: _Int32,
    scores: _Float,
) -> int: ...

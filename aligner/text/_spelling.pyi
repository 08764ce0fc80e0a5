import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]
_Letters = npt.NDArray[np.uint32]

MOST_LETTERS: int

def likeness(
    src: _Letters,
    src_offsets: _Int64,
    tgt: _Letters,
    tgt_offsets: _Int64,
    rows: _Int64,
    pairs: npt.NDArray[np.int32],
    n_threads: int,
) -> npt.NDArray[np.uint8]: ...
def common_letters(
    src: _Letters,
    src_offsets: _Int64,
    tgt: _Letters,
    tgt_offsets: _Int64,
    e: npt.NDArray[np.int32],
    f: npt.NDArray[np.int32],
    n_threads: int,
) -> npt.NDArray[np.int32]: ...

import numpy as np
import numpy.typing as npt

_Side = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], bytes, npt.NDArray[np.int64]]

def format_a3(
    offsets: npt.NDArray[np.int64],
    link_src: npt.NDArray[np.int32],
    link_tgt: npt.NDArray[np.int32],
    src: _Side,
    tgt: _Side,
    numbers: npt.NDArray[np.int64],
    scores: npt.NDArray[np.float64],
) -> tuple[int, int, bytearray]: ...

import numpy as np
import numpy.typing as npt

def match(
    offsets: npt.NDArray[np.int64],
    src: npt.NDArray[np.int32],
    tgt: npt.NDArray[np.int32],
    scores: npt.NDArray[np.float64],
    threshold: float,
    D: int,
    n_threads: int,
) -> npt.NDArray[np.uint8]: ...
def flow(
    offsets: npt.NDArray[np.int64],
    src: npt.NDArray[np.int32],
    tgt: npt.NDArray[np.int32],
    gains: npt.NDArray[np.float64],
    src_penalties: npt.NDArray[np.float64],
    tgt_penalties: npt.NDArray[np.float64],
    n_threads: int,
) -> npt.NDArray[np.uint8]: ...

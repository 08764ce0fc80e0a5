import numpy as np
import numpy.typing as npt

NAMES: tuple[str, ...]

def surroundings(
    offsets: npt.NDArray[np.int64],
    src: npt.NDArray[np.int32],
    tgt: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    n_threads: int,
) -> npt.NDArray[np.float32]: ...

import numpy as np
import numpy.typing as npt

def project(
    sets: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    members: npt.NDArray[np.int64],
    signs: npt.NDArray[np.int8],
    bounds: npt.NDArray[np.float64],
    z: npt.NDArray[np.float64],
    changes: npt.NDArray[np.float64],
    tolerance: float,
    most_sweeps: int,
    n_threads: int,
) -> float: ...

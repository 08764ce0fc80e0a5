import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]

def add_rows(total: _Int64, places: _Int64, own: _Int64) -> None: ...

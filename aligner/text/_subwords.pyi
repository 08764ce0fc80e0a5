import numpy as np
import numpy.typing as npt

_Int32 = npt.NDArray[np.int32]
_Tokens = tuple[_Int32, npt.NDArray[np.int64], bytes, npt.NDArray[np.int64], npt.NDArray[np.int8]]

def match(
    a: _Tokens,
    b: _Tokens,
    matched: npt.NDArray[np.uint8],
    a_first: _Int32,
    a_stop: _Int32,
    b_first: _Int32,
    b_stop: _Int32,
    n_threads: int,
) -> None: ...

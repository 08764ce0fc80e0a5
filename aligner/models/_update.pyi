import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]
_Int32 = npt.NDArray[np.int32]
_Float = npt.NDArray[np.float32]

FEW: int

def digamma(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]: ...
def maximum_likelihood(
    rows: _Int64,
    tgt: _Int32,
    n_tgt_words: int,
    counts: _Int64,
    rest_src: _Int64,
    rest_tgt: _Int64,
    t: _Float,
    n_threads: int = 1,
) -> None: ...
def of_occurrences(
    rows: _Int64,
    tgt: _Int32,
    counts: _Int64,
    least_fwd: float,
    least_rev: float,
    alike: npt.NDArray[np.uint8],
    weight: npt.NDArray[np.float64],
    many_src: _Float,
    many_tgt: _Float,
    t: _Float,
    n_threads: int = 1,
) -> npt.NDArray[np.uint8]: ...
def column_sums(tgt: _Int32, counts: _Int64, n_tgt_words: int) -> tuple[_Int64, _Int64]: ...
def widths_of(tgt: _Int32, n_tgt_words: int, n_threads: int) -> _Int64: ...
def set_even(
    rows: _Int64, tgt: _Int32, share_src: _Float, share_tgt: _Float, t: _Float, n_threads: int
) -> None: ...
def clear(counts: _Int64, n_threads: int) -> None: ...
def variational_bayes(
    rows: _Int64,
    tgt: _Int32,
    counts: _Int64,
    totals: _Int64,
    widths: _Int64,
    alpha: float,
    t: _Float,
    n_threads: int,
) -> tuple[float, npt.NDArray[np.float64]]: ...
def variational_bayes_row(counts: _Int64, alpha: float, row: _Float) -> float: ...

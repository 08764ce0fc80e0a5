import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]
_Int32 = npt.NDArray[np.int32]

def number_pairs(
    src_ids: _Int32,
    src_offsets: _Int64,
    tgt_ids: _Int32,
    tgt_offsets: _Int64,
    n_blocks: int,
    n_tgt_words: int,
    rows: _Int64,
    n_threads: int,
) -> _Int32: ...
def find_cells(
    src_ids: _Int32,
    src_offsets: _Int64,
    tgt_ids: _Int32,
    tgt_offsets: _Int64,
    cell_offsets: _Int64,
    rows: _Int64,
    pair_tgt: _Int32,
    cells: _Int32,
    n_threads: int,
) -> None: ...

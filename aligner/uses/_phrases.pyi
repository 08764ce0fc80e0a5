from enum import IntEnum

import numpy as np
import numpy.typing as npt

_Side = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], bytes, npt.NDArray[np.int64]]

class Turn(IntEnum):
    MONO = 0
    SWAP = 1
    DLEFT = 2
    DRIGHT = 3
    OTHER = 4

class Model(IntEnum):
    WORD = 0
    PHRASE = 1
    HIER = 2

class Kind(IntEnum):
    MSD = 0
    MSLR = 1
    MONOTONE = 2

class Part(IntEnum):
    PAIR = 0
    INVERSE = 1
    BESIDE = 2

def extract(
    src_offsets: npt.NDArray[np.int64],
    tgt_offsets: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    src: npt.NDArray[np.int32],
    tgt: npt.NDArray[np.int32],
    max_length: int,
    models: list[tuple[Model, Kind]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.uint8]]: ...
def format_pairs(
    src_side: _Side,
    tgt_side: _Side,
    offsets: npt.NDArray[np.int64],
    src: npt.NDArray[np.int32],
    tgt: npt.NDArray[np.int32],
    pair_offsets: npt.NDArray[np.int64],
    spans: npt.NDArray[np.int32],
    codes: npt.NDArray[np.uint8],
    names: list[bytes],
    between: list[bytes],
    part: int,
) -> bytes: ...

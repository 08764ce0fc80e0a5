from enum import IntEnum

import numpy as np
import numpy.typing as npt

_Links = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]
_Side = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], bytes, npt.NDArray[np.int64]]

class Status(IntEnum):
    OK = 0
    NO_HEADER = 101
    BAD_NUMBER = 102
    FEW_WORDS = 103
    MANY_WORDS = 104
    NO_NULL = 105
    NO_OPENING = 106
    NO_POSITION = 107
    OUTSIDE = 108
    OTHER_WORD = 109
    OTHER_LENGTH = 110
    NO_COUNT = 111
    NO_LENGTH = 112
    NO_SIGN = 113
    BAD_POSITION = 114
    CUT_OFF = 115

def parse_a3(
    text: bytes,
    first_number: int,
    src: _Side | None,
    tgt: _Side | None,
    offsets: npt.NDArray[np.int64],
    out_src: npt.NDArray[np.int32],
    out_tgt: npt.NDArray[np.int32],
) -> tuple[int, int, int, int]: ...
def parse_bal(
    text: bytes, src: _Side | None, tgt: _Side | None, forward: _Links, reverse: _Links
) -> tuple[int, int, int, int, int, list[int]]: ...

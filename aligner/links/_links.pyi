from enum import IntEnum

import numpy as np
import numpy.typing as npt

class Status(IntEnum):
    OK = 0
    NO_NUMBER = 1
    NO_SEPARATOR = 2
    TOO_LARGE = 3
    TRAILING = 4
    BELOW_BASE = 5
    NO_SCORE = 6
    BAD_SCORE = 7
    NO_ID = 8
    BAD_ID = 9
    BAD_COLUMNS = 10
    BARS = 11
    NO_ROOM = 12
    SENTENCE_ZERO = 13

def parse_links(
    text: bytes,
    possible: int,
    scored: int,
    numbered: bool,
    first_number: int,
    base: int,
    offsets: npt.NDArray[np.int64],
    src: npt.NDArray[np.int32],
    tgt: npt.NDArray[np.int32],
    sure: npt.NDArray[np.uint8],
    scores: npt.NDArray[np.float64],
) -> tuple[int, int, int, int]: ...
def parse_wpt(
    text: bytes,
    sentences: npt.NDArray[np.int64],
    src: npt.NDArray[np.int32],
    tgt: npt.NDArray[np.int32],
    sure: npt.NDArray[np.uint8],
    scores: npt.NDArray[np.float64],
) -> tuple[int, int, int, int]: ...
def format_links(
    offsets: npt.NDArray[np.int64],
    src: npt.NDArray[np.int32],
    tgt: npt.NDArray[np.int32],
    sure: npt.NDArray[np.uint8] | None,
    scores: npt.NDArray[np.float64] | None,
    possible: int,
    scored: int,
    numbered: bool,
    first_number: int,
    base: int,
    wpt: bool,
) -> bytearray: ...

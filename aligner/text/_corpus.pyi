from enum import IntEnum

import numpy as np
import numpy.typing as npt

class Status(IntEnum):
    OK = 0
    NO_SEPARATOR = 1
    TWO_SEPARATORS = 2
    NOT_WRAPPED = 3
    TOO_MANY_WORDS = 4
    NO_ROOM = 5

class Interner:
    def __len__(self) -> int: ...
    def words(self) -> tuple[bytes, npt.NDArray[np.int64]]: ...

def is_wrapped(line: bytes) -> bool: ...
def end_of_line(text: bytes, start: int, n: int) -> int: ...
def index_lines(
    text: bytes,
    words: Interner,
    ids: npt.NDArray[np.int32],
    lengths: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64] | None,
) -> tuple[int, int, int]: ...
def index_pairs(
    text: bytes,
    tab: bool,
    first: bool,
    src: Interner,
    tgt: Interner,
    src_ids: npt.NDArray[np.int32],
    tgt_ids: npt.NDArray[np.int32],
    src_lengths: npt.NDArray[np.int64],
    tgt_lengths: npt.NDArray[np.int64],
) -> tuple[int, int, int, int]: ...
def find_words(
    text: bytes | npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], sought: list[bytes]
) -> npt.NDArray[np.int32]: ...
def relabel(
    new: npt.NDArray[np.int32],
    ids: npt.NDArray[np.int32],
    out: npt.NDArray[np.int32],
    n_threads: int = 1,
) -> None: ...
def hash_sentences(
    text: bytes,
    words: npt.NDArray[np.int64],
    ids: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    n_threads: int = 1,
) -> npt.NDArray[np.uint64]: ...

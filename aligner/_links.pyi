import numpy as np
import numpy.typing as npt

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

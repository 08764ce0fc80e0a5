import numpy as np
import numpy.typing as npt

class Scorer:
    def __init__(
        self,
        src_words: list[tuple[bytes, int]],
        tgt_words: list[tuple[bytes, int]],
        starts: npt.NDArray[np.int64],
        f: npt.NDArray[np.int32],
        p: npt.NDArray[np.float64],
    ) -> None: ...
    def add(self, text: bytes) -> bytes: ...
    def end(self) -> bytes: ...

class Consolidator:
    def add(self, text: bytes) -> bytes: ...
    def end(self) -> bytes: ...

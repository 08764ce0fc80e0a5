from typing import Any

import numpy as np
import numpy.typing as npt

def tables(
    shard: Any,
    lexicon: Any,
    own: Any,
    offsets: npt.NDArray[np.int64],
    src: npt.NDArray[np.int32],
    tgt: npt.NDArray[np.int32],
    n_threads: int,
) -> npt.NDArray[np.float32]: ...

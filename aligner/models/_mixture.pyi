import numpy as np
import numpy.typing as npt

from aligner.models.counts import Counts
from aligner.models.lexicon import Lexicon
from aligner.models.places import Places
from aligner.text.cells import Shard

_Float = npt.NDArray[np.float32]

def expect(
    shard: Shard,
    lexicon: Lexicon,
    places: Places | None,
    agree: bool,
    counts: Counts,
    statistics: npt.NDArray[np.float64],
    n_threads: int,
) -> None: ...
def posteriors(
    shard: Shard,
    lexicon: Lexicon,
    places: Places | None,
    best: bool,
    share: float,
    fwd: _Float,
    rev: _Float,
    costs: npt.NDArray[np.float64] | None,
    n_threads: int,
) -> None: ...

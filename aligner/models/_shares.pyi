import numpy as np
import numpy.typing as npt

from aligner.models.counts import Counts
from aligner.models.lexicon import Lexicon
from aligner.text.cells import Shard

_Int64 = npt.NDArray[np.int64]
_Entries = npt.NDArray[np.uint32]

def gather(offsets: _Int64, entries: _Entries, order: _Int64, n_threads: int) -> tuple[_Int64, _Entries]: ...
def count(
    shard: Shard, lexicon: Lexicon, offsets: _Int64, entries: _Entries, counts: Counts, n_threads: int
) -> None: ...

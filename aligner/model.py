"""What a model knows: translation tables of both directions over the word pairs of its corpus, and jumps.

A Model is one or more views, each trained by itself: the same model of what each view sees of a word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner.corpus import Vocab

Reals = npt.NDArray[np.float32]


@dataclass
class Parameters:
    """The parameters of one view. Source words are e, target words f; P word pairs, sorted by e, then f.

    rows      [V_src + 1]    pairs of source word e are those from rows[e] to rows[e + 1]
    tgt       [P]            pair -> f
    t         [P, 2]         pair -> t(f | e), t(e | f)
    null_fwd  [V_tgt]        f -> t(f | NULL)
    null_rev  [V_src]        e -> t(e | NULL)
    jump      [2, 2 W + 3]   forward and reverse: left of -W, distances -W ... W, right of W
    first     [2, W + 1]     the first position: 0 ... W - 1, and beyond
    p0        the probability of NULL
    """

    rows: npt.NDArray[np.int64]
    tgt: npt.NDArray[np.int32]
    t: Reals
    null_fwd: Reals
    null_rev: Reals
    jump: npt.NDArray[np.float64]
    first: npt.NDArray[np.float64]
    p0: float


@dataclass
class View:
    """What one set of parameters sees of the text: its own vocabularies."""

    name: str
    src: Vocab
    tgt: Vocab
    parameters: Parameters


@dataclass
class Model:
    """All that is needed to align text as it was aligned in training.

    settings  what it was trained on and how, as in the command line
    history   a dict for each iteration: model, objective, seconds, ...
    """

    views: list[View]
    settings: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)

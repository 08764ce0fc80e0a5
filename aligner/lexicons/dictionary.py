"""Dictionaries that users have: a line is a source word and a translation, with a tab or blanks between.

A third column, if there is one, says how often the pair counts; else it counts once. Entries of several words
are left out, and told: with tabs between columns, blanks are inside of entries. Empty lines and lines that
begin with # are nothing.
"""

from __future__ import annotations

import logging
import math
import re

import numpy as np

from aligner.errors import DataError
from aligner.files import display_name
from aligner.links.priors import Priors, Table
from aligner.text.reading import read_lines
from aligner.text.sides import Vocab

logger = logging.getLogger(__name__)

MOST = 10**9  # a pair may count; training adds no more
HINT = "a line is a source word, a target word and perhaps a number, with tabs or blanks between"


def read_dictionary(path: str, *, lowercase: bool, encoding: str = "utf-8") -> Priors:
    """The word pairs of a file, "-" for stdin, as pseudo-counts. The file may be compressed."""
    file = display_name(path)
    src: dict[str, int] = {}
    tgt: dict[str, int] = {}
    a, b, counts, n_long = [], [], [], 0
    for n, line in enumerate(read_lines(path, encoding), 1):
        line = line.strip(" \t\r\n")
        if not line or line.startswith("#"):
            continue
        # A no-break space is no blank: `--split ascii` has it inside of words.
        columns = [column.strip(" ") for column in line.split("\t")] if "\t" in line else re.split(" +", line)
        if not 2 <= len(columns) <= 3 or not all(columns):
            raise DataError("not an entry of a dictionary", file=file, line=n, hint=HINT)
        count = _count_of(columns[2], file, n) if len(columns) == 3 else 1.0
        if any(" " in column for column in columns[:2]):
            n_long += 1
            continue
        e, f = (column.lower() if lowercase else column for column in columns[:2])
        a.append(src.setdefault(e, len(src)))
        b.append(tgt.setdefault(f, len(tgt)))
        counts.append(count)
    if not a:
        raise DataError("the dictionary has no pair of single words", file=file, hint=HINT)
    if n_long:
        logger.warning("%s: %d entries of several words are left out", file, n_long)
    pairs = Table(np.array(a, np.int64), np.array(b, np.int64), np.array(counts, np.float64))
    nothing = Table(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return Priors(Vocab.of(src), Vocab.of(tgt), pairs, (nothing, nothing), ({}, {}))


def _count_of(column: str, file: str, n: int) -> float:
    try:
        count = float(column)
    except ValueError:
        count = math.nan
    if not 0 < count <= MOST:
        what = f"{column[:40]!r} is not a number above 0, at most {MOST}"
        raise DataError(what, file=file, line=n, hint=HINT)
    return count

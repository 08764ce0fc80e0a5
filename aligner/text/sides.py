"""One side of a text as ids: an int32 array of tokens, cut into sentences by int64 offsets, and its words."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from aligner import store
from aligner.text import _corpus


@dataclass(frozen=True, eq=False, repr=False)
class Vocab:
    """The words of one side in the order of their ids.

    text     all words in UTF-8, one after another
    offsets  [n_words + 1]  word id -> where it begins in text
    """

    text: bytes
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Vocab({len(self)} words)"

    @staticmethod
    def of(words: Iterable[str]) -> Vocab:
        """Words, which are all different, with ids in their order."""
        encoded = [word.encode() for word in words]
        return Vocab(b"".join(encoded), np.cumsum([0, *map(len, encoded)], dtype=np.int64))

    @staticmethod
    def restored(name: str, text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> Vocab:
        """The words of a file. Refuses, by a ValueError, words that are empty, not UTF-8, or have blanks.

        name: of the side, for messages
        """
        store.check_rising(f"{name}.offsets", offsets, len(text), strictly=True)
        words = text.tobytes()
        try:
            words.decode()
        except UnicodeDecodeError:
            raise ValueError(f"{name}.text is not UTF-8") from None
        starts = text[offsets[:-1]]
        if ((starts & 0xC0) == 0x80).any() or any(blank in words for blank in (b" ", b"\t", b"\n")):
            raise ValueError(f"{name}.text is not cut into words")
        return Vocab(words, offsets)

    def encoded(self) -> list[bytes]:
        """word id -> word in UTF-8, or as the bytes that it was read as"""
        return [self.text[a:b] for a, b in itertools.pairwise(self.offsets.tolist())]

    @cached_property
    def words(self) -> list[str]:
        """word id -> word"""
        return [word.decode() for word in self.encoded()]

    def select(self, ids: npt.NDArray[np.int32] | npt.NDArray[np.int64]) -> Vocab:
        """Some of the words. ids: of words that are all different, in the order of their new ids"""
        begin, end = self.offsets[ids], self.offsets[ids + 1]
        text = b"".join(self.text[a:b] for a, b in zip(begin.tolist(), end.tolist(), strict=True))
        return Vocab(text, np.concatenate([np.zeros(1, np.int64), np.cumsum(end - begin)]))

    def find(self, words: Iterable[str]) -> npt.NDArray[np.int32]:
        """The id of each word, -1 for a word that is not there."""
        return _corpus.find_words(self.text, self.offsets, [word.encode() for word in words])


@dataclass(frozen=True, eq=False, repr=False)
class Side:
    """One language of a corpus.

    ids      [n_tokens]  token -> word id
    offsets  [S + 1]     sentence n is ids[offsets[n]:offsets[n + 1]]
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    vocab: Vocab

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Side({len(self)} sentences, {len(self.ids)} tokens, {len(self.vocab)} words)"

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """[S] sentence -> number of its tokens"""
        return np.diff(self.offsets)

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """[n_words] word id -> number of its tokens"""
        return np.bincount(self.ids, minlength=len(self.vocab))

    def tokens(self, start: int, stop: int, n_threads: int = 1) -> npt.NDArray[np.int32]:
        """The word ids of the sentences start to stop, or to the last one."""
        offsets = self.offsets[start : stop + 1]
        return self.ids[offsets[0] : offsets[-1]]

    def part(self, start: int, stop: int) -> Side:
        """Sentences start to stop."""
        offsets = self.offsets[start : stop + 1]
        return Side(self.tokens(start, stop), offsets - offsets[0], self.vocab)

    def select(self, keep: npt.NDArray[np.bool_]) -> Side:
        """The sentences to keep. The vocabulary stays as it is."""
        offsets = np.concatenate([[0], np.cumsum(self.lengths[keep])])
        return Side(self.ids[np.repeat(keep, self.lengths)], offsets, self.vocab)

    def compact(self) -> Side:
        """The same sentences. Only words that occur have ids, in the order of their first tokens."""
        found, first, ids = np.unique(self.ids, return_index=True, return_inverse=True)
        order = np.argsort(first)
        new = np.empty(len(found), dtype=np.int32)
        new[order] = np.arange(len(found), dtype=np.int32)
        return Side(new[ids], self.offsets, self.vocab.select(found[order]))

    def sentence(self, n: int) -> list[str]:
        """The tokens of sentence n."""
        words = self.vocab.words
        return [words[k] for k in self.tokens(n, n + 1)]


class Relabelled(Side):
    """A side with other words in place of its own. Its ids are made when they are asked for, not kept.

    side  the side with its own words
    new   [n_words]  word id of side -> word id here; -1 for a word that is not in the vocabulary
    """

    side: Side
    new: npt.NDArray[np.int32]

    def __init__(self, side: Side, new: npt.NDArray[np.int32], vocab: Vocab) -> None:
        vars(self).update(side=side, new=new, offsets=side.offsets, vocab=vocab)

    @property
    def ids(self) -> npt.NDArray[np.int32]:
        return self._of(self.side.ids)

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        known = self.new >= 0
        total = np.bincount(self.new[known], self.side.counts[known], minlength=len(self.vocab))
        return total.astype(np.int64)

    def tokens(self, start: int, stop: int, n_threads: int = 1) -> npt.NDArray[np.int32]:
        return self._of(self.side.tokens(start, stop), n_threads)

    def select(self, keep: npt.NDArray[np.bool_]) -> Side:
        return Relabelled(self.side.select(keep), self.new, self.vocab)

    def held(self) -> Side:
        """The same side with ids that are kept."""
        return Side(self.ids, self.offsets, self.vocab)

    def _of(self, ids: npt.NDArray[np.int32], n_threads: int = 1) -> npt.NDArray[np.int32]:
        found = np.empty(len(ids), dtype=np.int32)
        _corpus.relabel(self.new, ids, found, n_threads)
        return found


def relabelled(side: Side, see: Callable[[str], str]) -> Relabelled:
    """The same side with see(word), which is not empty, for each word. Words that become equal get one id."""
    vocab, new = renamed(side.vocab, see)
    return Relabelled(side, new, vocab)


def renamed(vocab: Vocab, see: Callable[[str], str]) -> tuple[Vocab, npt.NDArray[np.int32]]:
    """(the different see(word) in the order of the words; [n_words] word id -> id of see(word))"""
    interner = _corpus.Interner()
    text = " ".join(map(see, vocab.words)).encode() + b" \n"
    new = np.empty(len(text), dtype=np.int32)
    _, _, n = _corpus.index_lines(text, interner, new, np.empty(1, dtype=np.int64), None)
    return Vocab(*interner.words()), new[:n].copy()


class Builder:
    """A side while it is read. Its arrays grow in place, so that the peak of memory is the result."""

    def __init__(self) -> None:
        self.words = _corpus.Interner()
        self.ids = np.empty(0, dtype=np.int32)
        self.lengths = np.empty(0, dtype=np.int64)
        self.numbers: list[npt.NDArray[np.int64]] = []  # the sentence numbers of Hansards lines, a block each
        self.n_tokens = self.n_lines = 0

    def room(self, n_tokens: int, n_lines: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The arrays that the next block's ids and lengths may be written to."""
        for name, used, more in (("ids", self.n_tokens, n_tokens), ("lengths", self.n_lines, n_lines)):
            array = getattr(self, name)
            if used + more > len(array):
                array.resize(max(used + more, len(array) * 5 // 4), refcheck=False)
        return self.ids[self.n_tokens :], self.lengths[self.n_lines :]

    def add(self, text: bytes, n_lines: int, numbers: npt.NDArray[np.int64] | None = None) -> tuple[int, int]:
        """Adds whole lines. Returns the kernel's status, and the line that it is of.

        numbers: [n_lines] filled with the sentence numbers of Hansards lines; None: lines are plain
        """
        ids, lengths = self.room(len(text) // 2 + 1, n_lines)
        status, line, n_tokens = _corpus.index_lines(text, self.words, ids, lengths, numbers)
        self.n_tokens += n_tokens
        self.n_lines += n_lines
        return status, line

    def side(self, lowercase: bool) -> Side:
        """The side that was read. Its arrays can no longer be written to."""
        self.ids.resize(self.n_tokens, refcheck=False)
        offsets = np.zeros(self.n_lines + 1, dtype=np.int64)
        np.cumsum(self.lengths[: self.n_lines], out=offsets[1:])
        side = Side(self.ids, offsets, Vocab(*self.words.words()))
        if lowercase:
            lowered = relabelled(side, str.lower)
            _corpus.relabel(lowered.new, self.ids, self.ids)  # in place: the text is held once
            side = Side(self.ids, offsets, lowered.vocab)
        for array in (side.ids, side.offsets, side.vocab.offsets):
            array.flags.writeable = False
        return side


def ranks(words: Sequence[str]) -> npt.NDArray[np.int64]:
    """[n_words] word id -> its place among the words when they are sorted by their characters' codes"""
    places = np.empty(len(words), dtype=np.int64)
    places[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
    return places

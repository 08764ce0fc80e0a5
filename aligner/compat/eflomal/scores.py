"""eflomal's sentence scores, of links that any model found.

A score is the mean over the generated words f_j of
    - log max_i  t(f_j | e_i) * jump(a_- -> i) * jump(i -> a_+) * fertility(e_i)
where a_- and a_+ are the positions that the linked words before and after f_j are linked with. Lower is
better. t and jump are shares of the links, without the link of f_j itself, with a little added to every
count. fertility is how much likelier one more link makes e_i: the ratio of two shares, which may be above 1.
So a score may be below 0. Model 1 has t alone, model 2 has no fertility.

eflomal draws fertilities at random; here the logarithm of the ratio is the mean of what would be drawn. A
sentence pair with an empty side scores 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aligner.links.links import Links
from aligner.links.priors import NULL, Priors
from aligner.text.cells import Seen, Shard, in_shards
from aligner.text.corpus import Corpus
from aligner.text.sides import Vocab

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

ADDED = 0.001  # to the count of every word pair
ADDED_JUMP = 0.5  # to the count of every jump
ADDED_FERTILITY = 0.5  # to the count of every fertility
JUMPS = 2048  # jumps that are told apart; -1024 and those before it are one
CENTRE = JUMPS // 2  # where a jump of 0 is counted
LIKELY_JUMPS = 100.0  # for so many jumps ADDED_JUMP is in the sum
FERTILITIES = 8  # that are told apart; 7 and more are one
FULL = 1e-10  # the ratio of fertility 7


def sentence_scores(
    text: Corpus,
    links: Links,
    model: int,
    n_threads: int,
    priors: Priors | None = None,
) -> Doubles:
    """[S] the scores of sentence pairs whose target is generated. links: at most one a target word

    model   1, 2 or 3: what a score is made of
    priors  pseudo-counts beside those of the links, of what the text has of words
    """
    text = text.bounded()
    seen = Seen.of_own_words(text, "word", n_threads)
    counts = _Counts(text, links, seen, model)
    if priors is not None:
        counts.add(priors)
    scores = np.zeros(len(text))
    for start, stop, (shard,) in in_shards([seen], n_threads, scored=True):
        scores[start:stop] = counts.scores(shard, start, stop)
    return scores


class _Counts:
    """What links say, and what priors add: how often words are linked, how far links jump, fertilities.

    aligned      [n_tgt_tokens]    token -> its source position; -1: it has no link
    fertility    [n_src_tokens]    token -> how many links it has
    pairs        [P]               word pair -> its links
    words        [V_src]           source word -> its links
    jumps        [JUMPS]           jump -> its links
    fertilities  [V_src * FERTILITIES]  source word, n -> how many of its tokens have n links
    """

    def __init__(self, text: Corpus, links: Links, seen: Seen, model: int) -> None:
        self.text, self.seen, self.model = text, seen, model
        src, tgt = text.src, text.tgt
        at = links.sentences
        src_tokens, tgt_tokens = src.offsets[at] + links.src, tgt.offsets[at] + links.tgt
        self.aligned = np.full(len(tgt.ids), -1)
        self.aligned[tgt_tokens] = links.src
        self.fertility = np.bincount(src_tokens, minlength=len(src.ids))
        self.before, self.after = self._neighbours()
        self.pairs = np.bincount(
            self._numbers(src.ids[src_tokens], tgt.ids[tgt_tokens])[0], minlength=len(seen.tgt)
        ).astype(np.float64)
        self.words = np.bincount(src.ids[src_tokens], minlength=len(src.vocab)).astype(np.float64)
        self.jumps = self._count_jumps()
        places = src.ids.astype(np.int64) * FERTILITIES + np.minimum(self.fertility, FERTILITIES - 1)
        places = places[np.repeat(tgt.lengths > 0, src.lengths)]
        self.fertilities = np.bincount(places, minlength=len(src.vocab) * FERTILITIES).astype(np.float64)

    def _numbers(self, src: npt.NDArray[np.int32], tgt: npt.NDArray[np.int32]) -> tuple[Longs, Longs]:
        """(word pair, which of the words given) for each pair of words that occurs in the text."""
        V = len(self.text.tgt.vocab)
        rows = np.repeat(np.arange(len(self.text.src.vocab)), np.diff(self.seen.rows))
        keys = rows * V + self.seen.tgt
        wanted = src.astype(np.int64) * V + tgt
        places = np.searchsorted(keys, wanted)
        found = np.flatnonzero(keys[np.minimum(places, len(keys) - 1)] == wanted) if len(keys) else places[:0]
        return places[found], found

    def _neighbours(self) -> tuple[Longs, Longs]:
        """[n_tgt_tokens] where the linked words before and after a token are linked.

        Before the first is -1, after the last is the source's length.
        """
        tgt, lengths = self.text.tgt, self.text.src.lengths
        first = np.repeat(tgt.offsets[:-1], tgt.lengths)
        stop = np.repeat(tgt.offsets[1:], tgt.lengths)
        tokens = np.arange(len(tgt.ids))
        linked = self.aligned >= 0
        last = np.maximum.accumulate(np.where(linked, tokens, -1))  # the last linked token up to here
        last = np.concatenate([[-1], last[:-1]])[: len(tokens)]
        following = np.minimum.accumulate(np.where(linked, tokens, len(tokens))[::-1])[::-1]
        following = np.concatenate([following[1:], [len(tokens)]])[: len(tokens)]
        padded = np.append(self.aligned, -1)
        before = np.where(last >= first, padded[last], -1)
        after = np.where(following < stop, padded[following], np.repeat(lengths, tgt.lengths))
        return before, after

    def _count_jumps(self) -> Doubles:
        """Jumps to each linked word from the one before, and from the last one to the sentence's end."""
        linked = np.flatnonzero(self.aligned >= 0)
        into = self.aligned[linked] - self.before[linked]
        ends = linked[self._is_last(linked)]
        out = self.after[ends] - self.aligned[ends]
        return np.bincount(_place(np.concatenate([into, out])), minlength=JUMPS).astype(np.float64)

    def _is_last(self, linked: Longs) -> npt.NDArray[np.bool_]:
        """Whether linked tokens are the last of their sentences."""
        sentence = np.repeat(np.arange(len(self.text)), self.text.tgt.lengths)[linked]
        return np.append(sentence[1:] != sentence[:-1], True)[: len(linked)]

    def add(self, priors: Priors) -> None:
        """Adds the pseudo-counts of words that the text has. Those of NULL have no place in scores."""
        src = _found(self.text.src.vocab, priors.src)
        tgt = _found(self.text.tgt.vocab, priors.tgt)
        a, b, counts = src[priors.pairs.a], tgt[priors.pairs.b], priors.pairs.counts
        known = (a >= 0) & (b >= 0)
        a, b, counts = a[known], b[known], counts[known]
        self.words += np.bincount(a, counts, len(self.words))
        places, which = self._numbers(a, b)
        self.pairs += np.bincount(places, counts[which], len(self.pairs))
        for jump, count in priors.jumps[0].items():
            self.jumps[_place(np.array(jump))] += count
        words, numbers, counts = priors.fertilities[0]
        words = src[words].astype(np.int64)
        places = words * FERTILITIES + np.clip(numbers, 0, FERTILITIES - 1)
        known = words >= 0
        self.fertilities += np.bincount(places[known], counts[known], len(self.fertilities))

    def scores(self, shard: Shard, start: int, stop: int) -> Doubles:
        """The scores of the sentence pairs start to stop. The cells stand target word by target word."""
        I, J = np.diff(shard.src_offsets), np.diff(shard.tgt_offsets)
        tokens = np.repeat(np.arange(shard.tgt_offsets[0], shard.tgt_offsets[-1]), np.repeat(I, J))
        if not len(tokens):
            return np.full(stop - start, -0.0)  # as the sums below
        sentence = np.repeat(np.arange(stop - start), I * J)
        within = np.arange(len(tokens)) - (shard.cell_offsets[:-1] - shard.cell_offsets[0])[sentence]
        i, j = within % I[sentence], within // I[sentence]
        cells = shard.cells[shard.cell_offsets[sentence] + i * J[sentence] + j]
        src_tokens = shard.src_offsets[sentence] + i
        e = shard.src_ids[src_tokens]
        own = self.aligned[tokens] == i  # this is the link of the word: it does not count
        old = self.aligned[tokens]
        same = (old >= 0) & (shard.src_ids[shard.src_offsets[sentence] + np.maximum(old, 0)] == e)
        V = len(self.text.tgt.vocab) + 1
        result = np.log(self.pairs[self.seen.rows[e] + cells] - same + ADDED)
        result -= np.log(self.words[e] - same + ADDED * V)
        if self.model >= 2:
            result += self._log_jumps(tokens, old, i)
        if self.model >= 3:
            number = np.minimum(self.fertility[src_tokens] - own + 1, FERTILITIES - 1)
            result += self._log_ratios[e * FERTILITIES + number]
        words = np.flatnonzero(np.diff(tokens, prepend=-1))
        best = np.maximum.reduceat(result, words)
        sums = np.bincount(sentence[words], best, stop - start)
        return -sums / np.maximum(J, 1)

    def _log_jumps(self, tokens: Longs, old: Longs, i: Longs) -> Doubles:
        """The logarithm of both jumps, without those that the word's own link makes."""
        before, after = self.before[tokens], self.after[tokens]
        linked = old >= 0
        first = _place(np.where(linked, old - before, after - before))
        second = np.where(linked, _place(after - old), -1)
        total = self.jumps[: JUMPS - 1].sum() + LIKELY_JUMPS * ADDED_JUMP - np.where(linked, 2, 1)
        result: Doubles = -2 * np.log(total)
        for place in (_place(i - before), _place(after - i)):
            left = self.jumps[place] - (place == first) - (place == second)
            result += np.log(np.maximum(left, 0) + ADDED_JUMP)
        return result

    @property
    def _log_ratios(self) -> Doubles:
        """[V_src * FERTILITIES] word, n -> log p(n) - log p(n - 1)"""
        logs = _digamma(self.fertilities.reshape(-1, FERTILITIES) + ADDED_FERTILITY)
        ratios = np.diff(logs, axis=1, prepend=0)
        ratios[:, -1] = np.log(FULL)
        return ratios.ravel()


def _place(jump: Longs) -> Longs:
    """Where jumps are counted."""
    return np.clip(jump + CENTRE, 0, JUMPS - 1)


def _found(vocab: Vocab, words: Vocab) -> npt.NDArray[np.int32]:
    """The ids in vocab of words; -1: the word is not there, or it is NULL."""
    return np.where(np.array(words.words) == NULL, -1, vocab.find(words.words)).astype(np.int32)


def _digamma(x: Doubles) -> Doubles:
    """The mean of log y, where y has the gamma distribution of shape x."""
    shift = sum(1 / (x + n) for n in range(6))
    y = 1 / (x + 6) ** 2
    return np.log(x + 6) - 0.5 / (x + 6) - y * (1 / 12 - y * (1 / 120 - y / 252)) - shift

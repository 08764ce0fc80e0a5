"""Slow twins of the kernels, in plain Python over sets, strings and paths. Nothing here imports from ext/."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np


def tokens(line: str) -> list[str]:
    """What stands between ASCII spaces and tabs."""
    return [token for token in re.split("[ \t]+", line) if token]


def checksum(sentence: list[str]) -> int:
    """64 bits: FNV-1a of each word's bytes; their sum so far goes through the finisher of splitmix64."""
    most, key = 2**64 - 1, 0
    for word in sentence:
        h = 0xCBF29CE484222325
        for byte in word.encode():
            h = (h ^ byte) * 0x100000001B3 & most
        key = key + h & most
        key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 & most
        key = (key ^ key >> 27) * 0x94D049BB133111EB & most
        key ^= key >> 31
    return key


def parse_links(text: str, possible: str, score: str) -> list | int:
    """(src, tgt, sure, score) of each line's links, or the number of the first line that has none such."""
    number = r"(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
    link = rf"(\d+)([-{re.escape(possible)}])(\d+)" + (rf"{re.escape(score)}{number}" if score else "")
    sentences = []
    for n, line in enumerate(text.split("\n")[:-1]):
        links = []
        for token in re.split("[ \t\r]+", line.strip(" \t\r")) if line.strip(" \t\r") else []:
            found = re.fullmatch(link, token, re.ASCII)
            if found is None or max(int(found[1]), int(found[3])) > 0x7FFFFFFF:
                return n + 1
            links.append(
                (int(found[1]), int(found[3]), int(found[2] == "-"), float(found[4]) if score else None)
            )
        sentences.append(links)
    return sentences


def symal(forward: set, reverse: set, diagonal: bool, final: bool, both: bool) -> list:
    """symal's printgrow over sets of (src, tgt), returning its links in its order.

    Points are (i, j) = (tgt, src); `current` is walked in sorted order while points are added to it.
    """
    a = {(j, i) for i, j in reverse}  # symal's direct alignment: a[source] = target
    b = {(j, i) for i, j in forward}  # its inverse alignment: b[target] = source
    neighbours = [(-1, 0), (0, -1), (1, 0), (0, 1)]
    if diagonal:
        neighbours += [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    current = sorted(a & b)
    ea, fa = {i for i, _ in current}, {j for _, j in current}
    added = True
    while added:
        added = False
        at = None  # the point walked last; the next is the smallest after it
        while left := [p for p in current if at is None or p > at]:
            at = min(left)
            for di, dj in neighbours:
                i, j = at[0] + di, at[1] + dj
                if (i, j) in a | b and not (i in ea and j in fa):
                    current.append((i, j))
                    ea.add(i)
                    fa.add(j)
                    added = True
    if final:
        for only in (b - a, a - b):
            for i, j in sorted(only - set(current)):
                free = (i not in ea) + (j not in fa)
                if free == 2 or (free == 1 and not both):
                    current.append((i, j))
                    ea.add(i)
                    fa.add(j)
    return [(j, i) for i, j in sorted(current)]


def atools(forward: set, reverse: set, diagonal: bool, final: bool, both: bool) -> list:
    """atools' Grow over sets of (src, tgt): candidates in order, if a neighbour is in and a word is free."""
    result = forward & reverse
    steps = [(di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1) if (di, dj) != (0, 0)]
    if not diagonal:
        steps = [(di, dj) for di, dj in steps if di == 0 or dj == 0]

    def n_free(i: int, j: int) -> int:
        return (i not in {x for x, _ in result}) + (j not in {y for _, y in result})

    candidates = sorted((forward | reverse) - result)
    keep_going = True
    while keep_going:
        keep_going = False
        for i, j in list(candidates):
            if n_free(i, j) >= 1 and any((i + di, j + dj) in result for di, dj in steps):
                result.add((i, j))
                candidates.remove((i, j))
                keep_going = True
    if final:
        for direction in (forward, reverse):
            for i, j in sorted(direction - result):
                if n_free(i, j) >= (2 if both else 1):
                    result.add((i, j))
    return sorted(result)


def lilt(forward: set, reverse: set, diagonal: bool, final: bool, both: bool) -> list:
    """lilt's grow_diag_final over sets of (src, tgt): a link is added if both of its words are free.

    So neighbours in the row or the column of a link never are, and there is no `final` of one free word.
    """
    result, union = forward & reverse, forward | reverse
    steps = [(-1, -1), (-1, 1), (1, 1), (1, -1)] if diagonal else []

    def add(i: int, j: int, among: set) -> bool:
        if (i, j) not in among or any(i == x or j == y for x, y in result):
            return False
        result.add((i, j))
        return True

    added = True
    while added:
        added = False
        for i, j in sorted(union):
            if (i, j) in result:
                for di, dj in steps:
                    added |= add(i + di, j + dj, union)
    if final:
        for direction in (forward, reverse):
            for i, j in sorted(direction):
                add(i, j, direction)
    return sorted(result)


def blend(forward: dict, reverse: dict, product: bool, threshold: float) -> dict:
    """(src, tgt) -> score of the links above the threshold, also by the six decimals that are printed."""
    scores = {}
    for link in sorted(forward.keys() | reverse.keys()):
        p, q = forward.get(link, 0.0), reverse.get(link, 0.0)
        score = p * q if product else 0.5 * (p + q)
        if score > threshold and round(score, 6) > threshold:
            scores[link] = score
    return scores


def alignment_score(links, scores: dict, src_penalties=(), tgt_penalties=(), patterns=()) -> float | None:
    """What links score: scores, (src, tgt) -> score, less penalties of words, and patterns, step -> score.

    The d-th link of a word costs penalties[d - 2]. None if a word has more links than penalties allow.
    """
    found = sum(scores[link] for link in links)
    for side, penalties in enumerate((src_penalties, tgt_penalties)):
        words = [link[side] for link in links]
        for word in set(words):
            if words.count(word) > 1 + len(penalties):
                return None
            found -= sum(penalties[: words.count(word) - 1])
    for down, right in patterns:
        found += patterns[down, right] * sum((i + down, j + right) in links for i, j in links)
    return found


def most_score(scores: dict, src_penalties=(), tgt_penalties=(), patterns=()) -> float:
    """The largest score of a set of links."""
    subsets = (links for n in range(len(scores) + 1) for links in itertools.combinations(scores, n))
    found = (alignment_score(links, scores, src_penalties, tgt_penalties, patterns) for links in subsets)
    return max(score for score in found if score is not None)


def statistics(hyp: set, sure: set, possible: set) -> list[int]:
    """|A| |S| |P| |A n S| |A n P| and the links of A and of P whose words have no other link."""
    possible = sure | possible

    def alone(links: set) -> int:
        src, tgt = [i for i, _ in links], [j for _, j in links]
        return sum(src.count(i) == 1 and tgt.count(j) == 1 for i, j in links)

    counts = [len(hyp), len(sure), len(possible), len(hyp & sure), len(hyp & possible)]
    return [*counts, alone(hyp), alone(possible)]


def wpt_scores(hyp: set, lines: list[str]) -> tuple[float, float, float]:
    """Precision, recall and AER by the WPT formulas; hyp: (sentence, i, j) from 1; lines: of a NAACL file."""
    fields = [line.split() for line in lines if line.strip()]
    links = {(int(f[0]), int(f[1]), int(f[2])): (f[3] if len(f) > 3 else "S") for f in fields}
    sure = {link for link, label in links.items() if label == "S"}
    a_s, a_p = len(hyp & sure), len(hyp & links.keys())
    return a_p / len(hyp), a_s / len(sure), 1 - (a_s + a_p) / (len(hyp) + len(sure))


def transitions(jump: list, I: int, before: int) -> list[float]:
    """[I] jump(after - before) of all `after`, over its sum; the outermost buckets are shared evenly.

    jump: left of -W, distances -W ... W, right of W.
    """
    W = (len(jump) - 3) // 2

    def weight(i: int) -> float:
        distance = i - before
        if abs(distance) <= W:
            return jump[1 + W + distance]
        same_side = [k for k in range(I) if (k - before) * distance > 0 and abs(k - before) > W]
        return jump[0 if distance < 0 else -1] / len(same_side)

    weights = [weight(i) for i in range(I)]
    return [x / sum(weights) for x in weights]


def first_positions(first: list, I: int) -> list[float]:
    """[I] the distribution of the first position: 0 ... W - 1, and the rest shared evenly."""
    W = len(first) - 1
    weights = [first[k] if k < W else first[W] / (I - W) for k in range(I)]
    return [x / sum(weights) for x in weights]


def last_positions(last: list, I: int) -> list[float]:
    """[I] the distribution of the last position: the same, counted from the end; without `last`, 1 each."""
    return first_positions(last, I)[::-1] if len(last) else [1.0] * I


def jumps_from(jump: list, classes: list, by_class: list) -> list:
    """[I][2 W + 3] the jump of each position: by its class, 1 ... C; `jump` where the class is 0."""
    return [by_class[c - 1] if c else jump for c in classes]


def hmm(
    emit: list,
    null: list,
    jump: list,
    first: list,
    p0: float,
    last: list,
    classes: list | None = None,
    by_class: tuple = (),
) -> dict:
    """Every path of an HMM with NULL twins, by enumeration: emit [J][I], null [J]; last [W + 1], or [].

    classes [I] of the positions, by_class [C][2 W + 3] the jumps of each class; None: words have no classes
    loglik  log p(f | e)               gamma  [J][I] posterior of each link     nulls  [J] of NULL
    jumps   expected jumps by bucket   firsts, lasts  expected first and last positions by bucket
    by_class  [C] expected jumps from words of each class; jumps are those from words of no class
    paths   path -> its probability; states [0, I) words, [I, 2I) twins
    best    probability of the best path
    """
    J, I = len(emit), len(emit[0])
    W = (len(jump) - 3) // 2
    classes = [0] * I if classes is None else classes
    T = [transitions(own, I, i) for i, own in enumerate(jumps_from(jump, classes, by_class))]
    start, end = first_positions(first, I), last_positions(last, I)

    def score(path: tuple) -> float:
        p = 1.0
        for j, state in enumerate(path):
            i, twin = state % I, state >= I
            if j == 0:
                p *= start[i] * (p0 if twin else 1 - p0)
            elif twin:
                p *= p0 if path[j - 1] % I == i else 0.0
            else:
                p *= (1 - p0) * T[path[j - 1] % I][i]
            p *= null[j] if twin else emit[j][i]
        return p * end[path[-1] % I]

    gamma = [[0.0] * I for _ in range(J)]
    nulls, firsts, lasts = [0.0] * J, [0.0] * len(first), [0.0] * len(last)
    jumps = [[0.0] * len(jump) for _ in range(1 + len(by_class))]
    paths = {path: score(path) for path in itertools.product(range(2 * I), repeat=J)}
    total = sum(paths.values())
    for path, p in paths.items():
        firsts[min(path[0] % I, W)] += p
        if last:
            lasts[min(I - 1 - path[-1] % I, W)] += p
        for j, state in enumerate(path):
            if state < I:
                gamma[j][state] += p
                if j > 0:
                    before = path[j - 1] % I
                    bucket = max(0, min(state - before + W + 1, 2 * W + 2))
                    jumps[classes[before]][bucket] += p
            else:
                nulls[j] += p
    return {
        "loglik": math.log(total),
        "gamma": [[x / total for x in row] for row in gamma],
        "nulls": [x / total for x in nulls],
        "jumps": [x / total for x in jumps[0]],
        "by_class": [[x / total for x in row] for row in jumps[1:]],
        "firsts": [x / total for x in firsts],
        "lasts": [x / total for x in lasts],
        "best": max(paths.values()),
        "paths": paths,
    }


def dense_hmm(
    emit: np.ndarray,
    null: np.ndarray,
    jump: list,
    first: list,
    p0: float,
    last: list,
    classes: list | None = None,
    by_class: tuple = (),
) -> dict:
    """The same as `hmm` of longer sentences, by matrices over all pairs of states: emit [J, I], null [J]."""
    J, I = emit.shape
    W = (len(jump) - 3) // 2
    classes = [0] * I if classes is None else classes
    own = jumps_from(jump, classes, by_class)
    words = (1 - p0) * np.array([transitions(own[a], I, a) for a in range(I)])
    T = np.block([[words, p0 * np.eye(I)], [words, p0 * np.eye(I)]])
    E = np.concatenate([emit, np.repeat(null[:, None], I, axis=1)], axis=1)
    start, end = np.array(first_positions(first, I)), np.array(last_positions(last, I))
    E[-1] *= np.concatenate([end, end])
    alpha, beta, scale = np.zeros((J, 2 * I)), np.ones((J, 2 * I)), np.zeros(J)
    for j in range(J):
        row = (np.concatenate([(1 - p0) * start, p0 * start]) if j == 0 else alpha[j - 1] @ T) * E[j]
        scale[j] = row.sum()
        alpha[j] = row / scale[j]
    jumps = np.zeros((1 + len(by_class), len(jump)))
    distance = np.clip(np.arange(I)[None, :] - np.arange(I)[:, None] + W + 1, 0, 2 * W + 2)
    for j in range(J - 1, 0, -1):
        v = E[j] * beta[j] / scale[j]
        beta[j - 1] = T @ v
        xi = (alpha[j - 1][:, None] * T * v)[:, :I]
        for a in range(I):
            jumps[classes[a]] += np.bincount(distance[a], xi[a] + xi[I + a], minlength=len(jump))
    gamma = alpha * beta
    at_first, at_last = (gamma[j, :I] + gamma[j, I:] for j in (0, -1))
    firsts = np.bincount(np.minimum(np.arange(I), W), at_first, minlength=len(first))
    return {
        "loglik": float(np.log(scale).sum()),
        "gamma": gamma[:, :I],
        "nulls": gamma[:, I:].sum(axis=1),
        "jumps": jumps[0],
        "by_class": jumps[1:],
        "firsts": firsts,
        "lasts": np.bincount(np.minimum(np.arange(I)[::-1], W), at_last, minlength=len(first))[: len(last)],
    }


def weighted_paths(emit: list, null: list, *rest) -> tuple[list, list]:
    """Every possible path of an HMM: logs of joint probabilities, and its links as (state word, row)."""
    I = len(emit[0])
    logs, links = [], []
    for path, p in hmm(emit, null, *rest)["paths"].items():
        if p > 0:
            logs.append(math.log(p))
            links.append([(state, j) for j, state in enumerate(path) if state < I])
    return logs, links


class Dual:
    """The dual of a projection by enumeration: directions are (logs, features [paths][n]), b [n].

    phi(lam) = b . lam + sum over directions of log sum_a p(a) exp(-lam . f(a)) + slack * ||lam||
    """

    def __init__(self, directions: list, b: list, slack: float) -> None:
        self.parts = [(np.array(logs), np.array(features, dtype=float)) for logs, features in directions]
        self.b, self.slack = np.array(b, dtype=float), slack

    def posteriors(self, lam) -> list:
        """q of each direction's paths."""
        tilted = [logs - features @ lam for logs, features in self.parts]
        weights = [np.exp(x - x.max()) for x in tilted]
        return [w / w.sum() for w in weights]

    def phi(self, lam) -> float:
        tilted = [logs - features @ lam for logs, features in self.parts]
        log_z = sum(x.max() + np.log(np.exp(x - x.max()).sum()) for x in tilted)
        return float(self.b @ lam + log_z + self.slack * np.linalg.norm(lam))

    def expected(self, lam) -> list:
        return sum(q @ features for q, (_, features) in zip(self.posteriors(lam), self.parts, strict=True))

    def gradient(self, lam):
        norm = np.linalg.norm(lam)
        return self.b - self.expected(lam) + (self.slack * lam / norm if norm > 0 else 0)

    def kl(self, lam) -> float:
        """KL(q || p)."""
        p, q = self.posteriors(np.zeros(len(self.b))), self.posteriors(lam)
        return float(sum((x * np.log(x / y)).sum() for x, y in zip(q, p, strict=True)))


def model1(emit: list, null: list) -> tuple[float, list, list]:
    """Log-likelihood and posteriors of Model 1: emit [J][I], null [J]."""
    I = len(emit[0])
    totals = [n + sum(row) for row, n in zip(emit, null, strict=True)]
    loglik = sum(math.log(x / (I + 1)) for x in totals)
    gamma = [[x / total for x in row] for row, total in zip(emit, totals, strict=True)]
    return loglik, gamma, [n / total for n, total in zip(null, totals, strict=True)]


def model2(emit: list, null: list, places: list, nulls: list) -> tuple[float, list, list]:
    """Every alignment of Model 2, by enumeration: emit and places [J][I], null and nulls [J].

    Returns the log-likelihood, the posteriors [J][I] of links, and those [J] of NULL.
    """
    J, I = len(emit), len(emit[0])
    weights = [
        [nulls[j] * null[j], *(places[j][i] * emit[j][i] for i in range(I))] for j in range(J)
    ]  # of NULL, then of words
    total, gamma = 0.0, [[0.0] * (I + 1) for _ in range(J)]
    for path in itertools.product(range(I + 1), repeat=J):
        p = math.prod(weights[j][a] for j, a in enumerate(path))
        total += p
        for j, a in enumerate(path):
            gamma[j][a] += p
    found = [[x / total for x in row] for row in gamma]
    return math.log(total), [row[1:] for row in found], [row[0] for row in found]


def slots(surfaces: list[bytes], holds: list[int]) -> list[set[int]]:
    """The slots that each token of a sentence covers: 2 p is the blank before byte p, 2 p + 1 the byte."""
    n_bytes, p = sum(map(len, surfaces)), 0
    blanks = set()  # bytes before which a token of its own has the blank
    found = []
    for surface, hold in zip(surfaces, holds, strict=True):
        if surface:
            found.append(set(range(2 * p, 2 * (p + len(surface)))))
        elif hold == 0 or n_bytes == 0:
            found.append(set())
        elif p < n_bytes and (hold > 0 or p in blanks or p == 0):
            blanks.add(p)
            found.append({2 * p})
        else:
            found.append({2 * p - 1})
        p += len(surface)
    return [
        covered - {2 * k for k in blanks} if surface else covered
        for covered, surface in zip(found, surfaces, strict=True)
    ]


def remap(links: list, src: list, tgt: list, rule: str) -> dict:
    """(x, y) -> (score, sure) of the new links of a sentence pair.

    links     (i, j, score, sure), perhaps some twice
    src, tgt  old token -> set of new tokens that it turns into
    """
    best: dict = {}
    for i, j, score, sure in links:
        before = best.get((i, j), (0.0, 0.0, 0))
        best[i, j] = max(score, before[0]), max(score * sure, before[1]), max(sure, before[2])

    def share(x: int, y: int, sure: bool) -> float:
        rows, columns = ([k for k, new in enumerate(side) if z in new] for side, z in ((src, x), (tgt, y)))

        def p(i: int, j: int) -> float:
            return best.get((i, j), (0.0, 0.0, 0))[int(sure)]

        total = sum(max(p(i, j) for j in columns) for i in rows)
        total += sum(max(p(i, j) for i in rows) for j in columns)
        return total / (len(rows) + len(columns))

    found = {}
    for x, y in {(x, y) for i, j in best for x in src[i] for y in tgt[j]}:
        old = [one for (i, j), one in best.items() if x in src[i] and y in tgt[j]]
        sure = max(certain for _, _, certain in old)
        if rule == "any":
            found[x, y] = max(score for score, _, _ in old), sure
        elif rule == "mean":
            found[x, y] = share(x, y, False), sure
        elif share(x, y, False) > 0.5:
            found[x, y] = share(x, y, False), int(share(x, y, True) > 0.5)
    return found

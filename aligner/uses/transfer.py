"""Annotations carried along links: parts of speech, features, dependencies, spans.

A target word has the part of speech that most of its linked words have; of as many, the one of the larger sum
of scores; then that of the first word. Its features are those of the word of this part of speech whose link
scores best. An edge head -> dependent of the source becomes an edge of the target for each link of the head
and each link of the dependent (Ganchev, Gillenwater & Taskar 2009). What the target has already is kept. HEAD
stays empty where nothing is carried: the result is a part of a tree, never a guess of a whole one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from aligner import arguments
from aligner.links.formats import LinkReader
from aligner.links.links import Links
from aligner.uses.annotated import Filters, Link, Pair, aligned, edge_targets, filtered
from aligner.uses.conllu import DEPREL, DEPS, FEATS, FORM, HEAD, MISC, NO_HEAD, NOTHING, UPOS, Sentence
from aligner.uses.spans import (
    KEY,
    PARTS,
    Span,
    SpanFile,
    SpanRules,
    carry_spans,
    sentence_spans,
    tags_of,
    with_attributes,
)

SAME = "both must have the same sentences"
LAYERS = ("upos", "feats", "deps", "spans")
HEADS = ("single", "best")
PROJECTED, FROM, PROJECTED_HEAD, PROJECTED_SPAN = "Projected", "From", "ProjectedHead", "ProjectedSpan"


@dataclass(frozen=True)
class Rules:
    """What is carried, and how.

    layers   of LAYERS
    heads    of a word to which links carry several heads: `single` is none; `best` is the one of the largest
             product of link scores, of equal ones that of the first source word, then the first target word
    replace  whether the target's own annotation of these layers is taken out first
    filters  what is not carried
    key      the attribute of MISC that has the tags of spans
    spans    how spans are carried
    """

    layers: tuple[str, ...] = LAYERS
    heads: str = "single"
    replace: bool = False
    filters: Filters = field(default_factory=Filters)
    key: str = KEY
    spans: SpanRules = field(default_factory=SpanRules)

    def __post_init__(self) -> None:
        for layer in self.layers:
            arguments.choice("layer", layer, LAYERS)
        arguments.choice("heads", self.heads, HEADS)
        arguments.choice("parts", self.spans.parts, PARTS)


def transfer(
    src: Iterable[Sentence],
    tgt: Iterable[Sentence],
    links: LinkReader | Links,
    rules: Rules | None = None,
    *,
    threshold: float | None = None,
) -> Iterator[Sentence]:
    """The target sentences with the annotation of their source sentences, carried along links.

    src, tgt   sentences as of `read_conllu`; those of the target are changed
    links      of all sentence pairs, or what reads them
    threshold  links that score above it are taken; None: all
    """
    for sentence, _ in carried(aligned(src, tgt, links, threshold), rules or Rules()):
        yield sentence


def carried(
    pairs: Iterable[Pair], rules: Rules, spans: SpanFile | None = None
) -> Iterator[tuple[Sentence, list[Span]]]:
    """(target sentence, its spans). spans: of the source; None: those that CoNLL-U has"""
    for n, pair in enumerate(pairs):
        if "spans" not in rules.layers:
            of_source = []
        elif spans is None:
            of_source = sentence_spans(pair.src, rules.key)
        else:
            of_source = _given(spans, pair.src, n)
        yield pair.tgt, carry(pair, of_source, rules)
    if spans is not None and spans.next is not None:
        what = f"spans of sentence {spans.next.number + 1}, which the source does not have"
        raise spans.error(spans.next.line, what, SAME)


def _given(file: SpanFile, source: Sentence, n: int) -> list[Span]:
    """The spans of source sentence n that a file has."""
    found = file.at(n)
    if found is None:
        if file.sparse:
            return []
        raise source.error(f"sentence {n + 1} is not in {file.name}, which has {n}", hint=SAME)
    file.check(found, len(source), f"{source.file}, line {source.line},")
    for k, span in enumerate(found.spans):
        if "|" in span.type:
            what = f"the type {span.type!r} has a |, which separates attributes of MISC"
            raise file.error(found.line_of(k), what, "give the type another name")
    return found.spans


def carry(pair: Pair, spans: list[Span], rules: Rules) -> list[Span]:
    """Annotates the target sentence of a pair, and gives its spans. spans: of the source sentence"""
    src, tgt, _, scored = pair
    links = filtered(pair, rules.filters)
    if tgt.plain and (name := src.comment("sent_id")) is not None:
        tgt.lines.insert(0, name)
        tgt.places = [place + 1 for place in tgt.places]
    if rules.replace:
        _clear(tgt, rules)
    misc: list[dict[str, str | None]] = [{} for _ in tgt.words]  # what is new in it
    _carry_words(src, tgt, links, rules, scored, misc)
    if "deps" in rules.layers:
        _carry_edges(src, tgt, links, rules, scored, misc)
    found: list[Span] = []
    if "spans" in rules.layers:
        found = _carry_spans(tgt, spans, links, rules, scored, misc)
    for row, new in zip(tgt.words, misc, strict=True):
        if new:
            row[MISC] = with_attributes(row[MISC], new)
    return found


def _clear(tgt: Sentence, rules: Rules) -> None:
    """Takes out what the target has of the layers that are carried."""
    columns = {"upos": (UPOS,), "feats": (FEATS,), "deps": (HEAD, DEPREL, DEPS), "spans": ()}
    empty = [column for layer in rules.layers for column in columns[layer]]
    keys: dict[str, str | None] = dict.fromkeys((PROJECTED, FROM, PROJECTED_HEAD, PROJECTED_SPAN))
    if "spans" in rules.layers:
        keys[rules.key] = None
    for row in tgt.words:
        for column in empty:
            row[column] = NOTHING
        row[MISC] = with_attributes(row[MISC], keys)


def _carry_words(
    src: Sentence,
    tgt: Sentence,
    links: list[Link],
    rules: Rules,
    scored: bool,
    misc: list[dict[str, str | None]],
) -> None:
    """Parts of speech and features."""
    linked: dict[int, list[tuple[int, float]]] = {}
    for i, j, score in links:
        linked.setdefault(j, []).append((i, score))
    tags = src.column(UPOS)
    bare = all(row[FEATS] == NOTHING for row in tgt.words)  # else _ says that a word has no features
    for j, sources in linked.items():
        row = tgt.words[j]
        i, score = sources[0] if len(sources) == 1 else _voted(sources, tags, row[UPOS])
        new = False
        if row[UPOS] == NOTHING != tags[i] and "upos" in rules.layers:
            row[UPOS] = tags[i]
            new = True
        feats = src.words[i][FEATS]
        if (
            "feats" in rules.layers
            and (bare or new)
            and row[FEATS] == NOTHING != feats
            and row[UPOS] == tags[i]
        ):
            row[FEATS] = feats
            new = True
        if new:
            misc[j] = {PROJECTED: f"{score:.4g}" if scored else None, FROM: src.words[i][0]}


def _voted(sources: list[tuple[int, float]], tags: list[str], own: str) -> tuple[int, float]:
    """The source word, and the score of its link, from which a target word takes what it is.

    sources: its links. own: the part of speech that it has already
    """
    votes: dict[str, list[tuple[int, float]]] = {}
    for i, score in sources:
        votes.setdefault(tags[i], []).append((i, score))
    if len(votes) > 1:
        votes.pop(NOTHING, None)
    if own in votes:
        voters = votes[own]
    else:
        voters = min(votes.values(), key=lambda x: (-len(x), -sum(score for _, score in x), min(x)[0]))
    return min(voters, key=lambda x: (-x[1], x[0]))


def _carry_edges(
    src: Sentence,
    tgt: Sentence,
    links: list[Link],
    rules: Rules,
    scored: bool,
    misc: list[dict[str, str | None]],
) -> None:
    """Heads and their relations: the best one of each word, and of edges that make a cycle not the last."""
    heads, own = src.heads(), tgt.heads()
    root = heads.index(0) if 0 in heads else None
    found = edge_targets(links, src.column(UPOS), tgt.column(UPOS), root, rules.filters)
    if found is None:
        return
    # target word -> (-product, source word, head): the least is the best
    candidates: dict[int, list[tuple[float, int, int]]] = {}
    targets = found.targets
    for c, head in enumerate(heads):
        if head == NO_HEAD:
            continue
        for j, score in targets[c]:
            if own[j] != NO_HEAD:
                continue
            mine = candidates.setdefault(j, [])
            if head == 0:
                mine.append((-score, c, 0))
            else:
                mine.extend((-score * other, c, k + 1) for k, other in targets[head - 1] if k != j)
    chosen = [
        (*min(mine), j)
        for j, mine in candidates.items()
        if mine and (rules.heads == "best" or len({head for _, _, head in mine}) == 1)
    ]
    has_root = 0 in own
    for product, c, head, j in sorted(chosen):
        if (head == 0 and has_root) or _leads_to(head, j + 1, own):
            continue
        has_root |= head == 0
        own[j] = head
        row = tgt.words[j]
        row[HEAD] = str(head)
        if row[DEPREL] == NOTHING:
            row[DEPREL] = src.words[c][DEPREL]
        if scored:
            misc[j][PROJECTED_HEAD] = f"{-product:.4g}"
        misc[j].setdefault(FROM, src.words[c][0])


def _leads_to(word: int, end: int, heads: list[int]) -> bool:
    """Whether a word is below another one, or is it. Words count from 1"""
    while word > 0:
        if word == end:
            return True
        word = heads[word - 1]
    return False


def _carry_spans(
    tgt: Sentence,
    spans: list[Span],
    links: list[Link],
    rules: Rules,
    scored: bool,
    misc: list[dict[str, str | None]],
) -> list[Span]:
    """Spans. The target's own are kept, and others that overlap them are left out."""
    own = sentence_spans(tgt, rules.key)
    if not spans:
        return own
    taken = {k for span in own for k in range(span.start, span.end)}
    found = [
        span if scored else span._replace(score=None)
        for span in carry_spans(spans, links, tgt.column(FORM), rules.spans)
        if taken.isdisjoint(range(span.start, span.end))
    ]
    for k, tag in enumerate(tags_of(found, len(tgt))):
        if tag != "O":
            misc[k][rules.key] = tag
    for span in found:
        if span.score is not None:
            misc[span.start][PROJECTED_SPAN] = f"{span.score:.4g}"
    return sorted([*own, *found])

"""Spans: tags and back, the three forms of files, what is carried along links, scores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner import DataError, Links
from aligner.uses.annotated import aligned
from aligner.uses.conllu import MISC, plain_sentence, read_conllu
from aligner.uses.spans import (
    Span,
    SpanFile,
    SpanRules,
    carry_spans,
    format_spans,
    score_spans,
    spans_of,
    tags_of,
)
from aligner.uses.transfer import Rules, carried

TAGS = [
    ("O B-A I-A O B-A", [(1, 3, "A"), (4, 5, "A")]),
    ("B-A B-A I-B _", [(0, 1, "A"), (1, 2, "A"), (2, 3, "B")]),
    ("I-A I-A O I-B B-B", [(0, 2, "A"), (3, 4, "B"), (4, 5, "B")]),  # IOB1
    ("S-A B-A I-A E-A S-B", [(0, 1, "A"), (1, 4, "A"), (4, 5, "B")]),  # BIOES
    ("B-A E-A I-A", [(0, 2, "A"), (2, 3, "A")]),
    ("U-A B-A L-A I-A", [(0, 1, "A"), (1, 3, "A"), (3, 4, "A")]),  # BILOU
    ("B-A-B I-A-B", [(0, 2, "A-B")]),
    ("", []),
]


@pytest.mark.parametrize("tags, spans", TAGS)
def test_tags_are_read(tags, spans):
    assert [span[:3] for span in spans_of(tags.split())] == spans


@given(st.lists(st.sampled_from(["O", "O", "B-A", "I-A", "B-B", "I-B"])))
def test_spans_are_written_as_tags(tags):
    spans = spans_of(tags)
    assert spans_of(tags_of(spans, len(tags))) == spans


def words(text: str) -> str:
    """CoNLL-U of `word/TAG`."""
    lines = []
    for k, word in enumerate(text.split(), 1):
        form, _, tag = word.partition("/")
        lines.append("\t".join([str(k), form, *["_"] * 7, f"X=1|NER={tag}" if tag else "_"]))
    return "\n".join(lines) + "\n\n"


FORMS = {
    "conllu": "# text = a b c\n# a comment\n" + words("a/B-PER b/I-PER c") + words("d") + words("e/B-LOC"),
    "columns": "a\tx\tB-PER\nb\tx\tI-PER\nc\tx\tO\n\n\nd O\n\ne B-LOC\n",
    "standoff": "1\t0\t2\tPER\n\n3\t0\t1\tLOC\t0.5\n",
}
SPANS = [[(0, 2, "PER")], [], [(0, 1, "LOC")]]


def all_of(file: SpanFile) -> list[list[tuple]]:
    return [[span[:3] for span in found.spans] if (found := file.at(n)) else [] for n in range(3)]


@pytest.mark.parametrize("form", FORMS)
def test_files_of_spans(form, write, blocks):
    file = SpanFile(path := write("spans", FORMS[form]))
    assert (file.form, all_of(file), file.next) == (form, SPANS, None)
    if form != "conllu":
        sentences = zip([list("abc"), ["d"], ["e"]], SPANS, strict=True)
        text = [format_spans(form, n, x, [Span(*y) for y in z]) for n, (x, z) in enumerate(sentences, 1)]
        assert all_of(SpanFile(write("again", "".join(text)))) == SPANS
    for other in FORMS:
        scores = score_spans(SpanFile(path), SpanFile(write("gold", FORMS[other])))
        assert scores.rows()["all"]["f1"] == 1.0 and scores.n_sentences == 3


def test_scores(write):
    hyp = words("a/B-PER b/I-PER c/B-LOC d/B-LOC") + words("e")
    gold = words("a/B-PER b/I-PER c/B-PER d/B-LOC") + words("e/B-ORG")
    rows = score_spans(SpanFile(write("hyp", hyp)), SpanFile(write("gold", gold))).rows()
    assert list(rows) == ["all", "LOC", "ORG", "PER"]
    counts = {"found": 3, "gold": 4, "right": 2}
    assert rows["all"] == {"precision": 2 / 3, "recall": 0.5, "f1": 4 / 7, **counts}
    assert rows["ORG"] == {"precision": 1.0, "recall": 0.0, "f1": 0.0, "found": 0, "gold": 1, "right": 0}
    nothing = score_spans(SpanFile(write("a", "")), SpanFile(write("b", ""))).rows()["all"]
    assert nothing["precision"] == nothing["recall"] == nothing["f1"] == 1.0


BROKEN = [
    ("spans", "1\t0\t2\tPER\nx\n", 2, "this is no span"),
    ("spans", "0\t0\t2\tPER\n", 1, "this is no span; .* sentences count from 1"),
    ("spans", "2\t0\t2\tPER\n1\t0\t1\tPER\n", 2, "sentence 1 after sentence 2; sort"),
    ("spans", "1\t2\t2\tPER\n", 1, "a span of no words, 2 to 2; the end is not included"),
    ("spans", "a\tB-X\nb\n", 2, "one column; a line has a word first and its tag last"),
    ("spans", "a\tO\n\nb\tO\nc\tPER\n", 4, "'PER' is no BIO tag; tags are O, B-TYPE and I-TYPE"),
    ("spans.conllu", words("a b/PER"), 2, "NER=PER is no BIO tag"),
]


@pytest.mark.parametrize("name, text, line, message", BROKEN, ids=[x[3] for x in BROKEN])
def test_broken_files_are_refused(name, text, line, message, write):
    with pytest.raises(DataError, match=message) as refused:
        all_of(SpanFile(write(name, text)))
    assert refused.value.line == line


UNEQUAL = [
    ("a O\n\nb O\n", "a O\n", "hyp:3: sentence 2 is not in .*gold, which has 1"),
    ("a O\n", "a O\n\nb O\n", "gold:3: sentence 2 is not in .*hyp, which has 1"),
    ("a O\nb O\n", "a O\n", "hyp:1: a sentence of 2 words, .*gold has 1"),
    (
        "1\t0\t1\tX\n1\t0\t9\tX\n",
        "a O\n",
        "hyp:2: span 0 to 9 of X is outside the sentence, .*gold has 1 word",
    ),
    ("3\t0\t1\tX\n", "a O\n\nb O\n", "hyp:1: sentence 3 is not in .*gold, which has 2"),
]


@pytest.mark.parametrize("hyp, gold, message", UNEQUAL, ids=[x[2] for x in UNEQUAL])
def test_files_that_do_not_match_are_refused(hyp, gold, message, write):
    with pytest.raises(DataError, match=message):
        score_spans(SpanFile(write("hyp", hyp)), SpanFile(write("gold", gold)))


RULES = [
    ("0-0 1-1", SpanRules(), [(0, 2)]),
    ("0-0 1-2", SpanRules(), [(0, 3)]),  # a gap of one word is filled
    ("0-0 1-2", SpanRules(gap=0), [(0, 1)]),
    ("0-0 0-1 1-4", SpanRules(), [(0, 2)]),  # the longest part
    ("0-0 1-4", SpanRules(), [(0, 1)]),  # of equal parts the first
    ("0-0 1-4", SpanRules(parts="all"), [(0, 1), (4, 5)]),
    ("0-0 1-4", SpanRules(parts="hull"), [(0, 5)]),
    ("0-0 1-4", SpanRules(parts="none"), []),
    ("0-0 1-1", SpanRules(parts="none"), [(0, 2)]),
    ("0-0 0-1 1-2", SpanRules(trim=True), [(0, 2)]),
    ("0-2", SpanRules(trim=True), []),
    ("0-0", SpanRules(least=0.5), [(0, 1)]),  # half of its words are linked
    ("0-0", SpanRules(least=0.51), []),
    ("0-0 0-1 1-2 1-3", SpanRules(ratio=2), [(0, 4)]),
    ("0-0 0-1 1-2 1-3", SpanRules(ratio=1.9), []),
    ("2-0", SpanRules(), []),
]


@pytest.mark.parametrize("links, rules, spans", RULES)
def test_spans_are_carried(links, rules, spans):
    pairs = [(*map(int, link.split("-")), 1.0) for link in links.split()]
    found = carry_spans([Span(0, 2, "X")], pairs, ["a", "b", "»", "d", "e"], rules)
    assert [span[:2] for span in found] == spans


def test_of_overlapping_spans_the_best_is_carried():
    source = [Span(0, 1, "A"), Span(1, 2, "B"), Span(2, 3, "C")]
    links = [(0, 0, 0.5), (0, 1, 0.5), (1, 1, 0.6), (2, 1, 0.6)]
    assert carry_spans(source, links, ["x", "y"], SpanRules()) == [Span(1, 2, "B", 0.6)]


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.5, 1.0])),
        unique_by=lambda x: x[:2],
    ),
    st.sampled_from(["longest", "all", "hull", "none"]),
    st.integers(0, 2),
)
def test_carried_spans_are_of_linked_words(links, parts, gap):
    """No two overlap; each begins and ends at a word that is linked; gaps are small, but in hulls."""
    source = [Span(0, 2, "A"), Span(3, 6, "B")]
    found = carry_spans(source, links, list("uvwxyz"), SpanRules(gap, parts))
    taken = [j for span in found for j in range(span.start, span.end)]
    assert len(taken) == len(set(taken))
    for span in found:
        of = source[0] if span.type == "A" else source[1]
        linked = {j for i, j, _ in links if of.start <= i < of.end}
        assert {span.start, span.end - 1} <= linked
        if parts != "hull":
            assert all(any(k in linked for k in range(j, j + gap + 1)) for j in range(span.start, span.end))
        scores = [max((s for i, _, s in links if i == k), default=0.0) for k in range(of.start, of.end)]
        assert span.score == sum(scores) / len(scores)


def test_spans_of_sentences(write):
    """From MISC or a file to MISC. The target's own spans are kept."""
    src = write("src.conllu", words("Ann/B-PER saw Rome/B-LOC") + words("no one"))
    tgt, links = ["Anne", "a", "vu", "Rome"], Links.from_pairs([[(0, 0, 0.9), (1, 2, 0.8), (2, 3, 0.7)], []])

    def run(rules=Rules(), given=None, own=None):  # noqa: B008
        targets = [plain_sentence(tgt), plain_sentence(["personne"])]
        if own is not None:
            targets[0].words[3][MISC] = own
        pairs = aligned(read_conllu(src), targets, links)
        return [(sentence.column(MISC), spans) for sentence, spans in carried(pairs, rules, given)]

    spans = [Span(0, 1, "PER", 0.9), Span(3, 4, "LOC", 0.7)]
    only = Rules(layers=("spans",))
    misc = ["NER=B-PER|ProjectedSpan=0.9", "_", "_", "NER=B-LOC|ProjectedSpan=0.7"]
    assert run(only) == [(misc, spans), (["_"], [])]
    found = run(only, own="NER=B-ORG|X=1")[0]
    assert found[0][3] == "NER=B-ORG|X=1" and found[1] == [spans[0], Span(3, 4, "ORG")]
    assert run(Rules(layers=("spans",), replace=True), own="NER=B-ORG")[0][0] == misc
    given = SpanFile(write("spans", "1\t2\t3\tGPE\n"))
    assert run(only, given)[0][1] == [Span(3, 4, "GPE", 0.7)]
    assert run(Rules(layers=("spans",), key="Name"))[0][0] == ["_"] * 4
    for text, message in (
        ("a O\nb O\nc O\n", "src.conllu:5: sentence 2 is not in .*spans, which has 1"),
        ("a O\nb O\n\nb O\n", "a sentence of 2 words, .*src.conllu, line 1, has 3"),
        ("3\t0\t1\tX\n", "spans:1: spans of sentence 3, which the source does not have"),
        ("1\t0\t1\tX\n1\t0\t2\tX|Y\n", "spans:2: the type 'X.Y' has a ., which separates attributes of MISC"),
        ("a O\nb B-X|Y\nc O\n", "spans:2: the type 'X.Y' has a ."),
    ):
        with pytest.raises(DataError, match=message):
            run(only, SpanFile(write("spans", text)))

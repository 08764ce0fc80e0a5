"""What is carried along links: by the rules, word for word, and by their definition on random trees."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner import DataError, LinkReader, Links
from aligner.uses.annotated import Filters, aligned, checked, filtered
from aligner.uses.conllu import (
    DEPREL,
    FEATS,
    HEAD,
    MISC,
    NO_HEAD,
    UPOS,
    Sentence,
    parsed,
    plain_sentence,
    read_conllu,
)
from aligner.uses.edges import EdgeCurve, edge_chart, transferred
from aligner.uses.transfer import LAYERS, Rules, transfer


def sentence(*words: str) -> Sentence:
    """Words as `form UPOS FEATS HEAD DEPREL MISC`; what is left out is _."""
    rows = [(word.split() + ["_"] * 6)[:6] for word in words]
    lines = [
        "\t".join([str(k), a, "_", b, "_", c, d, e, "_", f]) for k, (a, b, c, d, e, f) in enumerate(rows, 1)
    ]
    return parsed(lines)


def carried(src: Sentence, tgt: Sentence, links, rules: Rules | None = None, **more) -> Sentence:
    return next(transfer([src], [tgt], Links.from_pairs([links]), rules, **more))


TREE = sentence("the DET D=1 2 det", "cat NOUN N=1 3 nsubj", "sleeps VERB V=1 0 root", ". PUNCT _ 3 punct")


def test_a_tree_is_carried_to_itself():
    """All of it, along links of each word with itself."""
    tgt = carried(TREE, plain_sentence(["le", "chat", "dort", "."]), [(k, k) for k in range(4)])
    for column in (UPOS, FEATS, HEAD, DEPREL):
        assert tgt.column(column) == TREE.column(column)
    assert tgt.column(MISC) == [f"From={k}" for k in (1, 2, 3, 4)]


def test_scores_are_told():
    links = [(0, 0, 0.5), (1, 1, 0.9), (2, 2, 1.0)]
    tgt = carried(TREE, sentence("le _ _ _ _ SpaceAfter=No|From=9", "chat", "dort", "ici"), links)
    assert tgt.column(MISC) == [
        "SpaceAfter=No|Projected=0.5|From=1|ProjectedHead=0.45",
        "Projected=0.9|From=2|ProjectedHead=0.9",
        "Projected=1|From=3|ProjectedHead=1",
        "_",
    ]
    assert tgt.column(HEAD) == ["2", "3", "0", "_"]
    tgt = carried(TREE, plain_sentence(["le", "chat", "dort"]), links, threshold=0.5)
    assert tgt.column(UPOS) == ["_", "NOUN", "VERB"]


VOTES = [
    ([(0, 0), (1, 0), (4, 0)], "NOUN", "N=2"),  # most words
    ([(0, 0), (1, 0)], "DET", "_"),  # as many, then the first word
    ([(0, 0, 0.5), (1, 0, 0.6)], "NOUN", "N=2"),  # as many, then the larger score
    ([(1, 0, 0.5), (4, 0, 0.6), (0, 0, 0.9)], "NOUN", "N=5"),  # of one part of speech, the best link
    ([(3, 0), (1, 0)], "NOUN", "N=2"),  # a word without one has no vote
    ([(3, 0)], "_", "X=4"),
    ([(1, 0), (1, 0), (0, 0), (2, 0)], "DET", "_"),  # a link that is given twice counts once
]


@pytest.mark.parametrize("links, upos, feats", VOTES)
def test_parts_of_speech_are_voted_on(links, upos, feats):
    src = sentence("a DET", "b NOUN N=2", "c DET", "d _ X=4", "e NOUN N=5")
    tgt = carried(src, plain_sentence(["x"]), links)
    assert (tgt.words[0][UPOS], tgt.words[0][FEATS]) == (upos, feats)


def test_what_the_target_has_is_kept():
    whole = sentence("le DET G=1 2 det", "chat NOUN _ 3 nsubj", "dort VERB _ 0 root", ". PUNCT _ 3 punct")
    before = whole.text()
    assert carried(TREE, whole, [(k, 3 - k) for k in range(4)]).text() == before
    tgt = carried(TREE, sentence("le ADJ", "chat NOUN", "dort", "."), [(k, k) for k in range(4)])
    assert tgt.column(UPOS) == ["ADJ", "NOUN", "VERB", "PUNCT"]
    assert tgt.column(FEATS) == ["_", "N=1", "V=1", "_"]  # features of another part of speech are not carried
    replaced = carried(TREE, whole, [(1, 1)], Rules(replace=True))
    assert replaced.column(UPOS) == ["_", "NOUN", "_", "_"] and replaced.column(HEAD) == ["_"] * 4
    some = carried(TREE, sentence("le", "chat _ _ 1 x", "dort", "."), [(k, k) for k in range(4)])
    assert some.column(HEAD) == ["_", "1", "0", "3"]  # 1 below 2 would be a cycle
    assert some.column(DEPREL) == ["_", "x", "root", "punct"]
    some = carried(TREE, sentence("le _ _ _ own"), [(0, 0), (1, 0), (2, 0)])
    assert (some.column(HEAD), some.column(DEPREL)) == (["0"], ["own"])
    rooted = carried(TREE, sentence("le _ _ 0 root", "dort"), [(2, 1)])
    assert rooted.column(HEAD) == ["0", "_"]  # a sentence has one root
    bare = carried(TREE, sentence("le DET G=1", "chat NOUN"), [(1, 1)])
    assert bare.column(FEATS) == ["G=1", "_"]  # where others have features, _ says that a word has none


def test_layers_are_carried_alone():
    for layer in LAYERS:
        tgt = carried(TREE, plain_sentence(["x", "y", "z"]), [(0, 0), (1, 1), (2, 2)], Rules(layers=(layer,)))
        found = [column for column in (UPOS, FEATS, HEAD) if set(tgt.column(column)) != {"_"}]
        assert found == {"upos": [UPOS], "feats": [], "deps": [HEAD], "spans": []}[layer]
    with pytest.raises(ValueError, match="unknown layer 'x'; there are upos"):
        Rules(layers=("x",))


def test_a_link_that_stands_twice_has_the_better_score():
    for scores in ((0.5, 0.9), (0.9, 0.5)):
        tgt = carried(TREE, plain_sentence(["le"]), [(0, 0, score) for score in scores])
        assert tgt.column(MISC) == ["Projected=0.9|From=1"]


def test_nouns_and_verbs_are_of_two_kinds_each():
    for noun, verb in itertools.product(("NOUN", "PROPN"), ("VERB", "AUX")):
        for tags in ((noun, verb), (verb, noun)):
            src, tgt = (sentence(f"x {tag} _ 0 root") for tag in tags)
            pairs = list(aligned([src], [tgt], Links.from_pairs([[(0, 0)]])))
            assert [filtered(pair, Filters(compatible=True)) for pair in pairs] == [[]]
        same = sentence(f"x {verb} _ 0 root", f"y {verb} _ 1 aux")
        (pair,) = aligned([same], [same], Links.from_pairs([[(0, 0), (1, 1)]]))
        assert transferred(pair, Filters(compatible=True, verb_root=True)) == {(0, 1): 1.0}


def test_several_heads():
    """Two target words for one head: none by default, else the best; of equal ones the first."""
    src, words = sentence("a _ _ 2 x", "b _ _ 0 root"), ["p", "q", "r"]
    links = [(0, 0, 1.0), (1, 1, 0.5), (1, 2, 0.6)]
    assert carried(src, plain_sentence(words), links).column(HEAD) == ["_", "_", "0"]
    best = Rules(heads="best")
    assert carried(src, plain_sentence(words), links, best).column(HEAD) == ["3", "_", "0"]
    plain = [link[:2] for link in links]
    assert carried(src, plain_sentence(words), plain, best).column(HEAD) == ["2", "0", "_"]
    src = sentence("a _ _ 3 x", "b _ _ 4 y", "c _ _ 0 root", "d _ _ 3 z")
    both = [(0, 0), (1, 0), (2, 1), (3, 2)]
    assert carried(src, plain_sentence(words), both).column(HEAD) == ["_", "0", "2"]
    tgt = carried(src, plain_sentence(words), both, best)
    assert tgt.column(HEAD) == ["2", "0", "2"] and tgt.column(DEPREL) == ["x", "root", "z"]


def test_the_best_edges_of_a_cycle_are_carried():
    src = sentence("a _ _ 2 x", "b _ _ 3 y", "c _ _ 0 root")
    links = [(0, 0, 0.9), (1, 1, 0.8), (2, 0, 0.5)]  # q below p by b -> c, p below q by a -> b
    assert carried(src, plain_sentence(["p", "q"]), links, Rules(heads="best")).column(HEAD) == ["2", "_"]
    links = [(0, 0, 0.9), (1, 1, 0.8), (2, 0, 1.0)]
    assert carried(src, plain_sentence(["p", "q"]), links, Rules(heads="best")).column(HEAD) == ["0", "1"]


def test_filters():
    src = sentence("a NOUN _ 2 nsubj", "b VERB _ 0 root", ". PUNCT _ 2 punct")
    links = [(k, k) for k in range(3)]

    def heads(tgt: Sentence, **on: bool) -> list[str]:
        return carried(src, tgt, links, Rules(filters=Filters(**on))).column(HEAD)

    assert heads(sentence("x VERB", "y VERB", ". PUNCT"), compatible=True) == ["_", "0", "2"]
    assert heads(sentence("x ADJ", "y AUX", "z"), compatible=True) == ["2", "0", "2"]
    assert heads(sentence("x NOUN", "y VERB", "z"), no_punct=True) == ["2", "0", "_"]
    assert heads(sentence("x PUNCT", "y VERB", "z"), no_punct=True) == ["_", "0", "_"]
    assert heads(sentence("x", "y", "z"), verb_root=True) == ["2", "0", "2"]
    assert heads(sentence("x", "y NOUN", "z"), verb_root=True) == ["_"] * 3
    assert carried(
        sentence("a NOUN _ 0 root"), plain_sentence(["x"]), [(0, 0)], Rules(filters=Filters(verb_root=True))
    ).column(HEAD) == ["_"]
    with pytest.raises(DataError, match="no parts of speech; links of nouns and verbs"):
        heads(sentence("x", "y", "z"), compatible=True)
    assert str(Filters()) == "none" and str(Filters(True, True, True)) == "compatible+verb-root+no-punct"


@st.composite
def problems(draw):
    """(source tree, target tree, scored links, thresholds): any heads that are a tree"""
    trees = []
    for _ in range(2):
        n = draw(st.integers(1, 5))
        order = draw(st.permutations(range(1, n + 1)))
        heads = {word: 0 if k == 0 else order[draw(st.integers(0, k - 1))] for k, word in enumerate(order)}
        tags = [draw(st.sampled_from(["NOUN", "VERB", "PUNCT", "X"])) for _ in range(n)]
        trees.append(sentence(*(f"w {tags[k]} _ {heads[k + 1]} d{k}" for k in range(n))))
    cells = list(itertools.product(range(len(trees[0])), range(len(trees[1]))))
    some = draw(st.lists(st.sampled_from(cells), unique=True))
    return *trees, [(i, j, draw(st.sampled_from([0.25, 0.5, 0.75, 1.0]))) for i, j in some]


FLAGS = st.builds(Filters, st.booleans(), st.booleans(), st.booleans())


def edges_by_definition(src, tgt, links, filters, threshold):
    """The edges (head, dependent) of the target, from 0, that links above a threshold transfer."""
    kind = {"NOUN": "n", "VERB": "v"}
    e, f = ([row[UPOS] for row in side.words] for side in (src, tgt))
    links = {(i, j) for i, j, score in links if score > threshold}
    if filters.compatible:
        links = {(i, j) for i, j in links if {kind.get(e[i]), kind.get(f[j])} != {"n", "v"}}
    heads = [int(row[HEAD]) - 1 for row in src.words]
    root = heads.index(-1)
    if filters.verb_root and not (e[root] == "VERB" and any(i == root and f[j] == "VERB" for i, j in links)):
        return set()
    if filters.no_punct:
        links = {(i, j) for i, j in links if "PUNCT" not in (e[i], f[j])}
    return {(p, c) for i, c in links for k, p in links if heads[i] == k and c != p}


@given(problems(), FLAGS)
def test_edges_are_transferred_as_defined(problem, filters):
    src, tgt, links = problem
    pairs = list(aligned([src], [tgt], Links.from_pairs([links])))
    found = transferred(pairs[0], filters)
    curve = EdgeCurve.of(pairs, filters)
    heads = tgt.heads()
    for threshold in (0.0, 0.25, 0.3, 0.5, 0.75, 1.0):
        truth = edges_by_definition(src, tgt, links, filters, threshold)
        assert {edge for edge, score in found.items() if score > threshold} == truth
        row = curve.at(threshold)
        assert (row["edges"], row["conserved"]) == (len(truth), sum(heads[c] == p + 1 for p, c in truth))
        assert row["accuracy"] == (row["conserved"] / row["edges"] if truth else 1.0)


@given(problems(), FLAGS, st.sampled_from(["single", "best"]))
def test_heads_are_those_of_transferred_edges(problem, filters, mode):
    """Each head that is carried is the only one, or the best; none is missing but those that make a cycle."""
    src, tgt, links = problem
    all_of = edges_by_definition(src, tgt, links, filters, 0.0)
    root = [int(row[HEAD]) for row in src.words].index(0)
    verb_root_fails = filters.verb_root and not (
        src.words[root][UPOS] == "VERB"
        and any(i == root and tgt.words[j][UPOS] == "VERB" for i, j, _ in links)
    )
    roots = set()
    if not verb_root_fails:
        for i, j, _ in links:
            tags = src.words[i][UPOS], tgt.words[j][UPOS]
            dropped = (
                filters.compatible and {*tags} == {"NOUN", "VERB"} or filters.no_punct and "PUNCT" in tags
            )
            if i == root and not dropped:
                roots.add((-1, j))
    for row in tgt.words:
        row[HEAD] = row[DEPREL] = "_"
    heads = carried(src, tgt, links, Rules(heads=mode, filters=filters)).heads()  # a forest with one root
    wanted = all_of | roots
    for j, head in enumerate(heads):
        choices = {p + 1 for p, c in wanted if c == j}
        if head == NO_HEAD:
            continue
        assert head in choices and (mode == "best" or len(choices) == 1)
    one_to_one = len({i for i, _, _ in links}) == len(links) == len({j for _, j, _ in links})
    if one_to_one:
        assert {(head - 1, j) for j, head in enumerate(heads) if head != NO_HEAD} == wanted


def test_a_tree_is_conserved_by_links_of_each_word_with_itself():
    pairs = list(aligned([TREE, TREE], [TREE, TREE], Links.from_pairs([[(k, k) for k in range(4)]] * 2)))
    curve = EdgeCurve.of(pairs, Filters())
    row = {"links": 8, "edges": 6, "conserved": 6, "edges_a_sentence": 3.0, "accuracy": 1.0}
    assert curve.table() == [(None, row)]
    chart = edge_chart([("name", curve)])
    assert chart.rows == [["name", None, 6, 6, 3.0, 100.0]] and chart.panels[0].lines[0].x == [3.0]


def test_charts_leave_out_few_edges():
    links = [[(k, k, 1 - n / 1000) for k in range(4)] for n in range(700)]
    curve = EdgeCurve.of(aligned([TREE] * 700, [TREE] * 700, Links.from_pairs(links)), Filters())
    rows = edge_chart([("", curve)]).rows
    assert rows[0][2] == 102 and rows[-1][2] == 2100 and len(rows) <= 500
    assert [threshold for threshold, _ in curve.table()] == [n / 10 for n in range(10)]
    empty = EdgeCurve.of([], Filters())
    assert empty.at(0.0)["accuracy"] == 1.0 and edge_chart([("", empty)]).rows == []


MISMATCHED = [
    ("0-0\n", "a\nb\n", "1 sentence in .*links, more in the source and in the target"),
    ("0-0\n0-0\n", "a\n", "1 sentence in the target, more in the source and in .*links"),
    ("0-0\n0-0\n0-0\n", "a\nb\n", "2 sentences in the source and in the target, more in .*links"),
    ("0-0\n0-1\n", "a\nb\n", r"links:2: link 0-1 of sentence 2 is outside its pair of 1 and 1 words"),
    ("0-0:2\n0-0:1\n", "a\nb\n", r"links:1: score 2 of link 0-0 is not between 0 and 1"),
]


@pytest.mark.parametrize("links, tgt, message", MISMATCHED, ids=[message for _, _, message in MISMATCHED])
def test_files_that_do_not_match_are_refused(links, tgt, message, write, blocks):
    src, tgt, links = write("src", "a\nb\n"), write("tgt", tgt), write("links", links)
    with pytest.raises(DataError, match=message):
        list(transfer(read_conllu(src), read_conllu(tgt), LinkReader(links)))


def test_a_sparse_file_of_links_may_end_early(write):
    links = LinkReader(write("links", "0001 1 1 S\n"), "wpt")
    assert len(list(transfer([TREE] * 3, [plain_sentence(["x"]) for _ in range(3)], links))) == 3
    with pytest.raises(DataError, match="more in the source and in the links$|1 sentence in the target"):
        list(transfer([TREE] * 2, [TREE], Links.from_pairs([[], []])))
    with pytest.raises(DataError, match="the links have no scores; a threshold needs"):
        list(transfer([TREE], [TREE], Links.from_pairs([[(0, 0)]]), threshold=0.5))


def test_other_numbers_of_words_are_refused(write):
    text = write("text", "a b\nc d\n")
    whole = write("x.conllu", "".join(f"{k}\tw" + "\t_" * 8 + "\n" for k in (1, 2)) + "\n")
    sentences = list(read_conllu(whole))
    assert list(checked(sentences * 2, read_conllu(text))) == sentences * 2
    for n, message in ((1, "text:2: no sentence for this line"), (3, "fewer sentences")):
        with pytest.raises(DataError, match=message):
            list(checked(sentences * n, read_conllu(text)))
    three = write("three", "a b\nc d e\n")
    with pytest.raises(DataError, match="three:2: 3 words, the sentence in .*x.conllu, line 1, has 2; align"):
        list(checked(sentences * 2, read_conllu(three)))


def test_multiword_tokens_are_named_where_links_are_outside(write):
    columns = "\t_" * 8 + "\n"
    path = write("x.conllu", f"1-2\tdu{columns}1\tde{columns}2\tle{columns}\n")
    links = write("links", "2-0\n")
    with pytest.raises(DataError, match="Links must count words, not multiword tokens$"):
        list(transfer(read_conllu(path), [plain_sentence(["x"])], LinkReader(links)))


def test_edges_depend_on_the_link_of_the_root():
    """A threshold above its score leaves no edges with --verb-root."""
    src = sentence("a VERB _ 0 root", "b X _ 1 x", "c X _ 2 y")
    links = [(0, 0, 0.25), (1, 1, 1.0), (2, 2, 0.5)]
    (pair,) = aligned([src], [src], Links.from_pairs([links]))
    assert transferred(pair, Filters()) == {(0, 1): 0.25, (1, 2): 0.5}
    assert transferred(pair, Filters(verb_root=True)) == {(0, 1): 0.25, (1, 2): 0.25}

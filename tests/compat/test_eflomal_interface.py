"""eflomal's Python interface, as callers use it."""

from __future__ import annotations

import io
import logging
import tempfile

import numpy as np
import programs
import pytest
from conftest import ROOT
from trained import generated

from aligner.compat import eflomal
from aligner.links.priors import read_priors

GOLDEN = programs.GOLDEN / "eflomal"
SRC = ["The house", "the Cat", "", "a house\u00a0here\n", "A cat\u3000here"]
TGT = ["LA maison", "le chat", "x", "une maison ici", "un chat ici\n"]


def lines(name: str) -> list[str]:
    return (ROOT / "data" / name).read_text().splitlines(keepends=True)


def generated_lines(n: int) -> tuple[list[str], list[str]]:
    text = generated().part(0, n)
    src, tgt = ([" ".join(side.sentence(k)) for k in range(n)] for side in (text.src, text.tgt))
    return src, tgt


def aligned(tmp_path, src, tgt, aligner=None, **settings) -> list[list[str]]:
    """The lines of links and scores, forward and reverse."""
    paths = [tmp_path / name for name in ("fwd", "rev", "fwd-scores", "rev-scores")]
    (aligner or eflomal.Aligner()).align(src, tgt, *map(str, paths), **settings)
    return [path.read_text().split("\n") for path in paths]


def test_a_file_that_is_held_open_has_the_links():
    with tempfile.NamedTemporaryFile("w+") as fwd, tempfile.NamedTemporaryFile("w+") as rev:
        fwd.write("what was there before, and is longer than the links" * 10)
        fwd.flush()
        eflomal.Aligner().align(SRC, TGT, links_filename_fwd=fwd.name, links_filename_rev=rev.name)
        fwd.seek(0)
        rev.seek(0)
        found = fwd.readlines(), rev.readlines()
    assert [len(x) for x in found] == [5, 5] and found[0][2] == "\n"
    assert found[0][3] == "0-0 1-1 2-2\n"  # the blanks of Unicode separate words


def test_inputs_may_be_generators_and_files(tmp_path, data):
    src, tgt = lines("sample.en"), lines("sample.fr")
    wanted = aligned(tmp_path, src, tgt)
    assert [len(x) for x in wanted] == [61] * 4
    assert aligned(tmp_path, (x.upper() for x in src), iter(tgt)) == wanted  # always lower-cased
    with open(data / "sample.en") as source, open(data / "sample.fr") as target:
        assert aligned(tmp_path, source, target) == wanted
    with pytest.raises(TypeError, match="not one string"):
        eflomal.Aligner().align("a b", ["x"])


def test_a_generated_word_has_one_link_at_most(tmp_path):
    forward, reverse, *_ = aligned(tmp_path, *generated_lines(150))
    for found, k in ((forward, 1), (reverse, 0)):
        words = [[int(link.split("-")[k]) for link in line.split()] for line in found]
        assert all(one == sorted(set(one)) for one in words) and sum(map(len, words)) > 800


def test_links_do_not_depend_on_samplers(tmp_path):
    text = generated_lines(60)
    first = aligned(tmp_path, *text, eflomal.Aligner(n_samplers=1))
    assert aligned(tmp_path, *text, eflomal.Aligner(n_samplers=4, n_iterations=(1, 1, 1))) == first


@pytest.mark.parametrize(
    "settings",
    [{"model": 1}, {"model": 2}, {"null_prior": 0.6}, {"source_prefix_len": 2}, {"target_suffix_len": 1}],
)
def test_settings_change_links(tmp_path, settings):
    text = generated_lines(60)
    usual, other = (aligned(tmp_path, *text, eflomal.Aligner(**x)) for x in ({}, settings))
    assert usual[0] != other[0] and len(usual[0]) == len(other[0])


def test_scores_tell_wrong_pairs(tmp_path):
    src, tgt = generated_lines(200)
    tgt[180:] = tgt[181:] + tgt[180:181]
    for scores in aligned(tmp_path, src, tgt)[2:]:
        numbers = np.array(scores[:-1], dtype=float)
        assert np.median(numbers[180:]) > np.quantile(numbers[:180], 0.8)


def test_score_models_differ(tmp_path):
    text = generated_lines(60)
    found = [aligned(tmp_path, *text, eflomal.Aligner(score_model=n))[2:] for n in (0, 1, 2, 3)]
    assert found[0] == found[3] and found[1] != found[2] != found[3]


def test_repeated_words_score_well_where_they_fit(tmp_path):
    """As OpusFilter expects it: scores of what fits are below 0."""
    src = [f"{'ab ' * (n % 10 + 1)}." for n in range(50)] + ["ab ab ab ab ab ab .", ""]
    tgt = [f"{'AB ' * (n % 10 + 1)}." for n in range(50)] + ["AB", ""]
    forward, reverse = (np.array(x[:-1], dtype=float) for x in aligned(tmp_path, src, tgt)[2:])
    assert forward[:50].max() < 0 and reverse[:50].max() < 0
    assert max(forward[50], reverse[50]) > 0 and forward[51] == reverse[51] == 0


def priors_of(tmp_path, src, tgt) -> list[str]:
    """The lines of priors of a text with the links that it gets."""
    forward, reverse, *_ = aligned(tmp_path, src, tgt)
    out = io.StringIO()
    eflomal.write_priors(out, *eflomal.calculate_priors(src, tgt, forward[:-1], reverse[:-1]))
    return out.getvalue().splitlines()


def test_priors_make_links_of_few_sentences_better(tmp_path):
    src, tgt = generated_lines(340)
    gold = [
        {link for link in line.split() if "-" in link}
        for line in (ROOT / "data/generated.gold").read_text().splitlines()[300:340]
    ]
    priors = priors_of(tmp_path, [line.capitalize() for line in src[:300]], tgt[:300])
    errors = []
    for settings in ({}, {"priors_input": priors}):
        found = aligned(tmp_path, src[300:], tgt[300:], **settings)[0]
        errors.append(sum(len(set(line.split()) ^ sure) for line, sure in zip(found, gold, strict=False)))
    assert errors[1] < 0.8 * errors[0]


def test_priors_are_of_what_is_seen_of_words(tmp_path):
    """Only so many letters, in lower case: other letters of the priors' words change nothing."""
    src, tgt = generated_lines(40)
    first, last = src[0].split()[0], tgt[0].split()[-1]
    aligner = eflomal.Aligner(source_prefix_len=len(first))
    plain, exact, longer = (
        aligned(tmp_path, src, tgt, aligner, priors_input=priors)
        for priors in (None, [f"LEX\t{first}\t{last}\t500"], [f"LEX\t{first.upper()}X\t{last.upper()}\t500"])
    )
    assert plain != exact == longer


def test_priors_make_scores_of_few_sentences_right(tmp_path):
    """As OpusFilter expects it, of text that is too short to teach the order of words."""
    src, tgt = ([f"{f'{word} ' * (n % 10 + 1)}." for n in range(50)] for word in ("ab", "AB"))
    priors = priors_of(tmp_path, src, tgt)
    src, tgt = [*src[:5], "", "ab ab ab ab ab ab ."], [*tgt[:5], "", "AB"]
    found = aligned(tmp_path, src, tgt, priors_input=priors)[2:]
    forward, reverse = (np.array(x[:-1], dtype=float) for x in found)
    assert forward[:5].max() < 0 and reverse[:5].max() < 0 and max(forward[6], reverse[6]) > 0


def test_wrong_input_is_a_value_error(tmp_path):
    align = eflomal.Aligner().align
    with pytest.raises(ValueError, match="the source has 2 sentences, the target has 1"):
        align(["a", "b"], ["x"])
    with pytest.raises(eflomal.InputError, match="priors:2: not a line"):
        align(["a"], ["x"], priors_input=["LEX\ta\tx\t1", "LEX"])
    with pytest.raises(ValueError, match="there is no model 4"):
        eflomal.Aligner(model=4).align(["a"], ["x"])
    for wrong in (-0.1, 1, float("nan")):
        with pytest.raises(ValueError, match=f"NULL must be between 0 and 0.999, not {wrong}"):
            eflomal.Aligner(null_prior=wrong).align(["a"], ["x"], str(tmp_path / "links"))
    with pytest.raises(ValueError, match="words cannot be cut to -1 letters; 0 means all letters"):
        eflomal.Aligner(target_suffix_len=-1).align(["a"], ["x"], str(tmp_path / "links"))
    with pytest.raises(ValueError, match="two outputs have the same name"):
        align(["a"], ["x"], str(tmp_path / "links"), str(tmp_path / "links"))
    with pytest.raises(ValueError, match="no such folder"):
        align(["a"], ["x"], str(tmp_path / "missing/links"))
    with pytest.raises(ValueError, match="forward links:1:4: a blank was expected"):
        eflomal.calculate_priors(["a"], ["x"], ["0-0:1"], ["0-0"])


def test_an_empty_name_is_no_output_as_in_eflomal(tmp_path, caplog):
    eflomal.Aligner().align(["a"], ["x"], "", str(tmp_path / "links"), "", "")
    assert (tmp_path / "links").read_text() == "0-0\n" and caplog.text == ""
    eflomal.Aligner().align(["a"], ["x"], "")
    assert caplog.messages == ["no output is wanted: nothing is aligned"]


def test_arguments_that_change_nothing_are_named_once(tmp_path, caplog):
    aligner = eflomal.Aligner(n_iterations=(1, 2, 3), rel_iterations=0.5)
    aligner.align(["a"], ["x"], str(tmp_path / "links"), use_gdb=True)
    assert caplog.text == ""
    with caplog.at_level(logging.WARNING):
        aligner.align(["a"], ["x"], str(tmp_path / "links"), quiet=False)
    assert [record.message for record in caplog.records] == [
        "arguments that change nothing here: n_iterations rel_iterations"
    ]


def test_sentences_of_a_joint_file():
    text = ["a b ||| x y\n", " c  ||| z|||z \n"]
    assert list(eflomal.sentences_from_joint_file(text)) == [("a b", "x y"), ("c ", "z|||z")]
    assert list(eflomal.sentences_from_joint_file(text, 1)) == ["x y", "z|||z"]
    for wrong in ("a b", "a ||| x ||| y", "a ||| \n"):
        with pytest.raises(ValueError, match="text:2: the line is not `source"):
            list(eflomal.sentences_from_joint_file(["a ||| x", wrong]))


def test_priors_are_those_of_eflomal(data):
    """calculate_priors and write_priors, against the file that eflomal-makepriors wrote."""
    names = ("sample.en", "sample.fr", "sample.forward", "sample.reverse")
    found = eflomal.calculate_priors(*(lines(name) for name in names))
    assert len(found) == 5 and all(type(n) is int for counts in found for n in counts.values())
    out = io.StringIO()
    eflomal.write_priors(out, *found)
    assert out.getvalue() == (GOLDEN / "sample.priors").read_text()
    pairs, hmmf, hmmr, ferf, ferr = eflomal.read_priors(out.getvalue().splitlines(keepends=True))
    again = {(e, f): n for e, f, n in pairs}, hmmf, hmmr
    assert again == tuple(map(dict, found[:3]))
    assert [{(word, k): n for word, k, n in rows} for rows in (ferf, ferr)] == list(map(dict, found[3:]))


def test_priors_of_the_opposite_direction(data):
    """They are the priors of the text with its sides swapped."""
    en, fr, forward, reverse = (lines(f"sample.{name}") for name in ("en", "fr", "forward", "reverse"))

    def swapped(links):
        return [" ".join("-".join(link.split("-")[::-1]) for link in line.split()) for line in links]

    wanted = eflomal.calculate_priors(fr, en, swapped(reverse), swapped(forward))
    assert eflomal.calculate_priors(en, fr, forward, reverse, True) == wanted


def test_text_of_numbers_is_that_of_eflomal():
    for side in ("en", "fr"):
        sentences, index = eflomal.read_text(lines(f"sample.{side}"), True, 0, 0)
        out = io.BytesIO()
        eflomal.write_text(out, tuple(sentences), len(index))
        assert out.getvalue() == (GOLDEN / f"sample.{side}.numbers").read_bytes()
    sentences, index = eflomal.read_text(["Abc abd xbd"], False, 2, 0)
    assert [x.tolist() for x in sentences] == [[0, 1, 2]] and list(index) == ["Ab", "ab", "xb"]
    assert list(eflomal.read_text(["Abc abd xbd"], True, 0, 2)[1]) == ["bc", "bd"]


def test_priors_that_are_seen_shorter(tmp_path):
    path = tmp_path / "priors"
    path.write_text("LEX\tABc\tx\t1\nLEX\tabD\tx\t2\nLEX\t<NULL>\tx\t4\nFERF\tABc\t1\t1\nFERR\tx\t2\t1\n")
    seen = read_priors(str(path)).seen(lambda word: word.lower()[:2], str)
    assert seen.src.words == ["ab", "<NULL>"] and seen.pairs.a.tolist() == [0, 0, 1]
    assert seen.transposed().tgt.words == seen.src.words and seen.transposed().pairs.b.tolist() == [0, 0, 1]
    assert [table.a.tolist() for table in seen.transposed().fertilities] == [[0], [0]]

"""The commands that train and decode, as users run them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from trained import run

from aligner import Model, Recipe, __version__, format_links, read_corpus
from aligner.cli import cli
from aligner.decoding.posteriors import PROJECTIONS
from aligner.decoding.threshold import RULES
from aligner.links.symmetrize import METHODS, VARIANTS
from aligner.models.kinds import MODELS
from aligner.text.corpus import sampled


def test_align_is_train_and_decode(data, tmp_path):
    files = data / "sample.en", data / "sample.fr"
    model, again = tmp_path / "model", tmp_path / "again"
    links = run("align", *files, "-q", "--save", model, "--lowercase")
    assert len(links.splitlines()) == 60
    run("train", *files, "-q", "-o", again, "--lowercase", "--threads", 2)
    assert again.read_bytes() == model.read_bytes()
    assert run("decode", model, *files) == links
    both = "".join(
        f"{a} ||| {b}\n" for a, b in zip(*(f.read_text().splitlines() for f in files), strict=True)
    )
    assert run("decode", model, stdin=both) == links
    assert run("align", "-q", "--lowercase", stdin=both) == links
    for command in (["train", *files, "-q", "-o", model], ["align", *files, "--save", model]):
        message = run(*command, code=1)  # at once, not after training
        assert "the file exists" in message and "ibm1" not in message


@pytest.mark.parametrize("model", ["loo", "hmm"])
def test_align_by_a_sample_is_train_of_it_and_decode_of_all(data, tmp_path, model):
    """Links known by hand, too: in training those of the sample, in decoding all."""
    files = data / "generated.src", data / "generated.tgt"
    lines = [file.read_text().splitlines(keepends=True) for file in files]
    chosen = np.flatnonzero(sampled(len(lines[0]), 300)).tolist()
    assert len(chosen) == 300 and 0 < chosen[0] and chosen[-1] > 1500
    sample = [tmp_path / "src", tmp_path / "tgt"]
    for path, text in zip(sample, lines, strict=True):
        path.write_text("".join(text[n] for n in chosen))
    given, of_sample = tmp_path / "given", tmp_path / "of_sample"
    links = [("0-1\n" if n % 3 == 0 else "\n") for n in range(len(lines[0]))]
    given.write_text("".join(links))
    of_sample.write_text("".join(links[n] for n in chosen))
    known = "--known-base", 0, "--given"
    saved = [tmp_path / "saved", tmp_path / "trained"]
    options = "-q", "--model", model, "--fast"
    found = run("align", *files, *options, *known, given, "--train-sample", 300, "--save", saved[0])
    run("train", *sample, *options, *known, of_sample, "-o", saved[1])
    one, other = (Model.load(path) for path in saved)
    assert one.signature == other.signature and one.history == other.history
    assert found == run("decode", saved[1], *files, *known, given)
    whole = run("align", *files, *options, *known, given)
    assert whole != found and whole == run("align", *files, *options, *known, given, "--train-sample", 5000)


def test_align_writes_directions_and_log(data, tmp_path):
    files = data / "sample.en", data / "sample.fr"
    outs = [tmp_path / name for name in ("links", "forward", "reverse", "log")]
    run(
        "align",
        *files,
        "-q",
        "-o",
        outs[0],
        "--forward",
        outs[1],
        "--reverse",
        outs[2],
        "--log-json",
        outs[3],
    )
    first, *log = [json.loads(line) for line in outs[3].read_text().splitlines()]
    assert first.keys() == {"signature"}
    kind = MODELS["loo"]
    assert (kind.ibm1_iterations, kind.hmm_iterations, kind.iterations) == (4, 1, 2)
    assert [entry["model"] for entry in log] == 3 * 4 * ["ibm1"] + 3 * ["loo"]
    assert {"loglik", "perplexity", "seconds", "tokens_per_second", "memory_mb"} <= log[0].keys()
    model = tmp_path / "model"
    run("train", *files, "-q", "-o", model)
    for direction, out in zip(("forward", "reverse"), outs[1:3], strict=True):
        plain = run("decode", model, *files, "--direction", direction)
        assert plain == out.read_text() and "-" in plain and ":" not in plain
    viterbi = run("decode", model, *files, "--viterbi", "--direction", "forward").splitlines()
    for line in viterbi:
        targets = [link.split("-")[1] for link in line.split()]
        assert len(set(targets)) == len(targets)  # a path has one state per target word


def scored(text: str) -> tuple[list[str], list[float]]:
    """Links `i-j:p` as links with their sentences' ends, and as scores."""
    links = [link.split(":") for line in text.splitlines() for link in [*line.split(), "end:0"]]
    return [link for link, _ in links], [float(score) for _, score in links]


@pytest.mark.parametrize("size", ["much", "-1", "1e3", "9" * 400, "9" * 5000 + "T"])
def test_memory_that_no_machine_has_is_refused(data, size):
    message = run("align", data / "sample.en", data / "sample.fr", "--memory", size, code=2)
    assert "Invalid value for '--memory'" in message and "is no size, as 500M or 4G are" in message


def test_symmetrize_makes_of_the_directions_what_align_prints(data, tmp_path):
    """For every method and variant, by probability and by best paths; scores up to the files' rounding."""
    files = [tmp_path / side for side in ("src", "tgt")]
    for path in files:
        lines = (data / f"generated.{path.name}").read_text().splitlines()[:100]
        path.write_text("".join(f"{line}\n" for line in lines))
    both = tmp_path / "forward", tmp_path / "reverse"
    save = tmp_path / "model"
    quick = "-q", "--threads", 1, "--fast", "--model", "hmm", "--ibm1-iterations", 1, "--iterations", 1
    outs = "--overwrite", "--forward", both[0], "--reverse", both[1], "--save", save
    met = set()
    for how in ([], ["--viterbi"]):
        for method, kind in METHODS.items():
            soft = kind.threshold is not None
            for variant in ["symal"] if soft else VARIANTS:
                shown = ["--scores"] if soft else []
                options = ["--symmetrize", method, "--variant", variant, *shown, *how]
                printed = run("align", *files, *quick, *options, *outs)
                assert run("decode", save, *files, *options, "--threads", 1) == printed
                limit = ["--threshold", Model.load(save).threshold] if method == "soft-union" else []
                again = run("symmetrize", *both, "-m", method, "--variant", variant, *shown, *limit)
                if soft:
                    (links, scores), (others, rounded) = scored(printed), scored(again)
                    assert links == others
                    np.testing.assert_allclose(scores, rounded, rtol=0, atol=1.01e-6)
                else:
                    assert again == printed
                met.add(printed)
    assert len(met) > 15  # methods and variants differ


def test_product_has_a_threshold_of_its_own(data, tmp_path):
    """Unless one is given: the same from a model, from two files and from Python."""
    files, model = (data / "sample.en", data / "sample.fr"), tmp_path / "model"
    forward = tmp_path / "forward"
    outs = "--save", model, "--forward", forward
    printed = run("align", *files, "-q", "--fast", "--symmetrize", "product", *outs)
    assert forward.read_text() == run("decode", model, *files, "--direction", "forward")  # the model's
    trained = Model.load(model)
    assert trained.threshold != 0.25 == METHODS["product"].threshold
    for options in ([], ["--threshold", 0.25]):
        assert run("decode", model, *files, "--symmetrize", "product", *options) == printed
    given = run("decode", model, *files, "--symmetrize", "product", "--threshold", 0.6)
    assert given != printed
    corpus = read_corpus(*map(str, files))
    assert format_links(trained.align(corpus, symmetrize="product"), "pharaoh").decode() == printed
    found = trained.align(corpus, symmetrize="product", threshold=0.6)
    assert format_links(found, "pharaoh").decode() == given
    assert run("align", *files, "-q", "--fast", "--symmetrize", "product", "--threshold", 0.6) == given


def test_projections_when_text_is_decoded(data, tmp_path):
    """The same from `align`, from its model and from Python. What a model was trained with is the default."""
    files, model = (data / "sample.en", data / "sample.fr"), tmp_path / "model"
    quick = "-q", "--fast", "--iterations", 1
    found = {}
    for project in PROJECTIONS:
        options = ["--project", project, "--overwrite", "--save", model, "--scores"]
        found[project] = run("align", *files, "--model", "shmm", *quick, *options)
        assert run("decode", model, *files, "--project", project, "--scores") == found[project]
        links = Model.load(model).align(read_corpus(*map(str, files)), project=project)
        assert format_links(links.rounded(), "scored").decode() == found[project]
    assert found["trained"] == found["symmetric"] == run("decode", model, *files, "--scores")
    assert len(set(found.values())) == 4
    for command in (["align", *files, *quick], ["decode", model, *files]):
        assert "two best paths have no mean" in run(*command, "--viterbi", "--project", "both", code=2)
    wrong = run("align", *files, "--model", "ibm1", "--project", "both", code=2)
    assert "is for HMMs of both directions (loo, hmm, bhmm, shmm, agree), not for ibm1." in wrong


def test_info_and_lexicon(data, tmp_path):
    model = tmp_path / "model"
    run("train", data / "generated.src", data / "generated.tgt", "-q", "-o", model)
    assert "pairs              2000\n" in run("info", model) and "prefix5 loo" in run("info", model)
    assert json.loads(run("info", model, "--json"))["facts"]["pairs"] == 2000
    rows = [line.split() for line in run("info", model).splitlines()]
    assert [row[1] for row in rows if row[0] == "threshold"] == [str(Model.load(model).threshold)]
    rows = [line.split("\t") for line in run("lexicon", model, "--top", 2, "--min-prob", 0.1).splitlines()]
    best = {row[0]: row[1] for row in reversed(rows)}
    assert best["not"] in ("pas", "ne") and best["Mr."] == "M." and best["."] == "."
    assert all(float(row[2]) >= 0.1 or float(row[3]) >= 0.1 for row in rows)
    assert "not a model" in run("info", data / "sample.en", code=1)


def test_help_tells_which_models_train_one_direction():
    able = []
    for name in MODELS:
        with contextlib.suppress(ValueError):
            able.append(Recipe.of(name, direction="forward").model)
    text = " ".join(run("train", "--help").split())
    assert f"Train one direction only ({', '.join(able)}):" in text


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("kind", ["ibm1", "hmm"])
def test_lexicon_of_one_direction(data, tmp_path, direction, kind):
    """Its column is that of a model of both directions; the other column is empty."""
    files, column = (data / "sample.en", data / "sample.fr"), 2 if direction == "forward" else 3
    rows = []
    for trained in (direction, "both"):
        model = tmp_path / trained
        run("train", *files, "-q", "--fast", "--model", kind, "--direction", trained, "-o", model)
        rows.append([row.split("\t") for row in run("lexicon", model, "--min-prob", 0.1).splitlines()])
    one, both = rows
    assert one and all(len(row) == 4 and row[5 - column] == "" for row in one)
    pairs = {(row[0], row[1]): row[column] for row in both}
    assert all(pairs[row[0], row[1]] == row[column] for row in one)
    assert len(one) == sum(float(row[column]) >= 0.1 for row in both)
    best = [float(row[column]) for row in one if row[0] == one[0][0]]
    assert best == sorted(best, reverse=True)


def test_signature_is_in_log_and_info(data, tmp_path):
    """The log's first line has it, and so has what is said of the model."""
    files = data / "sample.en", data / "sample.fr"
    signatures = []
    for k, options in enumerate(([], ["--p0", 0.3], ["--lowercase"])):
        model, log = tmp_path / f"model{k}", tmp_path / f"log{k}"
        run("train", *files, "-q", "--fast", "-o", model, "--log-json", log, *options)
        first, *others = [json.loads(line) for line in log.read_text().splitlines()]
        assert first.keys() == {"signature"} and not any("signature" in entry for entry in others)
        signature = first["signature"]
        assert signature == Model.load(model).signature and "\n" not in signature
        assert run("info", model).splitlines()[0].split() == ["signature", signature]
        assert json.loads(run("info", model, "--json"))["signature"] == signature
        fields = dict(field.split(":", 1) for field in signature.split("|"))
        assert fields["model"] == "loo" and fields["views"] == "prefix4" and len(fields["text"]) == 8
        assert fields["version"] == __version__
        signatures.append(signature)
    assert len(set(signatures)) == 3


def test_ibm1_then_train(data, tmp_path):
    files = data / "sample.en", data / "sample.fr"
    first, second = tmp_path / "ibm1", tmp_path / "hmm"
    run("ibm1", *files, "-q", "-o", first, "--fast", "--iterations", 4)
    assert len(run("decode", first, *files).splitlines()) == 60
    viterbi = run("decode", first, *files, "--viterbi", "--direction", "reverse").splitlines()
    assert any(viterbi) and len(viterbi) == 60
    run("train", *files, "-q", "-o", second, "--model", "hmm", "--init", first, "--direction", "reverse")
    info = json.loads(run("info", second, "--json"))
    assert [entry["model"] for entry in info["history"]] == ["hmm"] * 5
    assert info["recipe"]["views"] == ["word"]
    assert "was trained reverse only" in run("decode", second, *files, "--direction", "forward", code=2)
    assert f"(loo, hmm, bhmm, shmm, agree), not for {second}." in run(
        "decode", second, *files, "--project", "symmetric", code=2
    )
    reverse = run("decode", second, *files)
    assert reverse == run("decode", second, *files, "--direction", "reverse")
    assert "is a model of both" in run(
        "train", *files, "-o", tmp_path / "x", "--direction", "forward", code=2
    )
    assert "--lowercase: do the same" in run(
        "train", *files, "-o", tmp_path / "x", "--init", first, "--lowercase", code=2
    )
    assert "unknown view 'words'" in run("align", *files, "--views", "words", code=2)
    assert "go together" in run("align", *files, "--dev-src", files[0], code=2)
    assert "--layout is for one file" in run("align", *files, "--layout", "tsv", code=2)
    assert "only one file can be -" in run("align", "-", "-", code=2)


def test_outputs_do_not_replace_each_other_or_inputs(data, tmp_path):
    src, tgt = tmp_path / "src", tmp_path / "tgt"
    for path, side in ((src, "en"), (tgt, "fr")):
        path.write_bytes((data / f"sample.{side}").read_bytes())
    x, model = tmp_path / "x", tmp_path / "model"
    for arguments, message in (
        (["align", src, tgt, "-o", x, "--save", x], "--save and -o are both"),
        (
            ["align", src, tgt, "--forward", x, "--reverse", f"{tmp_path}/./x"],
            "--reverse and --forward are both",
        ),
        (["align", src, tgt, "--forward", "-"], "--forward and -o are both -"),
        (["align", src, tgt, "--overwrite", "--log-json", src], "which is read"),
        (["train", src, tgt, "--overwrite", "-o", src], "which is read"),
        (["align", src, tgt, "--iterations", 10**20], "100000"),
        (["align", src, tgt, "--slack", "inf"], "not in the range"),
        (["align", src, tgt, "--slack", "nan"], "not a number"),
    ):
        assert message in run(*arguments, "-q", code=2), arguments
    for arguments, message in (
        (["train", src, tgt, "-o", f"{model}.gz"], "models are not compressed"),
        (["train", src, tgt, "-o", "-"], "a model is a file"),
        (["info", "-"], "a model is read from a file"),
        (["info", tmp_path], "a model is read from a file"),
        (["align", src, tgt, "--encoding", "utf-16"], "invalid utf-16"),
    ):
        options = [] if arguments[0] == "info" else ["-q"]
        assert message in run(*arguments, *options, code=1), arguments
    assert src.read_bytes() == (data / "sample.en").read_bytes()
    log = tmp_path / "log"
    log.write_text("precious")
    assert "the file exists" in run("align", src, tgt, "-q", "--log-json", log, code=1)
    assert log.read_text() == "precious"
    run("train", src, tgt, "-q", "-o", model, "--fast")
    assert "which is read" in run("decode", model, src, tgt, "-o", model, "--overwrite", code=2)
    assert "--symmetrize is for both" in run(
        "decode", model, src, tgt, "--direction", "forward", "--symmetrize", "union", code=2
    )
    whole = bytearray(model.read_bytes())
    whole[len(whole) * 3 // 4] ^= 1
    model.write_bytes(whole)
    assert "is damaged" in run("info", model, code=1)


def test_models_of_nothing_are_saved(tmp_path):
    for text in ("", "\n\n"):
        run("train", "-q", "-o", tmp_path / "m", "--overwrite", "--layout", "tsv", stdin=text)
        assert run("decode", tmp_path / "m", "--layout", "tsv", stdin="a\tb\n") != ""
        assert run("lexicon", tmp_path / "m") == ""


def test_nothing_to_learn_from_is_said(tmp_path, caplog):
    """Every line has its line of links, which is empty; no log has a number that is none."""
    log = tmp_path / "log"
    for text, options, kind in (
        ("", [], ""),
        ("\n\n ||| b\na ||| \n", [], ""),
        ("a b ||| c d\n" * 3, ["--max-length", 1], " of at most 1 words a side"),
    ):
        for model in ("loo", "shmm", "ibm1"):
            caplog.clear()
            made = [*options, "--layout", "bars", "-q", "--model", model, "--log-json", log, "--overwrite"]
            assert run("align", *made, stdin=text) == "\n" * len(text.splitlines()), (text, model)
            (record,) = caplog.records
            expected = f"nothing to learn from: no sentence pair{kind} has words on both sides"
            assert record.getMessage().endswith(expected)
            assert "nan" not in log.read_text().lower() and "inf" not in log.read_text().lower()


@pytest.mark.parametrize("model", MODELS)
def test_links_score_above_the_threshold_that_info_tells(tmp_path, model):
    """Also where training has found it on a handful of words; as far as decimals are printed."""
    path = tmp_path / "model"
    for text in ("a b ||| c d\n", "a ||| b\n", "a b c ||| d\n" * 3):
        links = run("align", "-q", "--model", model, "--scores", "--save", path, "--overwrite", stdin=text)
        told = [row.split() for row in run("info", path).splitlines() if row.startswith("threshold ")]
        assert float(told[0][1]) == Model.load(path).threshold
        assert links.split() or model != "loo"
        assert all(float(link.split(":")[1]) > float(told[0][1]) for link in links.split())


def test_decode_says_when_most_words_are_unknown(data, tmp_path, caplog):
    """Once, with the counts, over all lines; what one view knows is known."""
    model = tmp_path / "model"
    run("train", data / "sample.en", data / "sample.fr", "-q", "-o", model, "--views", "word,prefix3")
    run("decode", model, data / "sample.en", data / "sample.fr")
    run("decode", model, stdin="the xyzzy ||| le xyzzy\n" * 3)  # just half
    assert caplog.records == []
    run("decode", model, stdin="the qqqq ||| le qqqq\n\nqqqq governments ||| le le\nqqqq ||| le\n")
    (record,) = caplog.records
    assert f"{model} does not know 3 of 5 source words and 1 of 5 target words" in record.getMessage()
    assert "governments" not in (data / "sample.en").read_text().split()  # but its first three letters are
    caplog.clear()
    run("decode", model, data / "sample.fr", data / "sample.en")
    assert len(caplog.records) == 1


def test_a_run_explains_itself_in_few_lines(data, tmp_path):
    files = [str(data / f"sample.{x}") for x in ("en", "fr")]

    def said(*words: str) -> str:
        result = CliRunner().invoke(cli, [words[0], *files, *words[1:], "-o", str(tmp_path / "out")])
        assert result.exit_code == 0, result.output
        os.remove(tmp_path / "out")
        return result.stderr

    read = "read 60 sentence pairs: 745 source words, 884 target words\n"
    stages = r"Model 1, words: 2 iterations, \d+\.\d s\nHMM, words: 1 iteration, \d+\.\d s\n"
    end = r"done in \d+\.\d s: [\d,]+ sentence pairs a second\n"
    hmm = "--model", "hmm", "--fast", "--ibm1-iterations", "2", "--iterations", "1"
    assert re.fullmatch(read + stages + end, said("train", *hmm))
    links = r"found \d+ links that score above 0\.5\n"
    assert re.fullmatch(read + stages + links + end, said("align", *hmm))
    assert re.fullmatch(read + stages + r"found \d+ links\n" + end, said("align", *hmm, "--viterbi"))
    assert re.fullmatch(
        read + r"Model 1, words: 5 iterations, \d+\.\d s\n" + end, said("ibm1", "--views", "word")
    )
    verbose = said("align", *hmm, "-v").splitlines()
    assert len(verbose) == 8 and sum("perplexity" in line for line in verbose) == 3
    assert said("align", *hmm, "-q") == said("ibm1", "--quiet") == ""
    assert "--quiet and --verbose do not go together" in run("align", *files, "-q", "-v", code=2)


def test_development_options(data, tmp_path):
    files = data / "generated.src", data / "generated.tgt"
    dev = ["--dev-src", files[0], "--dev-tgt", files[1], "--dev-gold", data / "generated.gold"]
    run("train", *files, "-q", "--fast", *dev, "-o", tmp_path / "m", "--iterations", 8)
    history = json.loads(run("info", tmp_path / "m", "--json"))["history"]
    assert 5 < len(history) < 13 and "area" in history[-1]


def test_interrupted_training_leaves_nothing(data, tmp_path):
    """Neither a half-written model nor links, nor a temporary file."""
    big = tmp_path / "big"
    for side in ("src", "tgt"):
        Path(f"{big}.{side}").write_bytes((data / f"generated.{side}").read_bytes() * 2)
    command = [str(Path(sys.executable).with_name("aligner")), "align", f"{big}.src", f"{big}.tgt", "--fast"]
    command += ["-o", str(tmp_path / "links"), "--save", str(tmp_path / "model"), "--iterations", "500", "-v"]
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            for line in process.stderr:
                if "loo" in line:  # well into training
                    process.send_signal(number)
                    break
            process.stderr.read()
        assert process.returncode in (130, 143)
        assert sorted(x.name for x in tmp_path.iterdir()) == ["big.src", "big.tgt"]


def test_decode_answers_each_line_at_once(data, tmp_path):
    """A resident process: a line in, its links out, before the next line comes."""
    model = tmp_path / "model"
    run("train", data / "sample.en", data / "sample.fr", "-q", "-o", model)
    command = [str(Path(sys.executable).with_name("aligner")), "decode", str(model)]
    pairs = list(zip(*((data / f"sample.{x}").read_text().splitlines() for x in ("en", "fr")), strict=True))
    expected = run("decode", model, data / "sample.en", data / "sample.fr").splitlines()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdin is not None and process.stdout is not None
        for (src, tgt), links in zip(pairs[:5], expected, strict=False):
            process.stdin.write(f"{src} ||| {tgt}\n")
            process.stdin.flush()
            assert process.stdout.readline() == links + "\n"
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "\n"
        process.stdin.write("broken\n")
        process.stdin.close()
        assert "<stdin>:7: no ||| on the line" in process.stderr.read()
    assert process.returncode == 1


def test_scores_of_our_output_say_how_it_was_made(data, tmp_path):
    """From the model, or from the log, which also knows how the two directions became one."""
    files, gold = (data / "sample.en", data / "sample.fr"), data / "sample.gold"
    links, model, log = (tmp_path / name for name in ("links", "model", "log"))
    run("align", *files, "-q", "--fast", "-o", links, "--save", model, "--log-json", log)
    plain = run("evaluate", links, gold).splitlines()[-1]
    made = Model.load(model).signature
    assert run("evaluate", links, gold, "--run", model).splitlines()[-1] == f"{plain}||{made}"
    from_log = json.loads(run("evaluate", links, gold, links, "--run", log, "--run", model, "--json"))
    assert from_log["signature"] == f"{plain}||{made}|sym:soft-union||{made}"
    for path, message in ((gold, "neither a model nor a log"), (tmp_path / "none", "No such file")):
        failed = CliRunner().invoke(cli, ["evaluate", str(links), str(gold), "--run", str(path)])
        assert failed.exit_code == 1 and message in failed.stderr
    usage = CliRunner().invoke(
        cli, ["evaluate", str(links), str(gold), "--run", str(log), "--run", str(model)]
    )
    assert usage.exit_code == 2


@pytest.mark.parametrize(
    "options, told",
    [
        ([], "sym:soft-union"),
        (["--decode", "fertility", "--threshold", "points"], "sym:soft-union|fertility:2|rule:points"),
        (["--project", "both", "--symmetrize", "product"], "sym:product|project:both"),
        (["--viterbi", "--variant", "lilt"], "sym:grow-diag-final-and|variant:lilt|links:viterbi"),
        (["--train-sample", 50], "sym:soft-union|sample:50"),
        (["--train-sample", 60], "sym:soft-union"),
    ],
)
def test_the_log_tells_how_links_were_chosen(data, tmp_path, options, told):
    files, log = (data / "sample.en", data / "sample.fr"), tmp_path / "log"
    quick = "-q", "--fast", "--model", "hmm", "--ibm1-iterations", 1, "--iterations", 1
    run("align", *files, *quick, *options, "--save", tmp_path / "model", "--log-json", log)
    signature = json.loads(log.read_text().splitlines()[0])["signature"]
    assert signature == f"{Model.load(tmp_path / 'model').signature}|{told}"


def test_signature_tells_known_links_and_the_first_model(data, tmp_path):
    files = data / "sample.en", data / "sample.fr"
    found = []
    for k, options in enumerate(
        (
            [],
            ["--given", data / "sample.forward"],
            ["--exclude", data / "sample.forward"],
            ["--init", tmp_path / "0"],
        )
    ):
        run("train", *files, "-q", "--fast", "-o", tmp_path / str(k), *options)
        found.append(Model.load(tmp_path / str(k)).signature)
    assert len(set(found)) == 4
    assert ["known:" in x for x in found] == [False, True, True, False] and "|init:" in found[3]


SHORT = ["--fast", "--model", "ibm1", "--iterations", 2]


def test_an_output_that_fails_costs_no_other(data, tmp_path):
    """After the training, the links are written, and so is what else can be written."""
    files = data / "sample.en", data / "sample.fr"
    outs = {f"--{name}": tmp_path / name for name in ("output", "save", "forward", "reverse", "log-json")}
    run("align", *files, "-q", *SHORT, *(x for pair in outs.items() for x in pair))
    expected = {option: path.read_bytes() for option, path in outs.items()}
    for broken in list(outs)[1:]:
        for path in outs.values():
            path.unlink(missing_ok=True)
        options = [x for pair in (outs | {broken: "/dev/full"}).items() for x in pair]
        message = run("align", *files, "-q", *SHORT, *options, code=1)
        assert message == "aligner: /dev/full: No space left on device\n"
        for option, path in outs.items():
            if option not in (broken, "--log-json"):
                assert path.read_bytes() == expected[option]
    model = tmp_path / "save"
    assert "/dev/full: No space left" in run(
        "train", *files, "-q", *SHORT, "-o", model, "--overwrite", "--log-json", "/dev/full", code=1
    )
    assert Model.load(model).facts["pairs"] == 60


def test_outputs_are_opened_before_training(data, tmp_path):
    """Nobody can make a file in /proc."""
    files = data / "sample.en", data / "sample.fr"
    for option in ("-o", "--forward", "--reverse", "--save", "--log-json"):
        message = run("align", *files, *SHORT, option, "/proc/new", code=1)
        assert message == "aligner: /proc/new: No such file or directory\n", option
    message = run("train", *files, *SHORT, "-o", "/proc/new", code=1)
    assert message == "aligner: /proc/new: No such file or directory\n"


def test_an_old_log_stays_until_training_begins(data, write):
    log, bad = write("log", "precious\n"), write("bad", b"\xff\n")
    options = ["-q", *SHORT, "--log-json", log, "--overwrite"]
    assert "invalid UTF-8" in run("align", bad, bad, *options, code=1)
    assert Path(log).read_text() == "precious\n"
    run("align", data / "sample.en", data / "sample.fr", *options)
    assert len(Path(log).read_text().splitlines()) == 3


def test_best_paths_have_no_threshold(data, tmp_path):
    files = data / "sample.en", data / "sample.fr"
    run("train", *files, "-q", "--model", "ibm1", "-o", tmp_path / "m")
    for command in (["align", *files, "-q"], ["decode", tmp_path / "m", *files]):
        assert "--threshold is not for --viterbi" in run(*command, "--viterbi", "--threshold", 0.5, code=2)


@pytest.mark.parametrize("name", ["idna", "punycode", "undefined", "base64", "nothing"])
def test_encodings_that_are_not_of_text_are_refused(data, name):
    wrong = run("check", data / "sample.en", data / "sample.fr", "--encoding", name, code=2)
    assert f"unknown encoding '{name}'" in wrong


def test_thresholds_by_rules(data, tmp_path):
    """The same links from `align`, from its model, from Python, and by the number that is told."""
    files, model, side = (data / "sample.en", data / "sample.fr"), tmp_path / "model", tmp_path / "side"
    quick = ["align", *files, "--fast", "--model", "shmm", "--iterations", 1, "--overwrite", "--save", model]
    for rule in RULES:
        done = CliRunner().invoke(cli, [str(x) for x in (*quick, "--threshold", rule, "--forward", side)])
        (told,) = re.findall(rf"^threshold ([0-9.]+) \({rule}\)(.*)$", done.stderr, re.MULTILINE)
        assert bool(re.fullmatch(r", expected AER \d+\.\d", told[1])) == (rule == "auto")
        assert run("decode", model, *files, "--threshold", told[0]) == done.stdout
        one = run("decode", model, *files, "--threshold", told[0], "--direction", "forward")
        assert side.read_text() == one
        links = Model.load(model).align(read_corpus(*map(str, files)), threshold=rule)
        assert format_links(links, "pharaoh").decode() == done.stdout
        quiet = CliRunner().invoke(cli, [str(x) for x in (*quick, "--threshold", rule, "-q")])
        assert quiet.stderr == "" and quiet.stdout == done.stdout
        decoded = CliRunner().invoke(cli, ["decode", *map(str, (model, *files)), "--threshold", rule])
        assert decoded.stdout == done.stdout and decoded.stderr == f"threshold {told[0]} ({rule}){told[1]}\n"
    assert Model.load(model).recipe.threshold is None  # a rule is for this run, not for the model


def test_thresholds_by_rules_of_a_stream(data, tmp_path):
    model = tmp_path / "model"
    files = [data / f"sample.{side}" for side in ("en", "fr")]
    run("train", *files, "-q", "--fast", "--model", "bhmm", "--iterations", 1, "-o", model)
    pairs = zip(*(path.read_text().splitlines() for path in files), strict=True)
    stream = "".join(f"{src} ||| {tgt}\n" for src, tgt in pairs)
    printed = run("decode", model, "--threshold", "auto", stdin=stream)
    assert printed == run("decode", model, *files, "--threshold", Model.load(model).threshold)
    assert "--threshold points is for two files" in run(
        "decode", model, "--threshold", "points", stdin=stream, code=2
    )
    asked = "decode", model, "--threshold", "auto"
    assert "training finds none for product" in run(*asked, "--symmetrize", "product", stdin=stream, code=2)
    fixed = "--model", "hmm", "--iterations", 1, "--overwrite", "-o", model
    run("train", *files, "-q", "--fast", *fixed)
    assert f"the training of {model} found none: give two files" in run(*asked, stdin=stream, code=2)
    assert len(run(*asked, *files).splitlines()) == 60


@pytest.mark.parametrize("wrong", ["nan", "1.5", "-0.1", "automatic", "", "inf"])
def test_thresholds_that_are_refused(data, wrong):
    told = run("align", data / "sample.en", data / "sample.fr", "--threshold", wrong, code=2)
    assert f"{wrong!r} is neither auto nor points nor a number between 0 and 1." in told

"""The commands as users run them: output, exit codes, pipes, interruption, and speed of start."""

from __future__ import annotations

import gzip
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from aligner.cli import COMMANDS, cli
from aligner.links.symmetrize import OTHER_NAMES

ALIGNER = [str(Path(sys.executable).with_name("aligner"))]  # not -m: that would find ./aligner first


def run(*arguments: object, stdin: str | bytes = b"", code: int = 0) -> str:
    """stdout of a command that must exit with `code`."""
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def shell(command: str, **options) -> subprocess.CompletedProcess:
    """A pipeline in bash, in which `aligner` is this build's."""
    script = f'set -o pipefail; aligner() {{ "{ALIGNER[0]}" "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", script], capture_output=True, timeout=60, **options)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_a_summary_and_an_example(command):
    help = run(command, "--help")
    assert "Example:" in help and f"aligner {command}" in help
    assert run(command, "-h") == help
    first = importlib.import_module(f"aligner.cli.{command}").command.help.split("\n\n")[0]
    assert " ".join(first.split()) == COMMANDS[command] and COMMANDS[command].endswith(".")


def test_top_level():
    assert all(f"\n  {command} " in run("--help") for command in COMMANDS)
    version = run("--version")
    assert version.startswith("aligner ")
    assert "Cython" in version and "OpenMP o" in version and "SIMD" in version and "-O" in version
    run("nonsense", code=2)
    run("convert", "--nonsense", code=2)


def test_help_starts_without_numpy():
    code = (
        "import sys; from aligner.cli import cli;"
        "cli(['--help'], standalone_mode=False); print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/")
    assert "Commands:" in done.stdout
    modules = set(eval(done.stdout.splitlines()[-1]))
    assert not {"numpy", "tqdm", "xopen"} & modules
    assert not {f"aligner.cli.{command}" for command in COMMANDS} & modules


def test_symmetrize_and_evaluate(data, tmp_path):
    out = tmp_path / "links.gz"
    run("symmetrize", data / "sample.forward", data / "sample.reverse", "-o", out)
    assert len(gzip.decompress(out.read_bytes()).splitlines()) == 60
    aer = float(run("evaluate", out, data / "sample.gold", "--score-only"))
    assert 5 < aer < 30
    whole = json.loads(run("evaluate", out, data / "sample.gold", "--json"))
    assert round(100 * whole["hypotheses"][0]["aer"], 2) == aer
    assert "the file exists" in run(
        "symmetrize", data / "sample.forward", data / "sample.reverse", "-o", out, code=1
    )
    before = out.read_bytes()
    over = "-o", out, "--overwrite"
    assert "which is read" in run("symmetrize", out, data / "sample.reverse", *over, code=2)
    assert "which is read" in run("convert", out, "--to", "talp", *over, code=2)
    assert out.read_bytes() == before


def test_methods_have_the_names_of_other_tools_too(data):
    files = data / "sample.forward", data / "sample.reverse"
    for name, method in OTHER_NAMES.items():
        assert run("symmetrize", *files, "-m", name) == run("symmetrize", *files, "-m", method)


def test_lines_of_both_directions_take_turns_on_stdin(data):
    files = data / "sample.forward", data / "sample.reverse"
    lines = zip(*(path.read_text().splitlines() for path in files), strict=True)
    turns = "".join(f"{forward}\n{reverse}\n" for forward, reverse in lines)
    text = "--text", data / "sample.en", data / "sample.fr"
    assert run("symmetrize", "-", "-", *text, stdin=turns) == run("symmetrize", *files)
    assert "an odd number of lines" in run("symmetrize", "-", "-", stdin="0-0\n", code=1)


def test_methods_and_variants_are_options(data):
    files = data / "sample.forward", data / "sample.reverse"
    default = run("symmetrize", *files)
    assert run("symmetrize", *files, "-m", "grow-diag-final-and", "--variant", "symal") == default
    assert run("symmetrize", *files, "-m", "intersection") != default
    assert run("symmetrize", *files, "--variant", "atools") != default
    run("symmetrize", *files, "-m", "nonsense", code=2)
    assert "soft-union" in run("symmetrize", *files, "--threshold", "0.5", code=2)


def test_soft_union_and_product(write):
    forward, reverse = write("f", "0-0:0.9 1-1:0.5\n\n"), write("r", "0-0:0.3 1-2:0.9\n\n")
    assert run("symmetrize", forward, reverse, "-m", "soft-union") == "0-0 1-2\n\n"
    assert run("symmetrize", forward, reverse, "-m", "soft-union", "--scores", "--threshold", 0.2) == (
        "0-0:0.6 1-1:0.25 1-2:0.45\n\n"
    )
    assert run("symmetrize", forward, reverse, "-m", "product", "--scores") == "0-0:0.27\n\n"
    plain = write("p", "0-0\n\n")
    assert "soft-union needs links with scores" in run(
        "symmetrize", plain, reverse, "-m", "soft-union", code=1
    )
    for threshold in ("nan", "1.5", "-1"):
        run("symmetrize", forward, reverse, "-m", "soft-union", "--threshold", threshold, code=2)


def test_convert_between_all(data):
    gold = (data / "sample.gold").read_text()
    for format in ("talp", "wpt", "simalign"):
        text = run("convert", data / "sample.gold", "--to", format)
        assert text != gold
        assert run("convert", "--from", format, "--to", "gold", stdin=text) == gold
    twice = run("convert", "--transpose", "--to", "gold", data / "sample.gold")
    assert run("convert", "--transpose", "--to", "gold", "-", stdin=twice) == gold
    assert run("convert", "--base", 1, "--to-base", 1, stdin="1-1 2-3\n") == "1-1 2-3\n"
    assert run("convert", "--base", 1, stdin="1-1 2-3\n") == "0-0 1-2\n"


def test_two_directions_in_one_file(data, write):
    files = data / "sample.forward", data / "sample.reverse"
    text = "--text", data / "sample.en", data / "sample.fr"
    both = run("convert", *files, "--to", "bal", *text)
    assert run("symmetrize", write("bal", both)) == run("symmetrize", *files)
    for wrong in ([files[0], *text], files, [*files, *text, "--transpose"], [*files, *text, "--to-base", 0]):
        assert "--to bal takes two files" in run("convert", *wrong, "--to", "bal", code=2)


def test_what_is_lost_is_said(write, caplog):
    assert run("convert", write("gold", "0-0 1?1\n"), "--to", "pharaoh") == "0-0 1-1\n"
    assert "1 possible links written as plain ones: pharaoh has no mark for them" in caplog.text
    assert run("convert", write("wpt", "1 1 1 S\n1 0 2 S\n"), "--to", "gold") == "0-0\n"
    assert "1 link to the NULL word (0) left out" in caplog.text


def test_evaluate_parts(write):
    hyp = write("hyp", "0-0\n0-1\n0-0\n0-0\n")
    gold = write("gold", "0-0\n0-0\n")
    assert "hyp has 4, " in run("evaluate", hyp, gold, code=1)
    assert float(run("evaluate", hyp, gold, "-b", "--first", 2)) == 50
    assert float(run("evaluate", hyp, gold, "-b", "--last", 2)) == 0
    assert "2 lines, fewer than 3" in run("evaluate", hyp, gold, "-b", "--last", 3, code=1)
    run("evaluate", hyp, gold, "--first", 1, "--last", 1, code=2)
    assert "no sentences" in run("evaluate", write("none", ""), write("none2", ""), code=1)
    rows = run("evaluate", hyp, gold, "--first", 2, "--by-sentence").splitlines()
    assert len(rows) == 5 and rows[-2].split("\t")[1:3] == ["all", "50.00"] and rows[-1].startswith("# AER|")


def test_evaluate_wpt_without_lines_for_empty_sentences(write):
    hyp, gold = write("hyp", "0-0\n0-0\n\n"), write("gold", "1 1 1 S\n2 1 2 P\n")
    assert json.loads(run("evaluate", hyp, gold, "--json"))["hypotheses"][0]["counts"]["links"] == 2
    assert float(run("evaluate", hyp, gold, "-b")) == pytest.approx(100 * (1 - 2 / 3), abs=0.01)


def test_evaluate_last_of_wpt(write):
    """A WPT file does not tell how many sentences end it: its last ones are unknown unless they are all."""
    hyp, gold = write("hyp", "0-5\n0-0\n0-0\n"), write("gold", "1 1 1\n2 1 1\n")
    assert "does not tell which its last sentences are" in run("evaluate", hyp, gold, "--last", 1, code=1)
    assert float(run("evaluate", hyp, gold, "-b", "--last", 2)) == 0


def test_evaluate_says_what_is_a_matter_of_definition(write, caplog):
    run("evaluate", write("none", "\n"), write("gold", "0-0\n"))
    assert "none: no links" in caplog.text
    run("evaluate", write("hyp", "0-0\n"), write("gold", "0?0\n"))
    assert "no sure links" in caplog.text
    run("evaluate", write("gold", "0?0\n"), write("hyp", "0-0\n"))
    assert "right order" in caplog.text


def test_evaluate_cuts_the_text_too(data, write):
    text = "--text", data / "sample.en", data / "sample.fr"
    whole = "--last", 10, data / "sample.forward", data / "sample.gold"
    last = [
        write(x, "".join((data / f"sample.{x}").read_text().splitlines(True)[-10:])) for x in ("en", "fr")
    ]
    assert run("evaluate", *whole, *text) == run("evaluate", *whole, "--text", *last)
    short = write("short", "0-0\n")
    message = run("evaluate", short, short, *text, code=1)
    assert f"the text has 60 lines, {short} has 1; take a part of them with --first N or --last N" in message
    assert "AER" in run("evaluate", *[write("wpt", "1 1 1\n2 1 1\n")] * 2, *text), "WPT tells no length"


def test_evaluate_refuses_what_makes_no_sense(data):
    files = data / "sample.forward", data / "sample.gold"
    for options in (
        ["-b", "--json"],
        ["--lowercase"],
        ["--alpha", "nan"],
        ["--level", "nan"],
        ["--alpha", "2"],
    ):
        run("evaluate", *files, *options, code=2)


def test_symmetrize_any_format_and_base(data, write):
    files = data / "sample.forward", data / "sample.reverse"
    plain = run("symmetrize", *files)
    for format in ("talp", "wpt", "simalign"):
        text = "--text", data / "sample.en", data / "sample.fr"
        others = [write(f"{k}.{format}", run("convert", f, "--to", format)) for k, f in enumerate(files)]
        assert run("symmetrize", *others, "--from", format, *text) == plain
    one = [write(f"{k}", run("convert", f, "--to-base", 1)) for k, f in enumerate(files)]
    assert "look 1-based" in run("symmetrize", *one, code=1)
    assert run("symmetrize", *one, "--base", 1) == plain


def test_evaluate_two(data):
    text = run("evaluate", data / "sample.forward", data / "sample.gold", data / "sample.reverse",
               "--text", data / "sample.en", data / "sample.fr")  # fmt: skip
    for label in ("symmetry", "p (AER)", "rare precision", "common AER", "one-to-one", "AER|gold:"):
        assert label in text
    run("evaluate", data / "sample.forward", data / "sample.gold", "--counts", "a", "b", code=2)


def test_check(data, write):
    text = run("check", data / "sample.en", data / "sample.fr", "--links", data / "sample.gold")
    assert "pairs " in text and " 60\n" in text
    assert run("check", stdin="a b ||| c\n\n").startswith("pairs ")
    assert "no sentence pairs" in run("check", write("s", ""), write("t", ""), code=1)
    assert "is outside its pair" in run(
        "check", write("s", "a\n"), write("t", "b\n"), "--links", write("l", "0-1\n"), code=1
    )
    run("check", data / "sample.en", data / "sample.fr", "--layout", "bars", code=2)
    run("check", data / "sample.en", data / "sample.fr", "--base", 1, code=2)


def test_check_says_what_looks_wrong(data, write, tmp_path, caplog):
    src, tgt = ((data / f"sample.{x}").read_text().splitlines() for x in ("en", "fr"))
    src[3], tgt[3] = tgt[3], src[3]
    src[5], tgt[8] = tgt[5], ""
    src[10] = "no"
    tgt[10] = "non " * 10
    tgt[20] = "je dis, donc."
    files = [write(name, "".join(x + "\n" for x in side)) for name, side in (("s", src), ("t", tgt))]
    model = tmp_path / "model"
    run("train", data / "sample.en", data / "sample.fr", "-q", "-o", model, "--views", "word")
    rows = dict(row.split("  ", 1) for row in run("check", *files, "--model", model).splitlines())
    told = {name.strip(): value.strip() for name, value in rows.items()}
    assert told["too long"] == "0"
    assert told["one side empty"] == "1 (line 9)"
    assert told["length ratio > 9"] == "1 (line 11)"
    assert told["identical sides"] == "1 (line 6)"
    assert told["swapped sides"] == "1 (line 4)"
    assert told["target glued marks"].startswith("3 (lines 8, 21, 23)")
    assert told["source lines unknown"] == "2 (lines 4, 6)" and told["target lines unknown"].startswith(
        "3 (lines 4, "
    )
    assert told["source words unknown"] == "8"
    assert caplog.records == []
    assert "target glued marks   2 (lines 1, 2)" in run("check", stdin="a b ||| c, d.\na ||| c.\n ||| \n")
    (record,) = caplog.records
    assert "the target side looks untokenised" in record.getMessage()
    run("train", data / "sample.en", data / "sample.fr", "-q", "-o", model, "--lowercase", "--overwrite")
    assert "do the same here" in run("check", *files, "--model", model, code=2)


def test_generate(tmp_path):
    run("generate", tmp_path / "toy", "--pairs", 50)
    assert [len((tmp_path / f"toy.{x}").read_text().splitlines()) for x in ("src", "tgt", "gold")] == [50] * 3
    run("check", tmp_path / "toy.src", tmp_path / "toy.tgt", "--links", tmp_path / "toy.gold")
    assert "the file exists" in run("generate", tmp_path / "toy", code=1)


def test_shipped_corpus_is_the_generators(data, tmp_path):
    run("generate", tmp_path / "toy", "--pairs", 2000)
    for suffix in ("src", "tgt", "gold"):
        assert (tmp_path / f"toy.{suffix}").read_bytes() == (data / f"generated.{suffix}").read_bytes()


def test_errors_name_file_line_and_cure(write):
    bad = write("bad", "0-0\n0=0\n")
    assert run("convert", bad, code=1) == (
        f"aligner: {bad}:2:2: `-` was expected; is this a file of links?"
        " it was read as pharaoh; if that is wrong, name its format: --from\n"
    )
    assert "No such file" in run("convert", "/nowhere/links", code=1)
    assert "Is a directory" in run("convert", "/", code=1)
    for encoding in ("nonsense", "rot13", "base64"):
        assert "unknown encoding" in run("check", "--encoding", encoding, code=2)
    run("convert", bad, "-o", "", code=2)
    run("generate", "", code=2)
    assert "only one file can be -" in run("evaluate", "-", "-", code=2)
    assert "give the file of the other direction" in run("symmetrize", bad, code=1)


def test_errors_name_the_option_of_the_command(write, data, tmp_path):
    """The library names a setting; each command adds what it calls the setting, for the file in question."""
    one, wpt, mixed = write("one", "1-1\n" * 20), write("wpt", "1 1\n"), write("mixed", "0-0:1 0?1\n")
    zero = write("zero", "0-0\n" * 20)
    base = "say whether they count from 0 or from 1"
    for command, end in (
        (["convert", one], f"{base}: --base\n"),
        (["symmetrize", zero, one], f"{base}: --base\n"),
        (["evaluate", one, zero], f"{base}: --hyp-base\n"),
        (["evaluate", zero, zero, one], f"{base}: --hyp-base\n"),
        (["evaluate", zero, one], f"{base}: --gold-base\n"),
        (["evaluate", one, one], f"{base}: --hyp-base or --gold-base\n"),
        (["evaluate", mixed, zero], "name the format: --hyp-format\n"),
        (["evaluate", zero, mixed], "name the format: --gold-format\n"),
        (["convert", "--from", "wpt", wpt], "is this really a file of links in format wpt?\n"),
        (["convert", "--from", "talp", "--base", 1, zero], "say if they count from 0: --base 0\n"),
        (["convert", "--to", "scored", zero], "choose another format: --to\n"),
        (["convert", zero, "-o", one], "choose another name, or allow it to be replaced: --overwrite\n"),
    ):
        assert run(*command, code=1).endswith(f"; {end}"), command
    assert run("symmetrize", zero, "-", stdin="0-0:1 0?1\n", code=1).endswith("name the format: --from\n")
    utf16, latin = write("utf16", "a\n".encode("utf-16")), write("latin", "\u00e9\n".encode("latin-1"))
    text = write("text", "a\n")
    for command, end in (
        (["check", text, utf16], "or name its encoding: --encoding utf-16\n"),
        (["check", latin, text], "for example latin-1: --encoding\n"),
        (["evaluate", zero, zero, "--text", text, latin], "for example latin-1: --encoding\n"),
        (["check", text, text, "--links", utf16], "or name its encoding\n"),
        (["convert", utf16], "or name its encoding\n"),
        (["check", write("odd", "a ||| b\tc\n")], "name the layout, bars or tsv: --layout\n"),
        (["check", write("more", "a ||| b ||| c\n")], "at the first |||: --layout first-bar\n"),
        (["check", text, text, "--links", write("l", "1-1\n")], "so give their base: --base 1\n"),
    ):
        assert run(*command, code=1).endswith(end), command
    dev = ["--dev-src", text, "--dev-tgt", text, "--dev-gold", write("gold", "1-1\n")]
    files = data / "sample.en", data / "sample.fr"
    for command in (["align", *files, *dev], ["train", *files, *dev, "-o", tmp_path / "model"]):
        assert run(*command, code=1).endswith("the links look 1-based, so give their base\n")
    assert run("train", *files, "-o", text, code=1).endswith("or allow it to be replaced: --overwrite\n")


def test_streams_that_are_closed(data):
    for command in (
        "convert sample.gold >&-",
        "symmetrize sample.forward sample.reverse >&-",
        "convert - <&-",
    ):
        done = shell(f"aligner {command}", cwd=data)
        assert done.returncode == 1 and b"is closed" in done.stderr and b"Traceback" not in done.stderr


def test_stdout_by_another_name(data, tmp_path):
    out = tmp_path / "out"
    shell(f"echo first > {out}; aligner convert sample.forward -o /dev/stdout --overwrite >> {out}", cwd=data)
    lines = out.read_text().splitlines()
    assert lines[0] == "first" and len(lines) == 61


def test_pipes(data):
    done = shell("gzip -c sample.gold | aligner convert | aligner evaluate - sample.gold -b", cwd=data)
    # All gold links as plain ones: precision 1, recall 1
    assert (done.returncode, done.stdout) == (0, b"0.00\n")
    assert b"pharaoh has no mark for them" in done.stderr
    closed = shell("aligner convert --to wpt <(yes '0-0 1-1' | head -2000000) | head -1")
    assert closed.stdout == b"0001 1 1 S\n" and closed.stderr == b""


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_interrupted(tmp_path, number, code):
    """No half-written file, no traceback, the exit code that shells expect."""
    command = [*ALIGNER, "generate", "--pairs", "10000000", str(tmp_path / "toy")]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        deadline = time.time() + 30
        while len(os.listdir(tmp_path)) < 3 and time.time() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == code
    assert b"Traceback" not in stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_the_very_end_is_not_heard(data, number):
    """The work is done, or given up: a second signal has nothing to end, and no traceback."""
    script = (
        f"import atexit, os; atexit.register(os.kill, os.getpid(), {number:d});"
        " from aligner.__main__ import main; main()"
    )
    command = [sys.executable, "-c", script, "check", "sample.en", "sample.fr"]
    done = subprocess.run(command, cwd=data, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("files", [["-"], ["-", "sample.fr"], ["sample.en", "-"]])
def test_interrupted_while_reading_stdin(files, data):
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": data}
    with subprocess.Popen([*ALIGNER, "check", *files], **pipes) as process:  # type: ignore[call-overload]
        process.stdin.write(b"a ||| b\n")
        process.stdin.flush()
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 130
        assert process.stderr.read() == b"aligner: interrupted\n"

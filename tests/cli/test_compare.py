"""aligner compare: the numbers of align and evaluate, runs that fail, what is refused, what is left."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from trained import FORWARD, GOLD, SRC, TGT, run

from aligner.cli import cli
from aligner.cli.process import Measured, read_log
from aligner.models.kinds import MODELS

ONE = "--model ibm1 --views word --iterations 1"
TWO = "--model hmm --views word --iterations 1 --ibm1-iterations 1 --project symmetric"
FAILED = Measured(1.0, 50.0, "failed, exit code 1")


@pytest.fixture(scope="module")
def compared(tmp_path_factory) -> Path:
    """A folder with what a comparison writes: two runs, one that fails, the links of another aligner."""
    folder = tmp_path_factory.mktemp("compare")
    runs = {"one": ONE, "wrong": f"--init {folder / 'nothing'}", "two": TWO}
    options = [word for name, given in runs.items() for word in ("--align", f"{name}={given}")]
    options += ["--links", f"other={FORWARD}", "--threads", 1]
    files = ["--json", folder / "json", "--page", folder / "page.html", "--keep", folder / "links"]
    files += ["-o", folder / "table"]
    message = run("compare", SRC, TGT, "--gold", GOLD, "-q", *options, *files, code=1)
    assert message.endswith("wrong: failed, exit code 1\naligner: 1 of 3 runs failed: wrong\n")
    return folder


def test_numbers_are_those_of_align_and_evaluate(compared, tmp_path):
    found = json.loads((compared / "json").read_text())
    rows = {row["name"]: row for row in found["runs"]}
    for name, options in (("one", ONE), ("two", TWO), ("other", None)):
        row, links, log = rows[name], FORWARD, tmp_path / f"{name}.log"
        if options is not None:
            links = tmp_path / name
            run("align", SRC, TGT, *options.split(), "-q", "-o", links, "--log-json", log)
            assert (compared / "links" / f"{name}.links").read_bytes() == links.read_bytes()
            signature, objective = read_log(str(log))
            assert (row["objective"]["name"], row["objective"]["value"]) == objective
            assert row["signature"] == signature
            assert 0 < row["seconds"] < 60 and 10 < row["megabytes"] < 4000
        scores = json.loads(run("evaluate", links, GOLD, "--json", "--bootstrap", 0))["hypotheses"][0]
        for key in ("aer", "precision", "recall"):
            assert row[key] == scores[key]
        assert row["links"] == scores["counts"]["links"]
        shown = rf"^{name} +{100 * row['aer']:.2f} .* {row['links']}( |$)"
        assert re.search(shown, (compared / "table").read_text(), re.MULTILINE)
    assert found["signature"].startswith("AER|gold:731c70d8|n:60|lines:all|")


def test_a_run_that_fails_is_a_row(compared):
    """What cannot be known before is told by the run itself. The other runs are not lost."""
    table = (compared / "table").read_text()
    assert re.search(r"^wrong +failed, exit code 1 ", table, re.MULTILINE)
    found = json.loads((compared / "json").read_text())
    assert [row["name"] for row in found["runs"]] == ["one", "wrong", "two", "other"]
    assert found["runs"][1]["failure"] == "failed, exit code 1" and table.endswith(f"{found['signature']}\n")
    assert sorted(os.listdir(compared / "links")) == ["one.links", "two.links"]


def test_the_page_has_all_links(compared):
    html = (compared / "page.html").read_text()
    data = json.loads(re.findall(r'id="data">(.*?)</script>', html, re.DOTALL)[0])
    assert [file["name"] for file in data["files"]] == ["one", "two", "other"]
    assert data["gold"] == str(GOLD) and len(data["sentences"]) == 60


def test_a_part_of_the_text(tmp_path):
    """Gold and links may be of the part alone; the run is of all the text."""
    for name, path in (("gold", GOLD), ("links", FORWARD)):
        (tmp_path / name).write_text("".join(path.read_text().splitlines(keepends=True)[-7:]))
    files = ["--gold", tmp_path / "gold", "--links", f"other={tmp_path / 'links'}", "-o", "/dev/null"]
    options = [SRC, TGT, "-q", "--json", "-", *files]
    found = json.loads(run("compare", *options, "--last", 7, "--align", f"one={ONE}"))
    run("align", SRC, TGT, *ONE.split(), "-q", "-o", tmp_path / "all")
    for row, links in zip(found["runs"], (tmp_path / "all", FORWARD), strict=True):
        score = run("evaluate", links, tmp_path / "gold", "--last", 7, "-b", "-w", 15)
        assert 100 * row["aer"] == pytest.approx(float(score), abs=1e-9)
    assert found["lines"] == "54-60" and "|n:7|lines:54-60|" in found["signature"]
    lines = json.loads(run("compare", *options, "--lines", "54-60", "--models", "none"))
    assert lines["runs"] == found["runs"][1:]


def test_links_to_null_are_told_once(tmp_path, caplog):
    links = "1 1 1\n1 0 2\n2 1 1\n"
    for name, text in (("src", "a b\nc\n"), ("tgt", "x y\nz\n"), ("gold", links), ("links", links)):
        (tmp_path / name).write_text(text)
    files = [word for name in ("gold", "links") for word in (f"--{name}", tmp_path / name)]
    formats = ["--gold-format", "wpt", "--links-format", "wpt"]
    run("compare", tmp_path / "src", tmp_path / "tgt", *files, *formats, "--models", "none")
    for name in ("gold", "links"):
        assert caplog.text.count(f"{tmp_path / name}: 1 link to the NULL word (0) left out") == 1


def test_every_model_is_compared(monkeypatch):
    """Each model has a row, in the order of MODELS. Nothing is trained here."""
    asked = []
    monkeypatch.setattr("aligner.cli.process.align", lambda words: asked.append(words) or FAILED)
    found = CliRunner().invoke(cli, ["compare", str(SRC), str(TGT), "-q", "--lowercase", "--fast"])
    assert [words[words.index("--model") + 1] for words in asked] == list(MODELS)
    assert all("--lowercase" in words and "--fast" in words and "--quiet" in words for words in asked)
    assert found.exit_code == 1 and f"{len(MODELS)} of {len(MODELS)} runs failed" in found.stderr
    asked.clear()
    CliRunner().invoke(cli, ["compare", str(SRC), str(TGT), "-q", "--models", "hmm, ibm1"])
    assert [words[words.index("--model") + 1] for words in asked] == ["hmm", "ibm1"]


def test_what_is_refused(tmp_path):
    def refused(*arguments: object, code: int = 2) -> str:
        return run("compare", *arguments, "-o", tmp_path / "table", code=code)

    assert "give files, not stdin" in refused("-")
    assert "nothing to compare" in refused(SRC, TGT, "--models", "none")
    assert "there is no model 'nothing'; there are loo, " in refused(SRC, TGT, "--models", "hmm,nothing")
    assert "two rows are called hmm" in refused(SRC, TGT, "--models", "hmm,hmm")
    assert "two rows are called hmm" in refused(SRC, TGT, "--align", "hmm=--fast", "--models", "hmm")
    assert "two rows are called a" in refused(SRC, TGT, "--links", f"a={FORWARD}", "--align", "a=")
    assert "is not NAME=OPTIONS" in refused(SRC, TGT, "--align", "--model=hmm")
    assert "no name of a file" in refused(SRC, TGT, "--align", "a/b=")
    assert "a: No closing quotation" in refused(SRC, TGT, "--align", "a='")
    assert "a: No such option" in refused(SRC, TGT, "--align", "a=--nothing")
    assert "a: Invalid value for '--p0'" in refused(SRC, TGT, "--align", "a=--p0 2")
    assert "a: -o and --log-json are not for" in refused(SRC, TGT, "--align", "a=-o x")
    assert "a: --split is for all runs" in refused(SRC, TGT, "--align", "a=--split unicode")
    assert "a: --sentence-scores needs a file" in refused(SRC, TGT, "--align", "a=--sentence-scores -")
    assert "a: --class-files needs a file" in refused(SRC, TGT, "--align", f"a=--class-files {SRC} -")
    assert "loo: --fast and --views" in refused(SRC, TGT, "--fast", "--views", "word")
    assert "/dev/stdin cannot be read again" in refused(SRC, "/dev/stdin")
    os.mkfifo(tmp_path / "pipe")
    assert "pipe cannot be read again" in refused(tmp_path / "pipe", TGT)
    both = tmp_path / "both"
    both.write_text("a ||| b\n")
    assert "a: give options of `aligner align`, and no files" in refused(both, "--align", "a=more")
    assert "are for --gold" in refused(SRC, TGT, "--gold-base", 0)
    assert "are for --links" in refused(SRC, TGT, "--links-base", 0)
    assert "exclude each other" in refused(SRC, TGT, "--first", 1, "--last", 1)
    assert "both" in refused(SRC, TGT, "--page", tmp_path / "table")
    assert "which is read" in refused(SRC, TGT, "--json", SRC)
    assert "is a file" in refused(SRC, TGT, "--keep", SRC)
    short = tmp_path / "short"
    short.write_text("0-0\n")
    assert "choose lines of the text" in refused(SRC, TGT, "--gold", short, code=1)
    odd = refused(SRC, TGT, "--gold", SRC, code=1)  # --format is that of tables
    assert odd.endswith("it was read as pharaoh; if that is wrong, name its format: --gold-format\n")
    assert not (tmp_path / "table").exists()


def test_a_comparison_can_be_interrupted(tmp_path):
    """The run under way ends, too, and no file is left."""
    command = [str(Path(sys.executable).with_name("aligner")), "compare", SRC, TGT]
    command += ["--align", "long=--model shmm --iterations 1000", "--keep", tmp_path / "links"]
    command += ["-o", tmp_path / "table", "--json", tmp_path / "json", "--threads", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert process.stderr is not None
    for line in process.stderr:
        if b"sentence pairs" in line:  # the run has read its text
            break
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    child = int(children.read_text())
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 128 + signal.SIGTERM
    process.stderr.close()
    assert not Path(f"/proc/{child}").exists()
    assert [path.name for path in tmp_path.rglob("*")] == ["links"]


def test_what_a_log_says(tmp_path):
    """The last iteration of each view counts, and only those of the last stage."""
    lines = [
        {"signature": "s"},
        {"view": "word", "model": "ibm1", "loglik": {"forward": -9.0, "reverse": -9.0}},
        {"view": "word", "model": "hmm", "loglik": {"forward": -8.0, "reverse": -8.0}},
        {"view": "word", "model": "hmm", "loglik": {"forward": -3.0, "reverse": -2.0}},
        {"view": "stem3", "model": "ibm1", "loglik": {"forward": -9.0, "reverse": -9.0}},
        {"view": "stem5", "model": "ibm1", "loglik": {"forward": -9.0, "reverse": -9.0}},
        {"view": "stem3", "model": "hmm", "loglik": {"forward": -1.0, "reverse": -2.0}},
    ]
    path = tmp_path / "log"

    def read(more: dict) -> tuple:
        path.write_text("".join(json.dumps(line | more) + "\n" for line in lines))
        return read_log(str(path))

    assert read({}) == ("s", ("log-likelihood", -4.0))
    assert read({"bound": {"forward": -6.0, "reverse": -1.0}}) == ("s", ("bound", -7.0))
    assert read({"objective": -6.0, "kl": 1.0}) == ("s", ("log-likelihood - KL", -6.0))
    pairwise = {"objective": {"forward": -1.0, "reverse": -5.0}}
    assert read(pairwise) == ("s", ("objective", -6.0))
    assert read(pairwise | {"bound": {"forward": -6.0, "reverse": -2.0}}) == ("s", ("bound", -8.0))
    path.write_text('{"signature": "s"}\n')
    assert read_log(str(path)) == ("s", None)

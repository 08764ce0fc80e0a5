"""Standard streams of every command: closed, full, left by their reader, a terminal, under other names."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT

from aligner.cli import COMMANDS

ALIGNER = [str(Path(sys.executable).with_name("aligner"))]
TRAINING = "sample.en sample.fr -q --fast --model ibm1 --iterations 1 --threads 1"
# What a command that succeeds is given, in the folder `data`; {new} is a folder to write to.
GIVEN = {
    "align": TRAINING,
    "ibm1": f"{TRAINING.replace('--model ibm1', '')} -o {{new}}/ibm1",
    "train": f"{TRAINING} -o {{new}}/train",
    "decode": "{model} sample.en sample.fr --threads 1",
    "info": "{model}",
    "lexicon": "{model}",
    "shortlist": "sample.forward sample.en sample.fr",
    "symmetrize": "sample.forward sample.reverse",
    "evaluate": "sample.forward sample.gold --bootstrap 0",
    "compare": "sample.en sample.fr -q --align 'one=--fast --model ibm1 --iterations 1' --threads 1",
    "tune": "{model} sample.en sample.fr sample.gold --threads 1",
    "learn": "{model} sample.en sample.fr sample.gold -o {new}/combiner --passes 1 --folds 2 --threads 1",
    "curve": "sample.forward --gold sample.gold",
    "analyze": "sample.forward sample.gold --src sample.en --tgt sample.fr",
    "view": "{model} sample.en sample.fr --gold sample.gold --threads 1 --text",
    "convert": "sample.forward",
    "words": "annotated.en.conllu",
    "transfer": "annotated.en.conllu annotated.fr.conllu annotated.links",
    "remap": "sample.forward --from sample.en sample.fr --to sample.en sample.fr",
    "check": "sample.en sample.fr",
    "classes": "sample.en --rounds 1",
    "phrases": "sample.en sample.fr sample.forward",
    "generate": "{new}/toy --pairs 3",
    "shard": f"{TRAINING.replace('--threads 1', '')} -o {{new}}/parts --shards 2",
    "expect": "{model}.parts/start.model {model}.parts/shard-1 -o {new}/counts -q --threads 1",
    "update": "{model}.parts/start.model {model}.counts-1 {model}.counts-2 -o {new}/next -q --threads 1",
    "moses": "--corpus sample --f en --e fr --root-dir {new} --model ibm1 --threads 1 -q",
    "shims": "{new}/shims",
}
SILENT = (
    "ibm1",
    "train",
    "generate",
    "shard",
    "expect",
    "update",
    "moses",
    "shims",
)  # commands that print no result
FROM_STDIN = {  # commands that read stdin if no file is given
    "align": "",
    "ibm1": "-o {new}/ibm1",
    "train": "-o {new}/train",
    "decode": "{model}",
    "view": "{model} --text",
    "convert": "",
    "remap": "--from sample.en sample.fr --to sample.en sample.fr",
    "check": "",
    "classes": "",
    "words": "",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model"
    command = [*ALIGNER, "train", *TRAINING.split(), "-o", str(path)]
    subprocess.run(command, cwd=ROOT / "data", check=True)
    given = GIVEN["shard"].replace("{new}/parts", f"{path}.parts").split()
    subprocess.run([*ALIGNER, "shard", *given], cwd=ROOT / "data", check=True)
    for k in (1, 2):
        counting = [f"{path}.parts/start.model", f"{path}.parts/shard-{k}", "-o", f"{path}.counts-{k}", "-q"]
        subprocess.run([*ALIGNER, "expect", *counting], check=True)
    return path


def run(command: str, streams: str, model: Path, new: Path, **options) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of a command whose streams the shell redirects."""
    words = command.format(model=model, new=new)
    script = f'set -o pipefail; "{ALIGNER[0]}" {words} {streams}'
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=60, cwd=ROOT / "data", **options
    )
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


def test_every_command_is_given_something():
    assert GIVEN.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_streams_that_cannot_be_used(command, model, tmp_path):
    given, silent = f"{command} {GIVEN[command]}", command in SILENT
    for k, (streams, message) in enumerate(
        (
            (">&-", "stdout is closed\n"),
            (">/dev/full", "No space left on device\n"),
            ("2>/dev/full <&-", ""),
            ("2>&- | head -1", ""),
        )
    ):
        (new := tmp_path / str(k)).mkdir()
        code, stdout, stderr = run(given, streams, model, new)
        if message and not silent:
            assert code == 1 and stderr.startswith("aligner: ") and stderr.endswith(message), streams
            assert stderr.count("\n") == 1, streams
        else:
            assert code == 0 or code == 141 and "head" in streams, streams
            assert stderr == "" and bool(stdout) == (not silent), streams


@pytest.mark.parametrize("command", FROM_STDIN)
def test_stdin_that_is_closed(command, model, tmp_path):
    given = f"{command} {FROM_STDIN[command]}"
    assert run(given, "<&-", model, tmp_path) == (1, "", "aligner: stdin is closed\n")
    assert list(tmp_path.iterdir()) == []


def test_messages_that_nobody_can_read(model, tmp_path):
    for streams in ("2>&-", "2>/dev/full"):
        assert run("convert nothing", streams, model, tmp_path)[0] == 1
        assert run("convert --nonsense", streams, model, tmp_path)[0] == 2


@pytest.mark.parametrize("command", ["--help", "--version", "align --help"])
def test_help_is_a_result(command, model, tmp_path):
    assert run(command, ">&-", model, tmp_path) == (1, "", "aligner: stdout is closed\n")
    code, _, stderr = run(command, ">/dev/full", model, tmp_path)
    assert code == 1 and stderr.startswith("aligner: ") and stderr.endswith("No space left on device\n")
    code, stdout, stderr = run(command, "| head -1", model, tmp_path)
    assert code in (0, 141) and stderr == "" and stdout.count("\n") == 1


@pytest.mark.parametrize("command", FROM_STDIN)
def test_no_silent_wait_for_a_terminal(command, model, tmp_path):
    """With no file and no pipe, a command says how it is used. `-` does read from the terminal."""
    words = [command, *FROM_STDIN[command].format(model=model, new=tmp_path).split()]
    master, slave = pty.openpty()
    try:
        done = subprocess.run([*ALIGNER, *words], stdin=slave, capture_output=True, text=True, timeout=120)
        assert done.returncode == 2 and "Usage: aligner" in done.stderr
        assert "give a file, or text on stdin" in done.stderr
        if command in ("check", "convert"):
            os.write(master, b"0-0 ||| 0-0\n\x04" if command == "check" else b"0-0\n\x04")
            subprocess.run(
                [*ALIGNER, command, "-"], stdin=slave, capture_output=True, timeout=120, check=True
            )
    finally:
        os.close(master)
        os.close(slave)


def test_other_names_of_streams(model, tmp_path):
    given = "convert sample.forward -o"
    expected = (ROOT / "data" / "sample.forward").read_text()
    assert run(f"{given} /dev/stdout", "", model, tmp_path) == (0, expected, "")
    assert run(f"{given} /dev/stderr", "", model, tmp_path) == (0, "", expected)
    assert run(f"{given} /dev/fd/3", "3>&1", model, tmp_path) == (0, expected, "")
    assert run(f"{given} /dev/fd/3", "3>&-", model, tmp_path) == (
        1,
        "",
        "aligner: /dev/fd/3: Bad file descriptor\n",
    )
    assert run(f"{given} /dev/stdout", ">&-", model, tmp_path) == (1, "", "aligner: stdout is closed\n")
    out = tmp_path / "out"
    for path in ("-", "/dev/stdout", "/dev/fd/1"):  # a redirected stream is no file that exists
        assert run(f"align {TRAINING} -o {path}", f"> {out}", model, tmp_path)[0] == 0
        assert len(out.read_text().splitlines()) == 60


def test_log_on_stdout(model, tmp_path):
    code, stdout, stderr = run(f"train {TRAINING} -o {{new}}/model --log-json -", "", model, tmp_path)
    first, *entries = map(json.loads, stdout.splitlines())
    assert code == 0 and stderr == "" and "signature" in first and len(entries) == 1
    assert not (ROOT / "data" / "-").exists()
    for log in ("-", "/dev/stdout"):
        code, stdout, stderr = run(f"align {TRAINING} --log-json {log}", "", model, tmp_path)
        assert code == 2 and f"--log-json and -o are both {log}." in stderr
    code, stdout, _ = run(f"align {TRAINING} -o {{new}}/links --log-json /dev/fd/3", "3>&1", model, tmp_path)
    assert code == 0 and len(stdout.splitlines()) == 2
    devices = "-o /dev/null --forward /dev/null --log-json /dev/null"
    assert run(f"align {TRAINING} {devices}", "", model, tmp_path) == (0, "", "")


def test_file_names_are_bytes(tmp_path):
    """Names that are no UTF-8 can be read, written, and are printed as they are."""
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    src, tgt, model, links = (
        folder + b"/" + name for name in (b"src\xff", b"tgt\xff", b"mod\xff", b"lin\xff")
    )
    for path, side in ((src, "en"), (tgt, "fr")):
        with open(path, "wb") as file:
            file.write((ROOT / "data" / f"sample.{side}").read_bytes())

    def run(*words: bytes | str, code: int = 0) -> tuple[bytes, bytes]:
        done = subprocess.run([*ALIGNER, *words], capture_output=True, timeout=60)
        assert done.returncode == code and b"Traceback" not in done.stderr, done.stderr
        return done.stdout, done.stderr

    some = TRAINING.split()[2:]
    run("align", src, tgt, *some, "-o", links, "--save", model, "--log-json", folder + b"/log\xff")
    assert run("decode", model, src, tgt)[0] == Path(os.fsdecode(links)).read_bytes()
    assert src in run("info", model)[0]
    assert json.loads(run("info", model, "--json")[0])["facts"]["src"] == os.fsdecode(src)
    gold = str(ROOT / "data" / "sample.gold")
    assert links in run("evaluate", links, gold, links, "--bootstrap", "0")[0]
    run("evaluate", links, gold, "--json", "--run", model)
    run("lexicon", model), run("check", src, tgt, "--links", links), run("convert", links)
    assert rb"mod\udcff: the file exists" in run("train", src, tgt, *some, "-o", model, code=1)[1]
    assert rb"none\udcff" in run("convert", folder + b"/none\xff", code=1)[1]
    assert sorted(os.listdir(folder)) == sorted([b"src\xff", b"tgt\xff", b"mod\xff", b"lin\xff", b"log\xff"])


INTERRUPTS = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["aligner", "convert", {path!r}]
from aligner.__main__ import main
main()
"""


@pytest.mark.parametrize(
    "name", ["aligner.cli", "click", "aligner.errors", "aligner.cli.convert", "numpy", "aligner.links._links"]
)
def test_interrupted_while_it_starts(name, data):
    code = INTERRUPTS.format(name=name, path=str(data / "sample.gold"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "aligner: interrupted\n")


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_ignored_signals_stay_ignored(number, tmp_path):
    """As under nohup, or in the background of a script."""
    command = [*ALIGNER, "check", "-"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command, preexec_fn=lambda: signal.signal(number, signal.SIG_IGN), **pipes
    ) as process:
        time.sleep(0.8)
        process.send_signal(number)
        stdout, stderr = process.communicate(b"a ||| b\n", timeout=120)
    assert process.returncode == 0 and stdout.startswith(b"pairs ") and stderr == b""

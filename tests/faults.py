"""Fault injection: the n-th call of the system fails, for n = 1, 2, 3, ..., until a command succeeds.

    python tests/faults.py [COMMAND ...]

tests/faults.c is compiled and preloaded. A process imports the commands once; each run is a child of it. In
place of a failure, KILL kills the process at the call. What must hold after each run is in `problems`. A run
with checkpoints is then resumed, without a fault. --every N is quicker: a call fails in one way only, and
after the first 40 calls only each N-th one.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import importlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIRST = 40  # calls that are let fail one by one
LARGE = 1 << 17  # bytes; below this, numpy and the C library themselves may crash without memory
SECONDS = 20  # after which a run hangs
CHECKPOINT = re.compile(r"run/(journal\.jsonl|iteration-\d+\.model)")
TOLERATED = ("link", "unlink", "flock", "fchmod", "open")  # calls that a command may do without
# (error, whether the disk is full from then on)
ERRORS = [("ENOSPC", False), ("ENOSPC", True), ("EIO", False), ("ENOMEM", False), ("EACCES", False)]
ERRORS += [("KILL", False)]
KILL = -1  # as tests/faults.c has it

TRAINING = ["{in}/src", "{in}/tgt", "-q", "--fast", "--threads", "2", "--iterations", "1"]
ALIGN = ["align", *TRAINING, "-o", "{out}/links", "--save", "{out}/model", "--forward", "{out}/forward"]
ALIGN += ["--reverse", "{out}/reverse", "--log-json", "{out}/log"]
DECODE = ["decode", "{in}/model", "{in}/src", "{in}/tgt", "--threads", "2"]
LEARN = ["learn", "{in}/model", "{in}/src", "{in}/tgt", "{in}/gold", "--passes", "1", "--threads", "2"]
RESUMED = ["--checkpoint", "{out}/run", "--resume"]
COMMANDS = {
    "align": ALIGN,
    "train": ["train", *TRAINING, "-o", "{out}/model"],
    "checkpoint": ["train", *TRAINING, "-o", "{out}/model", *RESUMED[:-1]],
    "resume": ["train", *TRAINING, "-o", "{out}/model", *RESUMED],
    "decode": [*DECODE, "-o", "{out}/links"],
    "learn": [*LEARN, "--folds", "2", "-o", "{out}/combiner"],
    "combiner": [*DECODE, "--combiner", "{in}/combiner", "-o", "{out}/links"],
    "symmetrize": ["symmetrize", "{in}/forward", "{in}/reverse", "-o", "{out}/links.gz"],
}


@dataclass
class Run:
    """What a run of a command left."""

    code: int  # minus a signal
    stderr: str
    call: str  # that failed; "" if none was reached
    path: str  # that the call was about
    files: dict[str, bytes]


def compiled(folder: Path) -> Path | None:
    """The library to preload; None where there is no compiler for it."""
    compiler, library = shutil.which("cc"), folder / "faults.so"
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(HERE / "faults.c"), "-ldl"]
    return library if subprocess.run(command, capture_output=True).returncode == 0 else None


def run(command: list[str], folder: Path, n: int, error: str, stays: bool, old: dict[str, bytes]) -> Run:
    """Runs a command in a child in which call n about a file of the folder, or for memory, fails."""
    from aligner.cli import main

    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    for name, content in old.items():
        (folder / "out" / name).parent.mkdir(exist_ok=True)
        (folder / "out" / name).write_bytes(content)
    words = [word.format(**{"in": folder / "in", "out": folder / "out"}) for word in command]
    report = folder.parent / "report"
    child = os.fork()
    if child == 0:
        handle = os.open(report, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        signal.alarm(SECONDS)
        library = ctypes.CDLL(None)
        library.faults_call.restype = library.faults_path.restype = ctypes.c_char_p
        code: object = 99
        try:
            sys.argv = ["aligner", *words]
            library.faults_arm(
                os.fsencode(folder),
                ctypes.c_long(n),
                KILL if error == "KILL" else getattr(errno, error),
                stays,
                ctypes.c_size_t(LARGE),
            )
            main()
        except SystemExit as exit:
            code = exit.code
        except BaseException:
            traceback.print_exc()
        call, path = library.faults_call(), library.faults_path()
        os.write(2, b"\0".join([b"", call, path]))
        os._exit(code if isinstance(code, int) else 0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    stderr, call, path = (*report.read_text().split("\0"), "", "")[:3]
    out = folder / "out"
    left = {str(x.relative_to(out)): x.read_bytes() for x in out.rglob("*") if x.is_file()}
    if status == -signal.SIGKILL:
        call = "kill"
    return Run(status, stderr, call, path, left)


def problems(run: Run, stays: bool, old: dict[str, bytes], new: dict[str, bytes]) -> list[str]:
    """What a run must not do.

    stays  whether the disk was full after the fault
    new    the files of a run without a fault
    """
    found, killed = [], run.call == "kill"
    told = re.search("training goes on without this checkpoint|the checkpoint before it", run.stderr)
    if "Traceback" in run.stderr or "Exception" in run.stderr:
        found.append("a traceback")
    if run.code not in ((-signal.SIGKILL,) if killed else (0, 1)):
        found.append(f"exit code {run.code}")
    lines = run.stderr.splitlines()  # one for each output that failed
    if run.code == 1 and not (lines and all(line.startswith("aligner: ") for line in lines)):
        found.append("no message")
    if len(set(lines)) < len(lines):
        found.append("a message is told twice")
    if ".part" in run.stderr:
        found.append("the message has a temporary name")
    if run.code == 0 and run.call not in ("", *TOLERATED) and not told:
        found.append("the failure was swallowed")
    for name in run.files.keys() - new.keys() - old.keys():
        if not (name.endswith(".part") and run.call in ("unlink", "kill") or CHECKPOINT.fullmatch(name)):
            found.append(f"{name} is left")
    for name, content in new.items():
        if name == "log" or name.startswith("run/"):
            continue
        if run.files.get(name) not in (content, old.get(name)) or run.code == 0 and name not in run.files:
            found.append(f"{name} is neither old nor new")
        elif run.code == 0 and run.files[name] != content:
            found.append(f"{name} is not written")
    beside = any(f".{name}." in run.path for name in ("model", "forward", "reverse", "log"))
    made = not stays and run.call in ("write", "fsync", "rename", "link")
    if "links" in new and beside and made and run.files.get("links") != new["links"]:
        found.append("the links are lost")
    if told and made and "/run" in run.path and run.files.get("model") != new["model"]:
        found.append("the model is lost")
    return found


def resumed(left: Run, folder: Path, new: dict[str, bytes]) -> list[str]:
    """What must not be wrong after a run with checkpoints is resumed."""
    again = run([*COMMANDS["resume"], "--overwrite"], folder, 0, "EIO", False, left.files)
    found = [] if again.code == 0 else [f"exit code {again.code} after the run is resumed: {again.stderr}"]
    found += [f"{name} is left after the run is resumed" for name in again.files if name.endswith(".part")]
    for name in ("model", "run/finished.model"):
        if again.files.get(name) != new[name]:
            found.append(f"{name} is another one after the run is resumed")
    return found


def sweep(name: str, folder: Path, every: int, begun: dict[str, bytes]) -> tuple[int, list[str]]:
    """(number of runs, problems) of a command with all faults, over no files and over old ones.

    begun: files that are there before each run
    every: 0 lets each call fail in all ways. Otherwise a call fails in one way, and after the first calls
    only each of so many fails.
    """
    command, n_runs, found = COMMANDS[name], 0, []
    new = run(command, folder, 0, "EIO", False, begun)
    assert new.code == 0, new.stderr
    olds = begun, begun | {name: b"old\n" for name in new.files if not name.startswith("run/")}
    ways = [(*error, old) for error in ERRORS for old in olds]
    n, done = 0, False
    while not done:
        n += 1 if n < FIRST else max(1, every)
        for error, stays, old in [ways[n % len(ways)]] if every else ways:
            left = run(command + ["--overwrite"] * (old is not begun), folder, n, error, stays, old)
            n_runs += 1
            done = not left.call
            place = f"{name}{' over old files' if old is not begun else ''}, call {n} fails"
            place += f" with {error}{' for good' if stays else ''}: {left.call} {Path(left.path).name}"
            wrong = problems(left, stays, old, new.files)
            if "run/finished.model" in new.files:
                wrong += resumed(left, folder, new.files)
            found += [f"{place}: {what}\n{left.stderr[-1500:]}" for what in wrong]
    return n_runs, found


def middle(folder: Path) -> dict[str, bytes]:
    """What a run with checkpoints leaves that is killed in the middle."""
    for n in itertools.count(FIRST, 3):
        left = run(COMMANDS["checkpoint"], folder, n, "KILL", False, {})
        if "run/iteration-0004.model" in left.files:
            return left.files
    raise AssertionError


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=0)
    parser.add_argument("commands", nargs="*", default=list(COMMANDS))
    options = parser.parse_args()
    if "faults" not in os.environ.get("LD_PRELOAD", ""):
        with tempfile.TemporaryDirectory() as folder:
            library = compiled(Path(folder))
            if library is None:
                sys.exit("no compiler")
            again = [sys.executable, __file__, *sys.argv[1:]]
            # Idle threads sleep: many short runs are quicker.
            more = {"LD_PRELOAD": str(library), "OMP_WAIT_POLICY": "passive"}
            return subprocess.run(again, env=os.environ | more).returncode
    for name in (*(f"aligner.cli.{words[0]}" for words in COMMANDS.values()), "xopen"):
        importlib.import_module(name)
    data, n_problems = HERE.parent / "data", 0
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "files"
        (folder / "in").mkdir(parents=True)
        for name, source in (("src", "sample.en"), ("tgt", "sample.fr"), ("gold", "sample.gold")):
            lines = (data / source).read_bytes().splitlines(True)[:20]
            (folder / "in" / name).write_bytes(b"".join(lines))
        for name in ("forward", "reverse"):
            shutil.copy(data / f"sample.{name}", folder / "in" / name)
        made = run(COMMANDS["train"], folder, 0, "EIO", False, {})
        (folder / "in" / "model").write_bytes(made.files["model"])
        made = run(COMMANDS["learn"], folder, 0, "EIO", False, {})
        (folder / "in" / "combiner").write_bytes(made.files["combiner"])
        for name in options.commands:
            begun = middle(folder) if name == "resume" else {}
            n_runs, found = sweep(name, folder, options.every, begun)
            print(f"{name}: {n_runs} runs, {len(found)} problems", *found, sep="\n", flush=True)
            n_problems += len(found)
    return 1 if n_problems else 0


if __name__ == "__main__":
    sys.exit(main())

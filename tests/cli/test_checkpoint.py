"""Runs that are killed, terminated, or run out of disk or memory, and go on: with real processes."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT
from trained import run

from aligner.training.checkpoint import JOURNAL

ALIGNER = str(Path(sys.executable).with_name("aligner"))
SETTINGS = ["--views", "word,prefix3", "--threads", "1", "--overwrite"]
OUTPUTS = ["-o", "links", "--save", "model", "--forward", "forward", "--log-json", "log"]
N_ITERATIONS = 2 * 4 + 3


@dataclass
class Job:
    """A command line that a batch system runs again and again, in a folder."""

    folder: Path
    checkpoints: Path

    def command(self, *more: str) -> list[str]:
        words = [
            "align",
            "src",
            "tgt",
            *SETTINGS,
            *OUTPUTS,
            "--checkpoint",
            str(self.checkpoints),
            "--resume",
        ]
        return [*words, *more]

    def start(self, *start: str, **options) -> subprocess.Popen[str]:
        """start: what runs the command, by default the program itself"""
        words = [*(start or (ALIGNER,)), *self.command()]
        return subprocess.Popen(words, cwd=self.folder, stderr=subprocess.PIPE, text=True, **options)

    def run(self, *start: str, **options) -> tuple[int, str]:
        """(exit code, stderr)"""
        with self.start(*start, **options) as process:
            _, stderr = process.communicate(timeout=120)
        assert "Traceback" not in stderr and "Exception" not in stderr, stderr
        return process.returncode, stderr

    def wait_for_checkpoint(self, process: subprocess.Popen[str], n_lines: int) -> None:
        """Until the journal has more lines, or the process has ended."""
        while self.n_lines <= n_lines and process.poll() is None:
            time.sleep(0.001)

    @property
    def n_lines(self) -> int:
        with contextlib.suppress(FileNotFoundError):
            return (self.checkpoints / JOURNAL).read_bytes().count(b"\n")
        return 0

    @property
    def saved(self) -> int:
        """How many iterations the newest checkpoint has; the finished model has as many as the last."""
        names = [path.stem for path in self.checkpoints.glob("*.model")]
        return max([int(name.split("-")[1]) for name in names if "-" in name], default=0)

    @property
    def outputs(self) -> dict[str, bytes]:
        """What the outputs hold; of the log what does not depend on the machine."""
        found = {name: (self.folder / name).read_bytes() for name in OUTPUTS[1::2]}
        lines = [json.loads(line) for line in found["log"].splitlines()]
        for line in lines:
            for key in ("seconds", "tokens_per_second", "memory_mb"):
                line.pop(key, None)
        return found | {"log": json.dumps(lines).encode()}

    @property
    def parts(self) -> list[str]:
        """Files that are not whole."""
        return [x for y in (self.folder, self.checkpoints) for x in os.listdir(y) if x.endswith(".part")]


def text_in(folder: Path, data: Path) -> Path:
    folder.mkdir()
    for side in ("src", "tgt"):
        lines = (data / f"generated.{side}").read_bytes().splitlines(keepends=True)[:600]
        (folder / side).write_bytes(b"".join(lines))
    return folder


@pytest.fixture
def job(tmp_path, data) -> Job:
    return Job(text_in(tmp_path / "job", data), tmp_path / "checkpoints")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[str, bytes]:
    """What the job writes when nothing happens, and without checkpoints."""
    top = tmp_path_factory.mktemp("undisturbed")
    job = Job(text_in(top / "job", ROOT / "data"), top)
    subprocess.run([ALIGNER, "align", "src", "tgt", "-q", *SETTINGS, *OUTPUTS], cwd=job.folder, check=True)
    return job.outputs


def test_killed_again_and_again(job, undisturbed):
    """At random moments after a checkpoint. An iteration is lost at most, and nothing in the end."""
    chance, kills = random.Random(1), 0
    while True:
        before = job.n_lines
        with job.start() as process:
            job.wait_for_checkpoint(process, before)
            time.sleep(chance.uniform(0, 0.02 if kills < 3 else 0.2))
            process.kill()
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        kills += 1
        logged = (job.folder / "log").read_bytes().count(b"\n") - 1
        assert job.saved >= min(logged - 1, N_ITERATIONS)
    assert kills > 2
    assert job.outputs == undisturbed and job.parts == []
    code, stderr = job.run()  # nothing is left to do
    assert code == 0 and "has a checkpoint of a finished training" in stderr and "iteration" not in stderr
    assert job.outputs == undisturbed


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_terminated(job, undisturbed, number, code):
    with job.start() as process:
        job.wait_for_checkpoint(process, 1)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == code
    assert "has no checkpoint yet: training begins anew\n" in stderr
    assert f"aligner: {job.checkpoints} has a checkpoint: training can be resumed from it\n" in stderr
    assert job.parts == [] and not (job.folder / "links").exists()
    code, stderr = job.run()
    assert code == 0 and f"{job.checkpoints} has a checkpoint: view " in stderr
    assert job.outputs == undisturbed


WAITS = """
import sys, time
from aligner import store
from aligner.cli import main
write_to = store.write_to

def half(out, header, arrays):
    if header["progress"] and len(header["history"]) == 3:
        out.write(b"half")
        out.flush()
        print("half", file=sys.stderr, flush=True)
        time.sleep(60)
    write_to(out, header, arrays)

store.write_to = half
main()
"""


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_ended_while_a_checkpoint_is_written(job, undisturbed, number, code):
    with job.start(sys.executable, "-c", WAITS) as process:
        assert process.stderr is not None
        assert any(line == "half\n" for line in process.stderr)
        process.send_signal(number)
        rest = process.stderr.read()
        process.wait(timeout=60)
    assert process.returncode == code and "Traceback" not in rest and job.saved == 2
    assert bool(job.parts) == (number == signal.SIGKILL)
    assert job.run()[0] == 0
    assert job.outputs == undisturbed and job.parts == []


# Disks


@pytest.fixture
def disk(tmp_path) -> Iterator[Path]:
    """A file system of its own, of 64 KB."""
    (folder := tmp_path / "disk").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("no mount")
    if done.returncode:
        pytest.skip(f"mounting is not allowed: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def remount(disk: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)


@pytest.mark.parametrize(
    "room, code, begun",
    [
        ("64k", 1, "training begins anew"),
        ("1200k", 1, "has a checkpoint: "),
        ("2m", 0, "has a checkpoint of a finished training"),  # a finished model is smaller
    ],
)
def test_a_full_disk(job, disk, undisturbed, room, code, begun):
    """It costs checkpoints, no links. The newest checkpoint that had room is gone on with."""
    remount(disk, f"size={room}")
    job.checkpoints = disk / "run"
    found, stderr = job.run()
    assert found == code and job.parts == [] and job.outputs == undisturbed
    assert stderr.count("No space left on device; training goes on without this checkpoint\n") == 1
    assert code == 0 or stderr.endswith(f"aligner: {disk}/run/finished.model: No space left on device\n")
    assert (job.saved > 0) == (room != "64k")
    remount(disk, "size=100m")
    found, stderr = job.run()
    assert found == 0 and begun in stderr and job.outputs == undisturbed
    assert (disk / "run" / "finished.model").read_bytes() == undisturbed["model"]


def test_no_room_for_the_outputs(job, disk, undisturbed):
    """The training is not lost with them."""
    remount(disk, "size=400k")
    command = [
        "align",
        "src",
        "tgt",
        *SETTINGS,
        "--save",
        str(disk / "model"),
        "-o",
        str(disk / "links"),
        "-q",
    ]
    command += ["--checkpoint", str(job.checkpoints), "--resume"]
    done = subprocess.run([ALIGNER, *command], cwd=job.folder, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == f"aligner: {disk}/model: No space left on device\n"
    assert os.listdir(disk) == ["links"] and (disk / "links").read_bytes() == undisturbed["links"]
    remount(disk, "size=100m")
    assert "has a checkpoint of a finished training" in job.run()[1] and job.outputs == undisturbed


def test_a_disk_that_can_only_be_read(job, disk):
    """The run ends before it trains."""
    remount(disk, "size=100m")
    job.checkpoints = disk / "run"
    remount(disk, "ro")
    code, stderr = job.run()
    assert (code, stderr) == (1, f"aligner: {disk}/run: Read-only file system\n")
    remount(disk, "rw")
    assert job.run()[0] == 0
    before = job.outputs
    remount(disk, "ro")
    code, stderr = job.run()
    assert (code, stderr) == (1, f"aligner: {disk}/run/{JOURNAL}: Read-only file system\n")
    assert job.outputs == before


def test_a_folder_that_is_not_ours(job):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    job.checkpoints.mkdir(mode=0o555)
    code, stderr = job.run()
    assert (code, stderr) == (1, f"aligner: {job.checkpoints}/{JOURNAL}: Permission denied\n")


# Memory

BOUNDED = """
import resource, sys
from aligner.cli import main, align
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (most, most))
main()
"""


def test_too_little_memory(job, undisturbed):
    """A message ends each run, not a crash, and what was done is kept."""
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("the system does not say how much memory is used")
    codes = []
    for megabytes in (0, 2, 4, 6, 8, 10, 12, 16, 24):
        code, stderr = job.run(sys.executable, "-c", BOUNDED, str(megabytes << 20))
        codes.append(code)
        lines = [line for line in stderr.splitlines() if line.startswith("aligner: ")]
        assert code == 0 or code == 1 and lines and "out of memory" in lines[-1], (megabytes, stderr)
        if code == 0:
            break
    assert codes.count(1) > 2
    assert job.run()[0] == 0
    assert job.outputs == undisturbed and job.parts == []


@pytest.fixture
def group(tmp_path) -> Iterator[Path]:
    """A control group of this process's own, that can bound memory."""
    for top, bound in (
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
        (Path("/sys/fs/cgroup"), "memory.max"),
    ):
        folder = top / f"aligner-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / bound).write_text("max" if bound == "memory.max" else "-1")
            yield folder / bound
            return
        except OSError:
            continue
        finally:
            folder.rmdir()
    pytest.skip("no control group can be made")


def test_killed_for_its_memory(job, group, undisturbed):
    """By the system, as batch systems have it do."""
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10  # of the undisturbed run, at least
    codes = []

    def enter() -> None:
        (group.parent / "cgroup.procs").write_text(str(os.getpid()))

    for megabytes in range(16, most + 64, 2):
        group.write_text(str(megabytes << 20))
        code, stderr = job.run(preexec_fn=enter)
        codes.append(code)
        assert code in (0, -signal.SIGKILL), stderr
        if code == 0:
            break
    assert codes.count(-signal.SIGKILL) > 2
    assert job.run()[0] == 0
    assert job.outputs == undisturbed and job.parts == []


# Options


def test_options_of_checkpoints(data, tmp_path):
    files = data / "sample.en", data / "sample.fr"
    short = ["-q", "--fast", "--model", "ibm1", "--iterations", 2]
    folder, model = tmp_path / "run", tmp_path / "model"
    assert "--resume is for --checkpoint." in run("train", *files, "-o", model, "--resume", code=2)
    run("train", *files, *short, "-o", model, "--checkpoint", folder)
    again = ["-o", tmp_path / "again", "--checkpoint", folder]
    message = run("train", *files, *short, *again, code=1)
    assert message == (
        f"aligner: {folder}: the folder has checkpoints of a training;"
        " choose another folder, or go on with that training: --resume\n"
    )
    message = run("train", *files, *short, "--identical", 9, *again, "--resume", code=1)
    assert message.endswith(
        "it had identical 5.0, not 9.0; give the same text and settings, or another folder: --checkpoint\n"
    )
    assert not (tmp_path / "again").exists()
    run("train", *files, *short, *again, "--resume")
    assert (tmp_path / "again").read_bytes() == model.read_bytes() == (folder / "finished.model").read_bytes()
    links = run("align", *files, *short, "--checkpoint", folder, "--resume")  # trains the same
    assert links == run("decode", model, *files)
    assert "finished" not in run("info", folder / "finished.model")

"""Runs programs in turns, and says what they cost: wall and CPU seconds, and peak memory.

Each run is started by a small process, this file with a script for bash on stdin: Linux counts what the
starter needs as memory of the program that it starts. The cores are the first of those that may be used.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # signals that end a program
ALIGNER = str(Path(sys.executable).with_name("aligner"))


@dataclass(frozen=True)
class Cost:
    """Wall seconds, CPU seconds of all threads and processes, and the megabytes of the largest process."""

    wall: float
    cpu: float
    megabytes: float


@dataclass(frozen=True)
class Job:
    """A script for bash, which ends at its first error, and the folder where it runs."""

    script: str
    folder: Path


def leave_at_signals() -> None:
    """Signals end this program as an exception does: folders are removed, and jobs do not outlive it."""
    for number in ENDING:
        signal.signal(number, lambda number, _: sys.exit(128 + number))


def in_turns(jobs: Mapping[str, Job], rounds: int, cores: int, limit: float) -> dict[str, Cost | None]:
    """The median cost of each job. A job that takes more than `limit` seconds is ended, and has None."""
    costs: dict[str, list[Cost]] = {name: [] for name in jobs}
    late = set()
    for _ in range(rounds):
        for name in (name for name in jobs if name not in late):
            cost = run(jobs[name], cores, limit)
            if cost is None:
                late.add(name)
            else:
                costs[name].append(cost)
            print(f"{name}: {f'{cost.wall:.2f}' if cost else f'more than {limit:g}'} s", file=sys.stderr)
    return {name: None if name in late else _median(costs[name]) for name in jobs}


def _median(costs: list[Cost]) -> Cost:
    columns = zip(*(asdict(cost).values() for cost in costs), strict=True)
    return Cost(*map(statistics.median, columns))


def run(job: Job, cores: int, limit: float) -> Cost | None:
    """What one run costs; None: it took too long. A job that fails ends this program, with its messages."""
    command = [sys.executable, "-I", "-S", __file__, str(cores), str(limit)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=job.folder, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as starter:
        try:
            said, errors = starter.communicate(job.script)
        except BaseException:
            starter.terminate()  # it ends the job
            raise
    if starter.returncode:
        sys.exit(f"this failed:\n{job.script}\n{errors[-2000:]}")
    found = json.loads(said)
    return None if found is None else Cost(**found)


def _start(script: str, cores: int, limit: float) -> Cost | None:
    """In the small process. What the script prints on stdout goes nowhere."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    environment = {**os.environ, "OMP_NUM_THREADS": str(cores), "ALIGNER_CACHE": "off"}
    command = ["bash", "-euo", "pipefail", "-c", script]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
    )
    late = threading.Event()

    def end() -> None:
        late.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(limit, end)
    timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:  # of a signal
        os.killpg(process.pid, signal.SIGKILL)
        timer.cancel()
        raise
    wall = time.perf_counter() - start
    timer.cancel()
    if late.is_set():
        return None
    if status:
        sys.exit(f"exit status {os.waitstatus_to_exitcode(status)}")
    unit = 1 if sys.platform == "darwin" else 1024  # bytes of ru_maxrss's unit
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 2**20)


if __name__ == "__main__":
    leave_at_signals()
    cost = _start(sys.stdin.read(), int(sys.argv[1]), float(sys.argv[2]))
    print(json.dumps(cost and asdict(cost)))

"""How many threads to use: as many as the process may, no more than the work is worth."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path

CELLS = 1 << 16  # that each thread must have, some 30 ms of work: a thread may take as long to begin


class _State:
    used = False  # this process, or one that it was forked from, has had more than one thread
    alone = False  # the process was forked after that: OpenMP would wait for threads that it does not have


def _forked() -> None:
    _State.alone = _State.used


os.register_at_fork(after_in_child=_forked)


def useful(n_threads: int, n_cells: int) -> int:
    """The number of threads, n_threads or fewer, that is worth its while for so many cells.

    A process that was forked after threads were used has one.
    """
    if n_threads < 1 or _State.alone:
        return min(n_threads, 1)
    n = min(n_threads, max(1, n_cells // CELLS))
    _State.used = _State.used or n > 1
    return n


def available() -> int:
    """How many threads this process may use: no more CPUs than its affinity and its control groups allow it,
    and no more than OMP_NUM_THREADS says."""
    limits = [len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1]
    if match := re.match(r"\s*0*([1-9][0-9]*)\s*(?:,|$)", os.environ.get("OMP_NUM_THREADS", "")):
        limits.append(int(match[1]))
    limits += [max(1, math.ceil(share)) for share in quotas()]
    return min(limits)


def quotas(groups: str = "/proc/self/cgroup", root: str = "/sys/fs/cgroup") -> Iterator[float]:
    """The CPUs that each control group of this process allows, where it has a limit.

    groups  a file of lines `number:controllers:path`, no controllers for version 2
    root    where the groups' folders are; a container may see its own group there, without the path
    """
    for line in _text(Path(groups)).splitlines():
        _, controllers, path = line.split(":", 2)
        parts = [part for part in path.split("/") if part]
        if controllers and "cpu" not in controllers.split(","):
            continue
        for n in range(len(parts), -1, -1):
            folder = Path(root, *([controllers] if controllers else []), *parts[:n])
            names = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if controllers else ("cpu.max",)
            limit = " ".join(_text(folder / name) for name in names)
            if match := re.fullmatch(r"\s*([1-9][0-9]*)\s+([1-9][0-9]*)\s*", limit):  # not "max" and not "-1"
                yield int(match[1]) / int(match[2])


def _text(path: Path) -> str:
    """What a file says; nothing if it cannot be read."""
    try:
        return path.read_text()
    except OSError:
        return ""

"""This program in a process of its own: what `aligner align` takes, and what its log says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# what an iteration may raise, as a log calls it and as people do; the first that an entry has is meant. With
# a prior the bound rises, and the objective or the log-likelihood may fall.
RAISED = {"bound": "bound", "objective": "objective", "loglik": "log-likelihood"}


def this_program() -> list[str]:
    """How to run this installation: the script `aligner`, or the package where there is no script."""
    script = Path(sys.executable).with_name("aligner")
    return [str(script)] if os.access(script, os.X_OK) else [sys.executable, "-m", "aligner"]


@dataclass(frozen=True)
class Measured:
    """failure: how the process ended, if not well; else nothing"""

    seconds: float
    megabytes: float
    failure: str


def align(arguments: Sequence[str]) -> Measured:
    """Runs `aligner align`. What interrupts this process ends the other one, too.

    The system says of a process no less memory than its parent ever had. So the parent should not have read
    more than the text, which the process reads, too.
    """
    began = time.perf_counter()
    process = subprocess.Popen(
        [*this_program(), "align", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        process.terminate()  # the process leaves no unfinished file
        process.wait()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    return Measured(time.perf_counter() - began, usage.ru_maxrss / 1024, _failure(process.returncode))


def _failure(code: int) -> str:
    """What an exit code says."""
    if code < 0:
        return f"killed by signal {-code}"
    return f"failed, exit code {code}" if code else ""


def read_log(path: str) -> tuple[str, tuple[str, float] | None]:
    """The signature of a run, and (name, value) of what its training raised in the end; None: no iterations.

    Both directions are added up. Views that are trained one by one have a value each: the mean is taken.
    """
    with open(path, encoding="utf-8") as file:
        first, *entries = map(json.loads, file)
    if not entries:
        return first["signature"], None
    *_, final = entries
    last = {entry["view"]: entry for entry in entries if entry["model"] == final["model"]}
    key = next(key for key in RAISED if key in final)
    values = [sum(x.values()) if isinstance(x := entry[key], dict) else x for entry in last.values()]
    name = "log-likelihood - KL" if "kl" in final else RAISED[key]
    return first["signature"], (name, sum(values) / len(values))

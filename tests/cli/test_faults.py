"""Calls of the system fail, or are the last, one after another: no file is half-written, no run is lost."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from faults import COMMANDS, HERE, compiled


def test_each_call_may_fail(tmp_path):
    if compiled(tmp_path) is None:
        pytest.skip("no compiler for the library that lets calls fail")
    paths = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(HERE / "faults.py"), "--every", "9"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env=os.environ | {"PYTHONPATH": paths}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" 0 problems\n") == len(COMMANDS)

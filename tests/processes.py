"""Programs that tests start and send signals to."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

LONGEST = 120  # seconds: such a program ends within two, and on a machine with much to do within thirty


@contextmanager
def started(command: Sequence[object], **how: Any) -> Iterator[subprocess.Popen]:
    """A program in a session of its own, whose stderr is a pipe. None of its processes outlives the block.

    One that takes too long is killed, and the pipe ends: a test that reads it fails, and does not wait.
    """
    words = [str(word) for word in command]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True, **how) as process:
        watch = threading.Timer(LONGEST, _kill, [process.pid])
        watch.start()
        try:
            yield process
        finally:
            watch.cancel()
            _kill(process.pid)


def _kill(session: int) -> None:
    with suppress(ProcessLookupError):  # all have ended
        os.killpg(session, signal.SIGKILL)

"""python -m aligner, and the command `aligner`"""

from __future__ import annotations

import os
import signal
from typing import Any


def main() -> None:
    """Ends quietly when it is interrupted, also while it is imported: then no file is open yet."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _end)
    # Threads that wait sleep: awake they take the cores of others. Read once, when the first kernel is loaded
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    from aligner.cli import main

    main()


def _end(*_: Any) -> None:
    try:
        os.write(2, b"aligner: interrupted\n")
    finally:
        os._exit(130)


if __name__ == "__main__":
    main()

"""Signals that wait until a step that cannot be given up halfway is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # signals that end a program


@contextmanager
def held() -> Iterator[Callable[[], None]]:
    """Puts off the signals that end a program: the first one that comes is raised at the end.

    Gives a function that raises it earlier, where that is safe. A cluster that is half started cannot be
    stopped. Imports, and whatever frees an object as Dask's futures do, may print an exception and go on: a
    signal that is answered there is lost. Handlers are replaced, because blocked signals go to threads of
    libraries, and from there to the handlers.
    """
    if threading.current_thread() is not threading.main_thread():  # which is the one that has handlers
        yield lambda: None
        return
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in ENDING}
    replaced = {n: handler for n, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}
    for number in replaced:
        signal.signal(number, lambda number, _: came.append(number))

    def answer() -> None:
        if came:
            for number, handler in replaced.items():
                signal.signal(number, handler)
            first = came[0]
            came.clear()
            signal.raise_signal(first)

    try:
        yield answer
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)
        answer()

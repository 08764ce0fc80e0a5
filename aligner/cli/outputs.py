"""The outputs of commands that train. All are opened before training; the failure of one costs no other."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import IO, Any, BinaryIO, Generic, Protocol, TypeVar, cast

from aligner.errors import DataError, message_of
from aligner.files import open_log

T = TypeVar("T")


class SideOutput(Protocol):
    """What is written beside the main output. Its failure does not end the program at once."""

    failure: Exception | None

    def close(self, error: BaseException | None = None) -> None:
        """error: what ended the program"""


B = TypeVar("B", bound=SideOutput)


class Output(Generic[T]):
    """An output beside the main one. After a failure nothing more is written to it."""

    def __init__(self, opened: AbstractContextManager[T]) -> None:
        self._opened = opened
        self._file = opened.__enter__()
        self._is_open = True
        self.failure: Exception | None = None

    def attempt(self, write: Callable[[T], object]) -> None:
        """Writes, unless an attempt has failed before. The failure is kept."""
        if not self._is_open:
            return
        try:
            write(self._file)
        except (OSError, MemoryError, DataError) as error:
            self.failure = error
            self.close(error)

    def close(self, error: BaseException | None = None) -> None:
        """Completes the output, or after an error leaves what was there before."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            if error is None:
                self._opened.__exit__(None, None, None)
            else:
                self._opened.__exit__(type(error), error, error.__traceback__)
        except (OSError, DataError) as failure:
            self.failure = self.failure or failure


class Outputs:
    """The outputs beside the main one. At the end, the first failure of them is raised; others are told.

    The main output must be the inner one of the two, and so it is completed first.
    """

    def __init__(self) -> None:
        self._outputs: list[SideOutput] = []

    def add(self, output: B) -> B:
        self._outputs.append(output)
        return output

    def open(self, opened: AbstractContextManager[BinaryIO]) -> Output[BinaryIO]:
        return self.add(Output(opened))

    def open_log(self, path: str | None, overwrite: bool) -> IO[str] | None:
        """A log that a training writes to, and that cannot stop the training."""
        if path is None:
            return None
        log = self.add(Output(open_log(path, overwrite)))
        return io.TextIOWrapper(cast(BinaryIO, _Lines(log)), encoding="utf-8")

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for output in self._outputs:
            output.close(error)
        failures = [output.failure for output in self._outputs if output.failure is not None]
        for failure in failures[1:] if error is None else failures:
            logging.error("%s", message_of(failure))
        if error is None and failures:
            raise failures[0]


class _Lines(io.BufferedIOBase):
    """What a text file writes to when it is flushed: whole lines, to a log."""

    def __init__(self, log: Output[Callable[[bytes], None]]) -> None:
        self.log = log

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        line = bytes(data)
        self.log.attempt(lambda write: write(line))
        return len(line)

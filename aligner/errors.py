"""What is wrong with the user's data or with the system: what, where, and what to do about it."""

from __future__ import annotations

import errno


def number_of(n: int, thing: str) -> str:
    """How many of a thing there are: 1 link, 2 links."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


class DataError(Exception):
    """A file cannot be used as it is. The command line prints the message and exits with 1.

    what, file, line, column  what is wrong, and where
    hint                      what to do about it
    setting, value            the setting that cures it, and its cure; "" where the user must choose

    The message names no option. The command line adds what the command calls the setting.
    """

    def __init__(
        self,
        what: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
        setting: str = "",
        value: str = "",
    ) -> None:
        self.what, self.file, self.line, self.column = what, file, line, column
        self.hint, self.setting, self.value = hint, setting, value
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        super().__init__((f"{place}: " if place else "") + what + (f"; {hint}" if hint else ""))


def message_of(error: Exception) -> str:
    """What went wrong with data or with the system, in words."""
    if isinstance(error, OSError):
        place = "" if error.filename is None else f"{error.filename or repr('')}: "
        return f"{place}{'out of memory' if error.errno == errno.ENOMEM else error.strerror or error}"
    if isinstance(error, MemoryError):
        return f"out of memory: {error}" if str(error) else "out of memory"
    return str(error)

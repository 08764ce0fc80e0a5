"""What is wrong with the user's data: what, where, and what to do about it."""

from __future__ import annotations


class DataError(Exception):
    """A file cannot be used as it is. The command line prints it and exits with 1."""

    def __init__(
        self,
        what: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.what, self.file, self.line, self.column, self.hint = what, file, line, column, hint
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        super().__init__((f"{place}: " if place else "") + what + (f"; {hint}" if hint else ""))

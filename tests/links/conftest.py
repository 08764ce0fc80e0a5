"""How link files are refused."""

from __future__ import annotations

import pytest

from aligner import DataError, LinkReader


@pytest.fixture
def assert_refused(write):
    """A file of links is refused with its name, a line and a column, with what is wrong and a hint."""

    def assert_refused(
        text: str, format: str | None, line: int, column: int, what: str, base: int | None = None
    ) -> None:
        path = write("links", text)
        with pytest.raises(DataError) as caught:
            LinkReader(path, format, base).read()
        error = caught.value
        assert what in error.what and error.hint
        assert (error.file, error.line, error.column) == (path, line, column)

    return assert_refused

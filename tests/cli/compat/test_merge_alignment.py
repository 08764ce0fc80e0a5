"""merge-alignment: parts of an A3 file are joined as mgiza's merge_alignment.py joins them."""

from __future__ import annotations

import pytest
from programs import GOLDEN, run

WHOLE = GOLDEN / "symal" / "fr-en.A3.final"


@pytest.fixture
def pairs() -> list[bytes]:
    lines = WHOLE.read_bytes().splitlines(keepends=True)
    return [b"".join(lines[k : k + 3]) for k in range(0, len(lines), 3)]


def test_parts_are_joined(write, pairs):
    """Whatever the parts have, and in which order they are given."""
    taken = [7 * n % 11 % 3 for n in range(len(pairs))]
    parts = [
        write(f"part00{k}", b"".join(pair for pair, of in zip(pairs, taken, strict=True) if of == k))
        for k in range(3)
    ]
    for given in (parts, parts[::-1], [*parts, write("part003", b"")]):
        result = run("merge-alignment", *given)
        assert result.stdout_bytes == WHOLE.read_bytes()
        assert result.stderr == f"Combined {len(given)} files, totally 60 sents \n"
    assert run("convert", *parts).stdout_bytes == run("convert", WHOLE).stdout_bytes


def test_parts_that_do_not_fit_have_exit_code_1(write, pairs):
    first, second = write("first", b"".join(pairs[::2])), write("second", b"".join(pairs[1::2]))
    for parts, message in (
        ([first], "no sentence pair 2"),
        ([first, second, second], "sentence pair 2 is there twice"),
        ([first, write("cut", b"".join(pairs[1::2])[:-400])], "the sentence pair is cut off"),
    ):
        assert message in run("merge-alignment", *parts, code=1).stderr
    assert "Missing argument" in run("merge-alignment", code=2).stderr

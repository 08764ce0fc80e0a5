"""merge-alignment: parts of an A3 file are joined as mgiza's merge_alignment.py joins them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aligner.cli import cli

WHOLE = Path(__file__).parent / "golden" / "symal" / "fr-en.A3.final"


def merge(*parts: object) -> Result:
    return CliRunner().invoke(cli, ["merge-alignment", *map(str, parts)])


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
        result = merge(*given)
        assert (result.exit_code, result.stdout_bytes) == (0, WHOLE.read_bytes())
        assert result.stderr == f"Combined {len(given)} files, totally 60 sents \n"
    converted = CliRunner().invoke(cli, ["convert", *parts])
    assert converted.stdout_bytes == CliRunner().invoke(cli, ["convert", str(WHOLE)]).stdout_bytes


def test_parts_that_do_not_fit_have_exit_code_1(write, pairs):
    first, second = write("first", b"".join(pairs[::2])), write("second", b"".join(pairs[1::2]))
    for parts, message in (
        ([first], "no sentence pair 2"),
        ([first, second, second], "sentence pair 2 is there twice"),
        ([first, write("cut", b"".join(pairs[1::2])[:-400])], "the sentence pair is cut off"),
        ([], "Missing argument"),
    ):
        result = merge(*parts)
        assert result.exit_code in (1, 2) and message in result.stderr

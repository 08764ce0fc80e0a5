"""Lines sorted by their bytes, in memory and in runs."""

from __future__ import annotations

import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner.uses import _lines, sorting
from aligner.uses.sorting import LineSorter

# Lines that share beginnings, end early, and have bytes below the newline in them.
lines = st.lists(
    st.lists(st.sampled_from([b"a", b"b", b"exactly", b" ", b"\x00", b"\x01", b"\xff"]), max_size=6).map(
        b"".join
    ),
    max_size=30,
)


@given(lines, st.sampled_from([1, 60, 200, 1 << 20]), st.integers(1, 5))
def test_lines_come_out_sorted(lines, memory, size):
    with LineSorter(memory) as sorter:
        for start in range(0, len(lines), size):
            sorter.add(b"".join(line + b"\n" for line in lines[start : start + size]))
        blocks = list(sorter.blocks())
    assert all(block.endswith(b"\n") for block in blocks)
    assert b"".join(blocks) == b"".join(line + b"\n" for line in sorted(lines))


@given(lines, st.integers(1, 9))
def test_runs_are_read_in_pieces(lines, size):
    """Pieces end within lines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "LEAST", size)
        with LineSorter(1) as sorter:
            for line in lines:
                sorter.add(line + b"\n")
            assert b"".join(sorter.blocks()) == b"".join(line + b"\n" for line in sorted(lines))


def test_merging_needs_no_more_memory():
    """Than was given. Merged lines are up to four times in memory, beside the pieces they are made of."""
    memory = 1 << 20
    with LineSorter(memory) as sorter:
        for n in range(60):
            sorter.add(b"".join(b"%08d\n" % (104729 * (1000 * n + k) % 99999989) for k in range(1000)))
        blocks = list(sorter.blocks())
    assert len(sorter.runs) > 1 and max(map(len, blocks)) * 5 <= memory
    assert sum(map(len, blocks)) == 60 * 9000


def test_long_lines_are_sorted():
    """Longer than the keys go."""
    same = b"x" * 10_000
    lines = [same + b"b", same + b"a", same, b"y", same + b"a"]
    with LineSorter(1 << 20) as sorter:
        sorter.add(b"".join(line + b"\n" for line in lines))
        assert b"".join(sorter.blocks()).split(b"\n")[:-1] == sorted(lines)


def test_nothing_in_nothing_out():
    with LineSorter(100) as sorter:
        sorter.add(b"")
        assert list(sorter.blocks()) == []
    assert _lines.merge([], [], []) == (b"", [])
    assert _lines.multiplicities(b"") == []


@given(lines)
def test_multiplicities(lines):
    text = b"".join(line + b"\n" for line in sorted(lines))
    assert _lines.multiplicities(text) == [lines.count(line) for line in sorted(set(lines))]


def test_the_kernel_checks_at_its_door():
    kept = _lines.Lines()
    with pytest.raises(ValueError, match="does not end in a newline"):
        kept.add(b"a")
    with pytest.raises(ValueError, match="not sorted"):
        kept.take(1)
    kept.sort()
    with pytest.raises(ValueError, match="sorted already"):
        kept.add(b"a\n")
    with pytest.raises(ValueError, match="does not end in a newline"):
        _lines.multiplicities(b"a")
    for blocks, begins, ended in (([b"a"], [0], [True]), ([b"a\n"], [3], [True]), ([b"a\n"], [], [True])):
        with pytest.raises(ValueError):
            _lines.merge(blocks, begins, ended)


def test_a_disk_that_cannot_be_used_is_named(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    with LineSorter(1) as sorter:
        sorter.add(b"a\n")
        with pytest.raises(OSError) as error:
            sorter.add(b"b\n")
    assert error.value.filename is not None and "/nowhere" in error.value.filename

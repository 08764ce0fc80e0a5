"""Lines sorted by their bytes in bounded memory, as `LC_ALL=C sort` sorts them.

Lines that do not fit are sorted in runs, which go to a temporary file. The file has no name, so nothing is
left of it however the program ends.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import BinaryIO, cast

from aligner.files import named
from aligner.uses import _lines

MEMORY = "1G"  # room for lines, unless the user says otherwise
CHUNK = 1 << 20  # bytes that are written, or given to the reader, at a time
LEAST = 1 << 16  # bytes of a run that are read at a time
# Pieces of all runs have 1 / SHARE of the memory. Merging needs up to four times as much besides: for merged
# lines, twice while they grow, once as bytes, and for those before, which the caller still has.
SHARE = 8


class LineSorter:
    """Lines are added in any order, and come out sorted. A context manager: its end frees the disk.

    memory  bytes for lines, and what sorting them needs
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.lines = _lines.Lines()
        self.runs: list[tuple[int, int]] = []  # where each run begins and ends in the file
        self.file: BinaryIO | None = None
        self._open = ExitStack()

    def __enter__(self) -> LineSorter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def add(self, text: bytes) -> None:
        """Adds whole lines."""
        if self.lines.size and self.lines.size + 2 * len(text) > self.memory:
            self._spill()
        self.lines.add(text)

    def blocks(self) -> Iterator[bytes]:
        """All lines in order, in blocks of whole lines. Nothing can be added afterwards."""
        if not self.runs:
            self.lines.sort()
            while block := self.lines.take(CHUNK):
                yield block
            return
        if self.lines.size:
            self._spill()
        yield from self._merged()

    def _spill(self) -> None:
        """Sorts the lines in memory, and writes them to the file."""
        if self.file is None:
            with named(tempfile.gettempdir()):
                self.file = cast(BinaryIO, self._open.enter_context(tempfile.TemporaryFile()))
        begin = self.runs[-1][1] if self.runs else 0
        self.lines.sort()
        with named(tempfile.gettempdir()):
            while block := self.lines.take(CHUNK):
                self.file.write(block)
            self.file.flush()
            self.runs.append((begin, self.file.tell()))
        self.lines = _lines.Lines()

    def _merged(self) -> Iterator[bytes]:
        """Merges the runs, a piece of each at a time."""
        assert self.file is not None
        size = max(LEAST, self.memory // (SHARE * len(self.runs)))
        places = [begin for begin, _ in self.runs]
        blocks, begins = [b""] * len(self.runs), [0] * len(self.runs)
        rests = [b""] * len(self.runs)  # what was read of the line after each block
        while True:
            for k, (_, end) in enumerate(self.runs):
                while begins[k] == len(blocks[k]) and places[k] < end:
                    self.file.seek(places[k])
                    with named(tempfile.gettempdir()):
                        text = rests[k] + self.file.read(min(size, end - places[k]))
                    places[k] = self.file.tell()
                    cut = text.rfind(b"\n") + 1
                    blocks[k], rests[k], begins[k] = text[:cut], text[cut:], 0
            ended = [place == end for place, (_, end) in zip(places, self.runs, strict=True)]
            merged, begins = _lines.merge(blocks, begins, ended)
            if not merged:
                return
            yield merged

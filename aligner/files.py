"""Files in and out: compressed or not, stdin and stdout, whole lines at a time, never half-written.

Input is decompressed by content, cut into blocks of whole lines, and known to messages by its name.
Output goes to a temporary name beside the wanted one and is renamed when it is complete.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, cast

from aligner.errors import DataError

CHUNK = 1 << 20  # bytes asked of a file at a time
MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
SUFFIX = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst"}


def display_name(path: str) -> str:
    """What messages call a file."""
    return "<stdin>" if path == "-" else path


@contextlib.contextmanager
def open_input(path: str) -> Iterator[BinaryIO]:
    """The bytes of a file, or of stdin for "-", decompressed if their first bytes say so."""
    with contextlib.ExitStack() as stack:
        if path == "-":
            raw = cast(BinaryIO, sys.stdin.buffer)
        else:
            raw = stack.enter_context(open(path, "rb"))
        if not hasattr(raw, "peek"):  # stdin replaced by a plain stream
            raw = cast(BinaryIO, io.BufferedReader(raw))
        head = raw.peek(8)  # type: ignore[attr-defined]
        for magic, name in MAGIC.items():
            if head.startswith(magic):
                from xopen import xopen

                raw = stack.enter_context(xopen(raw, "rb", format=name, threads=0))
        yield raw


def read_chunks(path: str, encoding: str = "utf-8") -> Iterator[bytes]:
    """The file's bytes, as UTF-8 whatever its encoding, in chunks of no particular size.

    UTF-8 is passed on unchecked: its reader validates it on the way (see _corpus.pyx).
    """
    decoder = None
    if codecs.lookup(encoding).name != "utf-8":
        decoder = codecs.getincrementaldecoder(encoding)()
    n_lines = n_bytes = 0  # decoded so far
    first = True
    with open_input(path) as stream:
        while True:
            try:
                chunk = stream.read1(CHUNK)  # type: ignore[attr-defined]
                done = not chunk
                if decoder is not None:
                    pending = len(decoder.getstate()[0])
                    n_bytes += len(chunk)
                    chunk = decoder.decode(chunk, final=done).encode("utf-8")
            except UnicodeError as error:
                at = getattr(error, "start", 0)
                seen = getattr(error, "object", b"")[:at].decode(encoding, "replace").count("\n")
                raise DataError(
                    f"invalid {encoding} at byte {n_bytes - len(chunk) - pending + at} of the text",
                    file=display_name(path),
                    line=n_lines + seen + 1,
                    hint="name the text's encoding with --encoding",
                ) from None
            except (EOFError, OSError, zlib.error, ValueError) as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                raise DataError(
                    f"damaged or truncated compressed file ({error}), after {n_lines} lines",
                    file=display_name(path),
                    hint="fetch or compress it again",
                ) from None
            if first and chunk:
                chunk = chunk.removeprefix(codecs.BOM_UTF8)
                first = False
            n_lines += chunk.count(b"\n")
            if chunk:
                yield chunk
            if done:
                return


def line_blocks(chunks: Iterator[bytes], max_lines: int) -> Iterator[tuple[bytes, int]]:
    """The same bytes as blocks of max_lines whole lines (the last may have fewer): (bytes, n_lines).

    Every line of every block ends in a newline: the last line of a file is given one if it has none.
    """
    from aligner._corpus import end_of_line

    parts: list[bytes] = []
    n_lines = 0  # newlines in parts
    for chunk in chunks:
        parts.append(chunk)
        n_lines += chunk.count(b"\n")
        if n_lines < max_lines:
            continue
        text, start = b"".join(parts), 0
        while n_lines >= max_lines:
            end = end_of_line(text, start, max_lines)
            yield text[start:end], max_lines
            start, n_lines = end, n_lines - max_lines
        parts = [text[start:]]
    text = b"".join(parts)
    if text and not text.endswith(b"\n"):
        text, n_lines = text + b"\n", n_lines + 1
    if text:
        yield text, n_lines


@contextlib.contextmanager
def open_output(path: str, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A file to write bytes to, "-" for stdout; compressed if its name ends in .gz, .bz2, .xz, .zst.

    Refuses to replace a file unless told to; on any error the wanted name is left as it was.
    """
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):  # a device, a pipe: nothing to rename
        with open(path, "wb") as device:
            yield device
        return
    if mode is not None and not overwrite:
        raise DataError("the file exists", file=path, hint="pass --overwrite to replace it")
    target = os.path.realpath(path)  # a link stays a link
    folder, name = os.path.split(target)
    if not os.path.isdir(folder):
        raise DataError("no such folder", file=folder, hint="create it first")
    handle, partial = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
    try:
        with contextlib.ExitStack() as stack:
            raw: BinaryIO = stack.enter_context(os.fdopen(handle, "wb"))
            if (kind := SUFFIX.get(os.path.splitext(path)[1])) is not None:
                from xopen import xopen

                raw = stack.enter_context(xopen(raw, "wb", format=kind, threads=0))
            yield raw
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(partial, 0o666 & ~umask)  # mkstemp's 0600 is not what a plain file would get
        os.replace(partial, target)
    except BaseException:
        os.unlink(partial)
        raise

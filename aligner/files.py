"""Files in and out: compressed or not, stdin and stdout, never half-written.

Input is decompressed if its first bytes say so. Output goes to a temporary name beside the wanted one and is
renamed when it is complete. xopen and tqdm are imported where they are used: most files are not compressed,
and most programs have no terminal.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from aligner.errors import DataError

CHUNK = 1 << 20  # bytes asked of a file at a time
MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
SUFFIX = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst"}
DESCRIPTOR = re.compile(r"/dev/(?:stdout|stderr|fd/(\d+))")


def display_name(path: str) -> str:
    """What messages call a file."""
    return "<stdin>" if path == "-" else path


def read_chunks(path: str, encoding: str = "utf-8") -> Iterator[bytes]:
    """The text of a file, or of stdin for "-", as UTF-8 in chunks of no particular size.

    Compressed text is decompressed. A byte order mark is taken off. UTF-8 is passed on unchecked: the reader
    of the lines validates them (text/reading.py).
    """
    chunks = _read_bytes(path)
    if codecs.lookup(encoding).name == "utf-8":
        first = next(chunks, b"")
        if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError(
                "this is UTF-16",
                file=display_name(path),
                hint="convert it to UTF-8, or name its encoding",
                setting="encoding",
                value="utf-16",
            )
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from chunks
    else:
        yield from _transcode(chunks, encoding, display_name(path))


def _read_bytes(path: str) -> Iterator[bytes]:
    """The bytes of a file, decompressed. A terminal shows a bar when reading takes long."""
    with contextlib.ExitStack() as stack:
        if path != "-":
            raw: BinaryIO = stack.enter_context(open(path, "rb"))
        elif sys.stdin is None:
            raise DataError("stdin is closed")
        elif hasattr(sys.stdin.buffer, "peek"):
            raw = sys.stdin.buffer
        else:  # stdin replaced by a plain stream
            raw = cast(BinaryIO, io.BufferedReader(sys.stdin.buffer))
        head = raw.peek(8)  # type: ignore[attr-defined]
        kind = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), None)
        if kind is not None:
            from xopen import xopen

            raw = stack.enter_context(xopen(raw, "rb", format=kind, threads=0))
        progress = stack.enter_context(_progress(path))
        while True:
            try:
                chunk = raw.read1(CHUNK)  # type: ignore[attr-defined]
            except Exception as error:
                if kind is None or getattr(error, "errno", None) is not None:
                    raise
                raise DataError(
                    f"damaged or truncated {kind} file ({error})",
                    file=display_name(path),
                    hint="fetch or compress it again",
                ) from None
            if not chunk:
                return
            progress.update(len(chunk))
            yield chunk


class _NoProgress:
    def update(self, n: int) -> None:
        pass


@contextlib.contextmanager
def _progress(path: str) -> Iterator[_NoProgress]:
    """A bar that counts the bytes read; without a terminal, nothing."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield _NoProgress()
        return
    from tqdm import tqdm

    with tqdm(desc=display_name(path), unit="B", unit_scale=True, delay=1, leave=False) as bar:
        yield bar


def _transcode(chunks: Iterator[bytes], encoding: str, name: str) -> Iterator[bytes]:
    """Text of any encoding as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()
    n_lines = n_bytes = 0  # decoded so far
    done = False
    while not done:
        chunk = next(chunks, b"")
        done = not chunk
        pending = len(decoder.getstate()[0])
        try:
            text = decoder.decode(chunk, final=done)
        except UnicodeDecodeError as error:
            seen = error.object[: error.start].decode(encoding, "replace").count("\n")
            raise DataError(
                f"invalid {encoding} at byte {n_bytes - pending + error.start} of the text",
                file=name,
                line=n_lines + seen + 1,
                hint="name the text's encoding",
                setting="encoding",
            ) from None
        except UnicodeError as error:  # raised by the codec, for example for UTF-16 without its mark
            raise DataError(f"invalid {encoding}: {error}", file=name) from None
        n_bytes += len(chunk)
        n_lines += text.count("\n")
        try:
            yield (text.removeprefix("\ufeff") if n_bytes == len(chunk) else text).encode("utf-8")
        except UnicodeEncodeError:
            raise DataError(f"half a character after line {n_lines}", file=name) from None


@contextlib.contextmanager
def open_output(path: str, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A file to write bytes to, "-" for stdout. A name that ends in .gz, .bz2, .xz or .zst is compressed.

    A file is not replaced without overwrite. After an error the file is what it was before.
    """
    try:
        with _raw_output(path, overwrite) as raw, contextlib.ExitStack() as stack:
            kind = SUFFIX.get(os.path.splitext(path)[1].lower())
            if kind is not None:
                from xopen import xopen

                raw = stack.enter_context(xopen(raw, "wb", format=kind, threads=0))
            yield raw
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:  # a write failed, for example on a full disk
            error.filename = "<stdout>" if path == "-" else path
        raise


def check_output(path: str, overwrite: bool = False) -> None:
    """Refuses what open_output would refuse. For use before long work."""
    if os.path.isfile(path) and not overwrite:
        raise _exists(path)
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise DataError("no such folder", file=folder, hint="create it first")


@contextlib.contextmanager
def _raw_output(path: str, overwrite: bool) -> Iterator[BinaryIO]:
    if path == "-":
        if sys.stdout is None:
            raise DataError("stdout is closed")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if (descriptor := DESCRIPTOR.fullmatch(path)) is not None:
        number = int(descriptor[1] or (1 if path.endswith("out") else 2))
        with os.fdopen(os.dup(number), "wb") as out:
            yield out
        return
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        mode = stat.S_IFREG | (0o666 & ~umask)
    else:
        if not stat.S_ISREG(mode):  # a device, a pipe: nothing to rename
            with open(path, "wb") as out:
                yield out
            return
    check_output(path, overwrite)
    target = os.path.realpath(path)  # a link stays a link
    folder, name = os.path.split(target)
    handle, partial = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.chmod(partial, stat.S_IMODE(mode))  # not mkstemp's 0600
        if overwrite:
            os.replace(partial, target)
        else:
            _rename_new(partial, target, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)
        raise


def _rename_new(partial: str, target: str, path: str) -> None:
    """Renames a file unless the new name has been taken meanwhile, where the file system can tell."""
    try:
        os.link(partial, target)
    except FileExistsError:
        raise _exists(path) from None
    except OSError:  # no hard links here
        os.replace(partial, target)
    else:
        os.unlink(partial)


def _exists(path: str) -> DataError:
    hint = "choose another name, or allow it to be replaced"
    return DataError("the file exists", file=path, hint=hint, setting="overwrite")

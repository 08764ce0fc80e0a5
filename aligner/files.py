"""Files in and out: compressed or not, stdin and stdout, never half-written.

Input is decompressed if its first bytes say so. Output goes to a temporary name beside the wanted one and is
renamed when it is complete. Errors have the name that the user gave, not the temporary one. xopen and tqdm
are imported where they are used: most files are not compressed, and most programs have no terminal.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import fcntl
import io
import itertools
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from aligner.errors import DataError

CHUNK = 1 << 20  # bytes asked of a file at a time
MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
SUFFIX = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst"}
MODEL = re.compile(rb"aligner[\x01-\x08]")  # how models and shards begin (store.py)
DESCRIPTOR = re.compile(r"/dev/(?:stdout|stderr|fd/(\d+))")
LONGEST = 200  # bytes of an output's name that its temporary name has; file systems allow 255 in all
NO_HARD_LINKS = (errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EXDEV)


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
        if MODEL.match(first):
            raise DataError(
                "this is a model of aligner or another file that it wrote, not text", file=display_name(path)
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
        with named(display_name(path)):
            head = raw.peek(8)  # type: ignore[attr-defined]
        kind = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), None)
        if kind is not None:
            from xopen import xopen

            raw = stack.enter_context(xopen(raw, "rb", format=kind, threads=0))
        progress = stack.enter_context(_progress(path))
        while True:
            try:
                with named(display_name(path)):
                    chunk = raw.read1(CHUNK)  # type: ignore[attr-defined]
            except Exception as error:
                of_system = isinstance(error, MemoryError) or getattr(error, "errno", None) is not None
                if kind is None or of_system:
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


@contextlib.contextmanager
def named(path: str) -> Iterator[None]:
    """Gives an error of the system the name of a file."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # not of the system, but of a decompressor
            raise
        raise OSError(error.errno, error.strerror, path) from None


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
    with _raw_output(path, overwrite) as raw, contextlib.ExitStack() as stack:
        kind = SUFFIX.get(os.path.splitext(path)[1].lower())
        if kind is not None:
            from xopen import xopen

            raw = stack.enter_context(xopen(raw, "wb", format=kind, threads=0))
        yield raw


@contextlib.contextmanager
def open_in_place(path: str) -> Iterator[BinaryIO]:
    """A file to write bytes to as most programs do, "-" for stdout: what the file held is gone at once.

    A caller that holds the file open reads the new bytes. Nothing is compressed. After an error the file has
    what was written before the error.
    """
    special = _special_output(path)
    if special is None:
        with named(path):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        special = cast(BinaryIO, io.BufferedWriter(_Named(handle, path)))
    with special as out:
        yield out


@contextlib.contextmanager
def open_log(path: str, overwrite: bool = False) -> Iterator[Callable[[bytes], None]]:
    """What writes a line to a file, "-" for stdout. A line can be read as soon as it is written.

    The lines stay when the program fails. An old file is replaced when the first line is written.
    """
    with contextlib.ExitStack() as stack:
        special, part = _special_output(path), None
        if special is not None:
            out = stack.enter_context(special)
        else:
            part = _Part(path, overwrite)
            stack.callback(part.close)
            out = part.out

        def write(line: bytes) -> None:
            out.write(line)
            out.flush()
            if part is not None:
                part.publish()

        yield write


def output_place(path: str) -> str:
    """Where an output goes: the same for all names of a file, and for all names of a stream."""
    if (number := _descriptor(path)) is not None:
        return f"/dev/fd/{number}"
    return os.path.realpath(path)


def check_output(path: str, overwrite: bool = False) -> None:
    """Refuses what open_output would refuse. For use before long work."""
    if (number := _descriptor(path)) is not None:
        if number in (1, 2) and (sys.stdout, sys.stderr)[number - 1] is None:
            raise DataError(f"{('stdout', 'stderr')[number - 1]} is closed")
        return
    if not os.path.basename(path):
        raise DataError("a file name is needed", file=repr(path))
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if os.path.isfile(path):
        if not overwrite:
            raise _exists(path)
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise DataError("no such folder", file=folder, hint="create it first")


def _descriptor(path: str) -> int | None:
    """The number of the open file that a name stands for; None: a name of the file system."""
    if path == "-":
        return 1
    if (match := DESCRIPTOR.fullmatch(path)) is None:
        return None
    return int(match[1] or (1 if path.endswith("out") else 2))


def _raw_output(path: str, overwrite: bool) -> contextlib.AbstractContextManager[BinaryIO]:
    special = _special_output(path)
    return _new_file(path, overwrite) if special is None else special


def _special_output(path: str) -> contextlib.AbstractContextManager[BinaryIO] | None:
    """What has no name to be renamed to: stdout, an open file, a device, a pipe. None: a plain file."""
    number = _descriptor(path)
    if number is not None:
        check_output(path)
        if path == "-":
            return _stdout()
        with named(path):
            return cast(BinaryIO, io.BufferedWriter(_Named(os.dup(number), path)))
    try:
        if stat.S_ISREG(os.stat(path).st_mode):
            return None
    except FileNotFoundError:
        return None
    return cast(BinaryIO, io.BufferedWriter(_Named(os.open(path, os.O_WRONLY), path)))


@contextlib.contextmanager
def _stdout() -> Iterator[BinaryIO]:
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OSError as error:
        if error.filename is None:
            error.filename = "<stdout>"
        raise


@contextlib.contextmanager
def _new_file(path: str, overwrite: bool) -> Iterator[BinaryIO]:
    part = _Part(path, overwrite)
    try:
        yield part.out
        part.publish(keep=True)
    finally:
        part.close()


class _Named(io.FileIO):
    """An open file whose errors have the name that the user gave."""

    def __init__(self, handle: int, path: str) -> None:
        super().__init__(handle, "wb")
        self.path = path

    def write(self, data: Any) -> int:
        with named(self.path):
            return super().write(data)


class _Part:
    """A new file under a temporary name, `.NAME.xxxxxxxx.part`, until it is complete.

    The file is locked while a program writes it. A part that nobody locks is what a killed program left.
    """

    def __init__(self, path: str, overwrite: bool) -> None:
        check_output(path, overwrite)
        self.path, self.overwrite = path, overwrite
        self.target = os.path.realpath(path)  # a link stays a link
        folder, name = os.path.split(self.target)
        name = os.fsdecode(os.fsencode(name)[:LONGEST])
        with named(path):
            try:
                self.mode: int | None = stat.S_IMODE(os.stat(path).st_mode)
            except FileNotFoundError:
                self.mode = None
            clear_parts(folder, name)
            # The system takes the user's mask off the mode of a new file.
            self.name, handle = _create(folder, name, 0o666 if self.mode is None else self.mode)
        self.out = cast(BinaryIO, io.BufferedWriter(_Named(handle, path)))
        self.published = False

    def publish(self, keep: bool = False) -> None:
        """Gives the file its own name. More can be written to it afterwards.

        keep: if the name has been taken meanwhile, the file gets another one, and the error tells it
        """
        if self.published:
            return
        self.out.flush()
        with named(self.path):
            os.fsync(self.out.fileno())
            if self.mode is not None:
                with contextlib.suppress(OSError):  # a file system without modes
                    os.fchmod(self.out.fileno(), self.mode)
            if self.overwrite:
                os.replace(self.name, self.target)
            else:
                self._rename_new(keep)
        self.published = True

    def _rename_new(self, keep: bool) -> None:
        """Renames the file unless the new name has been taken meanwhile."""
        try:
            os.link(self.name, self.target)
        except FileExistsError:
            raise self._taken(keep) from None
        except OSError as error:
            if error.errno not in NO_HARD_LINKS:
                raise
            if os.path.lexists(self.target):
                raise self._taken(keep) from None
            os.replace(self.name, self.target)
        else:
            with contextlib.suppress(OSError):  # the file is complete; the next run clears its second name
                os.unlink(self.name)

    def _taken(self, keep: bool) -> DataError:
        """The error of a name that was free when the work began. What was written is kept as NAME.2, ..."""
        if not keep:
            return _exists(self.path)
        other = next(x for n in itertools.count(2) if not os.path.lexists(x := f"{self.target}.{n}"))
        os.replace(self.name, other)
        return DataError(f"the file exists by now; what was to be written is in {other}", file=self.path)

    def close(self) -> None:
        """Removes the file if it has not been published."""
        if not self.published:
            with contextlib.suppress(OSError):
                os.unlink(self.name)
        with contextlib.suppress(OSError):  # what was published is on the disk
            self.out.close()


def _create(folder: str, name: str, mode: int) -> tuple[str, int]:
    """(path, descriptor) of a new file that is locked."""
    while True:
        path = os.path.join(folder, f".{name}.{os.urandom(4).hex()}.part")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            locked = os.path.exists(path)
        except BlockingIOError:  # another program clears the file: it came before the lock
            locked = False
        except OSError:  # no locks here, and so no clearing
            locked = True
        if locked:
            return path, handle
        os.close(handle)


def sync_folder(path: str) -> None:
    """Waits until the names of a folder's files are on the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with named(path):
            os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system without such a call
            raise
    finally:
        os.close(handle)


def clear_parts(folder: str, name: str) -> None:
    """Removes the parts of an output that killed programs left. What cannot be removed stays."""
    part = re.compile(re.escape(f".{name}.") + r"[0-9a-f]{8}\.part")
    with contextlib.suppress(OSError):
        for left in filter(part.fullmatch, os.listdir(folder)):
            with contextlib.suppress(OSError):
                path = os.path.join(folder, left)
                handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(path)
                finally:
                    os.close(handle)


def _exists(path: str) -> DataError:
    hint = "choose another name, or allow it to be replaced"
    return DataError("the file exists", file=path, hint=hint, setting="overwrite")

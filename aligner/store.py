"""Arrays and JSON in one file: versioned, checked; nothing is executed when it is read.

    bytes 0-7    magic "aligner" and a version byte
    bytes 8-15   length of the header, little-endian
    bytes 16-19  CRC-32 of the header
    header       JSON: the caller's facts, the file's size and, for each array, dtype, shape, place and CRC-32
    arrays       raw, little-endian, each at a multiple of 64 bytes

Numbers are written as they are in memory: what is read again is the same to the last bit. Files of up to
MAPPED bytes are read into memory: a file that is replaced or cut while it is in use does no harm then. Larger
files are mapped.
"""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, BinaryIO, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
import numpy.typing as npt

from aligner import __version__
from aligner.errors import DataError
from aligner.files import MAGIC as COMPRESSED
from aligner.files import SUFFIX, named, open_output

MAGIC = b"aligner\x03"
ALIGNMENT = 64
HEAD = 20  # bytes before the header
MAPPED = 256 << 20  # bytes of the largest file that is read into memory
DEEPEST = 50  # lists and objects of a header inside one another
DTYPES = ("|u1", "<i4", "<i8", "<u4", "<u8", "<f4", "<f8")
MODEL = "model"  # the kind of file whose header has no fact `kind`
AGAIN = "train it again, or use the aligner that wrote it"


class Entry(TypedDict):
    """What a header says of an array; start: in bytes, from the end of the header on."""

    dtype: str
    shape: list[int]
    start: int
    crc: int


class Contents(TypedDict):
    """What a header says beside the caller's facts."""

    version: str
    arrays: dict[str, Entry]
    bytes: int


def write(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
    overwrite: bool = False,
) -> None:
    """Writes a header, of anything that JSON can say, and arrays by name."""
    with open_new(path, overwrite) as out:
        write_to(out, header, arrays)


def open_new(
    path: str | os.PathLike[str], overwrite: bool = False, kind: str = MODEL
) -> contextlib.AbstractContextManager[BinaryIO]:
    """A new file for write_to. For use before long work."""
    path = os.fspath(path)
    check_name(path, kind)
    return open_output(path, overwrite)


def write_to(out: BinaryIO, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Writes a header and arrays to an open file."""
    entries: dict[str, Any] = {}
    written: dict[str, npt.NDArray[Any]] = {}
    end = 0
    for name, array in arrays.items():
        start = -(-end // ALIGNMENT) * ALIGNMENT
        dtype = array.dtype.newbyteorder("<").str
        written[name] = array = np.ascontiguousarray(array, dtype=dtype)
        entries[name] = {"dtype": dtype, "shape": array.shape, "start": start, "crc": zlib.crc32(array.data)}
        end = start + array.nbytes
    whole = {"version": __version__, **header, "arrays": entries, "bytes": end}
    text = json.dumps(whole, allow_nan=False).encode()
    text += b" " * (-(HEAD + len(text)) % ALIGNMENT)
    out.write(MAGIC + struct.pack("<QI", len(text), zlib.crc32(text)) + text)
    end = 0
    for name, array in written.items():
        out.write(b"\0" * (entries[name]["start"] - end))
        if array.size:
            out.write(array.data.cast("B"))
        end = entries[name]["start"] + array.nbytes


def check_name(path: str, kind: str = MODEL) -> None:
    """Refuses names of files that could be written, but not read again."""
    if path == "-":
        raise DataError(f"a {kind} is a file, not stdin or stdout", hint="give a file's name")
    if os.path.splitext(path)[1].lower() in SUFFIX:
        raise DataError(f"{kind}s are not compressed", file=path, hint="choose a name without this ending")


def read(
    path: str | os.PathLike[str], checked: Callable[[str], bool], kind: str = MODEL
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """(header, arrays by name) of a file. What is not a whole file of ours is refused.

    checked  which arrays are compared with their checksums
    kind     what the file must be: what its header's fact `kind` says, MODEL if it has none
    """
    path = os.fspath(path)
    content = _content(path, kind)
    length, checksum = struct.unpack("<QI", content[8:HEAD].tobytes())
    start = HEAD + length
    text = content[HEAD : min(start, len(content))].tobytes()
    if len(text) != length or zlib.crc32(text) != checksum:
        raise DataError(f"the {kind}'s header is damaged or cut off", file=path, hint="copy it again")
    try:
        header, contents = _parsed(text)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"the {kind}'s header is not as aligner writes it: {error}", file=path, hint=again(kind)
        ) from None
    if (found := header.pop("kind", MODEL)) != kind:
        raise DataError(f"this is a {found} of aligner, not a {kind}", file=path)
    if len(content) != start + contents["bytes"]:
        raise DataError(
            f"the {kind} has {len(content)} bytes, {start + contents['bytes']} were written",
            file=path,
            hint="copy it again",
        )
    arrays = {}
    end = start
    for name, entry in contents["arrays"].items():
        begin = -(-end // ALIGNMENT) * ALIGNMENT
        end = start + entry["start"] + _n_bytes(entry, len(content))
        if begin != start + entry["start"] or end > len(content):
            raise DataError(f"the {kind}'s {name} is not where it belongs", file=path, hint=again(kind))
        if checked(name) and zlib.crc32(content[begin:end].data) != entry["crc"]:
            raise DataError(f"the {kind}'s {name} is damaged", file=path, hint="copy it again")
        arrays[name] = content[begin:end].view(entry["dtype"]).reshape(entry["shape"])
    if end != len(content):
        raise DataError(f"the {kind} has bytes after its last array", file=path, hint=again(kind))
    return header, arrays


def checksum(path: str | os.PathLike[str]) -> str:
    """The checksum of a file's header, which has those of all arrays: it tells files apart."""
    with open(path, "rb") as file, named(os.fspath(path)):
        return file.read(HEAD)[16:].hex()


def again(kind: str) -> str:
    """What to do with a file that another version, or another program, has written."""
    return AGAIN if kind == MODEL else "make it again, or use the aligner that wrote it"


def is_model(path: str) -> bool:
    """Whether a file begins as ours do, of this format or of another one."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(7) == MAGIC[:7]


def _content(path: str, kind: str) -> npt.NDArray[np.uint8]:
    """The bytes of a file that begins as ours do."""
    if path == "-" or os.path.exists(path) and not os.path.isfile(path):
        raise DataError(f"a {kind} is read from a file, not from a pipe or a folder", file=path)
    with open(path, "rb") as file, named(path):
        head = file.read(HEAD)
        if head.startswith(tuple(COMPRESSED)):
            raise DataError(f"{kind}s are not compressed", file=path, hint="decompress it first")
        if len(head) < HEAD or head[:7] != MAGIC[:7]:
            raise DataError(f"this is not a {kind} of aligner", file=path)
        if head[7] != MAGIC[7]:
            raise DataError(
                f"the {kind} has format {head[7]}, this is aligner {__version__} with format {MAGIC[7]}",
                file=path,
                hint=again(kind),
            )
        size = os.fstat(file.fileno()).st_size
        if size > MAPPED:
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        content = np.empty(size, np.uint8)
        file.seek(0)
        if file.readinto(content.data) != size:
            raise DataError(f"the {kind} became shorter while it was read", file=path, hint="copy it again")
        content.flags.writeable = False
        return content


def _parsed(text: bytes) -> tuple[dict[str, Any], Contents]:
    """(the caller's facts, the rest) of a header. A ValueError refuses what `write` cannot have made."""

    def finite(number: str) -> float:
        if not math.isfinite(x := float(number)):
            raise ValueError(f"{number} is not a number")
        return x

    header = json.loads(text, parse_float=finite, parse_constant=finite)
    if not isinstance(header, dict) or _depth(header) > DEEPEST:
        raise ValueError(f"it is not an object, or more than {DEEPEST} deep")
    contents: Any = {key: header.pop(key) for key in _fields(Contents) if key in header}
    check_form(contents, Contents, "header")
    if odd := [name for name in contents["arrays"] if not (name.isascii() and name.isprintable())]:
        raise ValueError(f"{odd[0]!a} is no name of an array")
    return header, contents


def _depth(value: Any) -> int:
    """How many lists and objects are inside one another."""
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(_depth, value.values() if isinstance(value, dict) else value), default=0)


def _n_bytes(entry: Entry, most: int) -> int:
    """The bytes of an array; more than most if the array cannot be."""
    shape = entry["shape"]
    if entry["dtype"] not in DTYPES or len(shape) > 3 or not all(0 <= n <= most for n in shape):
        return most + 1
    return math.prod(shape) * np.dtype(entry["dtype"]).itemsize


@cache
def _fields(form: Any) -> dict[str, Any]:
    return get_type_hints(form)


def check_form(value: Any, form: Any, place: str) -> None:
    """Refuses, by a ValueError, JSON that does not have a form.

    form   float, int, bool, str (of ASCII), Any, X | None, list[X], dict[str, X], tuple[X, Y], tuple[X, ...];
           a TypedDict or a dataclass is an object that has these fields and no others
    place  where the value stands, for the message
    """
    kind, parts = get_origin(form), get_args(form)
    if kind is UnionType:
        if value is not None:
            (some,) = (part for part in parts if part is not NoneType)
            check_form(value, some, place)
    elif kind in (tuple, list):
        several = kind is list or parts[-1] is ...
        if not isinstance(value, list) or not several and len(value) != len(parts):
            raise ValueError(f"{place} is not a list{'' if several else f' of {len(parts)}'}")
        for n, item in enumerate(value):
            check_form(item, parts[0] if several else parts[n], f"{place}[{n}]")
    elif kind is dict or is_typeddict(form) or is_dataclass(form):
        if not isinstance(value, dict):
            raise ValueError(f"{place} is not an object")
        forms = dict.fromkeys(value, parts[1]) if kind is dict else _fields(form)
        needed = set(() if kind is dict else getattr(form, "__required_keys__", forms))
        if odd := sorted((value.keys() - forms.keys()) | (needed - value.keys())):
            raise ValueError(
                f"{place} has no {odd[0]}" if odd[0] in forms else f"{place} has an unknown {odd[0]!a}"
            )
        for key, item in value.items():
            check_form(item, forms[key], f"{place}.{key.encode('ascii', 'backslashreplace').decode()}")
    elif form is not Any:
        fits = type(value) is form or form is float and type(value) is int
        if (
            not fits
            or type(value) is int
            and abs(value) >= 2**63
            or type(value) is str
            and not value.isascii()
        ):
            raise ValueError(f"{place} is not of type {form.__name__}")


def check_arrays(
    arrays: Mapping[str, npt.NDArray[Any]], forms: Mapping[str, tuple[type, tuple[int, ...]]]
) -> None:
    """Refuses, by a ValueError, arrays that are missing, unknown, or of other types and shapes.

    forms: name -> dtype and shape; the shape (-1,) is of one axis of any length
    """
    if odd := sorted(arrays.keys() ^ forms.keys()):
        raise ValueError(f"there is {'an unknown' if odd[0] in arrays else 'no'} array {odd[0]}")
    for name, (dtype, shape) in forms.items():
        found = arrays[name]
        wanted = found.shape if found.ndim == 1 and shape == (-1,) else shape
        if found.dtype != dtype or found.shape != wanted:
            raise ValueError(f"{name} is {found.dtype} {found.shape}, not {np.dtype(dtype)} {wanted}")


def check_bounds(arrays: Mapping[str, npt.NDArray[Any]], name: str, least: float, most: float) -> None:
    """Refuses, by a ValueError, numbers that are not between two bounds, and what is not a number."""
    x = arrays[name]
    if x.size and not (x.min() >= least and x.max() <= most):
        raise ValueError(
            f"{name} must be between {least:g} and {most:g}; there are {x.min():g} and {x.max():g}"
        )


def check_rising(name: str, x: npt.NDArray[Any], end: int, strictly: bool = False) -> None:
    """Refuses, by a ValueError, offsets that do not rise from 0 to end. strictly: nor may two be equal"""
    falls = x[1:] <= x[:-1] if strictly else x[1:] < x[:-1]
    if not len(x) or x[0] != 0 or x[-1] != end or falls.any():
        raise ValueError(f"{name} does not rise from 0 to {end}")


def size_of(arrays: Mapping[str, npt.NDArray[Any]], name: str, axis: int = 0) -> int:
    """The size of an array along an axis; 0 if there is no such array or axis."""
    return int(arrays[name].shape[axis]) if name in arrays and arrays[name].ndim > axis else 0

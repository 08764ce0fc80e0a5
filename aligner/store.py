"""Arrays and JSON in one file: versioned, memory-mapped, checked; nothing is executed when it is read.

    bytes 0-7    magic "aligner" and a version byte
    bytes 8-15   length of the header, little-endian
    bytes 16-19  CRC-32 of the header
    header       JSON: the caller's facts, the file's size and, for each array, dtype, shape, place and CRC-32
    arrays       raw, little-endian, each at a multiple of 64 bytes

Numbers are written as they are in memory: what is read again is the same to the last bit.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import __version__
from aligner.errors import DataError
from aligner.files import SUFFIX, open_output

MAGIC = b"aligner\x03"
ALIGNMENT = 64
HEAD = 20  # bytes before the header


def write(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
    overwrite: bool = False,
) -> None:
    """Writes a header, of anything that JSON can say, and arrays by name."""
    path = os.fspath(path)
    check_name(path)
    entries: dict[str, Any] = {}
    written: dict[str, npt.NDArray[Any]] = {}
    end = 0
    for name, array in arrays.items():
        start = -(-end // ALIGNMENT) * ALIGNMENT
        dtype = array.dtype.newbyteorder("<").str
        written[name] = array = np.ascontiguousarray(array, dtype=dtype)
        entries[name] = {"dtype": dtype, "shape": array.shape, "start": start, "crc": zlib.crc32(array.data)}
        end = start + array.nbytes
    text = json.dumps({"version": __version__, **header, "arrays": entries, "bytes": end}).encode()
    text += b" " * (-(HEAD + len(text)) % ALIGNMENT)
    with open_output(path, overwrite) as out:
        out.write(MAGIC + struct.pack("<QI", len(text), zlib.crc32(text)) + text)
        end = 0
        for name, array in written.items():
            out.write(b"\0" * (entries[name]["start"] - end))
            if array.size:
                out.write(array.data.cast("B"))
            end = entries[name]["start"] + array.nbytes


def check_name(path: str) -> None:
    """Refuses names of files that could be written, but not mapped again."""
    if path == "-":
        raise DataError("a model is a file, not stdin or stdout", hint="give a file's name")
    if os.path.splitext(path)[1].lower() in SUFFIX:
        raise DataError("models are not compressed", file=path, hint="choose a name without this ending")


def read(
    path: str | os.PathLike[str], checked: Callable[[str], bool]
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """(header, arrays by name) of a file; the arrays are mapped, not read.

    checked: which arrays are read at once and compared with their checksums
    """
    path = os.fspath(path)
    header, start, content = _read_header(path)
    arrays = {}
    for name, entry in header.pop("arrays").items():
        count = int(np.prod(entry["shape"]))
        begin = start + entry["start"]
        if checked(name):
            size = count * np.dtype(entry["dtype"]).itemsize
            if zlib.crc32(memoryview(content)[begin : begin + size]) != entry["crc"]:
                raise DataError(f"the model's {name} is damaged", file=path, hint="copy it again")
        arrays[name] = np.frombuffer(content, entry["dtype"], count, begin).reshape(entry["shape"])
    return header, arrays


def _read_header(path: str) -> tuple[dict[str, Any], int, mmap.mmap]:
    """(header, where the arrays start, the mapped file); refuses what is not a whole file of ours."""
    if path == "-" or os.path.exists(path) and not os.path.isfile(path):
        raise DataError("a model is mapped from a file, not read from a pipe or a folder", file=path)
    with open(path, "rb") as file:
        head = file.read(HEAD)
        if len(head) < HEAD or head[:7] != MAGIC[:7]:
            raise DataError("this is not a model of aligner", file=path)
        if head[7] != MAGIC[7]:
            raise DataError(
                f"the model has format {head[7]}, this is aligner {__version__} with format {MAGIC[7]}",
                file=path,
                hint="train it again, or use the aligner that wrote it",
            )
        length, checksum = struct.unpack("<QI", head[8:])
        text = file.read(min(length, os.fstat(file.fileno()).st_size))
        if len(text) != length or zlib.crc32(text) != checksum:
            raise DataError("the model's header is damaged or cut off", file=path, hint="copy it again")
        header = json.loads(text)
        start = HEAD + length
        size = os.fstat(file.fileno()).st_size
        if size != start + header["bytes"]:
            raise DataError(
                f"the model has {size} bytes, {start + header['bytes']} were written",
                file=path,
                hint="copy it again",
            )
        return header, start, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

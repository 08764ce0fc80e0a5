"""Models in files: one file, versioned, memory-mapped, nothing executed when it is read.

    bytes 0-7    magic "aligner" and a version byte
    bytes 8-15   length of the header, little-endian
    bytes 16-19  CRC-32 of the header
    header       JSON: recipe, facts, history, size of the file and, for each array, dtype, shape and offset
    arrays       raw, little-endian, each at a multiple of 64 bytes

Floats are written as they are in memory, so that a model read again gives the same links to the last bit.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import __version__
from aligner.errors import DataError
from aligner.files import SUFFIX, open_output
from aligner.models.model import Model, Parameters, View
from aligner.models.recipe import Recipe
from aligner.text.corpus import Vocab

MAGIC = b"aligner\x02"
ALIGNMENT = 64
ARRAYS = ("rows", "tgt", "t", "null_fwd", "null_rev", "jump", "first")


def save(model: Model, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Writes a model, its pairs in order."""
    path = os.fspath(path)
    check_name(path)
    arrays: dict[str, npt.NDArray[Any]] = {}
    views = []
    for n, view in enumerate(model.views):
        parameters = view.parameters.in_order()
        for name in ARRAYS:
            arrays[f"{n}.{name}"] = getattr(parameters, name)
        for side, vocab in (("src", view.src), ("tgt", view.tgt)):
            arrays[f"{n}.{side}.text"] = np.frombuffer(vocab.text, dtype=np.uint8)
            arrays[f"{n}.{side}.offsets"] = vocab.offsets
        views.append({"name": view.name, "p0": parameters.p0})
    entries: dict[str, Any] = {}
    end = 0
    for name, array in arrays.items():
        start = -(-end // ALIGNMENT) * ALIGNMENT
        dtype = array.dtype.newbyteorder("<").str
        arrays[name] = array = np.ascontiguousarray(array, dtype=dtype)
        entries[name] = {"dtype": dtype, "shape": array.shape, "start": start, "crc": zlib.crc32(array.data)}
        end = start + array.nbytes
    header = json.dumps(
        {
            "version": __version__,
            "recipe": asdict(model.recipe),
            "facts": model.facts,
            "history": model.history,
            "views": views,
            "arrays": entries,
            "bytes": end,
        }
    ).encode()
    header += b" " * (-(20 + len(header)) % ALIGNMENT)
    with open_output(path, overwrite) as out:
        out.write(MAGIC + struct.pack("<QI", len(header), zlib.crc32(header)) + header)
        written = 0
        for name, array in arrays.items():
            out.write(b"\0" * (entries[name]["start"] - written))
            if array.size:
                out.write(array.data.cast("B"))
            written = entries[name]["start"] + array.nbytes


def check_name(path: str) -> None:
    """Refuses names that a model could be written to, but not read from again."""
    if path == "-":
        raise DataError("a model is a file, not stdin or stdout", hint="give a file's name")
    if os.path.splitext(path)[1].lower() in SUFFIX:
        raise DataError("models are not compressed", file=path, hint="choose a name without this ending")


def load(path: str | os.PathLike[str], check: bool = False) -> Model:
    """A model from a file, its arrays mapped, not read.

    check: read them all, to see whether they are what was written; if not, this is done with the small ones,
    which the others are found by.
    """
    path = os.fspath(path)
    header, start, content = _read_header(path)
    for name, entry in header["arrays"].items():
        if check or name.split(".")[-1] in ("rows", "offsets", "jump", "first"):
            count = int(np.prod(entry["shape"])) * np.dtype(entry["dtype"]).itemsize
            begin = start + entry["start"]
            if zlib.crc32(memoryview(content)[begin : begin + count]) != entry["crc"]:
                raise DataError(f"the model's {name} is damaged", file=path, hint="copy it again")
    views = []
    for n, view in enumerate(header["views"]):
        arrays = {}
        for name, entry in header["arrays"].items():
            if name.startswith(f"{n}."):
                count = int(np.prod(entry["shape"]))
                array = np.frombuffer(content, entry["dtype"], count, start + entry["start"])
                arrays[name.removeprefix(f"{n}.")] = array.reshape(entry["shape"])
        src, tgt = (
            Vocab(arrays[f"{side}.text"].tobytes(), arrays[f"{side}.offsets"]) for side in ("src", "tgt")
        )
        parameters = Parameters(**{name: arrays[name] for name in ARRAYS}, p0=view["p0"], ordered=True)
        views.append(View(view["name"], src, tgt, parameters))
    return Model(Recipe.from_dict(header["recipe"]), views, header["facts"], header["history"])


def _read_header(path: str) -> tuple[dict[str, Any], int, mmap.mmap]:
    """(header, where the arrays start, the mapped file); refuses what is no whole model."""
    if path == "-" or os.path.exists(path) and not os.path.isfile(path):
        raise DataError("a model is mapped from a file, not read from a pipe or a folder", file=path)
    with open(path, "rb") as file:
        head = file.read(20)
        if len(head) < 20 or head[:7] != MAGIC[:7]:
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
        start = 20 + length
        size = os.fstat(file.fileno()).st_size
        if size != start + header["bytes"]:
            raise DataError(
                f"the model has {size} bytes, {start + header['bytes']} were written",
                file=path,
                hint="copy it again",
            )
        return header, start, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

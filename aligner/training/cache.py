"""Trained models kept in the user's cache folder: programs that are called again and again train once.

A model has a key, a checksum of the text, the recipe, the version and the installation. It is trained with
the sides of the text in an order of their own. So a text and the same text with its sides swapped have one
model, and each call for one direction finds the model of both.

$ALIGNER_CACHE is the folder, and by default $XDG_CACHE_HOME/aligner or ~/.cache/aligner. An empty
$ALIGNER_CACHE, or `off`, means that no model is kept. $ALIGNER_CACHE_SIZE bounds the folder, by default at
2G: the models that were not used for the longest time go first.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from aligner import __version__, arguments, store
from aligner.decoding.kept import SWAPPED, Kept
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.files import clear_parts
from aligner.models.recipe import Recipe
from aligner.text.corpus import Corpus
from aligner.text.sides import Side
from aligner.training.loop import MEMORY, learn

SIZE = "2G"
OFF = ("", "off")
MODEL, LOCK = ".model", ".lock"
CODE = (".py", ".so", ".pyd")
PART = re.compile(r"\.([0-9a-f]+\.model)\.[0-9a-f]{8}\.part")  # a model half written (files.py)

logger = logging.getLogger(__name__)


def trained(corpus: Corpus, recipe: Recipe, *, n_threads: int = 1, cached: bool = True) -> Kept:
    """The model of a text: the one that is kept, or a new one, which is kept then.

    Of two processes that want the same model at the same time, one trains, and the other waits.
    cached: False: the model is trained and not kept. It is the same to the last bit
    """
    text = corpus
    if recipe.lowercase:
        corpus = corpus.lowered()
    sides = [_checksum(side) for side in (corpus.src, corpus.tgt)]
    swapped = sides[0] > sides[1]
    if swapped:
        corpus, recipe = Corpus(corpus.tgt, corpus.src), _swapped(recipe)
        sides.reverse()

    def train() -> Kept:
        model, seen = learn(corpus, recipe, n_threads=n_threads, memory=arguments.size(MEMORY))
        return Kept(model, swapped, text, seen)

    folder = _folder() if cached else None
    if folder is None:
        return train()
    bound = _bound()
    key = json.dumps([__version__, _installed(), store.MAGIC.hex(), asdict(recipe), *sides])
    path = folder / (hashlib.blake2b(key.encode(), digest_size=16).hexdigest() + MODEL)
    if (model := _load(path)) is not None:
        return Kept(model, swapped)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(_locked(path.with_suffix(LOCK)))
        except OSError as error:
            _tell(f"{folder} cannot be used: {error.strerror}; the model is not kept for the next time")
            return train()
        if (model := _load(path, told=True)) is not None:
            return Kept(model, swapped)
        kept = train()
        _keep(kept.model, path, bound)
    return kept


def _folder() -> Path | None:
    """The folder of kept models; None: no model is kept."""
    if (named := os.environ.get("ALIGNER_CACHE")) is not None:
        return None if named in OFF else Path(named)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home, "aligner")


def _bound() -> int:
    """The most bytes that kept models may have together."""
    text = os.environ.get("ALIGNER_CACHE_SIZE") or SIZE
    try:
        return arguments.size(text)
    except ValueError as error:
        raise DataError(f"$ALIGNER_CACHE_SIZE: {error}") from None


@cache
def _tell(message: str) -> None:
    """A warning, once."""
    logger.warning(message)


@cache
def _installed() -> str:
    """What tells this installation from another one of the same version, as developers have them."""
    root = Path(__file__).parent.parent
    files = [(str(path.relative_to(root)), path.stat()) for path in root.rglob("*") if path.suffix in CODE]
    listed = [[name, found.st_size, found.st_mtime_ns] for name, found in sorted(files)]
    return hashlib.blake2b(json.dumps(listed).encode(), digest_size=16).hexdigest()


def _checksum(side: Side) -> str:
    """A checksum of the words and the sentences of a side."""
    digest = hashlib.blake2b(side.vocab.text, digest_size=16)
    for array in (side.vocab.offsets, side.ids, side.offsets):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _swapped(recipe: Recipe) -> Recipe:
    """The same recipe for the same text with its sides swapped."""
    views = tuple("/".join(reversed(view.split("/"))) for view in recipe.views)
    return replace(recipe, views=views, direction=SWAPPED[recipe.direction])


def _load(path: Path, told: bool = False) -> Model | None:
    """A model that is kept; None: there is none, or it is damaged. told: whether a warning says so"""
    try:
        model = Model.load(path)
    except FileNotFoundError:
        return None
    except (DataError, OSError) as error:
        if told:
            logger.warning("%s; the model is trained again", error)
        return None
    with contextlib.suppress(OSError):  # a folder that can only be read
        os.utime(path)
    return model


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds a lock that one process has at a time.

    The system releases the lock of a process that is killed. The lock's file is removed before the lock is
    released: who gets the lock of a file that is no longer there tries again.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _tell("another process trains the same model; waiting for it")
                fcntl.flock(handle, fcntl.LOCK_EX)
            if not _is_open(path, handle):
                continue
            try:
                yield
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(path)
            return
        finally:
            os.close(handle)


def _is_open(path: Path, handle: int) -> bool:
    """Whether an open file is the one that has a name."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


class _Bounded:
    """An open file that takes so many bytes and no more."""

    def __init__(self, out: BinaryIO, bound: int) -> None:
        self.out, self.bound, self.n_bytes = out, bound, 0

    def write(self, data: Any) -> int:
        self.n_bytes += memoryview(data).nbytes
        if self.n_bytes > self.bound:
            raise DataError(f"it has more bytes than all kept models together may have, {self.bound:,}")
        return self.out.write(data)


def _keep(model: Model, path: Path, bound: int) -> None:
    """Writes a model, and removes others if they are too large together. A warning says why it cannot."""
    try:
        with store.open_new(path, overwrite=True) as out:
            model.write(_Bounded(out, bound))  # type: ignore[arg-type]
        _make_room(path, bound)
    except DataError as error:
        _tell(f"the model is not kept for the next time: {error}")
    except OSError as error:
        _tell(f"the model is not kept for the next time: {path.parent}: {error.strerror}")


def _make_room(new: Path, bound: int) -> None:
    """Removes models, the least recently used first, until the new one and the others are within the bound.

    What killed processes left is removed, too.
    """
    models = []
    for path in new.parent.iterdir():
        with contextlib.suppress(OSError):
            if match := PART.fullmatch(path.name):
                clear_parts(str(path.parent), match[1])
            elif path.suffix == LOCK:
                _remove_unlocked(path)
            elif path.suffix == MODEL and path != new:
                found = path.stat()
                models.append((found.st_mtime_ns, found.st_size, path))
    room = bound - new.stat().st_size
    for _, size, path in sorted(models, reverse=True):
        room -= size
        if room < 0:
            with contextlib.suppress(OSError):
                path.unlink()


def _remove_unlocked(path: Path) -> None:
    """Removes the file of a lock that no process holds."""
    handle = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_open(path, handle):
            path.unlink()
    finally:
        os.close(handle)

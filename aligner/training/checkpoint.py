"""Checkpoints: a training that was killed goes on after its last iteration, to the same bits.

The folder of a training has
    iteration-NNNN.model  the model after an iteration (decoding/model.py)
    finished.model        the model when training is done
    journal.jsonl         a line a checkpoint (Entry); lines are only ever added
A file has its name when it is whole and on the disk. Then the oldest file goes, so that two are left, and the
journal gets a line. So a process can be killed at any moment, and a machine can lose its power.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import logging
import os
import re
import time
from collections.abc import Callable
from typing import Any, TypedDict

from aligner import store
from aligner.decoding.model import Model
from aligner.errors import DataError, message_of, number_of
from aligner.files import named, sync_folder
from aligner.models.recipe import Recipe
from aligner.text.cells import Seen
from aligner.text.corpus import Corpus
from aligner.training.loop import learn

JOURNAL, FINISHED = "journal.jsonl", "finished.model"
NAME = re.compile(r"iteration-([0-9]{4,18})\.model|" + re.escape(FINISHED))
KEPT = 2  # newest files

logger = logging.getLogger(__name__)


class Entry(TypedDict):
    """A line of a journal.

    iteration  how many are done, of all views
    view       the view or the views of the last iteration; None: training is done
    seconds    since the checkpoint before, with the writing of this one
    file       the name of the model's file
    checksum   of the file (store.py)
    """

    iteration: int
    view: str | None
    seconds: float
    file: str
    checksum: str


class Checkpoints:
    """The checkpoints of one training, in a folder that no other training uses until they are closed, as the
    end of a `with` does.

    failure  of the last checkpoint; None: it was written. A failure does not end the training
    """

    def __init__(self, folder: str, resume: bool = False, say: Callable[[str], None] | None = None) -> None:
        """Opens a folder, which is made if need be.

        resume  goes on with the newest checkpoint that is whole; False: refuses a folder that has one
        say     is told what training begins with
        """
        self.folder = folder
        self.failure: Exception | None = None
        self.clock = time.perf_counter()
        _make_folder(folder)
        self.journal = _opened(self._path(JOURNAL))
        try:
            entries = _read_journal(self._path(JOURNAL))
            if not resume and (entries or self._files()):
                raise DataError(
                    "the folder has checkpoints of a training",
                    file=folder,
                    hint="choose another folder, or go on with that training",
                    setting="resume",
                )
            self.newest = self._load(entries)
        except BaseException:
            os.close(self.journal)
            raise
        if resume and say is not None:
            say(self._told())

    def __enter__(self) -> Checkpoints:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self.close(error)

    def learn(self, corpus: Corpus, recipe: Recipe, **settings: Any) -> tuple[Model, list[Seen | None]]:
        """`learn` of training/loop.py, with a checkpoint after each iteration, and from the newest one on.

        A training that is finished is not repeated. Another text, recipe, version and so on is refused.
        """
        try:
            model, seen = learn(corpus, recipe, resume=self.newest, checkpoint=self.save, **settings)
        except DataError as error:
            if error.setting != "resume":
                raise
            hint = "give the same text and settings, or another folder"
            raise DataError(error.what, file=self.folder, hint=hint, setting="checkpoint") from None
        if self.newest is None or self.newest.unfinished:
            self.save(model)
        return model, seen

    def save(self, model: Model) -> None:
        """Writes a checkpoint. A failure is told and kept; the checkpoint before stays."""
        try:
            self._write(model)
        except (OSError, MemoryError, DataError) as error:
            if self.failure is None:  # the first one
                logger.warning("%s; training goes on without this checkpoint", message_of(error))
            self.failure = error
        else:
            self.failure = None

    def close(self, error: BaseException | None = None) -> None:
        """Gives the folder free. error: what ended the training; what is kept of it is told."""
        os.close(self.journal)
        if error is not None and not isinstance(error, DataError) and self._files():
            logger.warning("%s has a checkpoint: training can be resumed from it", self.folder)

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _files(self) -> list[str]:
        """The names of all models, the newest first."""
        found = filter(None, map(NAME.fullmatch, os.listdir(self.folder)))
        numbers = {match[0]: float(match[1] or "inf") for match in found}
        return sorted(numbers, key=numbers.__getitem__, reverse=True)

    def _load(self, entries: list[Entry]) -> Model | None:
        """The newest model that is whole; None: there is none yet. One that is damaged is told."""
        checksums = {entry["file"]: entry["checksum"] for entry in entries}
        first: DataError | OSError | None = None
        for name in self._files():
            path = self._path(name)
            try:
                if checksums.get(name, found := store.checksum(path)) != found:
                    raise DataError("the journal tells of another file of this name", file=path)
                return Model.load(path)
            except (DataError, OSError) as error:
                logger.warning("%s; the checkpoint before it is looked for", message_of(error))
                first = first or error
        if first is not None or entries:
            raise DataError(
                "no checkpoint is whole", file=self.folder, hint="restore one, or remove the folder"
            )
        return None

    def _told(self) -> str:
        """What training begins with."""
        if self.newest is None:
            return f"{self.folder} has no checkpoint yet: training begins anew"
        if done := self.newest.unfinished:
            return f"{self.folder} has a checkpoint: {done}"
        return f"{self.folder} has a checkpoint of a finished training"

    def _write(self, model: Model) -> None:
        finished = model.progress is None
        name = FINISHED if finished else f"iteration-{len(model.history):04d}.model"
        with store.open_new(self._path(name), overwrite=True) as out:
            model.write(out)
        sync_folder(self.folder)
        for old in self._files()[KEPT:]:
            with contextlib.suppress(OSError):  # the next checkpoint tries again
                os.unlink(self._path(old))
        now = time.perf_counter()
        entry: Entry = {
            "iteration": len(model.history),
            "view": None if finished else model.history[-1]["view"],
            "seconds": round(now - self.clock, 3),
            "file": name,
            "checksum": store.checksum(self._path(name)),
        }
        self.clock = now
        self._add(json.dumps(entry).encode())

    def _add(self, line: bytes) -> None:
        """Adds a line to the journal, on the disk. Half a line that a crash left is ended."""
        size = os.fstat(self.journal).st_size
        torn = size > 0 and os.pread(self.journal, 1, size - 1) != b"\n"
        data = b"\n" * torn + line + b"\n"
        with named(self._path(JOURNAL)):
            while data:
                data = data[os.write(self.journal, data) :]
            os.fsync(self.journal)


def _make_folder(folder: str) -> None:
    if os.path.isdir(folder):
        return
    if os.path.exists(folder):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder)
    above = os.path.dirname(os.path.realpath(folder))
    if not os.path.isdir(above):
        raise DataError("no such folder", file=above, hint="create it first")
    os.mkdir(folder)
    with contextlib.suppress(PermissionError):  # a folder that can be written, but not read
        sync_folder(above)


def _opened(path: str) -> int:
    """A journal to add lines to, which no other training has open."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise DataError(
            "another training writes checkpoints here",
            file=os.path.dirname(path),
            hint="wait for it, or choose another folder",
            setting="checkpoint",
        ) from None
    except OSError:  # no locks here
        pass
    return handle


def _read_journal(path: str) -> list[Entry]:
    """The lines of a journal. Those that are damaged are told and left out: the models are what counts."""
    entries, odd = [], []
    with open(path, "rb") as file, named(path):
        for n, line in enumerate(file, 1):
            try:
                entry = json.loads(line)
                store.check_form(entry, Entry, "the line")
                entries.append(entry)
            except (ValueError, RecursionError):
                odd += [n] if line.strip() else []
    if odd:
        what = f"the journal is damaged: {number_of(len(odd), 'line')} cannot be read"
        logger.warning("%s", DataError(what, file=path, line=odd[0]))
    return entries

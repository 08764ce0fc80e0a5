"""Which build of a kernel runs here: the widest that the machine has, or the one named in ALIGNER_SIMD."""

from __future__ import annotations

import importlib
import logging
import os
from functools import cache
from types import ModuleType

from aligner import _build

LEVELS = ("avx512", "avx2")  # beside the baseline, widest first
logger = logging.getLogger(__name__)


def level(name: str) -> str:
    """The instruction set that the kernel of this name uses here."""
    suffix = load(name).__name__.removeprefix(f"aligner.{name}").removeprefix("_")
    return suffix or _build.simd_in_use()


@cache
def _levels(wanted: str | None) -> tuple[str, ...]:
    """The builds to try before the baseline. Says so if the machine cannot run the one that is wanted."""
    offered = _build.simd_available()
    usable = LEVELS[LEVELS.index(offered) :] if offered in LEVELS else ()
    if not wanted or wanted == offered:
        return usable
    if wanted in usable:
        return usable[usable.index(wanted) :]
    if wanted not in LEVELS and wanted == _build.simd_in_use():
        return ()
    names = ", ".join((*usable, _build.simd_in_use()))
    logger.warning("ALIGNER_SIMD=%s cannot run here; %s is used of %s", wanted, offered, names)
    return usable


def load(name: str) -> ModuleType:
    """The kernel module of this name: aligner.NAME_LEVEL or, where there is none, aligner.NAME.

    A build that is there and cannot be loaded is said: the next one is slower.
    """
    for level in _levels(os.environ.get("ALIGNER_SIMD")):
        module = f"aligner.{name}_{level}"
        try:
            return importlib.import_module(module)
        except ImportError as error:
            if not (isinstance(error, ModuleNotFoundError) and error.name == module):
                logger.warning("%s cannot be loaded (%s); a slower build is used", module, error)
    return importlib.import_module(f"aligner.{name}")

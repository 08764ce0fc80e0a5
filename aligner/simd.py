"""Which build of a kernel runs here: the widest that the machine has, or the one named in ALIGNER_SIMD."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

from aligner import _build

LEVELS = ("avx512", "avx2")  # beside the baseline, widest first


def level(name: str) -> str:
    """The instruction set that the kernel of this name uses here."""
    suffix = load(name).__name__.removeprefix(f"aligner.{name}").removeprefix("_")
    return suffix or _build.simd_in_use()


def load(name: str) -> ModuleType:
    """The kernel module of this name: aligner.NAME_LEVEL or, where there is none, aligner.NAME."""
    wanted = os.environ.get("ALIGNER_SIMD", _build.simd_available())
    for level in LEVELS[LEVELS.index(wanted) :] if wanted in LEVELS else ():
        try:
            return importlib.import_module(f"aligner.{name}_{level}")
        except ImportError:
            continue
    return importlib.import_module(f"aligner.{name}")

"""Checks of what callers give to the library. A message names the argument, and says what it may be."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

MOST_THREADS = 1024  # as in ext/checks.pxd


def number(name: str, value: Any, least: float, most: float, whole: bool = False) -> float:
    """A number within its bounds, as an int or a float of Python."""
    wanted = f"{name} must be a {'whole ' if whole else ''}number between {least:g} and {most:g}"
    if not isinstance(value, Real):
        raise TypeError(f"{wanted}, not {reprlib.repr(value)}")
    try:
        found = float(value)
    except OverflowError:  # of a large int
        found = math.inf
    if not least <= found <= most or whole and not found.is_integer():
        raise ValueError(f"{wanted}, not {value}")
    return int(found) if whole else found


def choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """One of some strings."""
    known = list(choices)
    if value not in known:
        raise ValueError(f"unknown {name} {reprlib.repr(value)}; there are {', '.join(known)}")
    return str(value)


def instance(name: str, value: Any, kind: type | tuple[type, ...], what: str) -> None:
    """Refuses a value that is not of a kind. what: the kind in words, for example "a Recipe"."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {what}, not {reprlib.repr(value)}")


def threads(n_threads: Any) -> None:
    """Refuses numbers of threads that cannot be started."""
    number("n_threads", n_threads, 1, MOST_THREADS, whole=True)
    instance("n_threads", n_threads, Integral, "a whole number")


def size(text: str) -> int:
    """Bytes: a number of at most 15 digits with K, M, G or T after it, or nothing."""
    if not (match := re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)([KMGT]?)B?", text.upper())):
        raise ValueError(f"{reprlib.repr(text)} is no size, as 500M or 4G are")
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2] or " "))

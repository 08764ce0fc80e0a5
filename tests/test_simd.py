"""Which build of a kernel is loaded, and what is said if it is not the wanted one."""

from __future__ import annotations

import importlib
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from aligner import _build, simd

WIDEST = _build.simd_available()
NAME = "models._hmm"


@pytest.fixture(autouse=True)
def anew(monkeypatch):
    monkeypatch.delenv("ALIGNER_SIMD", raising=False)
    simd._levels.cache_clear()
    yield
    simd._levels.cache_clear()


def test_the_widest_build_is_loaded_in_silence(caplog):
    assert simd.level(NAME) == WIDEST and not caplog.records


@pytest.mark.parametrize("level", ["avx2", _build.simd_in_use()])
def test_a_narrower_build_may_be_asked_for(monkeypatch, caplog, level):
    if level not in simd._levels(None) and level != _build.simd_in_use():
        pytest.skip(f"this machine has {WIDEST}")
    monkeypatch.setenv("ALIGNER_SIMD", level)
    assert simd.level(NAME) == level and not caplog.records


@pytest.mark.parametrize("offered", ["avx2", "sse2"])
def test_what_the_machine_lacks_is_not_loaded(monkeypatch, caplog, offered):
    """It would end with an illegal instruction."""
    monkeypatch.setattr(_build, "simd_available", lambda: offered)
    monkeypatch.setenv("ALIGNER_SIMD", "avx512")
    with caplog.at_level(logging.WARNING):
        assert "avx512" not in simd.load(NAME).__name__
    assert f"ALIGNER_SIMD=avx512 cannot run here; {offered} is used" in caplog.text


def test_unknown_names_are_said(monkeypatch, caplog):
    monkeypatch.setenv("ALIGNER_SIMD", "mmx")
    with caplog.at_level(logging.WARNING):
        assert simd.level(NAME) == WIDEST
    assert "ALIGNER_SIMD=mmx cannot run here" in caplog.text


def test_a_broken_build_is_said_and_the_next_one_is_used(monkeypatch, caplog):
    if WIDEST not in simd.LEVELS:
        pytest.skip("there is one build alone")
    load = importlib.import_module

    def broken(name: str):
        if name.endswith(WIDEST):
            raise ImportError("undefined symbol: x")
        return load(name)

    monkeypatch.setattr(importlib, "import_module", broken)
    with caplog.at_level(logging.WARNING):
        assert not simd.load(NAME).__name__.endswith(WIDEST)
    assert f"aligner.{NAME}_{WIDEST} cannot be loaded (undefined symbol: x)" in caplog.text


def test_a_build_that_is_not_there_is_passed_over_in_silence(caplog):
    assert simd.load("models._shares").__name__ == "aligner.models._shares" and not caplog.records


def test_the_machine_has_all_that_the_widest_build_uses():
    info = Path("/proc/cpuinfo")
    if WIDEST not in simd.LEVELS or not info.exists():
        pytest.skip("no flags to compare with")
    flags = set(next(line for line in info.read_text().splitlines() if line.startswith("flags")).split())
    assert {"avx2", "fma"} <= flags
    assert WIDEST != "avx512" or {"avx512f", "avx512vl", "avx512dq", "avx512bw"} <= flags


def test_the_command_line_says_it_too():
    command = [sys.executable, "-m", "aligner", "--version"]
    done = subprocess.run(command, env={"ALIGNER_SIMD": "mmx"}, capture_output=True, text=True)
    assert done.returncode == 0 and "ALIGNER_SIMD=mmx cannot run here" in done.stderr

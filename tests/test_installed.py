"""What every installation does: all modules load, and all builds of the kernels make the same links.

`scripts/wheel` and cibuildwheel run these tests, and no others, on a wheel, far from the sources.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import aligner
from aligner import _build, simd

ALIGNER = str(Path(sys.executable).with_name("aligner"))
NAMES = [one.name for one in pkgutil.walk_packages(aligner.__path__, "aligner.")]
# module -> what it imports that an extra brings
EXTRAS = {f"aligner.cluster.{x}": "distributed" for x in ("connection", "workers")}
USABLE = (*simd._levels(None), _build.simd_in_use())


def run(*words: object, **environment: str) -> str:
    """What `aligner` prints."""
    command = [ALIGNER, *map(str, words)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def links() -> str:
    """Links of the shipped text, by one thread and the widest kernels."""
    return align(threads=1)


def align(threads: int, **environment: str) -> str:
    text = ROOT / "data/generated.src", ROOT / "data/generated.tgt"
    return run("align", *text, "--quiet", "--threads", threads, **environment)


@pytest.mark.parametrize("name", NAMES)
def test_every_module_can_be_imported(name):
    level = name.rpartition("_")[2]
    if name.endswith("__main__") or level in simd.LEVELS and level not in USABLE:
        pytest.skip("it would run")
    if name in EXTRAS:
        pytest.importorskip(EXTRAS[name], reason="it needs an extra")
    importlib.import_module(name)


def test_there_are_kernels_of_every_level():
    wide = {name.rpartition("_")[2] for name in NAMES if name.startswith("aligner.models._hmm_")}
    assert set(USABLE[:-1]) <= wide


def test_the_distribution_has_its_version_and_its_licence():
    found = importlib.metadata.distribution("word-aligner")
    assert found.version == aligner.__version__ and found.metadata["License-Expression"] == "MIT"
    assert run("--version").startswith(f"aligner {found.version}\n")


def test_threads_are_there(links):
    assert "OpenMP on" in run("--version")
    assert align(threads=2) == links


@pytest.mark.parametrize("level", USABLE[1:])
def test_every_build_of_the_kernels_gives_the_same_links(level, links):
    assert align(threads=2, ALIGNER_SIMD=level) == links


def test_links_are_good(links, tmp_path):
    (tmp_path / "links").write_text(links)
    score = run("evaluate", tmp_path / "links", ROOT / "data/generated.gold", "--score-only")
    assert 0 < float(score) < 4


def test_pages_and_types_are_there(tmp_path):
    text = (ROOT / f"data/sample.{x}" for x in ("en", "fr"))
    run("view", *text, "--links", ROOT / "data/sample.gold", "-o", tmp_path / "page.html")
    assert "<script" in (tmp_path / "page.html").read_text()
    assert Path(aligner.__path__[0], "py.typed").exists()

"""What is shipped: the source distribution has every file, wheels have no kernels that only tests use."""

from __future__ import annotations

import re
import runpy
import subprocess

import pytest
import setuptools
from conftest import ROOT
from setuptools._distutils.filelist import FileList

Build = pytest.importorskip("Cython.Build")


def extensions(monkeypatch, **environment: str) -> dict[str, setuptools.Extension]:
    """The extensions that setup.py builds, by name."""
    found = []
    monkeypatch.chdir(ROOT)
    for name in ("ALIGNER_DEBUG", "ALIGNER_TESTS", "ALIGNER_SANITIZE"):
        monkeypatch.setenv(name, environment.get(name, "0"))
    monkeypatch.setattr(Build, "cythonize", lambda modules, **_: found.extend(modules))
    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    runpy.run_path("setup.py")
    return {one.name: one for one in found}


def test_wheels_have_no_kernels_of_tests(monkeypatch):
    shipped, tested = extensions(monkeypatch), extensions(monkeypatch, ALIGNER_TESTS="1")
    only = tested.keys() - shipped.keys()
    assert {name for name in tested if name.endswith("_double")} < only
    assert only - {"aligner.models._lbfgs"} == {name for name in only if name.endswith("_double")}
    assert "aligner.models._hmm" in shipped and shipped.keys() < tested.keys()
    for path in (ROOT / "aligner").rglob("*.py"):
        for name in only:
            assert name.rpartition(".")[2] not in path.read_text(), f"{path} uses {name}"


def test_the_source_distribution_has_every_file(monkeypatch):
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a checkout")
    monkeypatch.chdir(ROOT)
    files = FileList()
    for line in (ROOT / "MANIFEST.in").read_text().splitlines():
        files.process_template_line(line)
    always = {"setup.py", "pyproject.toml", "MANIFEST.in", ".gitignore"}
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "aligner").rglob("*.py")}
    missing = set(listed.stdout.split()) - set(files.files) - always - modules
    assert missing == set()
    assert not [name for name in files.files if name.endswith((".so", ".pyc"))]


def test_dispatch_asks_for_every_feature_that_a_build_uses(monkeypatch):
    """A machine that lacks one of them would end with an illegal instruction."""
    asked = set(re.findall(r'cpu_supports\("(\w+)"\)', (ROOT / "ext" / "_build.pyx").read_text()))
    for name, one in extensions(monkeypatch).items():
        used = {flag[2:] for flag in one.extra_compile_args if re.match(r"-m(avx|fma|sse|bmi)", flag)}
        assert used <= asked and (used or not name.endswith(("_avx2", "_avx512")))

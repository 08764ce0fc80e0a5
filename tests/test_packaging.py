"""What is shipped: the source distribution has every file, wheels have no kernels that only tests use."""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest
import setuptools
from conftest import ROOT
from setuptools._distutils.filelist import FileList

import aligner

Build = pytest.importorskip("Cython.Build")
Dependencies = pytest.importorskip("Cython.Build.Dependencies")
Main = pytest.importorskip("Cython.Compiler.Main")


def made(monkeypatch, **environment: str) -> dict[str, Any]:
    """The names of setup.py, after it has run; nothing is built."""
    monkeypatch.chdir(ROOT)
    for name in ("ALIGNER_TESTS", "ALIGNER_SANITIZE"):
        monkeypatch.setenv(name, environment.get(name, "0"))
    monkeypatch.setattr(Build, "cythonize", lambda modules, **_: modules)
    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    return runpy.run_path("setup.py")


def extensions(monkeypatch, **environment: str) -> dict[str, setuptools.Extension]:
    """The extensions that setup.py builds, by name."""
    return {one.name: one for one in made(monkeypatch, **environment)["EXTENSIONS"]}


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


def test_versions_and_requirements_are_the_same_everywhere():
    yaml, tomllib = pytest.importorskip("yaml"), pytest.importorskip("tomllib")
    recipe = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert recipe["context"]["version"] == citation["version"] == aligner.__version__
    assert recipe["package"]["name"] == project["project"]["name"]
    assert recipe["about"]["license"] == citation["license"] == project["project"]["license"]
    needed = {spaced(one) for one in project["project"]["dependencies"]}
    needed.add(f"python {project['project']['requires-python']}")
    assert set(recipe["requirements"]["run"]) == needed
    building = set(map(spaced, project["build-system"]["requires"]))
    assert building <= {x for x in recipe["requirements"]["host"] if isinstance(x, str)}


def spaced(requirement: str) -> str:
    """numpy>=1.24 as conda writes it"""
    return re.sub(r"(?=[<>=])", " ", requirement.lower(), count=1)


def test_wheels_are_tested_by_what_they_are_tested_with():
    """cibuildwheel copies what tests/test_installed.py needs, as scripts/wheel does."""
    tomllib = pytest.importorskip("tomllib")
    wheels = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
    script = (ROOT / "scripts/wheel").read_text()
    assert f"cp -r {' '.join(wheels['test-sources'])} " in script
    assert wheels["test-command"].replace("pytest", "pytest --quiet") in script
    assert all(name in script for name in wheels["test-requires"])


def test_a_kernel_depends_on_all_that_cython_reads_for_it(monkeypatch):
    setup = made(monkeypatch)
    options = Main.CompilationOptions(include_path=setup["FOLDERS"], language_level=3)
    tree = Dependencies.create_dependency_tree(Main.Context.from_options(options), quiet=True)
    for kernel in setup["EXTENSIONS"]:
        needed = {Path(path).resolve() for path in tree.all_dependencies(kernel.sources[0])}
        ours = {path for path in needed if "site-packages" not in path.parts}
        assert ours <= {Path(path).resolve() for path in kernel.depends}
    by_name = {kernel.name: kernel for kernel in setup["EXTENSIONS"]}
    assert {"ext/models/lattice.pxd", "ext/vector/prefetch.h"} < set(by_name["aligner.models._hmm"].depends)
    assert "ext/models/lattice.pxd" not in by_name["aligner.text._corpus"].depends


def test_a_kernel_is_kept_by_what_it_is_made_of(monkeypatch):
    """Other sources, flags or compilers have other names; the rest has the same."""
    names = {}
    for change in ("", "flags", "compiler"):
        monkeypatch.setenv("CXXFLAGS", "-g" if change == "compiler" else "")
        monkeypatch.setenv("ALIGNER_KERNELS", "kept")
        setup = made(monkeypatch, ALIGNER_SANITIZE="1" if change == "flags" else "0")
        names[change] = set(setup["KEPT"].values())
        again = made(monkeypatch, ALIGNER_SANITIZE="1" if change == "flags" else "0")
        assert set(again["KEPT"].values()) == names[change]
        one = next(kernel for kernel in setup["EXTENSIONS"] if kernel.name == "aligner.models._hmm")
        before = setup["kept"](one)
        one.depends.append(str(ROOT / "README.md"))
        assert before in names[change] and setup["kept"](one) != before
    assert not names[""] & names["flags"] and not names[""] & names["compiler"]

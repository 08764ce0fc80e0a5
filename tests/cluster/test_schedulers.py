"""The scripts of docs/cluster.md: each trains a small text, and its links are those of one process."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from test_docs import blocks
from trained import run

PAGE = ROOT / "docs" / "cluster.md"
# A scheduler that does each job when it is submitted, and prints the number of the job
SBATCH = """#!/usr/bin/env bash
set -euo pipefail
tasks=0
while [ $# -gt 1 ]; do
    case $1 in --array=*) tasks=$(seq ${1#--array=1-});; --wrap) work=$2;; esac
    shift
done
for k in $tasks; do SLURM_ARRAY_TASK_ID=$k bash -c "$work" >&2; done
echo 7
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with a training that has begun, and `expected`: the links that its model gives."""
    for side in ("src", "tgt"):
        lines = (ROOT / "data" / f"generated.{side}").read_text().splitlines(keepends=True)
        (tmp_path / side).write_text("".join(lines[:60]))
    given = ["--model", "ibm1", "--fast", "--iterations", 1]
    texts = tmp_path / "src", tmp_path / "tgt"
    run("shard", *texts, "-q", "-o", tmp_path / "work", "--shards", 4, *given)
    run("align", *texts, "-q", "-o", tmp_path / "expected", *given)
    return tmp_path


def script(language: str) -> str:
    (found,) = blocks(PAGE, language)
    return found


def do(folder: Path, *command: str) -> None:
    path = f"{folder}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def links(folder: Path) -> str:
    return "".join((folder / "work" / f"links-{k}").read_text() for k in range(1, 5))


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make(folder):
    (folder / "Makefile").write_text(script("makefile"))
    do(folder, "make", "-j", "2", "links")
    assert (folder / "links").read_text() == (folder / "expected").read_text()
    for lost in ("work/counts-2-3", "work/step-2.model", "work/step-3.model", "work/links-4", "links"):
        (folder / lost).unlink()
    do(folder, "make", "links")
    assert (folder / "links").read_text() == (folder / "expected").read_text()


def test_slurm(folder):
    (folder / "sbatch").write_text(SBATCH)
    (folder / "sbatch").chmod(0o755)
    (folder / "train.sh").write_text(script("bash"))
    do(folder, "bash", "train.sh")
    assert links(folder) == (folder / "expected").read_text()
    assert not list((folder / "work").glob("counts-*"))


def test_snakemake(folder):
    text = script("snakemake")
    (folder / "Snakefile").write_text(text)
    if shutil.which("snakemake"):
        do(folder, "snakemake", "--cores", "2", "links")
        assert (folder / "links").read_text() == (folder / "expected").read_text()
    plain = re.sub(r"^rule (\w+):$", r"class \1:", text, flags=re.MULTILINE)  # rules as Python reads them
    plain = plain.replace("wildcard_constraints:", "class wildcards:")
    plain = re.sub(r"^    (input|output|shell): (.*)$", r"    \1 = (\2)", plain, flags=re.MULTILINE)
    rules = {x.name: x for x in ast.parse(plain).body if isinstance(x, ast.ClassDef)}
    assert rules.keys() == {"wildcards", "links", "decode", "expect", "update"}
    for name in ("decode", "expect", "update"):
        (command,) = [x.value for x in rules[name].body if x.targets[0].id == "shell"]
        words = command.value.split()
        assert words[:2] == ["aligner", name]
        help_text = run(name, "--help")
        assert all(word in help_text for word in words if word.startswith("-"))

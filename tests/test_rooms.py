"""The rooms of aligner/: imports go one way and stand at the top; the library knows no command line."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "aligner"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in sorted(ROOT.rglob("*.py"))
}
# A room imports from itself and from the rooms before it.
ROOMS = [
    "arguments",
    "errors",
    "files",
    "store",
    "simd",
    "threads",
    "text",
    "links",
    "lexicons",
    "models",
    "decoding",
    "scoring",
    "learning",
    "training",
    "cluster",
    "compat",
    "uses",
    "cli",
]
OUTSIDE = {"__init__", "__main__", "cli"}  # lazy public names; the commands
DONE = [name for name in MODULES if name.split(".")[0] not in OUTSIDE]


def imported(tree: ast.AST) -> set[str]:
    """The modules of aligner that are imported anywhere in a tree, without the leading `aligner.`."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "no relative imports"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("aligner.") for name in names if name.startswith("aligner.")}


def functions(tree: ast.AST) -> list[ast.AST]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_every_module_is_in_a_room():
    assert {name.split(".")[0] for name in MODULES} == {*ROOMS, "__init__", "__main__"}


@pytest.mark.parametrize("name", [name for name in MODULES if name not in ("__init__", "__main__")])
def test_imports_go_one_way(name):
    tree = ast.parse(MODULES[name].read_text())
    later = ROOMS[ROOMS.index(name.split(".")[0]) + 1 :]
    assert {other for other in imported(tree) if other.split(".")[0] in later} == set()


@pytest.mark.parametrize("name", DONE)
def test_imports_stand_at_the_top(name):
    text = MODULES[name].read_text()
    assert set().union(*map(imported, functions(ast.parse(text)))) == set()
    assert "TYPE_CHECKING" not in text


@pytest.mark.parametrize("name", DONE)
def test_messages_name_no_options(name):
    """No string but a docstring has an option or a command of the command line in it."""
    tree = ast.parse(MODULES[name].read_text())
    documented = [tree, *functions(tree), *(x for x in ast.walk(tree) if isinstance(x, ast.ClassDef))]
    docstrings = [node.body[0].value for node in documented if ast.get_docstring(node) is not None]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            assert not re.search(r"--[a-z]|`aligner ", node.value), f"line {node.lineno}"


@pytest.mark.parametrize("name", DONE)
def test_no_function_hides_a_builtin(name):
    """As a function called `slice` would, in all of its module."""
    made = [node for node in ast.parse(MODULES[name].read_text()).body if hasattr(node, "name")]
    assert {node.name for node in made} & {*dir(builtins)} == set()

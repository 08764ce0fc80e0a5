"""The reference, written from the program itself: commands, the Python interface, and the modules.

scripts/hooks.py puts the pages into the site. Nothing of them is kept, so that they cannot be stale.
"""

from __future__ import annotations

import html
import inspect
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import aligner
from aligner.cli import COMMANDS, cli
from aligner.cli.compat import PROGRAMS

ROOT = Path(__file__).resolve().parent.parent


def pages() -> dict[str, str]:
    """File in docs/ -> Markdown, in the order of the navigation."""
    return {
        "reference/commands/index.md": list_of_commands(),
        **{f"reference/commands/{name}.md": command_page(name) for name in COMMANDS},
        **{f"reference/programs/{name}.md": command_page(name) for name in PROGRAMS},
        "reference/python.md": python_page(),
        "reference/modules.md": list_of_modules(),
    }


def list_of_modules() -> str:
    """Every source file of aligner/ and ext/, room by room, with the first line of its docstring."""
    lines = ["# Modules", ""]
    lines += [
        "Each file with its first line. [How the code is laid out](../code.md) says what the rooms are for."
    ]
    rooms: dict[str, list[str]] = {}
    for path in sorted(x for folder in ("aligner", "ext") for x in (ROOT / folder).rglob("*.p*")):
        if path.suffix in (".py", ".pyx", ".pxd") and path.name != "__main__.py":
            parts = path.relative_to(ROOT).parts
            room = parts[1] if len(parts) > 2 else ""
            name = "/".join(parts).removesuffix("/__init__.py")
            line = path.read_text(encoding="utf-8").split('"""')[1].splitlines()[0]
            rooms.setdefault(room, []).append(f"- `{name}`: {prose(line)}")
    for room, files in rooms.items():
        lines += ["", f"## {room or 'Beside the rooms'}", "", *files]
    return "\n".join(lines) + "\n"


def list_of_commands() -> str:
    """Every command with its first sentence, and a link to its page."""
    lines = ["# Commands", ""]
    lines += [f"- [`aligner {name}`]({name}.md): {prose(help)}" for name, help in COMMANDS.items()]
    lines += ["", "Programs of others take the command lines of their originals:", ""]
    lines += [
        f"- [`aligner {name}`](../programs/{name}.md): {prose(program.help)}"
        for name, program in PROGRAMS.items()
    ]
    return "\n".join(lines) + "\n"


def command_of(name: str) -> tuple[click.Command, click.Context]:
    """A command, and the context in which it tells its usage and its options."""
    group = click.Context(cli, info_name="aligner", **cli.context_settings)
    command = cli.get_command(group, name)
    assert command is not None and command.help is not None
    return command, click.Context(command, info_name=name, parent=group)


def paragraphs(help: str) -> list[str]:
    """The paragraphs of a help. The mark \\b begins those whose lines stay as they are."""
    return inspect.cleandoc(help).replace("\f", "").split("\n\n")


def block_of(paragraph: str) -> tuple[str, str]:
    """(title, lines) of a paragraph whose lines stay as they are."""
    title, _, block = paragraph.removeprefix("\b\n").partition("\n")
    return title, inspect.cleandoc("\n" + block)


def command_page(name: str) -> str:
    """What `aligner NAME --help` says. Each option is a link to itself: `--threshold` is #threshold."""
    command, context = command_of(name)
    options = [option for option in command.get_params(context) if isinstance(option, click.Option)]
    anchors = {flag: anchor(option) for option in options for flag in (*option.opts, *option.secondary_opts)}
    usage = " ".join(["aligner", name, *command.collect_usage_pieces(context)])
    lines = [f"# aligner {name}", "", "```text", usage, "```", ""]
    for paragraph in paragraphs(command.help or ""):
        lines += [*help_paragraph(paragraph, anchors), ""]
    lines += ["## Options", ""]
    for option in options:
        record = option.get_help_record(context)
        assert record is not None
        link = f"[`{record[0]}`](#{anchor(option)}){{ #{anchor(option)} }}"
        lines += [link, f":   {prose(record[1], anchors)}", ""]
    return "\n".join(lines)


def anchor(option: click.Parameter) -> str:
    """The longest name of an option, without its dashes."""
    return max(option.opts, key=len).lstrip("-")


def help_paragraph(paragraph: str, anchors: dict[str, str]) -> Iterator[str]:
    """A paragraph of help in Markdown."""
    if not paragraph.startswith("\b\n"):
        yield prose(" ".join(paragraph.split()), anchors)
        return
    title, block = block_of(paragraph)
    yield from (f"**{title}**", "", "```text", block, "```")


def prose(text: str, anchors: dict[str, str] | None = None) -> str:
    """Help text in Markdown: code stays code, options of the command are links, other marks are escaped."""
    parts = re.split(r"(`[^`]+`)", text)
    for n in range(0, len(parts), 2):
        escaped = re.sub(r"([\\*_\[\]])", r"\\\1", html.escape(parts[n], quote=False))
        parts[n] = re.sub(
            r"(?<![\w-])--?[A-Za-z][\w-]*", lambda flag: _linked(flag[0], anchors or {}), escaped
        )
    return "".join(parts)


def _linked(flag: str, anchors: dict[str, str]) -> str:
    name = flag.replace("\\", "")
    return f"[`{name}`](#{anchors[name]})" if name in anchors else flag


def python_page() -> str:
    """Signatures and docstrings of the public names, with the public methods of classes."""
    lines = ["# The Python interface", ""]
    lines += [
        "`from aligner import ...` has these names. [Use from Python](../how-to/python.md) has examples.",
        "",
    ]
    for name in aligner.__all__:
        thing = getattr(aligner, name)
        lines += [f"## {name} {{ #{name} }}", "", *documented(name, thing)]
        if isinstance(thing, type):
            for method, function in public_methods(thing):
                lines += [
                    f"### {name}.{method} {{ #{name}.{method} }}",
                    "",
                    *documented(f"{name}.{method}", function),
                ]
    return "\n".join(lines)


def public_methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Methods that a class defines itself, in their order."""
    for name, found in vars(kind).items():
        function = found.__func__ if isinstance(found, (classmethod, staticmethod)) else found
        if not name.startswith("_") and isinstance(function, types.FunctionType):
            yield name, getattr(kind, name)


def documented(name: str, thing: Any) -> list[str]:
    """The signature, a parameter a line where it is long, and the docstring, its first paragraph as prose."""
    signature = inspect.signature(thing)
    shown = f"{name}{signature}"
    if len(shown) > 90:
        result = str(signature.replace(parameters=[])).removeprefix("()")
        shown = "\n".join([f"{name}(", *(f"    {x}," for x in signature.parameters.values()), f"){result}"])
    shown = re.sub(r"(: |-> )'([^']*)'", r"\1\2", re.sub(r"\baligner\.[\w.]+\.", "", shown))
    first, _, rest = (inspect.getdoc(thing) or "").partition("\n\n")
    lines = ["```python", shown, "```", "", prose(" ".join(first.split())), ""]
    return [*lines, "```text", rest, "```", ""] if rest else lines

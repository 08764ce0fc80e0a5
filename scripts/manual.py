"""Manual pages, written from the program itself: one a command, and `aligner(1)`, which lists them.

    scripts/manual.py FOLDER

FOLDER is one that `man` searches, as ~/.local/share/man/man1. The pages say what `--help` says.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import click
from reference import block_of, command_of, paragraphs

from aligner import __version__
from aligner.cli import COMMANDS, cli
from aligner.cli.compat import PROGRAMS


def pages() -> dict[str, str]:
    """Name of a file -> manual page."""
    summaries = {**COMMANDS, **{name: program.help for name, program in PROGRAMS.items()}}
    found = {"aligner.1": overview(summaries)}
    return found | {f"aligner-{name}.1": command_page(name, text) for name, text in summaries.items()}


def overview(summaries: dict[str, str]) -> str:
    """The page of `aligner` itself."""
    context = click.Context(cli, info_name="aligner", **cli.context_settings)
    lines = [*head("aligner", "word alignment from the command line"), r"\fBaligner\fR COMMAND [ARGUMENTS]"]
    lines += [".SH DESCRIPTION", *described(cli.help or ""), *options_of(cli, context), ".SH COMMANDS"]
    for name, text in summaries.items():
        lines += [".TP", rf"\fBaligner\-{escaped(name)}\fR(1)", escaped(text)]
    return "\n".join(lines) + "\n"


def command_page(name: str, summary: str) -> str:
    """The page of a command."""
    command, context = command_of(name)
    usage = escaped(" ".join(command.collect_usage_pieces(context)))
    lines = [*head(f"aligner-{name}", summary.rstrip(".")), rf"\fBaligner {escaped(name)}\fR {usage}"]
    lines += [".SH DESCRIPTION", *described(command.help or ""), *options_of(command, context)]
    lines += [".SH SEE ALSO", r"\fBaligner\fR(1)"]
    return "\n".join(lines) + "\n"


def head(name: str, summary: str) -> list[str]:
    """Title, name and the head of the synopsis."""
    title = f'.TH "{escaped(name.upper())}" 1 "" "aligner {__version__}"'
    return [title, ".SH NAME", rf"{escaped(name)} \- {escaped(summary)}", ".SH SYNOPSIS"]


def described(help: str) -> Iterator[str]:
    """The paragraphs of a help; one whose lines stay as they are has a section of its own."""
    for paragraph in paragraphs(help):
        if paragraph.startswith("\b\n"):
            title, block = block_of(paragraph)
            yield from (f'.SH "{escaped(title.rstrip(":").upper())}"', ".nf", escaped(block), ".fi")
        else:
            yield from (".PP", marked(" ".join(paragraph.split())))


def options_of(command: click.Command, context: click.Context) -> Iterator[str]:
    yield ".SH OPTIONS"
    for option in command.get_params(context):
        if (record := option.get_help_record(context)) is not None:
            yield from (".TP", rf"\fB{escaped(record[0])}\fR", marked(record[1]))


def marked(text: str) -> str:
    """Prose: code and options are bold."""
    bold = re.sub(r"`([^`]+)`|(?<![\w-])(--?[A-Za-z][\w-]*)", "\0\\1\\2\1", text)
    return escaped(bold).replace("\0", r"\fB").replace("\1", r"\fR")


def escaped(text: str) -> str:
    """Text that roff prints as it is."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages().items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        parser.error(f"{error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()

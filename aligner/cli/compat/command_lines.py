"""How the command lines of other programs are read: options cut short, words as they are, options unused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click
from click.core import ParameterSource

from aligner.cli.options import F


class Getopt(click.Command):
    """A command whose long options may be cut short, as long as one option only begins so."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, [*map(self._whole, args[:end]), *args[end:]])

    def _whole(self, word: str) -> str:
        """A word of the command line, its option written out."""
        name, equals, value = word.partition("=")
        options = {option for parameter in self.params for option in parameter.opts} | {"--help"}
        found = [option for option in options if option.startswith(name)]
        if not name.startswith("--") or name in options or len(found) != 1:
            return word
        return found[0] + equals + value


class Words(click.Command):
    """A command that gets its words as they are, unless one of them asks for help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        asked = [word for word in args if word in ctx.help_option_names]
        return super().parse_args(ctx, asked[:1] or ["--", *args])


def of_words(
    name: str, metavar: str, help_names: Sequence[str] = ("--help",)
) -> Callable[[Callable[..., Any]], click.Command]:
    """A command with the one parameter `words`, which it takes apart itself."""

    def make(function: Callable[..., Any]) -> click.Command:
        words = click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar=metavar)
        settings = {"help_option_names": list(help_names)}
        command = click.command(name, cls=Words, options_metavar="[--help]", context_settings=settings)
        return command(words(function))

    return make


class Unused(click.Option):
    """An option of another program that is accepted and changes nothing."""


def unused(*names: str, **settings: Any) -> Callable[[F], F]:
    """An option that changes nothing. The command does not get its value."""
    settings = {"help": "Changes nothing.", "expose_value": False, **settings}
    return click.option(*names, cls=Unused, **settings)


def warn_of_unused(*parameters: str) -> None:
    """Names the options of the command that were given and change nothing.

    parameters: those that change nothing this time, beside the options that never do
    """
    ctx = click.get_current_context()
    warn_of_words(
        option.opts[0]
        for option in ctx.command.params
        if (isinstance(option, Unused) or option.name in parameters)
        and ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    )


def warn_of_words(words: Iterable[str]) -> None:
    """One line that names options, as they were given, that change nothing."""
    if given := " ".join(words):
        logging.warning("options that change nothing here: %s", given)

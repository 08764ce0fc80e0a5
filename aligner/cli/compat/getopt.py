"""Commands whose options are written as getopt_long allows it."""

from __future__ import annotations

import click


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

"""Links known by hand: --given, --exclude, and how to read their files."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import click

from aligner.cli import options
from aligner.cli.options import F
from aligner.links.formats import LinkReader
from aligner.links.known import weighted
from aligner.links.links import Links
from aligner.text.corpus import Corpus


def option(command: F) -> F:
    for add in (
        options.format(
            "--known-format", "known_format", "given", "exclude", of="the files of --given and --exclude"
        ),
        options.base(
            "--known-base", "known_base", "given", "exclude", of="the files of --given and --exclude"
        ),
        click.option(
            "--exclude", metavar="FILE", help="Wrong links, a line a sentence pair; they are left out."
        ),
        click.option(
            "--given",
            metavar="FILE",
            help="Right links, a line a sentence pair; they are kept. An empty line says nothing of its pair,"
            " a possible link (i?j) nothing of its words.",
        ),
    ):
        command = add(command)
    return command


@dataclass(frozen=True)
class KnownFiles:
    """The values of the options."""

    given: str | None = None
    exclude: str | None = None
    base: int | None = None
    format: str | None = None

    @property
    def paths(self) -> list[str]:
        """The files that are named."""
        return [path for path in (self.given, self.exclude) if path is not None]

    def check(self, threshold: str | float | None) -> None:
        """Refuses options that can have no effect."""
        if not self.paths and not (self.base is None and self.format is None):
            raise click.UsageError("--known-base and --known-format are for --given and --exclude.")
        if self.given is not None and threshold == 1:
            raise click.UsageError("links of --given score 1, which is not above --threshold 1.")

    def read(self, text: Corpus) -> Links | None:
        """The links of the files; None: no file is named."""
        known = [
            None if path is None else LinkReader(path, self.format, self.base, text=text).read()
            for path in (self.given, self.exclude)
        ]
        for path, links in zip((self.given, self.exclude), known, strict=True):
            if links is not None and links.scores is not None:
                logging.warning("%s: scores of known links are not used; every link counts as sure", path)
        return weighted(*known)

"""The command line: parses, calls, prints. Results go to stdout, everything else to stderr.

A command is a module of its name beside this one and a row of COMMANDS. The module is imported when the
command is run. `aligner --help` takes summaries from COMMANDS, imports no command, and so is quick.
Exit codes: 0 done, 1 bad data, 2 bad usage, 130 interrupted, 141 the reader of stdout is gone.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import sys
from typing import Any

import click

from aligner.cli.settings import Context
from aligner.errors import DataError

# name -> the first sentence of the command's help
COMMANDS = {
    "align": "Align a corpus: train a model of it in both directions, and print links.",
    "ibm1": "Train Model 1 on a corpus, both directions: translation probabilities without word order.",
    "train": "Train a model on a corpus, both directions at once, and keep it in a file.",
    "decode": "Print links of any text with a trained model.",
    "info": "Say what a model was trained on and how, its sizes, and how training went.",
    "lexicon": "Print a model's translation table as TSV: source, target, t(target | source), t(source |"
    " target).",
    "symmetrize": "Make one alignment of two directional ones.",
    "evaluate": "Score links against a gold standard.",
    "convert": "Rewrite links in another format.",
    "check": "Check that a corpus, and links of it, can be used; count what is there.",
    "generate": "Make a parallel corpus with exact gold links.",
}


class Failure(click.ClickException):
    """A message on stderr and exit code 1."""

    def show(self, file: Any = None) -> None:
        click.echo(f"aligner: {self.message}", err=True)


class Interrupted(Failure):
    exit_code = 130


class ClosedPipe(Failure):
    exit_code = 141

    def show(self, file: Any = None) -> None:
        """No message, since nobody reads. What stdout still buffers goes nowhere when Python exits."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Group(click.Group):
    """Finds commands by name, and turns what goes wrong in them into a message and an exit code."""

    is_main = False  # this is the process `aligner`, not a caller of its commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = importlib.import_module(f"aligner.cli.{name}").command
        if self.is_main:  # after the imports, which may swallow an exit
            for number in (signal.SIGTERM, signal.SIGHUP):  # so that no partial file is left
                signal.signal(number, lambda number, _: sys.exit(128 + number))
        assert isinstance(command, click.Command)
        command.context_class = Context
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The summaries of COMMANDS: the modules of the commands are not imported."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except DataError as error:
            raise Failure(f"{error}{ctx.meta[Context.RUNNING].cure(error)}") from None
        except BrokenPipeError:
            raise ClosedPipe("stdout is closed") from None
        except OSError as error:
            place = "" if error.filename is None else f"{error.filename or repr('')}: "
            raise Failure(f"{place}{error.strerror or error}") from None
        except MemoryError as error:
            raise Failure(f"out of memory: {error}" if str(error) else "out of memory") from None
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None


def show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Version, and how the kernels were built."""
    if not wanted or ctx.resilient_parsing:
        return
    from aligner import __version__, _build, simd

    click.echo(f"aligner {__version__}")
    click.echo(f"Cython {_build.cython_version()}, flags {_build.flags()}")
    click.echo(f"OpenMP {'on' if _build.openmp_enabled() else 'off'}")
    click.echo(f"SIMD {simd.level('models._hmm')} in use, {_build.simd_available()} available")
    ctx.exit()


@click.group(
    cls=Group,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "show_default": True,
        "max_content_width": 100,
    },
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_version,
    help="Show the version and how it was built.",
)
def cli() -> None:
    """Word alignment from the command line.

    Files may be compressed (gz, bz2, xz, zst), and - is stdin. Results go to stdout, everything else to
    stderr.

    \b
    Example:
      aligner align data/generated.src data/generated.tgt -o generated.links
      aligner evaluate generated.links data/generated.gold
    """


def main() -> None:
    """The command `aligner`."""
    logging.basicConfig(format="aligner: %(message)s")
    Group.is_main = True
    cli(prog_name="aligner")

"""The command line: parses, calls, prints. Results go to stdout, everything else to stderr.

A command is a module of its name beside this one and a row of COMMANDS, or a module of compat/ and a row of
PROGRAMS. The module is imported when the command is run. `aligner --help` takes summaries from the rows,
imports no command, and so is quick.
Exit codes: 0 done, 1 bad data or no room, 2 bad usage, 130 interrupted, 141 the reader of stdout is gone.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem

from aligner.cli import completion
from aligner.cli.compat import PROGRAMS
from aligner.cli.settings import Context
from aligner.cluster.signals import ENDING
from aligner.errors import DataError, message_of
from aligner.files import open_output

# name -> the first sentence of the command's help
COMMANDS = {
    "align": "Align a corpus: train a model of it in both directions, and print links.",
    "ibm1": "Train Model 1 on a corpus, both directions: translation probabilities without word order.",
    "train": "Train a model on a corpus, both directions at once, and keep it in a file.",
    "decode": "Print links of any text with a trained model.",
    "info": "Say what a model was trained on and how, its sizes, and how training went.",
    "lexicon": "Print which word translates which: a table of a model, of links, or of another program.",
    "shortlist": "Make a shortlist for Marian: of each source word the target words to choose from.",
    "symmetrize": "Make one alignment of two directional ones.",
    "evaluate": "Score links against a gold standard.",
    "compare": "Compare models on a text: train each, and print scores, agreement, time and memory.",
    "tune": "Find the best threshold of a model by gold links, and keep it in the model.",
    "learn": "Learn from labelled sentences how to score links, and keep it in a file.",
    "curve": "Draw precision and recall of models and scored links: curves, calibration, training size.",
    "view": "Look at alignments: a page for the browser, or matrices on the terminal.",
    "analyze": "Say what is wrong with links, and where: rare words, kinds of links, scores, worst examples.",
    "convert": "Rewrite links in another format.",
    "words": "Print the words of a CoNLL-U file, one sentence a line: the text to align.",
    "transfer": "Carry annotation along links: parts of speech, features, dependencies, spans.",
    "remap": "Rewrite links of one tokenisation as links of another: words to subwords, and back.",
    "check": "Check that a corpus, and links of it, can be used; count what is there.",
    "classes": "Make word classes: words that stand beside the same words have one class.",
    "phrases": "Extract phrase pairs that are consistent with links, or make a phrase table of them.",
    "generate": "Make a parallel corpus with exact gold links.",
    "shard": "Cut a corpus into shards, and begin a training in jobs that any scheduler can run.",
    "expect": "Do one job of a training: count what its next step expects of a shard.",
    "update": "End a step of a training in jobs: make the next model of the counts of all shards.",
    "moses": "Align a corpus for Moses: steps 1 to 4 of train-model.perl in one go.",
    "shims": "Write small executables under the names of other aligners' programs.",
}


class Failure(click.ClickException):
    """A message on stderr and exit code 1."""

    def show(self, file: Any = None) -> None:
        with contextlib.suppress(OSError):  # nobody reads stderr
            click.echo(f"aligner: {self.message}", err=True)


class Interrupted(Failure):
    exit_code = 130


class ClosedPipe(Failure):
    exit_code = 141

    def show(self, file: Any = None) -> None:
        """No message, since nobody reads."""


@contextlib.contextmanager
def told(cure: Callable[[DataError], str]) -> Iterator[None]:
    """Turns what goes wrong into a message and an exit code. cure: the option that cures an error."""
    try:
        yield
    except DataError as error:
        raise Failure(f"{error}{cure(error)}") from None
    except BrokenPipeError:
        raise ClosedPipe("stdout is closed") from None
    except (OSError, MemoryError) as error:
        raise Failure(message_of(error)) from None
    except ImportError as error:
        last = str(error).strip().splitlines()[-1:]  # numpy's message is long
        raise Failure(f"{''.join(last)}; is the installation whole, and is memory left?") from None
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None


class Group(click.Group):
    """Finds commands by name, and turns what goes wrong in them into a message and an exit code."""

    context_class = Context
    is_main = False  # this is the process `aligner`, not a caller of its commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *PROGRAMS]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS and name not in PROGRAMS:
            return None
        module = name if name in COMMANDS else f"compat.{name.replace('-', '_')}"
        command = importlib.import_module(f"aligner.cli.{module}").command
        if self.is_main:  # after the imports, which may swallow an exit
            clean_up_at_signals()
        assert isinstance(command, click.Command)
        command.context_class = Context
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The summaries of COMMANDS and PROGRAMS: the modules of the commands are not imported."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        with formatter.section("Programs of others, which take the command lines of their originals"):
            formatter.write_dl([(name, program.help) for name, program in PROGRAMS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names of commands, which are not imported for it, and options."""
        summaries = {**COMMANDS, **{name: program.help for name, program in PROGRAMS.items()}}
        found = [CompletionItem(x, help=help) for x, help in summaries.items() if x.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with told(lambda _: ""):  # --help and --version print here
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with told(lambda error: ctx.meta[Context.RUNNING].cure(error)):
            return super().invoke(ctx)


def clean_up_at_signals() -> None:
    """Signals that end a program raise an exception: no partial file is left. Ignored ones stay ignored."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup does
            signal.signal(number, _leave)


def _leave(number: int, _: Any) -> None:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Version, and how the kernels were built."""
    if not wanted or ctx.resilient_parsing:
        return
    from aligner import __version__, _build, simd

    lines = (
        f"aligner {__version__}",
        f"Cython {_build.cython_version()}, {_build.compiler()}, flags {_build.flags()}",
        f"OpenMP {'on' if _build.openmp_enabled() else 'off'}",
        f"SIMD {simd.level('models._hmm')} in use, {_build.simd_available()} available",
    )
    with open_output("-") as out:
        out.write("".join(line + "\n" for line in lines).encode())
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
    fill_descriptors()
    logging.basicConfig(format="aligner: %(message)s")
    Group.is_main = True
    completion.register()
    try:
        cli(prog_name="aligner")
    except OSError:  # a message about usage, and nobody reads stderr
        sys.exit(2)
    finally:
        for number in ENDING:  # there is nothing left to interrupt
            signal.signal(number, signal.SIG_IGN)
        for stream in (sys.stdout, sys.stderr):
            drop_unwritable(stream)


def fill_descriptors() -> None:
    """Opens the standard streams that are closed, so that no other file becomes one of them."""
    number = 0
    while number <= 2:
        number = os.open(os.devnull, os.O_RDONLY)
    os.close(number)


def drop_unwritable(stream: Any) -> None:
    """What a stream still holds and cannot write goes nowhere, so that Python exits without a word."""
    if stream is not None:
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

"""aligner atools"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click
import numpy as np

from aligner.cli.compat.command_lines import Getopt
from aligner.errors import DataError
from aligner.files import open_output
from aligner.links.formats import LinkReader, format_links
from aligner.links.links import Links
from aligner.links.symmetrize import directions, our_name, symmetrize
from aligner.links.turns import TurnReader

OF_ONE = ("convert", "display", "invert")
HEURISTICS = ("intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and")
COMMANDS = sorted([*OF_ONE, *HEURISTICS, "fmeasure"])


class WrongUsage(click.UsageError):
    exit_code = 1


class Atools(Getopt):
    """Wrong usage has exit code 1, as in the original."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise WrongUsage(error.format_message(), ctx) from None


@click.command("atools", cls=Atools)
@click.option("-i", "--input_1", metavar="FILE", required=True, help="Links; - is stdin.")
@click.option("-j", "--input_2", metavar="FILE", help="Other links of the same sentences; - is stdin.")
@click.option(
    "-c", "--command", "name", metavar="COMMAND", required=True, help=f"One of {', '.join(COMMANDS)}."
)
def command(input_1: str, input_2: str | None, name: str) -> None:
    """Work on links as fast_align's atools does.

    Links are `i-j`, from 0, or `anything ||| i-j ...`. convert sorts them, invert swaps their sides, display
    draws them, and fmeasure compares them with those of -j. The other commands make one alignment of two: -i
    is that of fast_align, -j is that of fast_align -r. If both files are -, their lines take turns, and each
    pair of lines is answered at once.

    The output is that of atools, byte for byte. Unlike atools, a file that is not there is an error, and a
    line that cannot be read is named; both have exit code 1. Files may be compressed.

    \b
    Example:
      aligner atools -i data/sample.forward -j data/sample.reverse -c grow-diag-final-and
      aligner atools -i data/sample.forward -c display | head -20
    """
    if name not in COMMANDS:
        raise DataError(f"there is no command {name}", hint=f"commands are {' '.join(COMMANDS)}")
    if name in OF_ONE:
        if input_2 is not None:
            raise DataError(f"the command {name} takes one file", hint="leave the second one out")
        of_one(name, LinkReader(input_1, "pharaoh", 0, bars=True))
        return
    if input_2 is None:
        raise DataError(f"the command {name} takes two files", hint="give the second one with -j")
    if input_1 == input_2 == "-":
        pairs = directions(TurnReader("-", "pharaoh", 0, bars=True), None)
    else:
        pairs = directions(*(LinkReader(path, "pharaoh", 0, bars=True) for path in (input_1, input_2)))
    if name == "fmeasure":
        compare(pairs)
        return
    with open_output("-") as out:
        for _, first, second in pairs:
            out.write(format_links(symmetrize(first, second, our_name(name), variant="atools"), "pharaoh"))
            out.flush()


def of_one(name: str, reader: LinkReader) -> None:
    """A command of one file."""
    with open_output("-") as out:
        for _, links in reader.blocks():
            links = in_order(links.transposed() if name == "invert" else links)
            if name == "display":
                for n in range(len(links)):
                    sentence = links.part(n, n + 1)
                    out.write("".join(drawn(sentence.src.tolist(), sentence.tgt.tolist())).encode())
                    out.write(format_links(sentence, "pharaoh"))
            else:
                out.write(format_links(links, "pharaoh"))


def in_order(links: Links) -> Links:
    """The links by source, then target, each once."""
    return symmetrize(links, links, "union", variant="atools")


def drawn(src: list[int], tgt: list[int]) -> Iterator[str]:
    """The lines of a picture: a row a source word, a column a target word, up to the last with a link."""
    n_rows, n_columns = max(src, default=0) + 1, max(tgt, default=0) + 1
    digits = " " + "".join(str(j % 10) for j in range(n_columns)) + "\n"
    cells = set(zip(src, tgt, strict=True))
    yield digits
    for i in range(n_rows):
        row = "".join("*" if (i, j) in cells else "." for j in range(n_columns))
        yield f"{i % 10}{row}{i % 10}\n"
    yield digits + "\n"


def compare(pairs: Iterable[tuple[int, Links, Links]]) -> None:
    """Prints precision, recall and F of the first links, if the second ones are right."""
    counts = np.zeros(3, dtype=np.int64)  # links of both, of the first, of the second
    for _, first, second in pairs:
        both = symmetrize(first, second, "intersection")
        counts += [len(links.src) for links in (both, in_order(first), in_order(second))]
    n_both, n_first, n_second = counts.tolist()
    if n_first == 0 or n_second == 0:
        raise DataError("there is no F-measure without links", hint="are these the right files?")
    precision, recall = n_both / n_first, n_both / n_second
    f = f"{2 * precision * recall / (precision + recall):g}" if n_both else "-nan"
    with open_output("-") as out:
        out.write(f"P: {precision:g}\nR: {recall:g}\nF: {f}\n".encode())

"""aligner symal"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator

from aligner.cli.compat.command_lines import of_words
from aligner.cli.options import check_outputs, tell
from aligner.errors import DataError
from aligner.files import open_in_place
from aligner.links.formats import LinkReader, format_links
from aligner.links.formats.bal import Bal
from aligner.links.links import Links
from aligner.links.symmetrize import our_name, symmetrize

ALIGNMENTS = ("union", "u", "intersect", "i", "grow", "g", "srctotgt", "s2t", "tgttosrc", "t2s")
SAYS = {
    "union": "union",
    "intersection": "intersect",
    "forward": "target-to-source",
    "reverse": "source-to-target",
}
ANSWERS = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}
SHORT = {"a": "alignment", "d": "diagonal", "f": "final", "b": "both", "v": "verbose"}
FLAGS = ("diagonal", "final", "both", "verbose")


@of_words("symal", "-NAME=VALUE...", ("-h", "--help"))
def command(words: tuple[str, ...]) -> None:
    """Symmetrize as Moses' symal does.

    Both directions are read from stdin, in the format bal that Moses' giza2bal.pl writes. The output is that
    of symal, byte for byte. Unlike symal, sentences may have any number of words, input that is cut off or
    damaged is an error with its line, and so is an option that is not known. Words after the options are left
    out, as in symal; a warning names them.

    \b
    Options, each written with =:
      -a, -alignment  union or u, intersect or i, grow or g, srctotgt or s2t, tgttosrc or t2s
      -d, -diagonal   yes or no: grow to diagonal neighbours, too  [default: no]
      -f, -final      yes or no: then add links that have a free word  [default: no]
      -b, -both       yes or no: -final adds only links of two free words  [default: no]
      -i              file to read  [default: stdin]
      -o              file to write  [default: stdout]
      -v, -verbose    yes or no: nothing more is told

    \b
    Example:
      giza2bal.pl -d en-fr.A3.final -i fr-en.A3.final | aligner symal -a=g -d=yes -f=yes -b=yes
    """
    given = settings(words)
    method = our_name(given["alignment"])
    check_outputs({"-o": given["o"]}, [given["i"]], overwrite=True)
    diagonal, final, both = (ANSWERS[given[name]] for name in FLAGS[:3])
    if method == "grow":
        says = f"grow alignment: diagonal ({diagonal:d}) final ({final:d})both-uncovered ({both:d})"
        method += "-diag" * diagonal + "-final" * final + "-and" * (final and both)
    else:
        says = f"{SAYS[method]} alignment"
    tell(f"symal: computing {says}")
    n = 0
    pairs = SymalReader(given["i"], "bal").directions()
    head = list(itertools.islice(pairs, 1))  # what cannot be read costs no output that is there
    with open_in_place(given["o"]) as out:
        for _, forward, reverse in itertools.chain(head, pairs):
            out.write(format_links(symmetrize(forward, reverse, method), "pharaoh"))
            n += len(forward)
    if not method.startswith("grow"):
        tell(f"Sents: {n}")


class SymalReader(LinkReader):
    """symal's input. What giza2bal.pl failed at keeps its link."""

    def _both(self) -> Iterator[tuple[Links, Links]]:
        format, texts = self._texts()
        assert isinstance(format, Bal)
        yield from format.read_both(self, texts, keep_failed=True)


def settings(words: tuple[str, ...]) -> dict[str, str]:
    """The options, up to the first word that is none."""
    given = {"alignment": "", "i": "-", "o": "-"} | dict.fromkeys(FLAGS, "no")
    for k, word in enumerate(words):
        name, equals, value = word.partition("=")
        if not (name.startswith("-") and equals):
            logging.warning("not used: %s", " ".join(words[k:]))
            break
        name = SHORT.get(name[1:], name[1:])
        if name not in given:
            raise DataError(f"there is no option {word}", hint="--help says which there are")
        known = {"alignment": ALIGNMENTS}.get(name, tuple(ANSWERS) if name in FLAGS else ())
        if known and value and value not in known:
            raise DataError(f"{value} is no value of -{name}", hint=f"values are {' '.join(known)}")
        if value:
            given[name] = value
        else:
            logging.warning("%s has no value, and is not used", word)
    if not given["alignment"]:
        raise DataError("no alignment was chosen", hint="give -alignment=grow, or another one")
    return given

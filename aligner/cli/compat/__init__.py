"""Programs of other aligners: their command lines, files and streams, with our models behind them.

A program is a module here and a row of PROGRAMS. `aligner shims` writes executables of the programs' names.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """A command that stands for programs of others.

    names  of the executables; a name that ends in .py can be run by Python, too
    help   the first sentence of the command's help
    """

    names: tuple[str, ...]
    help: str


# command -> program; the module has the command's name, with _ for -
PROGRAMS = {
    "fast-align": Program(("fast_align", "build/fast_align"), "Align as fast_align does, one direction."),
    "force-align": Program(
        ("force_align.py", "build/force_align.py"), "Align new text as fast_align's force_align.py does."
    ),
    "atools": Program(("atools", "build/atools"), "Work on links as fast_align's atools does."),
    "symal": Program(("symal",), "Symmetrize as Moses' symal does."),
    "eflomal-align": Program(("eflomal-align", "align.py"), "Align as eflomal-align does."),
    "eflomal-makepriors": Program(
        ("eflomal-makepriors", "makepriors.py"), "Count priors as eflomal-makepriors does."
    ),
    "eflomal": Program(("eflomal",), "Align numbered text as eflomal's program in C does."),
    "giza": Program(("GIZA++",), "Align as GIZA++ does, one direction."),
    "mgiza": Program(("mgiza",), "Align as mgiza does, one direction."),
    "mkcls": Program(("mkcls",), "Write word classes as mkcls does."),
    "plain2snt": Program(("plain2snt", "plain2snt.out"), "Number text as GIZA++'s plain2snt does."),
    "snt2cooc": Program(
        ("snt2cooc", "snt2cooc.out"), "List word pairs of sentence pairs as GIZA++'s snt2cooc does."
    ),
    "merge-alignment": Program(
        ("merge_alignment.py",), "Join parts of alignments as mgiza's merge_alignment.py does."
    ),
    "extract-lex": Program(("extract_lex",), "Count lexicons along links as Marian's extract_lex does."),
}

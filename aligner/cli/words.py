"""aligner words"""

from __future__ import annotations

import click

from aligner.cli import options
from aligner.files import open_output
from aligner.uses.conllu import FORM, read_conllu


@click.command("words")
@click.argument("conllu", default="-", callback=options.not_from_terminal)
@options.encoding
@options.output
def command(conllu: str, encoding: str, output: str, overwrite: bool) -> None:
    """Print the words of a CoNLL-U file, one sentence a line: the text to align.

    Links of this text count what `aligner transfer` counts: words, neither multiword tokens nor empty nodes.
    A blank inside a word becomes `_`, and so does a word of blanks.

    \b
    Example:
      aligner words data/annotated.en.conllu
      aligner words en_pud-ud-test.conllu -o pud.en
    """
    options.check_outputs({"-o": output}, [conllu], overwrite)
    with open_output(output, overwrite) as out:
        for sentence in read_conllu(conllu, encoding=encoding):
            words = ("_".join(word.split()) or "_" for word in sentence.column(FORM))
            out.write(f"{' '.join(words)}\n".encode())

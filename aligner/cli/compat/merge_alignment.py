"""aligner merge-alignment"""

from __future__ import annotations

import click

from aligner.cli.options import tell
from aligner.files import open_output
from aligner.links.formats.parts import merged


@click.command("merge-alignment")
@click.argument("parts", metavar="PART...", nargs=-1, required=True)
def command(parts: tuple[str, ...]) -> None:
    """Join parts of alignments as mgiza's merge_alignment.py does.

    Each PART is an A3 file with some of the sentence pairs, in the order of their numbers. All of them are
    written to stdout in this order. Unlike the original, a sentence pair that is there twice, and a part that
    is cut off, have exit code 1, as a missing sentence pair has. Parts may be compressed.

    \b
    Example:
      aligner merge-alignment fr-en.A3.final.part* > fr-en.A3.final
    """
    n = 0
    with open_output("-") as out:
        for text in merged(parts):
            out.write(text)
            n += 1
    tell(f"Combined {len(parts)} files, totally {n} sents ")

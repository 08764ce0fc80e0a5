"""aligner mgiza"""

from __future__ import annotations

from aligner.cli.compat.command_lines import of_words
from aligner.cli.compat.giza import HELP, LINE, run


@of_words("mgiza", LINE, HELP)
def command(words: tuple[str, ...]) -> None:
    """Align as mgiza does, one direction.

    Parameters and differences are those of `aligner giza`. The alignment is written in as many parts as
    -ncpus says, by default as there are CPUs: PREFIX.A3.final.part000, PREFIX.A3.final.part001, and so on;
    after the HMM PREFIX.Ahmm.N.part000, ...; after Model 1 PREFIX.A1.N.part0; after Model 2 PREFIX.A2.N. The
    parts have the sentence pairs one after another; merge_alignment.py joins them.

    mgiza's -restart and tables of previous steps (-previoust, ...) are refused.

    \b
    Example:
      aligner plain2snt corpus.en corpus.fr
      aligner mgiza -ncpus 2 -s corpus.en.vcb -t corpus.fr.vcb -c corpus.en_corpus.fr.snt -o fr-en
      aligner merge-alignment fr-en.A3.final.part* > fr-en.A3.final
    """
    run(words, mgiza=True)

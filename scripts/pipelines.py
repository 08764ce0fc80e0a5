"""The pipelines of others that scripts/clients.py runs, each as its own files have it."""

from __future__ import annotations

from dataclasses import dataclass

ALIGNED = "train/model/aligned.grow-diag-final-and"  # what Moses' third step writes
PREAMBLE = """
set -euo pipefail
EMS=$SOURCES/mosesdecoder/scripts/ems/support
train_model() {
    perl $SOURCES/mosesdecoder/scripts/training/train-model.perl -root-dir train \\
        -corpus corpus -f src -e tgt -alignment grow-diag-final-and -external-bin-dir $BIN -cores 2 "$@"
}
"""


@dataclass(frozen=True)
class Client:
    """A pipeline that ends in links of the text.

    name     what the table calls the client
    source   the repository of the scripts that are called; "": the lines are those of a client
    needs    the programs of others that are called
    script   for bash, in a folder with corpus.src, corpus.tgt, both.txt and gold.talp; see PREAMBLE
    links    the file of links, `i-j`; "": the client wants something else, which the script tests
    ours     the script only works with files of ours, and has no column of others
    """

    name: str
    source: str
    needs: tuple[str, ...]
    script: str
    links: str = "links"
    ours: bool = False


CLIENTS = [
    Client(
        "Moses `train-model.perl`, steps 1-4, GIZA++",
        "mosesdecoder",
        ("GIZA++", "mkcls", "snt2cooc.out", "symal"),
        """
        train_model -first-step 1 -last-step 4
        test -s train/model/lex.e2f
        """,
        ALIGNED,
    ),
    Client(
        "the same with `-mgiza -parallel`",
        "mosesdecoder",
        ("mgiza", "mkcls", "snt2cooc", "merge_alignment.py", "symal"),
        """
        train_model -first-step 1 -last-step 4 -mgiza -mgiza-cpus 2 -parallel
        test -s train/model/lex.e2f
        """,
        ALIGNED,
    ),
    Client(
        "the same with `-final-alignment-model hmm`",
        "mosesdecoder",
        ("GIZA++", "mkcls", "snt2cooc.out", "symal"),
        "train_model -first-step 1 -last-step 3 -final-alignment-model hmm",
        ALIGNED,
    ),
    Client(
        "`aligner moses --giza-files`, then `train-model.perl -first-step 3`",
        "mosesdecoder",
        (),
        """
        aligner moses --corpus corpus --f src --e tgt --root-dir train --giza-files --last-step 2 -q
        train_model -first-step 3 -last-step 4
        test -s train/model/lex.e2f
        """,
        ALIGNED,
        ours=True,
    ),
    Client(
        "`aligner moses`, then `train-model.perl -first-step 4`",
        "mosesdecoder",
        (),
        """
        aligner moses --corpus corpus --f src --e tgt --root-dir train --alignment grow-diag-final-and -q
        train_model -first-step 4 -last-step 4
        test -s train/model/lex.e2f
        """,
        ALIGNED,
        ours=True,
    ),
    Client(
        "Moses EMS: fast_align, `symmetrize-fast-align.perl`",
        "mosesdecoder",
        ("fast_align", "symal"),
        """
        fast_align -i both.txt -d -o -v -p forward.parameters > forward 2> forward.log
        fast_align -r -i both.txt -d -o -v -p reverse.parameters > reverse 2> reverse.log
        perl $EMS/symmetrize-fast-align.perl forward reverse corpus.src corpus.tgt links \\
            grow-diag-final-and $BIN/symal
        """,
        "links.grow-diag-final-and",
    ),
    Client(
        "Moses EMS: `fast-align-in-parts.perl`",
        "mosesdecoder",
        ("fast_align", "atools"),
        """
        in_parts="perl $EMS/fast-align-in-parts.perl -bin $BIN/fast_align -i both.txt -max-lines 1500"
        $in_parts -tmp one -settings '-d -o -v' -save-model yes -o forward
        $in_parts -r -tmp two -settings '-d -o -v' -save-model yes -o reverse
        grep -q 'final tension: [1-9]' forward.log
        grep -q 'final tension: [1-9]' reverse.log
        atools -i forward -j reverse -c grow-diag-final-and > links
        """,
    ),
    Client(
        "Moses EMS: eflomal-align, `symmetrize-fast-align.perl`",
        "mosesdecoder",
        ("eflomal-align", "symal"),
        """
        eflomal-align -i both.txt -f links.forward -r links.backward 2> links.log
        perl $EMS/symmetrize-fast-align.perl links.forward links.backward corpus.src corpus.tgt links \\
            grow-diag-final-and $BIN/symal
        """,
        "links.grow-diag-final-and",
    ),
    Client(
        "lilt `fast_align.sh`, `combine.sh` and `aer.py`",
        "alignment-scripts",
        ("fast_align",),
        """
        mkdir fast
        ln -s $BIN fast/build
        export FASTALIGN_DIR=$PWD/fast
        bash $SOURCES/alignment-scripts/scripts/fast_align.sh corpus.src corpus.tgt st
        bash $SOURCES/alignment-scripts/scripts/combine.sh st.talp st.reverse.talp gold.talp
        cp test.st.grow-diagonal.talp links
        """,
    ),
    Client(
        "mt_gender, OpusTrainer's README: fast_align, atools",
        "",
        ("fast_align", "atools"),
        """
        fast_align -i both.txt -d -o -v > forward
        fast_align -i both.txt -d -o -v -r > reverse
        atools -i forward -j reverse -c grow-diag-final-and > links
        """,
    ),
    Client(
        "browsermt `generate-alignment-and-shortlist.sh`: fast_align, atools, extract_lex",
        "students",
        ("fast_align", "atools", "extract_lex"),
        """
        # Stand-ins for what has nothing to do with links: words are their own subwords.
        mkdir -p marian-dev/build other work/here
        printf '#!/bin/sh\\ncat\\n' > marian-dev/build/spm_encode
        printf '#!/bin/sh\\ntr " " "\\\\n" < %s | sort -u > "${2#*=}"\\n' $PWD/corpus.tgt \\
            > marian-dev/build/spm_export_vocab
        printf '#!/bin/bash\\nexec sh -c "${@: -1}"\\n' > other/parallel
        printf '#!/bin/sh\\nexec gzip "$@"\\n' > other/pigz
        chmod +x marian-dev/build/* other/*
        export PATH=$PWD/other:$PATH
        cd work/here
        ln -s $BIN bin
        gzip -c ../../corpus.src > corpus.en.gz
        gzip -c ../../corpus.tgt > corpus.es.gz
        alignment=$SOURCES/students/train-student/alignment
        cp $alignment/prune_shortlist.py .
        bash $alignment/generate-alignment-and-shortlist.sh || test $? = 127  # its last line calls ll
        test $(zcat align/lex.s2t.pruned.gz | wc -l) -gt 1000
        zcat align/corpus.aln.gz > ../../links
        """,
    ),
    Client(
        "Mozilla `align.py`: priors of a sample, chunks, atools",
        "translations",
        ("atools",),
        """
        export SRC=src TRG=tgt PYTHONPATH=$SOURCES/translations:$PYTHONPATH
        $PYTHON -c 'import os, runpy, sys
        os.cpu_count = lambda: 4  # the pipeline divides by 4
        sys.argv = sys.argv[1:]
        runpy.run_path(sys.argv[0], run_name="__main__")' \\
            $SOURCES/translations/pipeline/alignments/align.py --corpus_src corpus.src \\
            --corpus_trg corpus.tgt --output_path links --chunk_lines 1500 --priors_output_path priors
        test -s priors
        """,
    ),
    Client(
        "OPUS-MT-train: eflomal-align, atools",
        "",
        ("eflomal-align", "atools"),
        """
        eflomal-align --overwrite -s corpus.src -t corpus.tgt -f forward -r reverse
        atools -c grow-diag-final -i forward -j reverse > links
        """,
    ),
    Client(
        "silnlp: mkcls, plain2snt, snt2cooc, mgiza",
        "",
        ("mgiza", "mkcls", "plain2snt", "snt2cooc", "merge_alignment.py"),
        """
        mkcls -n10 -pcorpus.src -Vs.vcb.classes
        mkcls -n10 -pcorpus.tgt -Vt.vcb.classes
        plain2snt corpus.src corpus.tgt -vcb1 s.vcb -vcb2 t.vcb -snt1 s_t.snt -snt2 t_s.snt
        snt2cooc s_t.cooc s.vcb t.vcb s_t.snt
        snt2cooc t_s.cooc t.vcb s.vcb t_s.snt
        mgiza -C s_t.snt -CoocurrenceFile s_t.cooc -S s.vcb -T t.vcb -o invswm
        mgiza -C t_s.snt -CoocurrenceFile t_s.cooc -S t.vcb -T s.vcb -o swm
        merge_alignment.py invswm.A3.final.part* > invswm.all
        merge_alignment.py swm.A3.final.part* > swm.all
        aligner symmetrize invswm.all swm.all > links
        """,
    ),
    Client(
        "bitextor: mkcls, plain2snt, snt2cooc, mgiza, `t3.final`",
        "",
        ("mgiza", "mkcls", "plain2snt", "snt2cooc"),
        """
        mkcls -c50 -n2 -pcorpus.src -Vcorpus.src.vcb.classes opt
        mkcls -c50 -n2 -pcorpus.tgt -Vcorpus.tgt.vcb.classes opt
        plain2snt corpus.src corpus.tgt
        for pair in src:tgt tgt:src; do
            s=corpus.${pair%:*} t=corpus.${pair#*:}
            snt2cooc ${s}_$t.cooc $s.vcb $t.vcb ${s}_$t.snt
            mgiza -ncpus 2 -CoocurrenceFile ${s}_$t.cooc -c ${s}_$t.snt -m1 5 -m2 0 -m3 3 -m4 3 -mh 5 -m5 0 \\
                -model1dumpfrequency 1 -o $s -s $s.vcb -t $t.vcb -emprobforempty 0.0 -probsmooth 1e-7
            test -s $s.t3.final
        done
        """,
        "",
    ),
]

"""The programs that are measured, from text to links: ours, and others that are on PATH; and their scores."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from measure import ALIGNER

from aligner import LinkReader, Links, evaluate, symmetrize
from aligner.models.kinds import MODELS

HEURISTICS = ("grow-diag-final-and", "grow-diag", "intersection")
GDFA = "grow-diag-final-and"


@dataclass(frozen=True)
class Contender:
    """A program that aligns.

    script  for bash, in a folder of its own: reads text/src, tgt, both or prefixes, uses $OMP_NUM_THREADS
            threads, and writes `links`; one that has two directions writes `forward` and `reverse`, too
    needs   the programs of others that must be on PATH
    """

    script: str
    needs: tuple[str, ...] = ()

    def is_there(self) -> bool:
        return all(map(shutil.which, self.needs))


OURS = shlex.quote(ALIGNER)


def _ours(options: str) -> Contender:
    files = "text/src text/tgt --overwrite -o links"
    return Contender(f"{OURS} align {files} --quiet --threads $OMP_NUM_THREADS {options}".strip())


def _giza(program: str, suffix: str) -> Contender:
    """GIZA++ or mgiza with the settings of Moses. suffix: how the names of their helpers end"""
    settings = "-m1 5 -m2 0 -mh 5 -m3 3 -m4 3 -model1dumpfrequency 1 -model4smoothfactor 0.4 -nodumps 1"
    settings += " -nsmooth 4 -onlyaldumps 1 -p0 0.999"
    settings += " -ncpus $OMP_NUM_THREADS" if program == "mgiza" else ""
    lines = ["rm -f forward* reverse*", "cp text/src text/tgt .", f"plain2snt{suffix} src tgt"]
    lines += [f"mkcls -n2 -p{side} -V{side}.vcb.classes opt" for side in ("src", "tgt")]
    for one, other, name, kind in (
        ("src", "tgt", "forward", "a3"),
        ("tgt", "src", "reverse", "a3-reverse"),
    ):
        text = f"{one}.vcb {other}.vcb {one}_{other}.snt"
        mgiza = f"snt2cooc{suffix} {name}.cooc {text}"
        lines.append(mgiza if program == "mgiza" else f"snt2cooc{suffix} {text} > {name}.cooc")
        files = f"-S {one}.vcb -T {other}.vcb -C {one}_{other}.snt -CoocurrenceFile {name}.cooc -o {name}"
        lines.append(f"{program} {files} {settings}")
        lines.append(f"{OURS} convert {name}.A3.final* --from {kind} --to pharaoh -o {name}")
    lines.append(f"{OURS} symmetrize forward reverse --method {GDFA} --base 0 --overwrite -o links")
    return Contender("\n".join(lines), (program, "mkcls", f"plain2snt{suffix}", f"snt2cooc{suffix}"))


ATOOLS = f"atools -c {GDFA} -i forward -j reverse > links"
EFLOMAL = "eflomal-align -i text/{} -m 3 -f forward -r reverse --overwrite\n" + ATOOLS
# name -> program; the first one is what the others are compared with
CONTENDERS = {
    "aligner align": _ours(""),
    "aligner align --fast": _ours("--fast"),
    **{f"aligner align --model {x}": _ours(f"--model {x}") for x in MODELS if x != "loo"},
    "aligner align --fast --model hmm": _ours(
        f"--fast --model hmm --symmetrize {GDFA} --forward forward --reverse reverse"
    ),
    "fast_align": Contender(
        "fast_align -d -o -v -i text/both > forward\n"
        "fast_align -d -o -v -r -i text/both > reverse\n" + ATOOLS,
        ("fast_align", "atools"),
    ),
    "eflomal": Contender(EFLOMAL.format("both"), ("eflomal-align", "atools")),
    "eflomal, 4-letter prefixes": Contender(EFLOMAL.format("prefixes"), ("eflomal-align", "atools")),
    "GIZA++": _giza("GIZA++", ".out"),
    "mgiza": _giza("mgiza", ""),
}


@dataclass(frozen=True)
class Score:
    """AER in percent, and the links that it is of: of two directions, those of the heuristic that is best."""

    aer: float
    links: Links
    heuristic: str = ""

    def __str__(self) -> str:
        return f"{self.aer:.2f}" + (f" ({self.heuristic})" if self.heuristic else "")


def score(folder: Path, gold: Links) -> Score:
    """The score of what a program wrote into a folder. gold: of the last lines"""

    def read(name: str) -> Links:
        links = LinkReader(str(folder / name), "pharaoh", 0).read()
        return links.part(len(links) - len(gold), len(links))

    def scored(links: Links, heuristic: str = "") -> Score:
        (result,) = evaluate([links], gold, n_samples=0).results
        return Score(100 * result.scores["aer"], links, heuristic)

    if not (folder / "forward").exists():
        return scored(read("links"))
    forward, reverse = read("forward"), read("reverse")
    return min((scored(symmetrize(forward, reverse, x), x) for x in HEURISTICS), key=lambda one: one.aer)


def p_value(ours: Score, theirs: Score, gold: Links) -> float | None:
    """Of the paired bootstrap: that two programs differ in AER by chance."""
    return evaluate([ours.links, theirs.links], gold).p_value

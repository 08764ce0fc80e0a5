"""Parameters as GIZA++ and mgiza read them: `-name value` words, or a file of `name : value` lines.

Case and signs do not matter in a name: `-Model1_Iterations` is `model1iterations`. A name may be cut short as
long as one parameter only begins so. Some parameters have several names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import click

from aligner.errors import DataError
from aligner.files import display_name, read_chunks

# parameters that mean something here -> their names
USED = {
    "s": ("s", "sourcevocabularyfile"),
    "t": ("t", "targetvocabularyfile"),
    "c": ("c", "corpusfile"),
    "tc": ("tc", "testcorpusfile"),
    "o": ("o", "outputfileprefix"),
    "outputpath": ("outputpath",),
    "m1": ("m1", "model1iterations", "noiterationsmodel1"),
    "m2": ("m2", "model2iterations", "noiterationsmodel2"),
    "mh": ("mh", "hmmiterations", "numberofiterationsforhmmalignmentmodel"),
    "m3": ("m3", "model3iterations", "noiterationsmodel3"),
    "m4": ("m4", "model4iterations", "noiterationsmodel4"),
    "m5": ("m5", "model5iterations", "noiterationsmodel5"),
    "m6": ("m6", "model6iterations", "noiterationsmodel6"),
    "t1": ("t1", "model1dumpfrequency"),
    "t2": ("t2", "model2dumpfrequency"),
    "th": ("th", "hmmdumpfrequency"),
    "nodumps": ("nodumps", "nofiledumpsyn"),
    "onlyaldumps": ("onlyaldumps",),
    "compactalignmentformat": ("compactalignmentformat",),
    "readtableprefix": ("readtableprefix",),
}
# parameters of the originals that change nothing here
UNUSED = (
    "adbackoff compactadtable coocurrencefile countcutoff countcutoffal countincreasecutoff"
    " countincreasecutoffal d deficientdistortionforemptyword depm4 depm5 dictionary dopeggingyn"
    " emalignmentdependencies emalsmooth emprobforempty emsmoothhmm l log logfile m5p0 manlexfactor1"
    " manlexfactor2 manlexmaxmultiplicity maxfertility maxsentencelength mincountincrease ml"
    " model23smoothfactor model345dumpfrequency model3dumpfrequency model4smoothfactor model5smoothfactor"
    " nbestalignments nsmooth nsmoothgeneral p p0 peggedcutoff pegging probcutoff probsmooth t2to3 t3 t345"
    " transferdumpfrequency v verbose verbosesentence"
).split()
# what mgiza and incremental GIZA++ have beside these
PREVIOUS = tuple(f"previous{table}" for table in ("t", "a", "d", "n", "d4", "d42", "p0", "hmm"))
MGIZA_USED = {"ncpus": ("ncpus",), "restart": ("restart",)} | {name: (name,) for name in PREVIOUS}
MGIZA_UNUSED = [
    *("countoutputprefix", "dumpcount", "dumpcountusingwordstring"),
    *("sourcevocabularyclasses", "targetvocabularyclasses"),
]
INCREMENTAL = {name: (name,) for name in ("oldtrprbs", "oldalprbs", "stepk")}
TRUE, FALSE = ("yes", "y", "true", "t"), ("no", "n", "false", "f")


@dataclass
class Parameters:
    """The values that were given, by parameter; and the words of options that change nothing.

    names: name -> parameter; None: the parameter changes nothing
    """

    names: Mapping[str, str | None]
    values: dict[str, str] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, mgiza: bool) -> Parameters:
        """No values yet, of one of the two programs."""
        used = USED | INCREMENTAL | (MGIZA_USED if mgiza else {})
        names: dict[str, str | None] = dict.fromkeys(UNUSED + (MGIZA_UNUSED if mgiza else []))
        names |= {name: parameter for parameter, found in used.items() for name in found}
        return cls(names)

    def set(self, word: str, value: str) -> bool:
        """Sets a parameter. False: there is no such parameter, or there are several."""
        name = re.sub("[^a-z0-9]", "", word.lower())
        if name not in self.names:
            longer = [other for other in self.names if other.startswith(name)]
            if len(longer) != 1:
                return False
            name = longer[0]
        if (parameter := self.names[name]) is None:
            self.unused.append(word)
        else:
            self.values[parameter] = value
        return True

    def read_words(self, words: tuple[str, ...]) -> list[str]:
        """Reads a command line: [CONFIG] [-name value | --name] ... Returns the words that mean nothing.

        A word that means nothing is passed over alone, as in the originals.
        """
        unknown = []
        if words and not words[0].startswith("-"):
            self.read_file(words[0])
            words = words[1:]
        n = 0
        while n < len(words):
            word, following = words[n], words[n + 1 : n + 2]
            if len(word) > 2 and word.startswith("--"):
                value: tuple[str, ...] = ("1",)
                n += 1
            else:
                value = following
                n += 2
            if not value:
                raise click.UsageError(f"{word} needs a value.")
            if not self.set(word, value[0]):
                unknown.append(word)
                n -= not word.startswith("--")
        return unknown

    def read_file(self, path: str) -> None:
        """Reads a file of `name : value` or `name value` lines. // begins a comment."""
        text = b"".join(read_chunks(path)).decode("utf-8", "surrogateescape")
        for n, line in enumerate(text.split("\n"), 1):
            if not line.strip() or line.split()[0] == "//":
                continue
            name, colon, value = re.sub(r"\s+", " ", line.strip()).partition(" : ")
            if not colon:
                name, _, value = name.partition(" ")
            if not self.set(name, value.split(" ")[0]):
                raise DataError(f"there is no parameter {name}", file=display_name(path), line=n)

    def number(self, parameter: str, default: int) -> int:
        """The value of a parameter that is a whole number, or yes or no."""
        value = self.values.get(parameter)
        if value is None or value.lower() in FALSE:
            return default if value is None else 0
        if value.lower() in TRUE:
            return 1
        try:
            return int(float(value))
        except (ValueError, OverflowError):
            raise click.UsageError(f"-{parameter} {value}: a whole number is needed.") from None

"""A trained model: what it believes of each view, and the recipe it was made by; saved, loaded, used."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from aligner import __version__, arguments, store
from aligner.decoding.combine import Decision, combine, fertility_of
from aligner.decoding.dual import DUAL, METHOD, THRESHOLD, Dual
from aligner.decoding.form import CENSUS, LARGE, check_arrays, check_header
from aligner.decoding.posteriors import (
    check_constraints,
    check_dual,
    check_not_given,
    check_projection,
    directions,
    known_words,
    unknown_words,
)
from aligner.decoding.threshold import check, find
from aligner.decoding.tuned import FACT, checksum
from aligner.errors import DataError
from aligner.links.known import known_of
from aligner.links.links import Links
from aligner.links.symmetrize import METHODS
from aligner.models.census import Census
from aligner.models.lexicon import Evidence, Lexicon
from aligner.models.parameters import Parameters, View
from aligner.models.positions import kept, restored
from aligner.models.recipe import Recipe
from aligner.models.shares import Shares
from aligner.text.cells import Seen
from aligner.text.corpus import Corpus, Pairs, warn_of_long
from aligner.text.doubts import warn_of_unknown
from aligner.text.known import Constraints
from aligner.text.sides import Vocab

LEXICON = ("rows", "tgt", "t", "null_fwd", "null_rev")
EVIDENCE = ("nulls", "kappa", "words", "alpha")  # beside its arrays
LEARNED_FROM = ("text", "known", "init", "prior", "dev", "class_files")  # facts: checksums
SHARES = ("shares.keys", "shares.offsets", "shares.entries")


@dataclass(repr=False)
class Model:
    """All that is needed to align text as it was aligned in training.

    facts     what the model was trained on
    history   a dict for each iteration: view, model, log-likelihood, ...
    progress  of an unfinished training: the last view's iterations so far, and what the next one needs
    shares    of the sentence pairs trained on, where they are left out when the same pairs are aligned; by
              key, once training is finished
    census    of the text of a training in jobs that is not finished (cluster/jobs.py)
    """

    recipe: Recipe
    views: list[View]
    facts: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    progress: dict[str, Any] | None = None
    shares: Shares | None = None
    census: Census | None = None

    def __repr__(self) -> str:
        views, pairs = ",".join(view.name for view in self.views), self.facts.get("pairs", 0)
        state = ", not finished" if self.unfinished else ""
        return f"Model({self.recipe.model}, views {views}, trained on {pairs} sentence pairs{state})"

    @classmethod
    def load(cls, path: str | os.PathLike[str], check: bool = True) -> Model:
        """A model from a file. A file that is damaged, or says what cannot be, is refused.

        check: False saves time with a large file: what LARGE arrays hold is neither compared nor looked at
        """
        arguments.instance("path", path, (str, os.PathLike), "the name of a file")
        header, arrays = store.read(path, lambda name: check or name.split(".")[-1] not in LARGE)
        try:
            recipe = check_header(header)
            finished = header["progress"] is None
            census = check_arrays(arrays, header["views"], recipe, finished=finished, large=check)
        except ValueError as error:
            raise DataError(
                f"the model is not as aligner writes it: {error}", file=os.fspath(path), hint=store.AGAIN
            ) from None
        views = [_view(entry, n, arrays) for n, entry in enumerate(header["views"])]
        shares = Shares(*(arrays[name] for name in SHARES)) if SHARES[0] in arrays else None
        return cls(recipe, views, header["facts"], header["history"], header["progress"], shares, census)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes the model to one file."""
        arguments.instance("path", path, (str, os.PathLike), "the name of a file")
        with store.open_new(path, overwrite) as out:
            self.write(out)

    def write(self, out: BinaryIO) -> None:
        """Writes the model to a file of store.open_new."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        views = []
        for n, view in enumerate(self.views):
            lexicon, positions = view.parameters.lexicon, view.parameters.positions
            if self.progress is None:
                lexicon = lexicon.pruned()
            arrays |= {f"{n}.{name}": getattr(lexicon, name) for name in LEXICON}
            evidence = None
            if lexicon.evidence is not None:
                arrays |= {f"{n}.many_{name}": getattr(lexicon.evidence, name) for name in ("src", "tgt")}
                evidence = {name: getattr(lexicon.evidence, name) for name in EVIDENCE}
            believed = None
            if positions is not None:
                arrays |= {f"{n}.{name}": table for name, table in kept(positions).items()}
                believed = {name: getattr(positions, name) for name in ("kind", *positions.NUMBERS)}
            for side, vocab in (("src", view.src), ("tgt", view.tgt)):
                arrays[f"{n}.{side}.text"] = np.frombuffer(vocab.text, dtype=np.uint8)
                arrays[f"{n}.{side}.offsets"] = vocab.offsets
            views.append({"name": view.name, "positions": believed, "evidence": evidence})
        if self.shares is not None:
            arrays |= {name: getattr(self.shares, name.split(".")[1]) for name in SHARES}
        if self.census is not None:
            arrays |= {CENSUS + name: x for name, x in self.census.arrays().items()}
        header = {
            "recipe": asdict(self.recipe),
            "facts": self.facts,
            "history": self.history,
            "progress": self.progress,
            "views": views,
        }
        store.write_to(out, header, arrays)

    @property
    def signature(self) -> str:
        """What the model's links depend on, in one line, as key:value pairs.

        Texts, known links, the model that training began with, its prior, the development set and what tuning
        found are checksums.
        """
        fields = self.recipe.signature()
        fields |= {key: self.facts[key] for key in LEARNED_FROM if key in self.facts}
        if FACT in self.facts:
            fields[FACT] = checksum(self.facts[FACT])
        fields["version"] = self.facts.get("version", __version__)
        return "|".join(f"{key}:{value}" for key, value in fields.items())

    @property
    def checksum(self) -> str:
        """What the signature of another model calls this one."""
        return f"{zlib.crc32(self.signature.encode()):08x}"

    @property
    def threshold(self) -> float:
        """Links that score above it are kept: the recipe's, or what training found."""
        found = self.recipe.threshold
        return float(self.facts["threshold"]) if found is None else found

    def threshold_of(
        self, direction: str, method: str, given: float | None = None, *, tuned: bool = True
    ) -> float:
        """The threshold of a direction's links, or of both directions' made one by a method, the first of:

        1. the given one
        2. what tuning found for such links. tuned=False: the links are of best paths, or of another
           projection, and have other scores than those that tuning saw
        3. for product, product's own: a product of two scores is smaller than both
        4. the model's, for scores of a direction and for means of two
        """
        if given is not None:
            return given
        systems = self.facts[FACT]["systems"] if tuned and FACT in self.facts else {}
        system = systems.get(method if direction == "both" else direction)
        if system is not None and system["threshold"] is not None:
            return float(system["threshold"])
        own = METHODS["product"].threshold if (direction, method) == ("both", "product") else None
        return self.threshold if own is None else own

    @property
    def unfinished(self) -> str:
        """How far training is, for people; empty if it is finished."""
        if self.progress is None and len(self.views) == len(self.recipe.views):
            return ""
        done = self.progress["iterations"] if self.progress else 0
        if not self.views:
            return "nothing is trained yet"
        if self.shares is not None:
            return f"all views together, iteration {done} of {self.recipe.n_iterations}"
        return f"view {len(self.views)} of {len(self.recipe.views)}, iteration {done} of {self.recipe.apart}"

    def check_text(self, recipe: Recipe, name: str) -> None:
        """Refuses a recipe of directions that were not trained, or of other words. name: for messages"""
        own = self.recipe
        if own.direction not in ("both", recipe.direction):
            raise DataError(
                f"{name} was trained {own.direction} only",
                hint=f"train {own.direction} only, or begin with a model of both directions",
            )
        if own.lowercase != recipe.lowercase:
            was = "in lower case" if own.lowercase else "not lower-cased"
            raise DataError(f"the text of {name} was {was}", hint="do the same here")
        if own.split != recipe.split:
            raise DataError(f"the text of {name} was split {own.split}", hint="do the same here")

    def check_trained(self, file: str | None = None) -> None:
        """Refuses a model whose training was left in the middle. file: where the model was read from"""
        if self.unfinished:
            raise DataError(
                f"the training of this model is not finished: {self.unfinished}",
                file=file,
                hint="go on with it first",
            )

    def align(
        self,
        text: Corpus | Pairs,
        *,
        symmetrize: str = "soft-union",
        threshold: float | str | None = None,
        decode: str = "threshold",
        max_fertility: int | None = None,
        project: str = "trained",
        dual: Dual | None = None,
        links: Links | None = None,
        constraints: Constraints | None = None,
        n_threads: int = 1,
    ) -> Links:
        """Links of sentence pairs, given as text, as lists of tokens or as a Corpus.

        The text is lower-cased if the model's was, and split as the model's was.
        symmetrize     how two directions become one: one of METHODS (links/symmetrize.py), or dual: by dual
                       decomposition, whose links score above 0.5
        threshold      of a link's score, or a rule that finds one from the text (decoding/threshold.py): auto
                       or points. None is that of `threshold_of`
        decode         threshold: the links above the threshold; one-to-one, fertility: of these the best ones
                       such that no word has more than one link, or more than max_fertility
        max_fertility  of decode="fertility"; None is 2
        project        what posteriors are projected onto: one of PROJECTIONS (decoding/posteriors.py)
        dual           how symmetrize="dual" searches; None is Dual()
        links          known by hand (links/known.py); given ones are for decode="threshold"
        constraints    on expected links, for HMMs of both directions (text/known.py)
        """
        arguments.choice("symmetrize", symmetrize, (*METHODS, DUAL))
        check(threshold)
        if dual is not None:
            arguments.instance("dual", dual, Dual, "a Dual")
            if symmetrize != DUAL:
                raise ValueError(f"dual is for symmetrize {DUAL}, not {symmetrize}")
        if symmetrize == DUAL:
            if isinstance(threshold, str):
                raise ValueError(f"threshold {threshold} is for probabilities, and scores of dual are none")
            symmetrize, dual = METHOD, dual or Dual()
            threshold = THRESHOLD if threshold is None else threshold
        fertility = fertility_of(decode, max_fertility)
        arguments.threads(n_threads)
        text = Corpus.of(text, self.recipe.lowercase, self.recipe.split)
        self.check_trained()
        check_projection(self.recipe, project)
        warn_of_long(text.long_pairs())
        number = None if isinstance(threshold, str) else threshold
        limit = self.threshold_of(self.recipe.direction, symmetrize, number, tuned=project == "trained")
        how = Decision(limit, self.recipe.direction, symmetrize, fertility=fertility)
        known = known_of(links, constraints, text)
        check_constraints(self.recipe, known)
        if dual is not None:
            check_dual(self.recipe, known, False, project)
        if fertility is not None:
            check_not_given(known)
        settings: dict[str, Any] = {"known": known, "project": project, "n_threads": n_threads}
        if isinstance(threshold, str):
            how = replace(how, threshold=self.find_threshold(threshold, text, how, **settings)[0])
        blocks = self.directions(text, dual=dual, **settings)
        return Links.joined(combine(*block, how, n_threads) for block in blocks)

    def seen(self, corpus: Corpus, name: str) -> list[Seen]:
        """What each view sees of a text. Warns if the model, called name, does not know most of its words."""
        seen = known_words(self.views, corpus)
        words = zip((corpus.src, corpus.tgt), unknown_words(seen), strict=True)
        unknown = [int(side.counts[which].sum()) for side, which in words]
        warn_of_unknown(name, unknown, [len(corpus.src.ids), len(corpus.tgt.ids)])
        return seen

    def directions(self, corpus: Corpus, **settings: Any) -> Iterator[tuple[Links, Links]]:
        """Scored links of a text, split and lower-cased as the model's was, forward and reverse.

        settings: those of decoding.posteriors.directions
        """
        return directions(self.views, self.recipe, corpus, shares=self.shares, **settings)

    def find_threshold(
        self, rule: str, corpus: Corpus, how: Decision, **settings: Any
    ) -> tuple[float, float | None]:
        """(threshold, expected AER) of a text by a rule. Arguments are those of decoding.threshold.find"""
        return find(rule, self.views, self.recipe, corpus, how, shares=self.shares, **settings)


def _view(entry: dict[str, Any], n: int, arrays: dict[str, npt.NDArray[Any]]) -> View:
    """View n of a file."""
    own = {name.removeprefix(f"{n}."): x for name, x in arrays.items() if name.startswith(f"{n}.")}

    def vocab(side: str) -> Vocab:
        return Vocab(own[f"{side}.text"].tobytes(), own[f"{side}.offsets"])

    positions = None if entry["positions"] is None else restored(entry["positions"], own)
    believed: dict[str, Any] = {name: own[name] for name in LEXICON}
    lexicon = Lexicon(**believed)
    if (evidence := entry["evidence"]) is not None:
        many: dict[str, Any] = {side: own[f"many_{side}"] for side in ("src", "tgt")}
        lexicon.evidence = Evidence(**many, **{name: evidence[name] for name in EVIDENCE})
    return View(entry["name"], vocab("src"), vocab("tgt"), Parameters(lexicon, positions))

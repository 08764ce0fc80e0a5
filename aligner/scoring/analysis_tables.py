"""The tables of an analysis, with sentences that say what they tell. The report and the page show them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from aligner.errors import number_of
from aligner.scoring.analysis import Analysis
from aligner.scoring.comparison import FAR, OCCURRENCES, Histogram, Part, ScorePart
from aligner.scoring.evaluate import RARE
from aligner.scoring.examples import GREEDY, WordPair

Cell = str | int | float | tuple[str, ...] | None  # None: a share of nothing


class Kind(Enum):
    """What the cells of a column are."""

    NAME = "name"
    WORD = "word"
    WORDS = "words"
    COUNT = "count"
    SHARE = "share"  # between 0 and 1
    LINE = "line"  # of the text


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    bar: str = ""  # bars show the numbers; bars of one name have one scale in a table. "": no bars


@dataclass(frozen=True)
class Table:
    """tells: sentences on what the table shows; rows: a cell a column"""

    title: str
    tells: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Names:
    """What the files are called. Words are counted in train_src and train_tgt."""

    hyp: str
    gold: str
    src: str
    tgt: str
    train_src: str
    train_tgt: str

    def side(self, side: str) -> str:
        """side: src or tgt"""
        return self.src if side == "src" else self.tgt


NONE = "There are none."
LINE = Column("line", Kind.LINE)
THREE = tuple(Column(name, Kind.SHARE, bar="share") for name in ("hypothesis", "sure", "gold"))
PART = (
    Column("links", Kind.COUNT),
    Column("precision", Kind.SHARE),
    Column("sure", Kind.COUNT),
    Column("recall", Kind.SHARE),
    Column("AER", Kind.SHARE, bar="AER"),
    Column("of errors", Kind.SHARE, bar="errors"),
)


def tables(analysis: Analysis, names: Names, threshold: float | None) -> list[Table]:
    """All tables, in the order in which they are shown. threshold: as of `analyze`"""
    return [
        _occurrences(analysis, names),
        _kinds(analysis),
        _fertility(analysis.src_fertility, names.src),
        _fertility(analysis.tgt_fertility, names.tgt),
        _jumps(analysis.jumps, names),
        *([] if analysis.scores is None else [_scores(analysis.scores, analysis.n_absent, threshold)]),
        _distances(analysis),
        _crossing(analysis),
        _pairs("wrong", "right", analysis.wrong_pairs, analysis.total.wrong, names),
        _pairs("missed", "found", analysis.missed_pairs, analysis.total.missed, names),
        _unlinked(analysis, names),
        _collectors(analysis, names),
        _worst(analysis, names),
    ]


def summary(analysis: Analysis) -> list[tuple[str, float, str]]:
    """(name, share, sentence on it) of the three scores of all links."""
    total = analysis.total
    wrong, missed = number_of(total.wrong, "wrong link"), number_of(total.missed, "missed link")
    gold = number_of(analysis.n_gold, "gold link")
    return [
        ("AER", total.aer, f"{number_of(total.errors, 'error')}: {wrong} and {missed}"),
        ("precision", total.precision, f"{total.right} of {_which(total.links, 'link')} right"),
        ("recall", total.recall, f"{total.found} of {_which(total.sure, 'sure link')} found; {gold} in all"),
    ]


def _which(n: int, thing: str) -> str:
    """How many of a thing are, as the beginning of what they are: 1 link is, 2 links are."""
    return f"{number_of(n, thing)} {'is' if n == 1 else 'are'}"


def shown(part: float | None) -> str:
    """A share in percent, as tables have it."""
    return "-" if part is None else f"{100 * part:.1f}"


def scales(table: Table) -> dict[str, float]:
    """name of bars -> the number that has the longest bar"""
    most: dict[str, float] = {}
    for k, column in enumerate(table.columns):
        numbers = (cell for row in table.rows if isinstance(cell := row[k], int | float))
        most[column.bar] = max(most.get(column.bar, 0), *numbers, 0)
    return most


def _of(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _percent(part: int, whole: int) -> str:
    """A share as sentences have it."""
    return f"{shown(part / whole)}%" if whole else "none"


def _parts(title: str, tells: str, name: str, parts: Iterable[Part], total: Part) -> Table:
    rows = tuple(
        (
            part.name,
            part.links,
            _of(part.right, part.links),
            part.sure,
            _of(part.found, part.sure),
            _of(part.errors, part.links + part.sure),
            _of(part.errors, total.errors),
        )
        for part in parts
    )
    return Table(title, tells, (Column(name, Kind.NAME), *PART), rows)


def _occurrences(analysis: Analysis, names: Names) -> Table:
    rare, total = analysis.occurrences[: OCCURRENCES.index(RARE) + 1], analysis.total
    tells = (
        f"Links by how often the rarer of their two words occurs, in {names.train_src} or {names.train_tgt}."
        f" Links with a word of at most {RARE} occurrences are"
        f" {_percent(sum(part.links for part in rare), total.links)} of the links, and have"
        f" {_percent(sum(part.errors for part in rare), total.errors)} of the errors."
    )
    return _parts("Rare and common words", tells, "occurrences", analysis.occurrences, total)


def _distances(analysis: Analysis) -> Table:
    tells = (
        "Links by their distance from the diagonal: how far apart the places of the two words are, as shares"
        " of the lengths of their sentences."
    )
    return _parts("Distance from the diagonal", tells, "distance", analysis.distances, analysis.total)


def _crossing(analysis: Analysis) -> Table:
    cross, total = analysis.crossing[1], analysis.total
    tells = (
        f"Of the wrong links {_percent(cross.wrong, total.wrong)} cross another link, of the right links"
        f" {_percent(cross.right, total.right)}. Of the missed links {_percent(cross.missed, total.missed)}"
        f" cross another sure link, of the sure links that are found {_percent(cross.found, total.found)}."
    )
    return _parts("Crossing links", tells, "link", analysis.crossing, total)


def _columns(histogram: Histogram) -> tuple[tuple[int, ...], ...]:
    return histogram.hypothesis, histogram.sure, histogram.gold


def _three(histogram: Histogram) -> list[tuple[float | None, ...]]:
    """The cells of THREE for each name."""
    columns = _columns(histogram)
    return [tuple(_of(column[n], sum(column)) for column in columns) for n in range(len(histogram.names))]


def _compared(what: str, histogram: Histogram, name: str) -> str:
    """A sentence: the share of a name in hypothesis, sure and gold links."""
    n = histogram.names.index(name)
    hyp, sure, gold = (_percent(column[n], sum(column)) for column in _columns(histogram))
    return f"{what}: {hyp} in the hypothesis, {sure} in the sure links, {gold} in all gold links."


def _kinds(analysis: Analysis) -> Table:
    histogram = analysis.kinds_histogram
    tells = (
        f"{_compared('One-to-one links, whose words have no other link', histogram, 'one-to-one')} A link is"
        " one-to-many if its source word has more links, many-to-one if its target word has. Right: the"
        " share of a kind's links in the hypothesis that is right. Found: the share of a kind's sure links"
        " that is found."
    )
    columns = Column("links", Kind.NAME), *THREE, Column("right", Kind.SHARE), Column("found", Kind.SHARE)
    rows = tuple(
        (part.name, *shares, _of(part.right, part.links), _of(part.found, part.sure))
        for part, shares in zip(analysis.kinds, _three(histogram), strict=True)
    )
    return Table("One-to-one and other links", tells, columns, rows)


def _named(title: str, tells: str, name: str, histogram: Histogram) -> Table:
    rows = tuple((n, *shares) for n, shares in zip(histogram.names, _three(histogram), strict=True))
    return Table(title, tells, (Column(name, Kind.NAME), *THREE), rows)


def _fertility(histogram: Histogram, side: str) -> Table:
    tells = _compared(f"Words of {side} without links", histogram, "0")
    return _named(f"Links of each word of {side}", tells, "links", histogram)


def _jumps(histogram: Histogram, names: Names) -> Table:
    tells = (
        f"From a word of {names.src} to the next one that has links, how far apart their words of"
        f" {names.tgt} are: from the last one to the first one."
        f" {_compared('Jumps of +1, to the very next word', histogram, '+1')}"
        f" Jumps of more than {FAR} words are taken together."
    )
    return _named("Jumps", tells, "jump", histogram)


def _scores(parts: tuple[ScorePart, ...], n_absent: int, threshold: float | None) -> Table:
    tells = (
        "Links by their scores. If scores can be trusted, the share of right links is near the mean score."
        f" {_which(n_absent, 'sure link')} not among these links."
    )
    if threshold is not None:
        tells += f" The hypothesis has the links with scores above {threshold:g}."
    columns = (
        Column("score", Kind.NAME),
        Column("links", Kind.COUNT),
        Column("sure", Kind.COUNT),
        Column("wrong", Kind.COUNT),
        Column("mean score", Kind.SHARE, bar="share"),
        Column("right", Kind.SHARE, bar="share"),
    )
    rows = []
    for part in parts:
        name = f"{part.above or 0:g}-{1 if part.at_most is None else part.at_most:g}"
        mean = part.mean if part.links else None
        wrong = part.links - part.right
        rows.append((name, part.links, part.found, wrong, mean, _of(part.right, part.links)))
    return Table("Scores", tells, columns, tuple(rows))


def _pairs(error: str, good: str, pairs: tuple[WordPair, ...], n_errors: int, names: Names) -> Table:
    """error, good: what links that are errors, and others, are called"""
    have = "This word pair has" if len(pairs) == 1 else "These word pairs have"
    tells = (
        f"{have} {sum(pair.times for pair in pairs)} of the {number_of(n_errors, f'{error} link')}. The line"
        " is that of the first one."
    )
    columns = (
        Column(names.src, Kind.WORD),
        Column(names.tgt, Kind.WORD),
        Column(error, Kind.COUNT, bar="errors"),
        Column(good, Kind.COUNT),
        LINE,
    )
    rows = tuple((pair.src, pair.tgt, pair.times, pair.right, pair.line) for pair in pairs)
    return Table(f"Word pairs that are often {error}", tells if pairs else NONE, columns, rows)


def _collectors(analysis: Analysis, names: Names) -> Table:
    n = analysis.n_collectors
    tells = (
        f"Words of at most {RARE} occurrences that have {GREEDY} or more links in a sentence, and more than"
        f" in the gold standard. There {'is' if n == 1 else 'are'} {n}."
    )
    columns = (
        Column("side", Kind.NAME),
        Column("word", Kind.WORD),
        Column("occurs", Kind.COUNT),
        Column("links", Kind.COUNT),
        Column("in gold", Kind.COUNT),
        LINE,
        Column("linked with", Kind.WORDS),
    )
    rows = tuple(
        (names.side(x.side), x.word, x.occurrences, x.links, x.gold, x.line, x.linked)
        for x in analysis.collectors
    )
    return Table("Garbage collectors", tells, columns, rows)


def _unlinked(analysis: Analysis, names: Names) -> Table:
    tells = (
        f"Words that have a sure link, and no link in the hypothesis. The text has"
        f" {number_of(analysis.n_unlinked, 'such word')}. Sure is how often the word has a sure link."
    )
    columns = (
        Column("side", Kind.NAME),
        Column("word", Kind.WORD),
        Column("occurs", Kind.COUNT),
        Column("without", Kind.COUNT, bar="errors"),
        Column("sure", Kind.COUNT),
        LINE,
    )
    rows = tuple(
        (names.side(x.side), x.word, x.occurrences, x.times, x.sure, x.line) for x in analysis.unlinked
    )
    return Table("Words without links", tells, columns, rows)


def _worst(analysis: Analysis, names: Names) -> Table:
    n_errors = sum(len(x.wrong) + len(x.missed) for x in analysis.worst)
    tells = (
        "The sentence pairs with most errors, wrong links and missed ones. They have"
        f" {_percent(n_errors, analysis.total.errors)} of all errors."
    )
    columns = (
        LINE,
        Column("errors", Kind.COUNT, bar="errors"),
        Column("wrong", Kind.COUNT),
        Column("missed", Kind.COUNT),
        Column("AER", Kind.SHARE),
        Column(names.src, Kind.WORDS),
    )
    rows = tuple(
        (x.line, len(x.wrong) + len(x.missed), len(x.wrong), len(x.missed), x.aer, x.src)
        for x in analysis.worst
    )
    return Table("Worst sentence pairs", tells if rows else NONE, columns, rows)

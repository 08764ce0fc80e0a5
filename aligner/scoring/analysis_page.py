"""An analysis as a page for a browser: one file, without scripts, which asks no network for anything."""

from __future__ import annotations

from html import escape

from aligner.errors import number_of
from aligner.scoring.analysis import Analysis
from aligner.scoring.analysis_tables import Cell, Column, Kind, Names, Table, scales, shown, summary, tables
from aligner.scoring.examples import Sentence
from aligner.scoring.page import with_parts

STYLES = '<link rel="stylesheet" href="base.css">\n<link rel="stylesheet" href="analysis.css">'

# column -> the colour of its bars; other bars are blue
COLOURS = {"sure": "gold", "gold": "gold", "AER": "error", "of errors": "error"}
COLOURS |= dict.fromkeys(("wrong", "missed", "without"), "error")


def as_page(
    analysis: Analysis, names: Names, signature: str, threshold: float | None, view_page: str | None
) -> str:
    """view_page: the address of the viewer's page, to which lines are linked; None: there is none"""
    *shown_tables, worst = tables(analysis, names, threshold)
    title = f"{names.hyp} against {names.gold}"
    n_src, n_tgt = (number_of(n, "word") for n in analysis.n_tokens)
    sections = [_section(n, table, _table(table, view_page)) for n, table in enumerate(shown_tables)]
    sentences = "".join(_sentence(sentence, view_page) for sentence in analysis.worst)
    sections.append(_section(len(sections), worst, f'<ol class="sentences">{sentences}</ol>'))
    contents = "".join(
        f'<li><a href="#part{n}">{escape(table.title)}</a></li>'
        for n, table in enumerate([*shown_tables, worst])
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
{with_parts(STYLES)}
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p>{number_of(analysis.n_sentences, "sentence pair")}. Source: {escape(names.src)}, {n_src}. Target:
{escape(names.tgt)}, {n_tgt}.</p>
{_scores(analysis)}
<nav aria-label="Contents"><ul>{contents}</ul></nav>
</header>
<main>
{"".join(sections)}</main>
<footer>{escape(signature)}</footer>
</body>
</html>
"""


def _scores(analysis: Analysis) -> str:
    boxes = (
        f'<div><dt>{name}</dt><dd class="number">{shown(value)}</dd><dd>{what}</dd></div>'
        for name, value, what in summary(analysis)
    )
    return f'<dl class="scores">{"".join(boxes)}</dl>'


def _section(n: int, table: Table, content: str) -> str:
    """What the table tells, and its content if it has rows."""
    wide = table.rows and any(column.kind is Kind.WORDS for column in table.columns)
    kind = ' class="wide"' if wide else ""
    return (
        f'<section id="part{n}" aria-labelledby="title{n}"{kind}>\n'
        f'<h2 id="title{n}">{escape(table.title)}</h2>\n<p>{escape(table.tells)}</p>\n'
        f"{content if table.rows else ''}\n</section>\n"
    )


def _table(table: Table, view_page: str | None) -> str:
    most = scales(table)
    heads = "".join(f'<th scope="col"{_class(column)}>{escape(column.name)}</th>' for column in table.columns)
    rows = []
    for first, *others in table.rows:
        head, *columns = table.columns
        cells = [f'<th scope="row"{_class(head)}>{_cell(first, head, most[head.bar], view_page)}</th>']
        cells += [
            f"<td{_class(column)}>{_cell(cell, column, most[column.bar], view_page)}</td>"
            for cell, column in zip(others, columns, strict=True)
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>\n")
    title = escape(table.title)
    return (
        f'<div class="scroll" role="region" aria-label="{title}, table" tabindex="0"><table>\n'
        f'<caption class="unseen">{title}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table></div>"
    )


def _class(column: Column) -> str:
    if column.kind in (Kind.COUNT, Kind.SHARE, Kind.LINE):
        return ' class="bars"' if column.bar else ' class="right"'
    return f' class="{column.kind.value}"'


def _cell(cell: Cell, column: Column, most: float, view_page: str | None) -> str:
    if column.kind is Kind.LINE:
        assert isinstance(cell, int)
        return _line(cell, view_page)
    if isinstance(cell, tuple):
        return " ".join(map(_word, cell))
    if column.kind is Kind.WORD:
        return _word(str(cell))
    if column.kind is Kind.SHARE:
        assert cell is None or isinstance(cell, float)
        text = shown(cell)
    else:
        text = escape(str(cell))
    return f"<span>{text}</span>{_bar(cell, column, most)}" if column.bar else text


def _bar(cell: Cell, column: Column, most: float) -> str:
    width = 100 * cell / most if most and isinstance(cell, int | float) else 0
    colour = COLOURS.get(column.name)
    return (
        f'<svg class="bar{f" {colour}" if colour else ""}" viewBox="0 0 100 10" preserveAspectRatio="none"'
        f' aria-hidden="true"><rect width="{width:.1f}" height="10"/></svg>'
    )


def _word(word: str) -> str:
    """A word in its own direction of writing."""
    return f"<bdi>{escape(word)}</bdi>"


def _line(line: int, view_page: str | None) -> str:
    if view_page is None:
        return str(line)
    return f'<a href="{escape(view_page)}#{line}">{line}</a>'


def _sentence(sentence: Sentence, view_page: str | None) -> str:
    """A sentence pair, and its errors as words."""
    errors = []
    for name, links in (("wrong", sentence.wrong), ("missed", sentence.missed)):
        pairs = "".join(f"<span>{_word(sentence.src[i])} ~ {_word(sentence.tgt[j])}</span>" for i, j in links)
        if pairs:
            errors.append(f'<p class="pairs"><span class="about">{len(links)} {name}:</span>{pairs}</p>')
    sides = (
        f'<p class="sentence" dir="auto">{escape(" ".join(words))}</p>'
        for words in (sentence.src, sentence.tgt)
    )
    return (
        f'<li><p class="about">Line {_line(sentence.line, view_page)}, AER {shown(sentence.aer)}</p>'
        f"{''.join(sides)}{''.join(errors)}</li>\n"
    )

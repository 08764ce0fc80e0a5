"""The script of the table of models, on little text."""

from __future__ import annotations

from compare import table


def test_every_model_is_a_row(shared):
    head, rule, *rows = table(shared / "hansards-en-fr", [200], "dev", ["ibm1"], 1).splitlines()
    assert head == "| hansards-en-fr, dev | 200 words | 200 views | seconds | MB |" and rule.count("---") == 5
    ((name, words, views, *_),) = ([cell.strip() for cell in row.strip("|").split("|")] for row in rows)
    assert name == "`ibm1`" and 10 < float(views) < float(words) < 70

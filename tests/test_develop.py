"""The script of development scores, on little text."""

from __future__ import annotations

import re

from develop import column


def test_development_sentences_are_scored(shared):
    entries = ["", "--threshold 0.9"]
    found = column(shared / "hansards-en-fr", 200, "--model ibm1 --views word", entries, alone=False)
    alone = column(shared / "hansards-en-fr", 200, "--model ibm1 --views word", entries, alone=True)
    assert found == alone, "a fixed threshold gives the same links of the same sentences"
    parts = [re.fullmatch(r"(\S+) \((\S+) / (\S+)\)", cell) for cell in found]
    (aer, precision, recall), (_, sure, few) = ([float(x) for x in part.groups()] for part in parts)
    assert 10 < aer < 60 and sure > precision and few < recall

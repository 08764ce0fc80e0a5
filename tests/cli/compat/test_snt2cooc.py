"""snt2cooc: the bytes of mgiza's program and of GIZA++'s."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import GOLDEN, run

SNT = GOLDEN / "plain2snt" / "en_fr.snt"
VCBS = GOLDEN / "plain2snt" / "en.vcb", GOLDEN / "plain2snt" / "fr.vcb"


@pytest.mark.parametrize("counts", [[], ["-counts"]])
@pytest.mark.parametrize("n_cells", [1 << 20, 300])
def test_the_bytes_are_those_of_the_originals(tmp_path, monkeypatch, counts, n_cells):
    """Of a text at once, and in parts of a few sentence pairs."""
    monkeypatch.setattr("aligner.text.cells.SCORED_CELLS", n_cells)
    expected = (GOLDEN / "plain2snt" / ".".join(["en_fr.cooc", *(x[1:] for x in counts)])).read_bytes()
    out = tmp_path / "cooc"
    out.write_bytes(b"older and longer\n" * 2000)
    assert run("snt2cooc", out, *VCBS, SNT, *counts).stdout == ""
    assert out.read_bytes() == expected
    assert run("snt2cooc", *VCBS, SNT, *counts).stdout_bytes == expected


def test_null_goes_with_all_target_words(write):
    """The words of a pair whose source is empty, too. Ids are sorted as numbers, not as strings."""
    snt = write("x.snt", "1\n10 9\n3 20\n1\n\n4\n1\n9\n\n")
    assert run("snt2cooc", "x", "y", snt).stdout == "0 3\n0 4\n0 20\n9 3\n9 20\n10 3\n10 20\n"
    assert run("snt2cooc", "x", "y", write("empty", "")).stdout == ""


def test_damage_is_refused(write):
    assert (
        "x.snt:2: the file ends within" in run("snt2cooc", "x", "y", write("x.snt", "1\n2\n"), code=1).output
    )
    odd = write("x.snt", "1\n2\n3\n1\n2 a\n3\n")
    assert "x.snt:5: an id is a whole number" in run("snt2cooc", "x", "y", odd, code=1).output
    assert "give [OUT] VCB VCB SNT" in run("snt2cooc", "x", "y", code=2).output


def test_what_was_there_is_not_lost(write):
    """Nothing is written before SNT is read, and SNT is not replaced."""
    out, snt = write("cooc", "old\n"), write("x.snt", "1\n2\n3\n")
    run("snt2cooc", out, "x", "y", write("cut.snt", "1\n2\n"), code=1)
    assert Path(out).read_text() == "old\n"
    assert "which is read: give another name" in run("snt2cooc", snt, "x", "y", snt, code=2).output
    assert Path(snt).read_text() == "1\n2\n3\n"


def test_counts_is_no_file(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "-counts behind" in run("snt2cooc", "-counts", "x", "y", write("s", "1\n2\n3\n"), code=2).output
    assert not Path("-counts").exists()

"""Model files of other versions: golden/ has a file of the format that is read, docs/upgrade.md a row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

from aligner import DataError, Model, __version__, format_links, read_corpus, store

GOLDEN = Path(__file__).parent / "golden"
FORMAT = 3  # a file of golden/ and a row of docs/upgrade.md go with another number


def rows() -> list[tuple[list[int], str, str]]:
    """(formats, written by, read by) of docs/upgrade.md."""
    page = (ROOT / "docs/upgrade.md").read_text()
    table = re.findall(r"^\| ([\d, ]+) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    return [([int(x) for x in formats.split(",")], by, read) for formats, by, read in table]


def test_the_format_is_the_documented_one():
    assert store.MAGIC == b"aligner" + bytes([FORMAT])
    (formats, written, read), *_ = rows()
    assert formats == [FORMAT] and __version__ in written and __version__ in read


def test_a_file_that_was_written_long_ago_gives_the_links_of_then(data, tmp_path):
    """Who changes what files hold has this one still read, or gives files another number."""
    model = Model.load(GOLDEN / f"format{FORMAT}.model")
    corpus = read_corpus(str(data / "sample.en"), str(data / "sample.fr")).part(0, 8)
    links = (GOLDEN / f"format{FORMAT}.links").read_bytes()
    assert format_links(model.align(corpus), "pharaoh") == links and links.count(b"-") > 30
    model.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes()[:8] == store.MAGIC


@pytest.mark.parametrize("number", [*(x for formats, _, _ in rows()[1:] for x in formats), FORMAT + 1])
def test_other_formats_are_refused_with_a_message(number, write):
    whole = (GOLDEN / f"format{FORMAT}.model").read_bytes()
    message = f"the model has format {number}, this is aligner {__version__} with format {FORMAT}"
    with pytest.raises(DataError, match=re.escape(message)) as refused:
        Model.load(write("model", whole[:7] + bytes([number]) + whole[8:]))
    assert "train it again, or use the aligner that wrote it" in str(refused.value)

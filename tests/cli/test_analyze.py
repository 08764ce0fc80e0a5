"""aligner analyze as users run it: text, JSON, a page, parts of files, and what is refused."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from trained import run

from aligner.scoring.terminal import places

VOID = {"meta", "rect"}


@pytest.fixture
def sample(data):
    """HYP GOLD --src --tgt of the sample."""
    paths = [data / f"sample.{x}" for x in ("forward", "gold", "en", "fr")]
    return [*paths[:2], "--src", paths[2], "--tgt", paths[3]]


def test_json_says_what_evaluate_says(data, sample):
    whole = json.loads(run("analyze", *sample, "--json"))
    text = "--text", data / "sample.en", data / "sample.fr"
    (scores,) = json.loads(run("evaluate", *sample[:2], "--json", *text))["hypotheses"]
    for name in ("aer", "precision", "recall"):
        assert whole["total"][name] == scores[name]
    for name in ("occurrences", "kinds", "distances", "crossing"):
        for key in ("links", "right", "wrong", "sure", "found", "missed"):
            assert sum(part[key] for part in whole[name]) == whole["total"][key]
    rare = whole["occurrences"][:3]
    assert sum(x["right"] for x in rare) / sum(x["links"] for x in rare) == scores["rare"]["precision"]
    assert whole["kinds"][0]["links"] == scores["counts"]["one_to_one"]
    assert whole["scores"] is None and whole["files"]["src"] == "sample.en"
    assert list(whole) == [
        "version", "signature", "files", "threshold", "total", "n_gold", "n_sentences", "n_tokens",
        "occurrences", "kinds", "kinds_histogram", "distances", "crossing", "src_fertility", "tgt_fertility",
        "jumps", "scores", "n_absent", "wrong_pairs", "missed_pairs", "collectors", "n_collectors",
        "unlinked", "n_unlinked", "worst",
    ]  # fmt: skip


def test_text_fits_a_terminal_and_names_the_files(sample):
    report = run("analyze", *sample)
    *lines, signature, _ = report.split("\n")
    assert max(map(places, lines)) <= 80 and signature.startswith("AER|gold:731c70d8|n:60|lines:all|")
    assert "AER         17.2  254 errors: 192 wrong links and 62 missed links\n" in report
    assert "sample.forward against sample.gold, 60 sentence pairs\nsource  sample.en, 745 words\n" in report
    assert not [line for line in lines if line != line.rstrip()]
    assert not [line for line in lines if line.endswith("one-to-")]


def test_top_is_the_number_of_examples(sample):
    for top in (0, 2):
        whole = json.loads(run("analyze", *sample, "--json", "--top", top))
        assert {
            len(whole[x]) for x in ("wrong_pairs", "missed_pairs", "collectors", "unlinked", "worst")
        } == {top}
        assert whole["n_collectors"] == 21
        assert "Garbage collectors" in run("analyze", *sample, "--top", top)


def test_wide_and_odd_words(write, tmp_path):
    """Japanese characters take two places, a combining mark none; escapes reach no terminal."""
    words = "日本語日本語日本語日本語 \x1b[31mred e\u0301 <script>alert(1)</script> \u05d0\u05d1\n"
    src = write("src\x1b[2J", words)
    tgt = write("tgt", "a b c d e\n")
    files = write("hyp", "0-0 0-1 0-2 1-1 2-2 3-3\n"), write("gold", "1-0 4-4\n"), "--src", src, "--tgt", tgt
    report = run("analyze", *files, "--page", tmp_path / "page.html")
    assert "\x1b" not in report
    assert all(shown in report for shown in ("?[2J", "日本語日本語日本…", "?[31mred"))
    assert max(map(places, report.split("\n")[:-2])) <= 80
    page = (tmp_path / "page.html").read_text()
    assert "<script" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page


class Page(HTMLParser):
    """Checks that elements are closed where they belong, and keeps what tests ask for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.seen if name == tag]


def test_page_has_tables_that_can_be_read_aloud(sample, tmp_path):
    run("analyze", *sample, "--page", tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text())
    assert len(page.all("table")) == len(page.all("caption")) == 11
    assert {x["scope"] for x in page.all("th")} == {"col", "row"}
    assert all(x["aria-hidden"] == "true" for x in page.all("svg"))
    assert {x["href"] for x in page.all("a")} == {f"#{x['id']}" for x in page.all("section")}
    assert not page.all("script") and not page.all("link") and not page.all("img")
    assert not re.search(r"https?://|url\(|@import", (tmp_path / "page.html").read_text())


def test_page_is_linked_with_the_viewer(sample, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    for view, href in (
        ("out/v i.html", "v%20i.html"),
        ("a:50%20?b=1.html", "../a%3A50%2520%3Fb%3D1.html"),
        (os.fsdecode(b"out/\xff"), "%FF"),
        ("https://x.example/v?a=1", "https://x.example/v?a=1"),
    ):
        run("analyze", *sample, "--page", "out/page.html", "--view-page", view, "--overwrite")
        links = [x["href"] for x in Page(Path("out/page.html").read_text()).all("a")]
        assert f"{href}#25" in links
        assert all(x.startswith(("#", f"{href}#")) for x in links)


def test_lines_are_those_of_the_text(data, write, sample):
    """The last sentences are counted in the whole text, which has the words that are counted, too."""
    hyp, gold = (
        write(x, "".join((data / f"sample.{x}").read_text().splitlines(True)[-6:]))
        for x in ("forward", "gold")
    )
    last = json.loads(run("analyze", hyp, gold, *sample[2:], "--last", 6, "--json"))
    assert {x["line"] for x in last["worst"]} <= set(range(55, 61))
    assert "tokens:745+884" in last["signature"] and "lines:last6" in last["signature"]
    first = json.loads(run("analyze", *sample, "--first", 6, "--json"))
    assert {x["line"] for x in first["worst"]} <= set(range(1, 7)) and first["n_sentences"] == 6


def test_words_are_counted_in_the_training_text(sample, write):
    more = "--train-src", write("train.en", "the the\n"), "--train-tgt", write("train.fr", "de\n")
    whole = json.loads(run("analyze", *sample, *more, "--json"))
    names = [part["name"] for part in whole["occurrences"] if part["links"]]
    assert names == ["0", "1"] and whole["files"]["train_src"] == "train.en"
    assert "occurs, in train.en or train.fr." in " ".join(run("analyze", *sample, *more).split())


def test_links_at_or_below_the_threshold_are_among_the_scores_only(write):
    files = write("hyp", "0-0:0.9 0-1:0.4 1-1:0.2\n"), write("gold", "0-0 1-1\n")
    text = "--src", write("src", "a b\n"), "--tgt", write("tgt", "x y\n")
    whole = json.loads(run("analyze", *files, *text, "--threshold", 0.4, "--json"))
    assert whole["total"]["links"] == 1 and whole["total"]["missed"] == 1 and whole["threshold"] == 0.4
    assert sum(part["links"] for part in whole["scores"]) == 3 and whole["n_absent"] == 0
    assert "threshold:0.4" in whole["signature"]
    assert json.loads(run("analyze", *files, *text, "--json"))["total"]["links"] == 3
    assert "Scores\n──────\n" in run("analyze", *files, *text)


def test_no_links_and_no_sure_links(write):
    text = "--src", write("src", "a\n\n"), "--tgt", write("tgt", "\nx\n")
    report = run("analyze", write("hyp", "\n\n"), write("gold", "\n\n"), *text)
    assert "AER          0.0" in report and "There are none." in report
    text = "--src", write("one.src", "a\n"), "--tgt", write("one.tgt", "x\n")
    report = run("analyze", write("some", "0-0\n"), write("possible", "0?0\n"), *text)
    assert "0 of 0 sure links are found" in report


def test_one_link_is_not_many_links(write, tmp_path):
    files = write("hyp", "0-1:0.9\n"), write("gold", "0-0 0-1\n")
    text = "--src", write("src", "a\n"), "--tgt", write("tgt", "x y\n"), "--page", tmp_path / "page.html"
    report = " ".join(run("analyze", *files, *text).split())
    for sentence in (
        "hyp against gold, 1 sentence pair source src, 1 word target tgt, 2 words",
        "1 error: 0 wrong links and 1 missed link",
        "1 of 1 link is right",
        "1 sure link is not among these links.",
        "This word pair has 1 of the 1 missed link.",
        "The text has 1 such word.",
    ):
        assert sentence in report
    page = (tmp_path / "page.html").read_text()
    assert "1 sentence pair. Source: src, 1 word." in page and "1 of 1 link is right" in page


def test_what_is_refused(data, sample, write, tmp_path):
    hyp, gold, *text = sample
    assert "--train-src and --train-tgt go together" in run("analyze", *sample, "--train-src", hyp, code=2)
    assert "--view-page is for --page" in run("analyze", *sample, "--view-page", "v.html", code=2)
    assert "exclude each other" in run("analyze", *sample, "--first", 1, "--last", 1, code=2)
    assert "links have no scores" in run("analyze", *sample, "--threshold", 0.5, code=1)
    short = write("short", "0-0\n")
    assert "score a part of them" in run("analyze", short, gold, *text, code=1)
    message = run("analyze", short, short, *text, code=1)
    assert f"the text has 60 lines, {short} has 1; take a part of them with --first N" in message
    far = write("far", "99-0\n")
    assert f"{far}:1" in run("analyze", far, short, *text, "--first", 1, code=1)
    page = write("page.html", "mine")
    assert "the file exists" in run("analyze", *sample, "--page", page, code=1)
    assert Path(page).read_text() == "mine"
    assert "which is read" in run("analyze", *sample, "--page", hyp, "--overwrite", code=2)
    assert "only one file can be -" in run("analyze", "-", "-", *text, code=2)
    assert os.listdir(tmp_path).count("page.html") == 1


def test_files_of_one_name_are_told_apart(data, tmp_path):
    for side in ("en", "fr"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "text").write_bytes((data / f"sample.{side}").read_bytes())
    text = "--src", tmp_path / "en" / "text", "--tgt", tmp_path / "fr" / "text"
    whole = json.loads(run("analyze", data / "sample.forward", data / "sample.gold", *text, "--json"))
    assert whole["files"]["src"] == str(tmp_path / "en" / "text")

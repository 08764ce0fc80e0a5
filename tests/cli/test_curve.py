"""aligner curve: its numbers are those of evaluate, and its pictures have every name and the same bytes."""

from __future__ import annotations

import importlib.util

import pytest
from conftest import ROOT
from trained import run

from aligner import LinkReader, Model, evaluate, read_corpus
from aligner.decoding.combine import above
from aligner.scoring.evaluate import Result

SCORED = ["0-0:0.9 1-1:0.6 2-1:0.2", "0-0:0.8 0-1:0.6", "1-1:0.1 2-2:0.7"]
PLAIN = ["0-0 1-1", "0-0", "2-2 0-0"]
GOLD = ["0-0 1-1 2?1", "0-0", "1-1 2-2"]
TEXT = ["a b c", "a b", "a b c"], ["x y", "x y", "x y z"]


def lines(rows: list[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


@pytest.fixture
def files(write) -> dict[str, str]:
    src, tgt = (write(name, lines(rows)) for name, rows in zip(("src", "tgt"), TEXT, strict=True))
    links = {"scored": SCORED, "plain": PLAIN, "gold": GOLD}
    return {name: write(name, lines(rows)) for name, rows in links.items()} | {"src": src, "tgt": tgt}


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("curve") / "model"
    sample = [ROOT / "data" / f"sample.{side}" for side in ("en", "fr")]
    run("train", *sample, "-q", "--threads", 1, "--fast", "--model", "hmm", "--iterations", 1, "-o", path)
    return str(path)


def table(*arguments: object) -> list[dict[str, str]]:
    """The rows of the TSV that `aligner curve` prints."""
    head, *rows = (line.split("\t") for line in run("curve", *arguments).splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


def scores(links: str, gold: str, threshold: float | None = None, **options) -> Result:
    found = LinkReader(links).read()
    found = found if threshold is None else above(found, threshold)
    return evaluate([found], LinkReader(gold).read(), n_samples=0, **options).results[0]


def assert_row(row: dict[str, str], result: Result) -> None:
    for label, key in (("precision", "precision"), ("recall", "recall"), ("AER", "aer"), ("F1", "f1")):
        assert row[label] == f"{100 * result.scores[key]:.4f}"
    assert int(row["links"]) == result.statistics[:, 0].sum()


def test_rows_are_scores_at_thresholds(files):
    rows = table(f"ours={files['scored']}", files["plain"], "--gold", files["gold"])
    assert [row["name"] for row in rows] == 6 * ["ours"] + [files["plain"]]
    assert [row["threshold"] for row in rows] == [
        "0.850000", "0.750000", "0.650000", "0.400000", "0.150000", "0.050000", ""
    ]  # fmt: skip
    for row in rows[:-1]:
        assert_row(row, scores(files["scored"], files["gold"], float(row["threshold"])))
    assert_row(rows[-1], scores(files["plain"], files["gold"]))
    ends = table(files["scored"], "--gold", files["gold"], "--last", 1)
    assert [(row["links"], row["recall"]) for row in ends] == [("1", "50.0000"), ("2", "100.0000")]


def test_a_model_has_the_curve_of_its_links(model, data, write):
    text, gold = [data / "sample.en", data / "sample.fr"], ["--gold", data / "sample.gold"]
    for system, options in (("soft-union", []), ("reverse", ["--direction", "reverse"])):
        links = write(system, run("decode", model, *text, "--threshold", 0, "--scores", *options))
        asked = ["--system", system] if options else []
        rows = table(f"x={model}", *gold, "--text", *text, *asked)
        assert rows == table(f"x={links}", *gold) and 400 < len(rows) <= 500  # there are more points
        for row in rows[5::150]:
            assert_row(row, scores(links, str(data / "sample.gold"), float(row["threshold"])))
    for threshold, given in ((Model.load(model).threshold, []), (0.7, ["--threshold", 0.7])):
        (row,) = table("--kind", "learning", f"60={model}", *gold, "--text", *text, *given)
        links = write("links", run("decode", model, *text, "--threshold", threshold))
        assert_row(row, scores(links, str(data / "sample.gold")))
    assert "has 60 sentence pairs, 3 are scored" in run(
        "curve", model, "--gold", write("g", lines(GOLD)), "--text", *text, code=1
    )


def test_calibration_counts_right_links(files):
    rows = table("--kind", "calibration", f"x={files['scored']}", "--gold", files["gold"])
    assert [[row[key] for key in ("above", "up to", "links", "score", "right")] for row in rows] == [
        ["0", "0.1", "1", "10.0000", "100.0000"],
        ["0.1", "0.2", "1", "20.0000", "100.0000"],
        ["0.5", "0.6", "2", "60.0000", "50.0000"],
        ["0.6", "0.7", "1", "70.0000", "100.0000"],
        ["0.7", "0.8", "1", "80.0000", "100.0000"],
        ["0.8", "0.9", "1", "90.0000", "100.0000"],
    ]


def test_learning_is_by_name_and_size(files):
    some = [f"b:1.5k={files['plain']}", f"a:20={files['scored']}", f"b:90={files['scored']}"]
    rows = table("--kind", "learning", *some, "--gold", files["gold"])
    assert [(row["name"], row["size"]) for row in rows] == [("b", "90"), ("b", "1500"), ("a", "20")]
    for row, file in zip(rows, ("scored", "plain", "scored"), strict=True):
        assert_row(row, scores(files[file], files["gold"]))
    (row,) = table("--kind", "learning", f"1M={files['scored']}", "--gold", files["gold"], "--at-recall", 0.5)
    assert row["threshold"] == "0.650000" and row["recall"] == "60.0000" and row["size"] == "1000000"


def test_rare_words_are_scored_apart(files, write):
    text, options = read_corpus(files["src"], files["tgt"]), ["--text", files["src"], files["tgt"]]
    frequent = [write(name, lines([words] * 6)) for name, words in (("s", "a b c"), ("t", "x y z"))]
    for more, counted in (([], None), (["--counts", *frequent], read_corpus(*frequent))):
        (row,) = table("--kind", "rare", f"7={files['plain']}", "--gold", files["gold"], *options, *more)
        result = scores(files["plain"], files["gold"], text=text, counted=counted)
        for part in ("rare", "common"):
            for key in ("precision", "recall"):
                assert row[f"{part} {key}"] == f"{100 * getattr(result, part)[key]:.4f}"


@pytest.mark.parametrize(
    "options, message",
    [
        (["scored", "scored"], "two files are called"),
        (["--kind", "learning", "scored"], "has no size: give SIZE=FILE"),
        (["--kind", "learning", "x:0=scored"], "has no size: give SIZE=FILE"),
        (
            ["--kind", "learning", "9=scored", "9=plain"],
            "without a name of size 9: give them names, as in NAME:SIZE",
        ),
        (["--kind", "learning", "9K=scored"], "with k for thousands and M for millions"),
        (["x\ty=scored"], "a name has no tabs and no line ends"),
        (["scored", "--lowercase"], "--counts and --lowercase are for --kind rare"),
        (["scored", "--at-recall", 0.5], "are for --kind learning or rare"),
        (["=scored"], "is neither FILE nor NAME=FILE"),
        (["--kind", "rare", "9=scored"], "--kind rare needs --text"),
        (["scored", "--system", "product"], "--system is for models, and there is none"),
        (["scored", "-o", "curve.gif"], "does not end in .svg, .png, .pdf or .tsv"),
        (["scored", "--first", 1, "--last", 1], "exclude each other"),
    ],
)
def test_what_makes_no_sense_is_refused(files, options, message):
    words = [str(x).replace("scored", files["scored"]).replace("plain", files["plain"]) for x in options]
    assert message in run("curve", *words, "--gold", files["gold"], code=2)


def test_links_that_have_no_curve(files, model, write):
    gold = "--gold", files["gold"]
    assert "needs --text" in run("curve", model, *gold, code=2)
    no_scores = "--kind", "calibration", files["plain"]
    assert "calibration needs links with scores" in run("curve", *no_scores, *gold, code=1)
    high = write("high", lines(["0-0:0.5", "0-0:1.5", ""]))
    assert "high:2: score 1.5" in run("curve", "--kind", "calibration", high, *gold, code=1)
    message = run("curve", "--kind", "calibration", high, *gold, "--last", 2, code=1)  # lines are not known
    assert f"aligner: {high}: score 1.5 of link 0-0 is not between 0 and 1" in message
    equals = write("a=b", lines(SCORED))
    assert f"as in NAME={equals}" in run("curve", equals, *gold, code=2)
    assert table(f"x={equals}", *gold) == table(f"x={files['scored']}", *gold)
    short = "--text", write("short", lines(["a b c", "a b", "a b"])), files["tgt"]
    assert "scored:3: link 2-2 of sentence 3 is outside" in run(
        "curve", files["scored"], *gold, *short, code=1
    )
    learning = "--kind", "learning", f"9={files['plain']}"
    assert "the links have no scores" in run("curve", *learning, *gold, "--at-recall", 0.5, code=1)
    far = "--kind", "learning", f"9={high}"
    message = run("curve", *far, *gold, "--at-recall", 0.9, code=1)
    assert message == f"aligner: {high} never has recall 0.9; its best recall is 0.4000\n"


def test_a_model_aligns_the_text_of_the_gold_links(model, data, write):
    gold, sides = ["--gold", data / "sample.gold"], [data / "sample.en", data / "sample.fr"]
    for asked in ([model], ["--kind", "rare", f"9={model}"]):
        message = run("curve", *asked, *gold, "--text", *reversed(sides), code=1)
        assert "sample.gold:1: link" in message and "is outside its pair" in message
    joined = [write(side.name, side.read_text().replace(" ", "\u00a0", 1)) for side in sides]
    other = f"{model}.unicode"
    run("train", *joined, "-q", "--fast", "--model", "ibm1", "--split", "unicode", "-o", other)
    rare = "--kind", "rare", f"9={other}", *gold, "--text", *joined
    assert "was split unicode: do the same with --split" in run("curve", *rare, code=2)
    assert len(table(*rare, "--split", "unicode")) == 1


def test_pictures_are_the_same_bytes_and_have_all_names(files, tmp_path):
    matplotlib = pytest.importorskip("matplotlib", reason="pictures need the extra word-aligner[plot]")
    names = ["_ours", "a $x$ & <b>", "plain"]
    some = [f"{name}={files['plain' if name == 'plain' else 'scored']}" for name in names]
    for name, magic in (("0.svg", b"<?xml"), ("1.svg", b"<?xml"), ("0.png", b"\x89PNG"), ("0.pdf", b"%PDF")):
        with matplotlib.rc_context(
            {"axes.facecolor": "black" if name == "1.svg" else "white"}
        ):  # what users have set
            run("curve", *some, "--gold", files["gold"], "-o", path := tmp_path / name, "--title", "T$")
        assert path.read_bytes().startswith(magic)
    assert (tmp_path / "0.svg").read_bytes() == (tmp_path / "1.svg").read_bytes()
    svg = (tmp_path / "0.svg").read_text()
    for text in ("_ours", "a $x$ &amp; &lt;b&gt;", "plain", "T$", "recall (%)", "precision (%)"):
        assert f">{text}</text>" in svg
    sizes = [f"{name}:{size}={files['scored']}" for name in ("a", "b") for size in ("1k", "30k")]
    rare = "--kind", "rare", "--text", files["src"], files["tgt"]
    run("curve", *rare, *sizes, "--gold", files["gold"], "-o", tmp_path / "rare.svg")
    svg = (tmp_path / "rare.svg").read_text()
    assert [svg.count(f">{text}</text>") for text in ("common words", "rare words", "1k", "30k")] == [
        2,
        2,
        4,
        4,
    ]
    run("curve", "--kind", "calibration", *some[:2], "--gold", files["gold"], "-o", tmp_path / "c.svg")


def test_without_matplotlib_there_are_numbers(files, tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "matplotlib" else real(name))
    gold = "--gold", files["gold"]
    message = run("curve", files["scored"], *gold, "-o", tmp_path / "a.svg", code=1)
    assert "pictures need matplotlib" in message and "word-aligner[plot]" in message and ".tsv" in message
    run("curve", files["scored"], *gold, "-o", tmp_path / "a.tsv")
    assert (tmp_path / "a.tsv").read_text() == run("curve", files["scored"], *gold)
    assert not (tmp_path / "a.svg").exists()

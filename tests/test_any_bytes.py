"""Any bytes in any file that is read: a result, or a message that names the file. Never a traceback."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import random
import re
import time
from collections.abc import Callable
from typing import BinaryIO

import pytest
from click.testing import CliRunner
from conftest import ROOT
from fuzz import CRAFTED
from hypothesis import given, settings
from hypothesis import strategies as st

from aligner import (
    Combiner,
    Corpus,
    DataError,
    LinkReader,
    Links,
    Model,
    Recipe,
    learn,
    learn_combiner,
    read_corpus,
)
from aligner.cli import cli
from aligner.cli.compat.giza_parameters import Parameters
from aligner.cli.evaluate import signature_of
from aligner.cluster.counted import Counted
from aligner.cluster.jobs import begin, count, update
from aligner.cluster.shards import TextShard, in_text_shards
from aligner.compat.eflomal.numbered import read_numbered_priors
from aligner.compat.eflomal.numbered import read_sentences as read_numbered_text
from aligner.compat.fast_align import read_table, read_tension
from aligner.compat.giza import read_vcbs
from aligner.lexicons.formats import FORMATS as TABLES
from aligner.lexicons.formats import Giza
from aligner.links.formats import FORMATS as LINKS
from aligner.links.priors import read_priors
from aligner.links.turns import TurnReader
from aligner.text.classes import read_classes
from aligner.text.fast_align import read_pairs, stream_pairs
from aligner.text.giza import numbered, read_snt, read_vcb
from aligner.text.reading import LAYOUTS, read_lines, read_sentences, stream_corpus
from aligner.training.prior import read_prior
from aligner.uses.conllu import read_conllu
from aligner.uses.spans import SpanFile, score_spans

PATIENCE = 20  # seconds after which a small file is one that hangs

# What readers look for, what they may fall over, and how files of other kinds begin.
NUMBERS = [b"0", b"-1", b"2147483647", b"2147483648", b"9" * 19, b"9" * 5000, b"1e400", b"nan", b"0.5", b"x"]
FRAGMENTS = [
    *NUMBERS,
    *(b"", b"\n", b"\n\n", b"\r\n", b"\r", b"\t", b" ", b"\x00", b"\x0b", b"|||", b" ||| ", b"||| |||"),
    *(b"1", b"+1", b"1_0", b"00", b"-1e400", b"inf", b"-inf", b"1e-400", b"0x1", b".", b"1,5"),
    *(b"0-0", b"1-", b"-1-1", b"0?1", b"0p1", b"0-0:0.5", b"0-0-0.5", b"0:0", b"S", b"P", b"NULL", b"<eps>"),
    *(b"({ 1 })", b"({", b"})", b"# Sentence pair (1)", b"<s snum=1> a </s>", b"<s snum=", b"LEX", b"HMMF"),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", "\u00a0\u3000\u2028\u0085".encode()),
    *("\u0663".encode(), "\u00b2".encode(), "\u00e9\u4e00".encode(), "e\u0301".encode()),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"\x1f\x8b\x08\x00", b"BZh9", b"BZh91AY&SY"),
    *(b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"aligner\x03", b"aligner\x03" + bytes(12), b"[" * 20_000),
    *(b"{}", b'{"signature": ', b"//", b"final tension: "),
]


@st.composite
def damaged(draw, whole: bytes) -> bytes:
    """A good file, some bytes of which are others."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(whole)))
        stop = start + draw(st.sampled_from([0, 0, 1, 2, 5, len(whole)]))
        more = draw(st.sampled_from(FRAGMENTS) | st.binary(max_size=6))
        whole = whole[:start] + more + whole[stop:]
    return whole


@st.composite
def changed(draw, whole: bytes) -> bytes:
    """A good file, a word or two of which are others."""
    words = re.split(rb"([ \t\n])", whole)
    for _ in range(draw(st.integers(1, 2))):
        other = st.sampled_from(NUMBERS) | st.sampled_from(FRAGMENTS)
        words[2 * draw(st.integers(0, len(words) // 2))] = draw(other)
    return b"".join(words)


def contents(whole: bytes) -> st.SearchStrategy[bytes]:
    """Files that are not far from a good one, and files that are."""
    parts = st.lists(st.sampled_from(FRAGMENTS), max_size=12)
    far = parts.map(b"".join) | parts.map(b" ".join) | st.binary(max_size=60)
    return st.one_of(changed(whole), changed(whole), damaged(whole), far)


# Readers: name -> a good file, and what reads a file

BARS = b"a b ||| x y\nc ||| z\n\n ||| \n".replace(b"\n\n", b"\n||| \n")
TSV = b"a b\tx y\nc\tz\n"
HANSARDS = b"<s snum=1> a b </s>\n<s snum=2> c </s>\n"
VCB = b"1 UNK 0\n2 a 3\n3 b 1\n"
SNT = b"1\n2 3\n2 2 3\n1\n3\n2\n"
TEXT = Corpus.from_pairs([("a b", "x y"), ("a", "x")])
LINES = {
    "pharaoh": b"0-0 1-1 1-0\n0-0\n",
    "scored": b"0-0:0.5 1-1:1\n0-0:0.25\n",
    "gold": b"0-0 1?1\n0-0\n",
    "talp": b"1-1 2p2\n1-1\n",
    "wpt": b"0001 1 1 S\n0001 2 2 P\n0002 1 1\n",
    "simalign": b"0\t0-0 1p1\n1\t0-0\n",
    "a3": b"# Sentence pair (1) source length 2 target length 2 alignment score : 0.1\n"
    b"x y\nNULL ({ 2 }) a ({ 1 }) b ({ })\n# Sentence pair (2) source length 1 target length 1"
    b" alignment score : 1e-05\nx\nNULL ({ }) a ({ 1 })\n",
    "a3-reverse": b"# Sentence pair (1) source length 2 target length 2 alignment score : 0.1\n"
    b"a b\nNULL ({ 2 }) x ({ 1 }) y ({ })\n# Sentence pair (2) source length 1 target length 1"
    b" alignment score : 1e-05\na\nNULL ({ }) x ({ 1 })\n",
    "bal": b"1\n2 x y # 1 0\n2 a b # 1 2\n1\n1 x # 1\n1 a # 1\n",
}
PRIORS = b"LEX\ta\tx\t2.5\nLEX\tb\ty\t1\nHMMF\t1\t3\nHMMR\t-1\t2\nFERF\ta\t1\t2\nFERR\tx\t2\t1\n"
PRINTED = {
    "tsv": b"a\tx\t0.5\t0.25\nb\ty\t1\t\n",
    "fast_align": b"a\tx\t-0.5\n<eps>\ty\t-2\n",
    "giza": b"2 3 0.5\n0 2 0.25\n",
}
CONLLU = b"# a\n1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_\n" + b"".join(
    b"%d\tw\t_\tX\t_\t_\t%d\td\t_\tNER=B-X\n" % (n, n - 1) for n in (1, 2)
)
READERS: dict[str, tuple[bytes, Callable[[str], object]]] = {
    "text, two files": (b"a b\nc\n", lambda path: read_corpus(path, path)),
    "text of Hansards": (HANSARDS, lambda path: read_corpus(path, path)),
    "text, split": (BARS, lambda path: read_corpus(path, split="unicode", lowercase=True)),
    "text, detected": (TSV, lambda path: read_corpus(path)),
    "text, as it comes": (BARS, lambda path: list(stream_corpus(path))),
    "text, one side": (b"a b\nc\n", lambda path: read_sentences(path)),
    "text of fast_align": (BARS, read_pairs),
    "text of fast_align, as it comes": (BARS, lambda path: list(stream_pairs(path))),
    "lines": (b"a\nb\n", lambda path: list(read_lines(path))),
    "compressed": (gzip.compress(BARS, mtime=0), lambda path: read_corpus(path)),
    "compressed by xz": (lzma.compress(BARS), lambda path: read_corpus(path)),
    "vcb": (VCB, read_vcb),
    "vcb of any encoding": (VCB, lambda path: read_vcbs([path, path])),
    "snt": (SNT, lambda path: read_snt(path, numbered(TEXT.src), numbered(TEXT.tgt))),
    "classes": (b"a\t2\nb\t3\n", read_classes),
    "links, detected": (LINES["gold"], lambda path: LinkReader(path).read()),
    "links in bars": (b"a ||| b ||| 0-0\n", lambda path: LinkReader(path, bars=True).read()),
    "links that take turns": (LINES["pharaoh"], lambda path: list(TurnReader(path).directions())),
    "links of both directions": (LINES["bal"], lambda path: list(LinkReader(path, "bal").directions())),
    "links in parts": (LINES["a3"], lambda path: LinkReader([path, os.devnull], "a3").read()),
    "priors": (PRIORS, read_priors),
    "priors or a model": (PRIORS, read_prior),
    "table of fast_align": (PRINTED["fast_align"], read_table),
    "what fast_align told": (b"  final tension: 4.2\n", read_tension),
    "configuration of GIZA++": (
        b"m1 : 5\nmodel4smoothfactor 0.4\n// no\n",
        lambda x: Parameters.of(mgiza=True).read_file(x),
    ),
    "CoNLL-U": (CONLLU, lambda path: [sentence.heads() for sentence in read_conllu(path)]),
    "spans": (CONLLU, lambda path: score_spans(SpanFile(path), SpanFile(path))),
    "spans in columns": (b"a B-X\nb O\n", lambda path: score_spans(SpanFile(path), SpanFile(path))),
    "standoff spans": (b"1\t0\t1\tX\n", lambda path: score_spans(SpanFile(path), SpanFile(path))),
    "log of a run": (b'{"signature": "model:hmm"}\n', signature_of),
}


def numbers(read: Callable[..., object]) -> Callable[[str], object]:
    """A reader of eflomal's numbered lines, which a program reads from a file."""
    return lambda path: read(read_lines(path), path)


READERS["numbered text"] = b"2 3\n2 0 1\n1 2\n", numbers(read_numbered_text)
READERS["numbered priors"] = b"2 2 1 1 0 0 1\n1 2 0.5\n1 3\n1 2 4\n", numbers(read_numbered_priors)
for encoding in ("utf-16", "latin-1", "shift_jis", "utf-7", "iso2022_jp", "gb18030"):
    READERS[f"text in {encoding}"] = (
        "a b ||| x\n".encode(encoding),
        lambda path, encoding=encoding: read_corpus(path, encoding=encoding),
    )
for layout in LAYOUTS:
    READERS[f"text, {layout}"] = (
        TSV if layout == "tsv" else BARS,
        lambda path, layout=layout: read_corpus(path, layout=layout),
    )
for name in LINKS:
    whole = LINES["bal" if name == "bal-reverse" else name]
    READERS[f"links, {name}"] = whole, lambda path, name=name: LinkReader(path, name).read()
    READERS[f"links of a text, {name}"] = (
        whole,
        lambda path, name=name: LinkReader(path, name, text=TEXT).read(),
    )
for name, table in TABLES.items():
    table = Giza(({"a": 2, "b": 3}, {"x": 2, "y": 3})) if name == "giza" else table
    READERS[f"table, {name}"] = PRINTED.get(name, b"x a 0.5\ny NULL 0.25\n"), table.read


FOUND = [  # what once was a traceback
    ("priors", b"FERF\ta\t" + b"9" * 19 + b"\t1\n"),
    ("log of a run", b"[" * 100_000),
    ("numbered text", b"9" * 5000 + b" 3\n"),
    ("numbered text", b"9" * 19 + b" 3\n"),
    ("numbered text", b"1 3\n1 " + b"9" * 5000 + b"\n"),
    ("numbered priors", b"2 2 1 1 0 0 1\n" + b"9" * 5000 + b" 2 0.5\n"),
]


@pytest.mark.parametrize("name, content", FOUND, ids=lambda x: x if isinstance(x, str) else "")
def test_what_was_found(write, name, content):
    path = write("any", content)
    with pytest.raises(DataError) as refused:
        READERS[name][1](path)
    assert refused.value.file == path


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=50)
@given(data=st.data())
def test_readers(tmp_path_factory, name, data):
    whole, read = READERS[name]
    path = str(tmp_path_factory.getbasetemp() / "any")
    with open(path, "wb") as file:
        file.write(data.draw(contents(whole)))
    began = time.monotonic()
    try:
        read(path)
    except DataError as error:
        assert path in str(error)
    assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize("name", READERS)
def test_the_good_files_are_good(tmp_path, name):
    whole, read = READERS[name]
    (tmp_path / "good").write_bytes(whole)
    read(str(tmp_path / "good"))


# Commands: what follows the reading

SAMPLE = [str(ROOT / "data" / f"sample.{side}") for side in ("en", "fr")]
PLAIN = ["-q", "--threads", "1", "--model", "hmm", "--ibm1-iterations", "1", "--iterations", "1"]
SHORT = ["--fast", *PLAIN]
COMMANDS: dict[str, tuple[bytes, list[str]]] = {
    "align": (BARS, ["align", "{file}", *SHORT]),
    "align --classes": (BARS, ["align", "{file}", *SHORT, "--classes", "2"]),
    "align --class-files": (b"the\t2\n", ["align", *SAMPLE, *SHORT, "--class-files", "{file}", "{file}"]),
    "align --given": (LINES["pharaoh"], ["align", *SAMPLE, *SHORT, "--given", "{file}"]),
    "align --prior": (PRIORS, ["align", *SAMPLE, *PLAIN, "--views", "word", "--prior", "{file}"]),
    "check": (BARS, ["check", "{file}"]),
    "check --links": (LINES["gold"], ["check", *SAMPLE, "--links", "{file}"]),
    "classes": (b"a b\nc a\n", ["classes", "{file}", "--rounds", "2"]),
    "convert": (LINES["scored"], ["convert", "{file}"]),
    "convert to gold": (LINES["talp"], ["convert", "{file}", "--to", "gold"]),
    "convert to wpt": (LINES["gold"], ["convert", "{file}", "--to", "wpt"]),
    "evaluate": (LINES["pharaoh"], ["evaluate", "{file}", "{file}", "--bootstrap", "10"]),
    "symmetrize": (LINES["pharaoh"], ["symmetrize", "{file}", "{file}"]),
    "symmetrize one file": (LINES["bal"], ["symmetrize", "{file}"]),
    "symmetrize scores": (LINES["scored"], ["symmetrize", "{file}", "{file}", "--method", "soft-union"]),
    "analyze": (LINES["pharaoh"], ["analyze", "{file}", "{file}", "--src", "{file}", "--tgt", "{file}"]),
    "curve": (LINES["scored"], ["curve", "{file}", "--gold", "{file}"]),
    "view --text": (BARS, ["view", "{file}", "--text", "--links", "{file}"]),
    "lexicon": (
        PRINTED["tsv"],
        ["lexicon", "--from", "tsv", "{file}", "--format", "moses", "--direction", "forward"],
    ),
    "symal": (LINES["bal"], ["symal", "-i={file}", "-a=grow", "-d=yes", "-f=yes", "-b=yes"]),
    "atools": (LINES["pharaoh"], ["atools", "-i", "{file}", "-j", "{file}", "-c", "grow-diag-final-and"]),
    "plain2snt": (b"a b\n", ["plain2snt", "{file}", "{file}"]),
    "mkcls": (b"a b\n", ["mkcls", "-n1", "-p{file}", "-V{file}.classes"]),
}


@pytest.mark.parametrize("name", COMMANDS)
@settings(max_examples=12)
@given(data=st.data())
def test_commands(tmp_path_factory, name, data):
    whole, command = COMMANDS[name]
    path = str(tmp_path_factory.getbasetemp() / "any")
    with open(path, "wb") as file:
        file.write(data.draw(contents(whole)))
    result = CliRunner().invoke(cli, [word.format(file=path) for word in command])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1), result.output
    assert result.exit_code == 0 or "any" in result.stderr and result.stderr.count("\n") >= 1


# Files of aligner itself, whose checksums are right: what is not refused can be used

PAIRS = Corpus.from_pairs([("a b c", "x y z"), ("a b", "x y"), ("c a", "z x"), ("b", "y")])


@pytest.fixture(scope="module")
def own_files(tmp_path_factory) -> dict[str, tuple[bytes, Callable[[str], object]]]:
    """kind -> a good file, and what reads and uses a file"""
    path = tmp_path_factory.mktemp("own") / "file"

    def written(write: Callable[[BinaryIO], None]) -> bytes:
        with open(path, "wb") as out:
            write(out)
        return path.read_bytes()

    left: list[bytes] = []
    loo = Recipe.of("loo", ibm1_iterations=1, views=["word", "prefix1"])
    model = learn(PAIRS, loo, checkpoint=lambda m: left.append(written(m.write)))[0]
    began = begin(PAIRS, Recipe.of("hmm", ibm1_iterations=1, iterations=1, views=["word"]))
    shards = list(in_text_shards(PAIRS, began.recipe, 2, began.facts["text"]))
    began = update(began, [count(began, shard) for shard in shards])
    one, two = (count(began, shard) for shard in shards)
    gold = Links.from_pairs([[(0, 0), (1, 1)], [(0, 0)], [(0, 0), (1, 1)], []])
    combiners = {
        name: learn_combiner(model, PAIRS, gold, force=True, structure=structure, words=structure == "none")
        for name, structure in (("combiner", "none"), ("structured combiner", "fertility"))
    }
    return {
        **{
            name: (written(x.combiner.write), lambda path: Combiner.load(path).align(model, PAIRS))
            for name, x in combiners.items()
        },
        "model": (written(model.write), lambda path: Model.load(path).align(PAIRS)),
        "checkpoint": (left[-2], lambda path: learn(PAIRS, loo, resume=Model.load(path))),
        "shard": (written(shards[0].write), lambda path: count(began, TextShard.load(path))),
        "counts": (written(one.write), lambda path: update(began, [Counted.load(path), two])),
    }


@pytest.mark.parametrize(
    "kind", ["model", "checkpoint", "shard", "counts", "combiner", "structured combiner"]
)
@settings(max_examples=60)
@given(seed=st.integers(0, 10**9), n=st.integers(0, 3))
def test_own_files(tmp_path_factory, own_files, kind, seed, n):
    whole, use = own_files[kind]
    path = tmp_path_factory.getbasetemp() / "own"
    path.write_bytes(CRAFTED[n](random.Random(seed), whole, own_files["model"][0]))
    with contextlib.suppress(DataError):
        use(str(path))


def test_own_files_are_good(tmp_path, own_files):
    for whole, use in own_files.values():
        (tmp_path / "good").write_bytes(whole)
        use(str(tmp_path / "good"))

"""Searches for files that a reader cannot bear, guided by the branches that the readers take (atheris).

    scripts/fuzz-readers [--minutes 60] [--keep FOLDER]

A file is made of shipped and of found examples. Each reader is given it, once as files are read, and once
in blocks of two lines from chunks of seven bytes. What counts as a mistake of ours:

    crash       an access outside an array, an undefined operation, a signal, too much time or memory
    traceback   an exception that is no message for users
    difference  whole and in small blocks the file says something else
    lost        what was read is written and read again, and is not the same

A mistake is told once for each place of the code. FOLDER keeps files that show mistakes, and the examples
that were found: a later search goes on with them. Minutes are those of the processor, so that a search on
a busy machine tries as many files. At the end each reader has a line: files tried, seconds.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

import atheris
import numpy as np

with atheris.instrument_imports(include=["aligner"]):
    from aligner import (
        Combiner,
        DataError,
        LinkReader,
        Links,
        Model,
        Recipe,
        files,
        format_links,
        learn,
        learn_combiner,
        read_corpus,
        store,
    )
    from aligner.cli.compat.giza_parameters import Parameters
    from aligner.compat.eflomal.numbered import read_numbered_priors, read_sentences
    from aligner.compat.fast_align import read_table, read_tension
    from aligner.lexicons.dictionary import read_dictionary
    from aligner.lexicons.formats import FORMATS as LEXICONS
    from aligner.lexicons.formats import Giza
    from aligner.links import formats as link_formats
    from aligner.links.formats import FORMATS as LINKS
    from aligner.links.formats import parts as link_parts
    from aligner.links.priors import read_priors
    from aligner.text import fast_align as text_fast_align
    from aligner.text import giza as text_giza
    from aligner.text import reading
    from aligner.text.classes import read_classes
    from aligner.text.corpus import Corpus
    from aligner.text.fast_align import read_pairs
    from aligner.text.giza import cooccurrences, read_snt, read_vcb
    from aligner.text.reading import LAYOUTS, read_lines, stream_corpus
    from aligner.text.sides import Side
    from aligner.text.subwords import Retokenised, TokenFile
    from aligner.text.vocabulary import read_vocabulary
    from aligner.uses.conllu import Sentence, read_conllu
    from aligner.uses.spans import SpanFile, Spans, format_spans

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "cli" / "compat" / "golden"
ENCODINGS = ("utf-8", "latin-1", "utf-16", "cp1252", "shift_jis", "gb18030", "utf-7", "utf-8-sig")
SMALL = (  # module, name of what says how much is read at a time, a small value
    (files, "CHUNK", 7),
    (reading, "BLOCK", 2),
    (text_giza, "BLOCK", 2),
    (text_fast_align, "BLOCK", 2),
    (link_formats, "BLOCK", 2),
    (link_parts, "BLOCK", 6),
)
USUAL = tuple((module, name, getattr(module, name)) for module, name, _ in SMALL)
# That mean something to some reader, as libFuzzer writes them. The search puts them into files.
WORDS = (
    *("||| ", "\\x09", "\\x0a", "\\x0d\\x0a", "\\x00\\x0a", "\\xef\\xbb\\xbf", "\\xff\\xfe", "\\xc2\\xa0"),
    *("-1", "2147483647", "2147483648", "99999999999999999999", "1e999", "-1e999", "nan", "inf", "1_0"),
    *("<s snum=", "</s>", "NULL", "({ ", "}) ", "# Sentence pair (", "<eps>", "LEX\\x09", "FERF\\x09"),
    *("HMMF\\x09", "final tension:", "?", "p", " S", " P", ":0.5", " : ", "// ", "1  # "),
    *("@@ ", "\\xe2\\x96\\x81", "##", "</w>", "<0xF0>", "\\xc4\\xa0", "&apos;", "<unk>"),
    *("[UNK]", "NER=B-", "\\x09_", "1-2\\x09"),
)  # fmt: skip
LONGEST = 12288  # bytes of a file
PATIENCE = 600  # seconds for a file, long enough for a busy machine
Reader = Callable[[str], object]


# The readers: what they make of a file, to be compared


def told(found: Any) -> Any:
    """What a reader found, to be compared with what it finds in small blocks."""
    if isinstance(found, Corpus):
        return told(found.src), told(found.tgt)
    if isinstance(found, Side):
        return [found.sentence(n) for n in range(len(found.offsets) - 1)]
    if isinstance(found, Links):
        arrays = (found.offsets, found.src, found.tgt, found.sure, found.scores)
        return [None if x is None else x.tolist() for x in arrays]
    return repr(found)


def halves(path: str) -> tuple[str, str]:
    """Two files of one, which are separated by a byte of 0 and a newline."""
    one, _, other = Path(path).read_bytes().partition(b"\0\n")
    for name, content in (("1", one), ("2", other)):
        Path(path + name).write_bytes(content)
    return path + "1", path + "2"


def streamed(path: str) -> object:
    found = [told(side) for part in stream_corpus(path) for side in (part.src, part.tgt)]
    return sum(found[0::2], []), sum(found[1::2], [])


def links_of(format: str | None, base: int | None = None, **more: Any) -> Reader:
    """Reads links, writes them in the same format, if that keeps all of them, and reads them again."""

    def read(path: str) -> object:
        reader = LinkReader(path, format, base, **more)
        links = reader.read()
        style = LINKS[reader.format or "pharaoh"]
        if style.written and not style.losses(links) and style.lines == 1 and len(links):
            again = Path(path + "1")
            again.write_bytes(format_links(links, reader.format or "pharaoh", base=reader.base))
            same = LinkReader(str(again), reader.format, reader.base).read()
            if told(same) != told(links) and not style.sparse:
                raise Lost(f"{told(links)} became {told(same)}")
        return links

    return read


def parts(path: str) -> object:
    return LinkReader(halves(path)).read()


def both(path: str) -> object:
    return [(told(a), told(b)) for _, a, b in LinkReader(path, "bal").directions()]


def loaded(path: str, load: Callable[[str], Any]) -> Any:
    """What is in a file of ours with right checksums: of one that has a header, an empty line, and arrays."""
    header, _, arrays = Path(path).read_bytes().partition(b"\n\n")
    header += b" " * (-(store.HEAD + len(header)) % store.ALIGNMENT)
    Path(path + "1").write_bytes(store.MAGIC + struct.pack("<QI", len(header), 0) + header + arrays)
    with mock.patch("aligner.store.zlib.crc32", lambda *_: 0):
        return load(path + "1")


def model(path: str) -> object:
    found = loaded(path, Model.load)
    return repr(found), [told(x) for x in found.align([("a b", "x y")])]


def combiner(path: str) -> object:
    found = loaded(path, Combiner.load)
    return repr(found), told(found.align(small("loo"), [("a b", "x y")]))


def sides(found: tuple[Corpus, dict[int, str]]) -> object:
    return told(found[0]), found[1]


def giza(path: str) -> object:
    src, tgt = (read_vcb(str(GOLDEN / "plain2snt" / f"{x}.vcb")) for x in ("en", "fr"))
    return told(read_snt(path, src, tgt))


def vcb(path: str) -> object:
    found = read_vcb(path)
    return found.ids.tolist(), found.words, found.counts.tolist()


def classes(path: str) -> object:
    found = read_classes(path)
    return found.vocab.words, found.classes.tolist(), found.n_classes


def table(reader: Any) -> Reader:
    def read(path: str) -> object:
        found = reader.read(path)
        words = found.src.words, found.tgt.words
        return *words, found.e.tolist(), found.f.tolist(), repr(found.p.tolist())

    return read


def numbered(path: str) -> object:
    numbers: dict[str, int] = {"a": 2, "b": 3}
    return table(Giza((numbers, numbers)))(path)


def priors(found: Any) -> object:
    tables = [found.pairs, *found.fertilities]
    return found.src.words, found.tgt.words, [[x.tolist() for x in t] for t in tables], repr(found.jumps)


def overlaps(path: str) -> object:
    """Which tokens of two tokenisations overlap."""
    old, new = map(TokenFile, halves(path))
    return [x.tolist() for x in Retokenised(old, new).take(LONGEST).arrays]


def annotated(path: str) -> object:
    """The sentences of CoNLL-U or of text. CoNLL-U must be written as it was read, to the byte."""
    found = list(read_conllu(path))
    again = "".join(sentence.text() for sentence in found).encode()
    if found and not found[0].plain and again != Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf"):
        raise Lost(f"{again!r} was written")
    return [(sentence.words, sentence.lines, heads(sentence)) for sentence in found]


def heads(sentence: Sentence) -> object:
    return judge(lambda _: sentence.heads(), "")


def spans(path: str) -> object:
    """Spans. Those of a standoff file are written and read again."""
    form, found = spans_of(path)
    if form == "standoff":
        lines = (format_spans(form, x.number + 1, (), x.spans) for x in found)
        Path(path + "1").write_text("".join(lines))
        _, same = spans_of(path + "1")
        if [x.spans for x in same] != [x.spans for x in found]:
            raise Lost(f"{found} became {same}")
    return found


def spans_of(path: str) -> tuple[str, list[Spans]]:
    """(the form of a file, its sentences with spans)"""
    file, found = SpanFile(path), []
    while file.next is not None:
        found.append(file.next)
        file.at(file.next.number)
    return file.form, found


def parameters(path: str) -> object:
    found = Parameters.of(mgiza=False)
    found.read_file(path)
    return repr(found)


TEXT = Corpus.from_pairs([("a b c", "x y"), ("d", "z z z"), ("", ""), ("a", "")])
READERS: dict[str, Reader] = {
    **{f"text, {x}": partial(read_corpus, layout=x) for x in (*LAYOUTS, None)},
    **{f"text, {x}": partial(read_corpus, encoding=x) for x in ENCODINGS},
    "text, two files": lambda path: read_corpus(*halves(path), lowercase=True),
    "text, unicode blanks": lambda path: read_corpus(path, split="unicode"),
    "text, as it comes": streamed,
    "text of fast_align": lambda path: sides(read_pairs(path)),
    "lines": lambda path: list(read_lines(path)),
    "snt": giza,
    "vcb": vcb,
    "vocabulary": lambda path: repr(read_vocabulary(path).words),
    "cooc": lambda path: b"".join(cooccurrences(path, counted=True)),
    "classes": classes,
    **{f"links, {x}": links_of(x) for x in (*LINKS, None)},
    "links from 1": links_of("pharaoh", 1),
    "links of a text": links_of(None, text=TEXT),
    "links after bars": links_of(None, bars=True),
    "links, both directions": both,
    "links, parts of A3": parts,
    **{f"lexicon, {name}": table(x) for name, x in LEXICONS.items() if name != "giza"},
    "lexicon, giza": numbered,
    "priors": lambda path: priors(read_priors(path)),
    "numbered priors": lambda path: priors(read_numbered_priors(read_lines(path), path)),
    "numbered sentences": lambda path: read_sentences(read_lines(path), path),
    "table of fast_align": lambda path: repr(read_table(path)),
    "tension of fast_align": lambda path: repr(read_tension(path)),
    "parameters of GIZA++": parameters,
    "dictionary": lambda path: priors(read_dictionary(path, lowercase=True)),
    "two tokenisations": overlaps,
    "annotation": annotated,
    "spans": spans,
    "model": model,
    "combiner": combiner,
}
# The first block tells the format and the base. Of a small block they may be others, and refuse the rest.
DETECTING = ("links, None", "links, talp", "links, wpt", "links of a text", "links after bars")


class Lost(Exception):
    """What was written is not what was read."""


# The search


def examples() -> Iterator[tuple[str, bytes]]:
    """(reader, a file that it reads)"""
    data, giza_files = ROOT / "data", GOLDEN / "plain2snt"

    def head(path: Path, n: int = 6) -> bytes:
        return b"".join(path.read_bytes().splitlines(keepends=True)[:n])

    src, tgt, gold = (head(data / f"generated.{x}") for x in ("src", "tgt", "gold"))
    bars, tabs = (
        b"".join(
            b"%b%b%b\n" % (a, sep, b) for a, b in zip(src.split(b"\n"), tgt.split(b"\n"), strict=True) if a
        )
        for sep in (b" ||| ", b"\t")
    )
    for name in READERS:
        if name.startswith("text") or name == "lines":
            yield name, tabs if name == "text, tsv" else bars
    for encoding in ENCODINGS:
        yield f"text, {encoding}", "été ||| \u3042 ß\n".encode(encoding, "replace")
    yield "text, two files", src + b"\0\n" + tgt
    yield (
        "text, two files",
        b"<s snum=1> a b </s>\n<s snum=2> </s>\n\0\n<s snum=1> x </s>\n<s snum=2> y </s>\n",
    )
    yield "text, unicode blanks", "a\xa0b ||| c\u3000d\n".encode()
    yield "snt", head(giza_files / "en_fr.snt")
    yield "cooc", head(giza_files / "en_fr.snt")
    yield "vcb", head(giza_files / "en.vcb")
    yield "classes", b"a\t2\nb 3\nc\t2\n"
    links = LinkReader(str(data / "sample.gold")).read().part(0, 4)
    for name in ("pharaoh", "gold", "talp", "wpt", "simalign"):
        yield f"links, {name}", bytes(format_links(links, name))
        yield "links, None", bytes(format_links(links, name))
    yield "links, scored", b"0-0:0.5 1-2:1e-3\n\n2-1:1\n"
    yield "links, simalign", b"0\t0-0 1p2 3-4-0.25\n"
    yield "links from 1", gold
    yield "links of a text", b"0-0 2-1\n0-2\n\n\n"
    yield "links after bars", b"a ||| b ||| 0-0 1-1\n"
    for name in ("a3", "a3-reverse"):
        yield f"links, {name}", head(GOLDEN / "symal" / "en-fr.A3.final")
    for name in ("links, bal", "links, bal-reverse", "links, both directions"):
        yield name, head(GOLDEN / "symal" / "sample.bal")
    pairs = (GOLDEN / "symal" / "en-fr.A3.final").read_bytes().splitlines(keepends=True)
    yield "links, parts of A3", b"".join(pairs[:3]) + b"\0\n" + b"".join(pairs[3:6])
    yield "vocabulary", (ROOT / "tests" / "text" / "golden" / "sample.spm").read_bytes()
    yield "vocabulary", b"</s>\n<unk> 1\na\t-2.5\n"
    yield "lexicon, tsv", b"a\tb\t0.5\t0.25\nc\td\t\t1\n"
    for name in ("moses", "marian", "bicleaner"):
        yield f"lexicon, {name}", b"b a 0.5000000\nNULL c 0.25\n"
    yield "lexicon, fast_align", b"a\tb\t-0.5\n<eps>\tc\t-1\n"
    yield "lexicon, giza", b"2 3 0.5\n0 2 0.25\n"
    yield "priors", b"LEX\ta\tb\t1\nFERF\ta\t2\t1.5\nFERR\tb\t1\t1\nHMMF\t-1\t2\nHMMR\t1\t3\n"
    yield "numbered priors", b"2 2 1 1 1 1 1\n1 2 1\n-1 2\n1 3\n1 2 1\n2 1 1\n"
    yield "numbered sentences", head(GOLDEN / "eflomal" / "sample.en.numbers")
    yield "table of fast_align", head(GOLDEN / "fast_align" / "forward.table")
    yield "tension of fast_align", head(GOLDEN / "fast_align" / "forward.err", 99)
    yield "parameters of GIZA++", b"model1iterations 5\nhmmiterations : 3\n// a comment\n"
    yield "dictionary", b"# words\na\tb\nc d 2\ne f\tg\t0.5\n"
    for old, new in (
        ("a well @-@ known fact &amp; more", "a well-known fact & more"),
        ("small house", "▁sm all ▁ house"),
        ("small house", "smal@@ l hou@@ se"),
        ("été", "[CLS] ete ##s [UNK]"),
        ("😀 ß", "<0xF0> <0x9F> <0x98> <0x80> ▁ss"),
        ("d'été", "Ġd ' Ã©t Ã©</w>"),
    ):
        yield "two tokenisations", f"{old}\n\0\n{new}\n".encode()
    yield "annotation", head(data / "annotated.fr.conllu", 16)
    yield "annotation", b"# c\r\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\r\n"
    yield "annotation", b"a b\n\nc\n"
    yield "spans", head(data / "annotated.fr.conllu", 16)
    yield "spans", b"EU B-ORG\nrejects O\n\nPeter\tNNP\tI-PER\n"
    yield "spans", b"1\t0\t2\tPER\n3\t1\t2\tORG\t0.5\n"
    for recipe in ("ibm1", "hmm", "loo"):
        yield "model", without_checksums(small(recipe))
    labels = Links.from_pairs([[(0, 0), (1, 1)], [(0, 0)]])
    for structure in ("none", "fertility"):
        settings: dict[str, Any] = {"structure": structure, "words": structure == "none"}
        found = learn_combiner(small("loo"), SMALL_TEXT, labels, force=True, **settings)
        yield "combiner", without_checksums(found.combiner)


SMALL_TEXT = Corpus.from_pairs([("a b", "x y"), ("a", "x")])


@cache
def small(name: str) -> Model:
    """A model of a kind."""
    return learn(SMALL_TEXT, Recipe.of(name, views=["word"]))[0]


def without_checksums(written: Model | Combiner) -> bytes:
    """A file as `loaded` takes it."""
    out = io.BytesIO()
    written.write(out)
    whole = out.getvalue()
    (length,) = struct.unpack("<Q", whole[8:16])
    header = json.loads(whole[store.HEAD : store.HEAD + length])
    for entry in header["arrays"].values():
        entry["crc"] = 0
    return json.dumps(header).encode() + b"\n\n" + whole[store.HEAD + length :]


def judge(reader: Reader, path: str) -> object:
    """What the reader found in a file; None if it refused the file: of two mistakes it may tell any."""
    try:
        return told(reader(path))
    except DataError as error:
        assert str(error) and error.what
        return None


def tally(folder: Path) -> Any:
    """[n_readers, 2] for each reader: files tried, seconds. In a file, which a crash does not take away."""
    path = folder / "tally"
    if not path.exists():
        path.write_bytes(bytes(16 * len(READERS)))
    return np.memmap(path, dtype=np.float64, mode="r+", shape=(len(READERS), 2))


def search(folder: Path, seconds: int) -> None:
    """In a process of its own: tries files until the time is over, or a crash ends the process."""
    names, seen, tried = list(READERS), set[str](), tally(folder)
    path = str(folder / "file")
    index = {name: n for n, name in enumerate(names)}
    for name, content in examples():
        assert len(content) < LONGEST, (name, len(content))
        whole = bytes([index[name]]) + content
        (folder / "found" / hashlib.sha1(whole).hexdigest()).write_bytes(whole)

    def tell(kind: str, place: str, data: bytes, what: str) -> None:
        if (kind + place) not in seen:
            seen.add(kind + place)
            name = f"{kind}-{zlib.crc32(place.encode()):08x}"
            (folder / "mistakes" / name).write_bytes(data)
            print(f"{kind}: {names[data[0] % len(names)]}: {place}: {what}  ({name})", flush=True)

    def one(data: bytes) -> None:
        if data:
            number, begin = data[0] % len(names), time.process_time()
            tried[number, 0] += 1
            compare(names[number], data)
            tried[number, 1] += time.process_time() - begin

    def compare(name: str, data: bytes) -> None:
        found = []
        Path(path).write_bytes(data[1:])
        for small in (False, True):
            try:
                for module, size, value in SMALL if small else USUAL:
                    setattr(module, size, value)
                found.append(judge(READERS[name], path))
            except Lost as error:
                return tell("lost", name, data, str(error)[:500])
            except Exception as error:
                frames = traceback.extract_tb(error.__traceback__)
                ours = [x for x in frames if "aligner" in x.filename and "scripts" not in x.filename]
                at = (ours or frames)[-1]
                return tell("traceback", f"{Path(at.filename).name}:{at.lineno}", data, repr(error)[:500])
        if found[0] != found[1] and not (name in DETECTING and None in found):
            tell("difference", name, data, f"{found[0]!r:.300} but {found[1]!r:.300}")

    limits = [
        f"-max_total_time={seconds}",
        f"-timeout={PATIENCE}",
        f"-report_slow_units={PATIENCE}",
        "-rss_limit_mb=4096",
        f"-max_len={LONGEST}",
    ]
    dictionary = folder / "words"
    dictionary.write_text("".join(f'"{word}"\n' for word in WORDS))
    limits += [f"-dict={dictionary}"]
    places = [f"-artifact_prefix={folder}/mistakes/", "-print_final_stats=1", str(folder / "found")]
    atheris.Setup([sys.argv[0], *limits, *places], one)
    atheris.Fuzz()


def used() -> float:
    """The processor's seconds of the searches so far."""
    times = resource.getrusage(resource.RUSAGE_CHILDREN)
    return times.ru_utime + times.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60, help="of the processor (default: 60)")
    parser.add_argument("--keep", type=Path, help="a folder for mistakes and found examples")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work is not None:
        return search(given.work, int(60 * given.minutes))
    with tempfile.TemporaryDirectory() as name:
        folder = given.keep or Path(name)
        for part in ("found", "mistakes"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        tried = tally(folder)
        tried[:] = 0
        while (left := 60 * given.minutes - used()) > 1:
            n_before = tried[:, 0].sum()
            command = [sys.executable, __file__, "--work", str(folder), "--minutes", str(left / 60)]
            done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace")
            if done.returncode:
                print(done.stderr[-5000:], flush=True)
                if tried[:, 0].sum() == n_before:
                    sys.exit("the search did not begin")
        for name, (n, seconds) in zip(READERS, tried, strict=True):
            print(f"{name:30}{n:10,.0f} files{seconds:10,.1f} s")
        mistakes = sorted(path.name for path in (folder / "mistakes").iterdir())
        n_found = len(list((folder / "found").iterdir()))
        print(f"{tried[:, 0].sum():,.0f} files in {used():,.0f} s, {n_found:,} that take new branches")
        print(f"{len(mistakes)} mistakes: {', '.join(mistakes)}" if mistakes else "no mistake")
    sys.exit(os.EX_SOFTWARE if mistakes else 0)


if __name__ == "__main__":
    main()

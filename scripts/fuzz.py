"""Damages and crafts models and combiners at random, and sees that each is refused, or does no harm.

A file is made of a small model of some family, or of a combiner: bits and bytes are changed, the file is cut,
made longer or put together from two; or the header or an array is changed and the checksums are made right
again. The file is loaded. If it loads, it is used: links of three sentence pairs, best paths, info, lexicon,
a training that starts from it; of a combiner, links with scores. Files and results depend on the seed alone.
What is counted:

    refused    loading says what is wrong with the file, and what to do
    harmless   all commands print what they print of the file itself
    valid      crafted: the commands print something else, and why not
    changed    the commands print something else, though nothing was crafted     a mistake of ours
    traceback  an exception that is no message                                   a mistake of ours
    crashed    the process that used the file died, or did not end               a mistake of ours
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import select
import struct
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

from aligner import Combiner, Corpus, DataError, LinkReader, Model, Recipe, learn_combiner, read_corpus, store
from aligner.cli import cli
from aligner.store import ALIGNMENT, HEAD, MAGIC
from aligner.training.loop import learn

DATA = Path(__file__).resolve().parent.parent / "data"
MISTAKES = ("changed", "traceback", "crashed")
OUTSIDE = "Out of bounds on buffer access"  # what the bounds checks of the build with sanitizers say
PATIENCE = 120  # seconds for one file


# The models


def make_models(folder: Path) -> None:
    """Writes a model of each family, trainings left in the middle, combiners; and a text to use them on."""
    text = read_corpus(str(DATA / "generated.src"), str(DATA / "generated.tgt"))
    corpus = Corpus.from_pairs((text.src.sentence(n), text.tgt.sentence(n)) for n in range(40))
    short: dict[str, Any] = {"views": ["word", "prefix3"], "ibm1_iterations": 1, "iterations": 1}
    recipes = {
        "loo": Recipe.of("loo", hmm_iterations=1, **short),
        "shmm": Recipe.of("shmm", **short),
        "hmm": Recipe.of(
            "hmm", ibm1_iterations=1, iterations=1, views=["word"], direction="reverse", window=2
        ),
        "ibm1": Recipe.of("ibm1", iterations=1, views=["word"], direction="forward"),
    }
    for name, recipe in recipes.items():
        learn(corpus, recipe)[0].save(folder / f"{name}.model")
    gold, model = LinkReader(str(DATA / "generated.gold")).read()[:40], Model.load(folder / "loo.model")
    for name, settings in (("classified", {"words": True}), ("structured", {"structure": "fertility"})):
        combiner = learn_combiner(model, corpus, gold, folds=2, **settings).combiner
        combiner.save(folder / f"{name}.combiner")
    for name, wanted in (("loo", 1), ("loo", 3), ("hmm", 1)):
        left: list[int] = []

        def keep(model: Model, name: str = name, wanted: int = wanted, left: list[int] = left) -> None:
            left.append(1)
            if len(left) == wanted:
                model.save(folder / f"{name}{wanted}.model")

        learn(corpus, recipes[name], checkpoint=keep)
    (folder / "text").write_text("\n".join(_lines(corpus)) + "\n")


def _lines(corpus: Corpus) -> list[str]:
    """A sentence pair that the models were trained on, one of known words, and one that has unknown words."""

    def words(n: int) -> tuple[list[str], list[str]]:
        return corpus.src.sentence(n), corpus.tgt.sentence(n)

    (a, x), (b, y), (c, z) = words(3), words(7), words(11)
    pairs = [(a, x), (b + c, y + z), (["never", *c[:3]], [*z[:4], "jamais", "vu"])]
    return [f"{' '.join(src)} ||| {' '.join(tgt)}" for src, tgt in pairs]


# What is done to a file


def parts(whole: bytes) -> tuple[dict[str, Any], bytes]:
    """(header, bytes of the arrays) of a file."""
    (length,) = struct.unpack("<Q", whole[8:16])
    return json.loads(whole[HEAD : HEAD + length]), whole[HEAD + length :]


def packed(header: Any, arrays: bytes) -> bytes:
    """A file with right lengths and checksums of the header."""
    text = json.dumps(header).encode()
    text += b" " * (-(HEAD + len(text)) % ALIGNMENT)
    return MAGIC + struct.pack("<QI", len(text), zlib.crc32(text)) + text + arrays


def flipped(chance: random.Random, whole: bytes, other: bytes) -> bytes:
    changed = bytearray(whole)
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def overwritten(chance: random.Random, whole: bytes, other: bytes) -> bytes:
    start, n = chance.randrange(len(whole)), chance.choice((1, 2, 4, 8, 64, 4096))
    value = chance.choice((b"\0", b"\xff", b"\x7f", bytes([chance.randrange(256)])))
    return whole[:start] + (value * n)[: len(whole) - start] + whole[start + n :]


def cut(chance: random.Random, whole: bytes, other: bytes) -> bytes:
    start = chance.randrange(len(whole))
    if chance.random() < 0.5:
        return whole[:start]
    return whole[:start] + whole[start + chance.choice((1, 64, 4096)) :]


def extended(chance: random.Random, whole: bytes, other: bytes) -> bytes:
    start = chance.choice((len(whole), chance.randrange(len(whole))))
    more = chance.choice((b"\0", b"\n", bytes(64), whole[:4096]))
    return whole[:start] + more + whole[start:]


def spliced(chance: random.Random, whole: bytes, other: bytes) -> bytes:
    (one,), (two,) = (struct.unpack("<Q", x[8:16]) for x in (whole, other))
    if chance.random() < 0.3:
        return whole[: HEAD + one] + other[HEAD + two :]
    start = chance.randrange(min(len(whole), len(other)))
    return whole[:start] + other[start:]


def crafted_header(chance: random.Random, whole: bytes, other: bytes) -> bytes:
    """Some values of the header become others, of any type."""
    header, arrays = parts(whole)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        if isinstance(header, dict):
            header = _changed(chance, header, parts(other)[0])
    return packed(header, arrays)


def _changed(chance: random.Random, header: Any, other: Any) -> Any:
    places: list[tuple[Any, Any]] = []  # a list or an object, and a key of it

    def walk(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)):
            places.append((value, key))
            if isinstance(value[key], dict | list):
                walk(value[key])

    walk(header)
    if not places or chance.random() < 0.01:
        return chance.choice(([], None, 1, "x", {}))
    branches = [place for place in places if "arrays" not in place[0] and "crc" not in place[0]]
    holder, key = chance.choice(chance.choice((places, branches or places)))
    how, old = chance.random(), holder[key]
    if how < 0.1:
        del holder[key]
    elif how < 0.2 and isinstance(holder, list):
        holder.insert(key, old)
    elif how < 0.2:
        holder[f"{key}x"] = old
    elif how < 0.6 and type(old) in (int, float):
        holder[key] = chance.choice(
            (old + 1, old - 1, -old, 2 * old, old / 3, float(old), old + 64, old * 2**40)
        )
    elif how < 0.3:
        where, name = chance.choice(places)
        holder[key] = copy.deepcopy(where[name] if where is not holder else other.get("views"))
    else:
        holder[key] = copy.deepcopy(chance.choice(VALUES))
    return header


DEEP: Any = 0
for _ in range(200):
    DEEP = [DEEP]
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 17, 2**31, 2**32, 2**53, 2**62, 2**63, 2**64, 10**400, -(2**63)),
    *(0.0, 0.5, 1.5, -0.5, 1e-9, 1e-320, 1e9, 1e308, -1e308, float("nan"), float("inf"), -float("inf")),
    *("", "x", "word", "both", "hmm", "loo", "<f8", "|O", ">i8", "\ud800", "\n", "a" * 10000),
    *([], {}, [[]], [0], [0, 0], [-1], [2**40], [0, 2**62], [2**32, 2**32], [1.5], {"a": 1}, DEEP),
)  # fmt: skip


def crafted_arrays(chance: random.Random, whole: bytes, other: bytes) -> bytes:
    """Some arrays hold other numbers, or have other types or lengths, and right checksums."""
    header, data = parts(whole)
    arrays = {
        name: np.frombuffer(data, x["dtype"], int(np.prod(x["shape"])), x["start"]).reshape(x["shape"]).copy()
        for name, x in header["arrays"].items()
    }
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        numbers = [name for name, array in arrays.items() if array.dtype.kind == "f" or "shares" in name]
        name = chance.choice(list(arrays) if chance.random() < 0.4 else numbers or list(arrays))
        arrays[name] = _changed_array(chance, arrays[name])
        if chance.random() < 0.03:
            del arrays[name]
        elif chance.random() < 0.03:
            arrays[f"{name}x"] = arrays[name]
        if not arrays:
            break
    out, entries = b"", {}
    for name, array in arrays.items():
        out += bytes(-len(out) % ALIGNMENT)
        crc = zlib.crc32(array.tobytes())
        entries[name] = {"dtype": array.dtype.str, "shape": array.shape, "start": len(out), "crc": crc}
        out += array.tobytes()
    return packed(header | {"arrays": entries, "bytes": len(out)}, out)


def _changed_array(chance: random.Random, array: Any) -> Any:
    how, flat = chance.random(), array.reshape(-1)
    if how < 0.05:
        return array[: chance.randrange(len(array) + 1)]
    if how < 0.1:
        return np.concatenate([array, array[-1:]])
    if how < 0.13:
        with np.errstate(invalid="ignore", over="ignore"):
            return array.astype(chance.choice(("<f4", "<f8", "<i4", "<i8", "|u1", "<u8")))
    if how < 0.16:
        return array.reshape(-1, 1) if array.ndim == 1 else flat
    if len(flat) == 0:
        return array
    if how < 0.22:
        flat[:] = flat[::-1].copy()
    elif how < 0.28:
        flat[:] = flat[chance.randrange(len(flat))]
    elif how < 0.34:
        flat.view(np.uint8)[chance.randrange(flat.nbytes)] = chance.randrange(256)
    else:
        values: tuple[float, ...] = (0, 1, flat[0], flat[-1], flat.max())
        if how < 0.6:
            values += (1e-30, 1e-6, 1e9) if array.dtype.kind == "f" else ()
        elif array.dtype.kind == "f":
            values += (-1, -0.0, np.nan, np.inf, -np.inf, 1e-45, 1e-30, 1e-6, 2, 1e6, 1e9, 1e30, 3e38)
        else:
            low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
            values += (low, high, high // 2, flat.max() + (flat.max() < high), flat[0] - (flat[0] > low))
        with np.errstate(over="ignore"):
            for _ in range(chance.choice((1, 1, 3, len(flat)))):
                flat[chance.randrange(len(flat))] = chance.choice(values)
    return array


Change = Callable[[random.Random, bytes, bytes], bytes]
DAMAGED: tuple[Change, ...] = (flipped, flipped, overwritten, cut, extended, spliced)
CRAFTED: tuple[Change, ...] = (crafted_header, crafted_header, crafted_arrays, crafted_arrays)


def make_file(folder: Path, seed: int, n: int) -> tuple[bytes, str, str, bool]:
    """(file n, the one it is made of, another one that it may have parts of, whether it is crafted)."""
    chance = random.Random(f"{seed} {n}")
    names = sorted(path.name for path in folder.iterdir() if path.suffix in (".model", ".combiner"))
    one, other = chance.choice(names), chance.choice(names)
    change = chance.choice(DAMAGED + CRAFTED)
    whole = change(chance, (folder / one).read_bytes(), (folder / other).read_bytes())
    return whole, one, other, change in CRAFTED


# What is done with a file


def use(path: Path, folder: Path, combiner: bool) -> tuple[list[str], str]:
    """What the commands print of a model or a combiner; and the exception that is no message, if any."""
    model, text, new = str(path), str(folder / "text"), str(folder / "started")
    one = ["--threads", "1"]
    if combiner:
        return printed_by(
            path, [["decode", str(folder / "loo.model"), text, "--combiner", model, "--scores", *one]]
        )
    train = ["train", text, "--quiet", "--iterations", "1", "--init", model, "-o", new, "--overwrite", *one]
    train += ["--direction", Model.load(path).recipe.direction]
    commands = [
        ["decode", model, text, "--scores", *one],
        ["decode", model, text, "--method", "viterbi", *one],
        ["info", model],
        ["info", model, "--json"],
        ["lexicon", model],
        [*train, "--model", "ibm1"],
        [*train, "--model", "hmm"],
    ]
    return printed_by(path, commands)


def printed_by(path: Path, commands: list[list[str]]) -> tuple[list[str], str]:
    """What commands that use a file print, without its name; and the exception that is no message, if any."""
    printed: list[str] = []
    for command in commands:
        result = CliRunner().invoke(cli, command)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            return printed, f"{command[0]}: {result.exception!r}"
        printed.append(f"{result.exit_code} {result.output.replace(str(path), 'FILE')}")
    return printed, ""


def judge(folder: Path, seed: int, n: int, before: dict[str, list[str]]) -> tuple[str, str]:
    """(what is counted, a word about it) of file n."""
    whole, one, other, crafted = make_file(folder, seed, n)
    path, combiner = folder / "file", one.endswith(".combiner")
    path.write_bytes(whole)
    # Without a check, a damaged model may give senseless links or an exception, but must not end the process.
    # Nor must a bounds check fail: other builds have none, and would read or write there.
    unchecked = ["decode", str(path), str(folder / "text"), "--no-check", "--threads", "1"]
    raised = CliRunner().invoke(cli, unchecked).exception
    if OUTSIDE in str(raised):
        return "crashed", f"decode --no-check: {raised!r}"
    try:
        Combiner.load(path) if combiner else Model.load(path)
    except DataError as error:
        named = error.file == str(path) and (error.hint or "not a " in error.what)
        return ("refused" if named else "traceback"), str(error)
    except Exception as error:
        return "traceback", f"load: {error!r}"
    printed, exception = use(path, folder, combiner)
    if exception:
        return "traceback", exception
    for name in (one, other):
        if name not in before:
            before[name], _ = use(folder / name, folder, name.endswith(".combiner"))
        if printed == before[name]:
            return "harmless", ""
    return ("valid" if crafted else "changed"), ""


def read_apart(
    path: str | os.PathLike[str], checked: Callable[[str], bool], kind: str = store.MODEL
) -> tuple[dict[str, Any], Any]:
    """store.read, with each array in memory of its own: a sanitizer sees an access outside any of them."""
    header, arrays = READ(path, checked, kind)
    for name in arrays:
        arrays[name] = arrays[name].copy()
        arrays[name].flags.writeable = False
    return header, arrays


READ = store.read


def end(problem: Any) -> None:
    """A check failed in a function that raises nothing: Python would say so, and go on."""
    sys.__unraisablehook__(problem)
    os.abort()


def work(folder: Path, seed: int) -> None:
    """Judges the files whose numbers stand on stdin, a line of JSON each."""
    store.read, sys.unraisablehook = read_apart, end
    before: dict[str, list[str]] = {}
    for line in sys.stdin:
        print(json.dumps(judge(folder, seed, int(line), before)), flush=True)


def fuzz(folder: Path, seed: int, first: int, n_files: int, keep: Path | None) -> Counter[str]:
    """Counts of n_files files. A process of its own judges them, and a new one if that dies."""
    counts: Counter[str] = Counter()
    worker = None
    command = [sys.executable, __file__, "--work", str(folder), "--seed", str(seed)]
    for n in range(first, first + n_files):
        if worker is None:
            worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert worker.stdin is not None and worker.stdout is not None
        print(n, file=worker.stdin, flush=True)
        ready = select.select([worker.stdout], [], [], PATIENCE)[0]
        answer = worker.stdout.readline() if ready else ""
        if answer:
            verdict, note = json.loads(answer)
        else:
            worker.kill()
            verdict, note = "crashed", f"exit {worker.wait()}" if ready else f"no answer in {PATIENCE} s"
            worker = None
        counts[verdict] += 1
        if verdict in MISTAKES:
            print(f"file {n}: {verdict}: {note}", file=sys.stderr, flush=True)
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{seed}-{n}").write_bytes(make_file(folder, seed, n)[0])
    if worker is not None and worker.stdin is not None:
        worker.stdin.close()
        worker.wait()
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=10_000, help="how many files (default: 10000)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first (default: 0)")
    parser.add_argument("--seed", type=int, default=1, help="of the files (default: 1)")
    parser.add_argument("--keep", type=Path, help="a folder for files that show a mistake")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work is not None:
        return work(given.work, given.seed)
    with tempfile.TemporaryDirectory() as name:
        make_models(Path(name))
        counts = fuzz(Path(name), given.seed, given.first, given.files, given.keep)
    for verdict in ("refused", "harmless", "valid", *MISTAKES):
        print(f"{verdict:<10} {counts[verdict]}")
    sys.exit(os.EX_SOFTWARE if any(counts[verdict] for verdict in MISTAKES) else 0)


if __name__ == "__main__":
    main()

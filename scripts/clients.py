"""Pipelines of others, unchanged, with our programs in place of theirs, and with theirs beside it.

    scripts/clients SOURCES [--programs FOLDER ...] [--text SRC TGT GOLD] [--python PYTHON] [--only NAME]

SOURCES has checkouts of the clients, each under the name of its repository. FOLDER has programs of others as
they are: GIZA++, symal, fast_align and so on. A row whose client is not there is left out; so is the column
of a program that is not there. GOLD has links of the last lines of the text. PYTHON is an environment that
has what clients import; `import eflomal` finds our module of that interface in it.
Prints a Markdown table: AER after the client's own symmetrization, and wall seconds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measure import ALIGNER
from pipelines import CLIENTS, PREAMBLE, Client

ROOT = Path(__file__).resolve().parent.parent
# repository -> its tests of what we stand for
SUITES = {
    "eflomal": "tests/test_eflomal.py",
    "OpusFilter": "tests/test_wordalign_filter.py",
}
# links of both directions in the forms that symal, atools and extract_lex read
DIRECTIONS = """
text="--text corpus.src corpus.tgt"
aligner align corpus.src corpus.tgt -q --viterbi --forward forward --reverse reverse > links
aligner convert forward $text --to a3 -o forward.a3
aligner convert reverse $text --to a3-reverse -o reverse.a3
perl $SOURCES/mosesdecoder/scripts/training/giza2bal.pl -d forward.a3 -i reverse.a3 > bal
"""
HEURISTICS = {
    "union": "-a=union",
    "intersect": "-a=intersect",
    "grow": "-a=grow",
    "grow-diag": "-a=grow -d=yes",
    "grow-diag-final": "-a=grow -d=yes -f=yes",
    "grow-diag-final-and": "-a=grow -d=yes -f=yes -b=yes",
    "srctotgt": "-a=srctotgt",
    "tgttosrc": "-a=tgttosrc",
}


@dataclass(frozen=True)
class Place:
    """Where clients run.

    sources  the clients; python: an environment that has what they import
    ours     the folder of our programs; theirs: the folder of the others', as far as they are there
    text     a folder with corpus.src, corpus.tgt, both.txt, gold and gold.talp
    """

    sources: Path
    python: str
    ours: Path
    theirs: Path
    text: Path

    def environment(self, programs: Path, folder: Path) -> dict[str, str]:
        """What scripts in a folder see: $BIN, $SOURCES, $PYTHON, and our module `eflomal` or theirs."""
        module = str(self.ours / "python") if programs == self.ours else ""
        return os.environ | {
            "BIN": str(programs),
            "SOURCES": str(self.sources),
            "PYTHON": self.python,
            "PYTHONPATH": module,
            "PATH": f"{programs}:{Path(ALIGNER).parent}:{os.environ['PATH']}",
            "ALIGNER_CACHE": str(folder / "cache"),
            "USER": os.environ.get("USER", "user"),
        }


def run(script: str, folder: Path, environment: dict[str, str]) -> float:
    """Wall seconds of a script. What it prints goes to the file `log` of the folder."""
    start = time.perf_counter()
    with (folder / "log").open("wb") as log:
        subprocess.run(
            ["bash", "-c", PREAMBLE + textwrap.dedent(script)],
            cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    return time.perf_counter() - start


def score(links: Path, gold: Path) -> str:
    """The AER of the last lines of a file of links."""
    n = len(gold.read_text().splitlines())
    options = ["--last", str(n), "--bootstrap", "0", "--score-only"]
    command = [ALIGNER, "evaluate", str(links), str(gold), *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return f"{float(done.stdout):.2f}"


def attempt(client: Client, place: Place, programs: Path) -> str:
    """The AER and the seconds of a client, or what stops it."""
    if programs == place.theirs and (client.ours or not all((programs / x).exists() for x in client.needs)):
        return "-"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(place.text, folder, dirs_exist_ok=True)
        try:
            seconds = run(client.script, folder, place.environment(programs, folder))
            result = score(folder / client.links, place.text / "gold") if client.links else "runs"
        except subprocess.CalledProcessError as error:
            log = (folder / "log").read_text(errors="replace").splitlines() or [str(error.stderr)]
            print(f"{client.name}: {programs}", *log[-15:], sep="\n  ", file=sys.stderr)
            return f"fails: {log[-1][:60]}"
    return f"{result}, {seconds:.1f} s"


def clients(place: Place, only: str) -> Iterator[tuple[str, str, str]]:
    """(client, result with our programs, result with theirs)"""
    for client in CLIENTS:
        if only in client.name and (not client.source or (place.sources / client.source).is_dir()):
            yield client.name, attempt(client, place, place.ours), attempt(client, place, place.theirs)


def suites(place: Place) -> Iterator[tuple[str, str, str]]:
    """The tests of others that our module `eflomal` passes, and that theirs passes."""
    for name, path in SUITES.items():
        folder = place.sources / name
        if not (folder / path).exists():
            continue
        results = []
        for programs in (place.ours, place.theirs):
            environment = place.environment(programs, place.text)
            environment["PYTHONPATH"] += f":{folder}"
            command = [place.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", path]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
            results.append((done.stdout.strip().splitlines() or ["no tests"])[-1].strip("= "))
        yield f"{name}: `{path}`", results[0], results[1]


def identities(place: Place) -> Iterator[tuple[str, str, str]]:
    """Programs whose output must be that of the original, byte for byte, on the links of the text."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(place.text, folder, dirs_exist_ok=True)
        run(DIRECTIONS, folder, place.environment(place.ours, folder))
        jobs = {
            ("symal", f"`symal {options}`"): f"$BIN/symal {options} < bal" for options in HEURISTICS.values()
        }
        for method in (x for x in HEURISTICS if x not in ("grow", "srctotgt", "tgttosrc")):
            jobs["atools", f"`atools -c {method}`"] = f"$BIN/atools -i forward -j reverse -c {method}"
        lex = "$BIN/extract_lex corpus.tgt corpus.src links $OUT.s2t $OUT.t2s; sort $OUT.s2t; sort $OUT.t2s"
        jobs["extract_lex", "`extract_lex`, its lines sorted"] = lex  # theirs is in the order of addresses
        for (program, title), job in jobs.items():
            if not (place.theirs / program).exists():
                continue
            seconds = {}
            for who, programs in (("ours", place.ours), ("theirs", place.theirs)):
                environment = place.environment(programs, folder) | {"OUT": who}
                seconds[who] = run(f"{job} > {who}", folder, environment)
            same = (folder / "ours").read_bytes() == (folder / "theirs").read_bytes()
            verdict = f"the same bytes, {seconds['ours']:.2f} s" if same else "OTHER BYTES"
            yield title, verdict, f"{seconds['theirs']:.2f} s"


def prepare(folder: Path, text: list[str]) -> Path:
    """The text as clients want it."""
    folder.mkdir()
    src, tgt = (Path(path).read_text().split("\n")[:-1] for path in text[:2])
    (folder / "corpus.src").write_text("".join(line + "\n" for line in src))
    (folder / "corpus.tgt").write_text("".join(line + "\n" for line in tgt))
    both = (f"{a} ||| {b}\n" for a, b in zip(src, tgt, strict=True))
    (folder / "both.txt").write_text("".join(both))
    shutil.copy(text[2], folder / "gold")
    command = [ALIGNER, "convert", text[2], "--to", "talp", "-o", str(folder / "gold.talp")]
    subprocess.run(command, check=True)
    return folder


def collect(folder: Path, programs: list[str]) -> Path:
    """One folder with links to all programs of others."""
    folder.mkdir()
    for program in (path for name in programs for path in sorted(Path(name).resolve().iterdir())):
        if os.access(program, os.X_OK) and program.is_file() and not (folder / program.name).exists():
            (folder / program.name).symlink_to(program)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--programs", nargs="*", default=[], metavar="FOLDER")
    generated = [str(ROOT / f"data/generated.{x}") for x in ("src", "tgt", "gold")]
    parser.add_argument("--text", nargs=3, default=generated, metavar=("SRC", "TGT", "GOLD"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument(
        "--only", default="", metavar="NAME", help="run clients whose names have this in them"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        subprocess.run([ALIGNER, "shims", str(work / "ours")], check=True)
        (work / "ours/python").mkdir()
        one_line = f"import sys\n\nsys.path.append({str(ROOT)!r})\nfrom aligner.compat.eflomal import *\n"
        (work / "ours/python/eflomal.py").write_text(one_line)
        place = Place(
            arguments.sources.resolve(),
            arguments.python,
            work / "ours",
            collect(work / "theirs", arguments.programs),
            prepare(work / "text", arguments.text),
        )
        print("| client | with our programs | with theirs |\n|---|---|---|", flush=True)
        for row in clients(place, arguments.only):
            print("| " + " | ".join(row) + " |", flush=True)
        if not arguments.only:
            for row in (*suites(place), *identities(place)):
                print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()

"""AER, precision and recall of the development sentences, by which settings are chosen; tables of docs/.

    scripts/develop.py --train="--model hmm" --decode "" "--threshold auto" "--project both"

A model is trained once a set, with the options of --train, on the first N pairs of train, then dev and test,
lower-cased. It aligns this text once for each entry of --decode, with the options of the entry; with --file
dev and test alone. Prints a Markdown table, a row an entry. The test sentences are not scored.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from measure import ALIGNER
from texts import CORPORA, n_lines, of_corpus

SETS = {  # name -> corpus, pairs of train
    "Hansards 2.4k": ("hansards-en-fr", 2_400),
    "Hansards 10k": ("hansards-en-fr", 10_000),
    "English-Czech": ("czenali-en-cs", 14_710),
    "Japanese-English": ("kftt-ja-en", 49_996),
}


def cut(path: Path, start: int, stop: int | None, out: Path) -> Path:
    """Lines start to stop of a file, as another file."""
    out.write_text("".join(path.read_text().splitlines(keepends=True)[start:stop]))
    return out


def scores(links: Path, gold: Path) -> str:
    """AER (precision / recall)."""
    command = [ALIGNER, "evaluate", str(links), str(gold), "--hyp-base", "0", "--bootstrap", "0", "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["hypotheses"][0]
    aer, precision, recall = (100 * found[name] for name in ("aer", "precision", "recall"))
    return f"{aer:.2f} ({precision:.1f} / {recall:.1f})"


def column(data: Path, n: int, train: str, entries: list[str], alone: bool) -> list[str]:
    """The scores of each entry on one set."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        of_corpus(data, n, folder)
        gold, n_dev, n_test = data / "dev.gold", n_lines(data / "dev.gold"), n_lines(data / "test.gold")
        text = folder / "src", folder / "tgt"
        subprocess.run([ALIGNER, "train", *text, *train.split(), "-q", "-o", folder / "model"], check=True)
        begin = n_lines(text[0]) - n_dev - n_test
        if alone:
            text = cut(text[0], begin, None, folder / "src2"), cut(text[1], begin, None, folder / "tgt2")
            begin = 0
        found = []
        for entry in entries:
            links = folder / "links"
            command = [ALIGNER, "decode", str(folder / "model"), *map(str, text), *entry.split()]
            command += ["-o", str(links), "--overwrite"]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            found.append(scores(cut(links, begin, begin + n_dev, folder / "dev"), gold))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=CORPORA, help="where the corpora are")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--train", default="", metavar="OPTIONS", help="options of `aligner train`")
    parser.add_argument("--decode", nargs="+", default=[""], metavar="OPTIONS", help="of `aligner decode`")
    parser.add_argument("--file", action="store_true", help="align dev and test alone")
    options = parser.parse_args()
    columns = []
    for name in options.sets:
        corpus, n = SETS[name]
        columns.append(column(options.data / corpus, n, options.train, options.decode, options.file))
    print(f"| {options.train} | " + " | ".join(options.sets) + " |")
    print("|---" * (1 + len(columns)) + "|")
    for entry, *row in zip(options.decode, *columns, strict=True):
        print(f"| {entry} | " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()

"""aligner moses: the files of train-model.perl, byte for byte where no model is in them."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from programs import GOLDEN, run, write_sample

TRAIN_MODEL = GOLDEN / "train-model"
GDFA = "aligned.grow-diag-final-and"


@pytest.fixture
def moses(data, tmp_path):
    """moses(option, ...) -> the root folder. The text is that of GOLDEN."""
    write_sample(data, tmp_path, "c.")

    def moses(*options: str, code: int = 0) -> Path:
        files = "--corpus", tmp_path / "c", "--f", "fr", "--e", "en", "--root-dir", tmp_path / "train"
        run("moses", *files, *options, code=code)
        return tmp_path / "train"

    return moses


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_links_of_the_text_and_nothing_else(moses, tmp_path):
    folder = moses("--alignment", "soft-union")
    assert names(folder) == {"model/aligned.soft-union"}
    links = run("align", tmp_path / "c.fr", tmp_path / "c.en", "--quiet").stdout
    assert (folder / "model/aligned.soft-union").read_text() == links


def test_the_text_is_numbered_as_by_the_original(moses):
    folder = moses("--last-step", "1")
    for path in (TRAIN_MODEL / "corpus").iterdir():
        assert (folder / "corpus" / path.name).read_bytes() == path.read_bytes(), path.name
    assert names(folder / "corpus") == {
        *(path.name for path in (TRAIN_MODEL / "corpus").iterdir()),
        *("fr.vcb.classes", "en.vcb.classes"),
    }
    assert not (folder / "model").exists()


def test_the_links_of_the_original_are_made_of_its_a3_files(moses, tmp_path):
    """Plain files, as GIZA++ leaves them, and compressed ones, as train-model.perl does."""
    for name in ("fr-en", "en-fr"):
        (tmp_path / "train" / f"giza.{name}").mkdir(parents=True)
    shutil.copy(TRAIN_MODEL / "giza.en-fr/en-fr.A3.final", tmp_path / "train/giza.en-fr")
    packed = gzip.compress((TRAIN_MODEL / "giza.fr-en/fr-en.A3.final").read_bytes())
    (tmp_path / "train/giza.fr-en/fr-en.A3.final.gz").write_bytes(packed)
    folder = moses("--first-step", "3")
    assert (folder / "model" / GDFA).read_bytes() == (TRAIN_MODEL / "model" / GDFA).read_bytes()


def test_steps_in_one_go_and_one_by_one_are_the_same(moses, tmp_path):
    moses("--alignment", "intersect", "--giza-files", "--lex")
    shutil.move(tmp_path / "train", tmp_path / "at-once")
    moses("--last-step", "2")
    moses("--alignment", "intersect", "--first-step", "3")
    folder = moses("--alignment", "intersect", "--first-step", "4", "--last-step", "4")
    assert names(folder) == names(tmp_path / "at-once")
    for name in names(folder):
        texts = [(root / name).read_bytes() for root in (folder, tmp_path / "at-once")]
        if name.endswith(".gz"):
            texts = [gzip.decompress(text) for text in texts]
        assert texts[0] == texts[1], name


def test_the_a3_files_are_those_of_the_program_giza(moses, tmp_path):
    folder = moses("--giza-files")
    for generated, given in (("fr", "en"), ("en", "fr")):
        name = f"{generated}-{given}"
        corpus = folder / "corpus"
        words = ["-s", corpus / f"{given}.vcb", "-t", corpus / f"{generated}.vcb"]
        run("giza", "-c", corpus / f"{name}-int-train.snt", *words, "-o", tmp_path / name)
        packed = (folder / f"giza.{name}" / f"{name}.A3.final.gz").read_bytes()
        assert gzip.decompress(packed) == (tmp_path / f"{name}.A3.final").read_bytes()


def test_lexicons_are_counted_along_the_links(moses, tmp_path):
    (tmp_path / "train" / "model").mkdir(parents=True)
    shutil.copy(TRAIN_MODEL / "model" / GDFA, tmp_path / "train" / "model")
    options = "--alignment", "grow-diag-final-and", "--first-step", "4", "--last-step", "4"
    folder = moses(*options)
    rows = [line.split() for line in (folder / "model/lex.f2e").read_text().splitlines()]
    totals: dict[str, float] = {}
    for _, f, p in rows:
        totals[f] = totals.get(f, 0) + float(p)
    french = set((tmp_path / "c.fr").read_text().split())
    assert set(totals) - {"NULL"} == french
    assert all(abs(total - 1) < 1e-4 for total in totals.values())
    assert {tuple(row[:2]) for row in rows} == {
        tuple(line.split()[1::-1]) for line in (folder / "model/lex.e2f").read_text().splitlines()
    }


def test_compressed_text(moses, tmp_path):
    folder = moses()
    links = (folder / "model" / GDFA).read_bytes()
    packed = gzip.compress((tmp_path / "c.fr").read_bytes())
    (tmp_path / "c.fr").unlink()
    (tmp_path / "c.fr.gz").write_bytes(packed)
    moses("--overwrite")
    assert (folder / "model" / GDFA).read_bytes() == links


def test_what_is_there_is_not_replaced(moses, tmp_path):
    folder = moses("--giza-files")
    (folder / "model" / GDFA).unlink()
    before = {name: (folder / name).stat().st_mtime_ns for name in names(folder)}
    moses("--giza-files", code=1)
    assert before == {name: (folder / name).stat().st_mtime_ns for name in names(folder)}
    moses("--giza-files", "--overwrite")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("--first-step 3 --alignment soft-union", 2),
        ("--first-step 3", 1),  # there are no files
        ("--first-step 4 --last-step 4", 1),
        ("--first-step 4", 2),
        ("--first-step 2", 2),
        ("--lex --last-step 3", 2),
        ("--lex --encoding latin-1", 2),
        ("--e fr", 2),  # the files of one language would replace those of the other
        ("--encoding latin-1 --last-step 4", 2),
        ("--encoding latin-1 --giza-files", 2),
    ],
)
def test_steps_that_cannot_be(moses, options, code):
    moses(*options.split(), code=code)

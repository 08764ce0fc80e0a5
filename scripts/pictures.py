"""The picture of `aligner view` in docs/assets, taken in headless Chromium (the extra `browser`).

    scripts/pictures.py [--out docs/assets/view.png] [--line 22]

The page is that of the shipped generated text, with a model of it and its gold links.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

from measure import ALIGNER
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
LINE = 22  # of the shipped text


def write_page(folder: Path) -> Path:
    """The page, in a folder."""
    src, tgt, gold = (str(ROOT / "data" / f"generated.{x}") for x in ("src", "tgt", "gold"))
    model, page = folder / "generated.model", folder / "page.html"
    subprocess.run([ALIGNER, "train", src, tgt, "--quiet", "-o", model], check=True)
    subprocess.run([ALIGNER, "view", model, src, tgt, "--gold", gold, "-o", page], check=True)
    return page


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "assets" / "view.png")
    parser.add_argument("--line", type=int, default=LINE, help="of the sentence pair that is shown")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1240, "height": 760})
        page.goto(f"{write_page(Path(name)).as_uri()}#{options.line}")
        page.screenshot(path=options.out)
        browser.close()


if __name__ == "__main__":
    main()

"""A browser for the tests of pages. Where there is none, the tests are skipped and say so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from trained import run

# Nothing but the pages of the tests is opened, and nothing is asked of the network.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SIZES = {"wide": {"width": 1400, "height": 900}, "phone": {"width": 390, "height": 844}}
SRC, TGT, GOLD, FORWARD = (str(ROOT / "data" / f"sample.{x}") for x in ("en", "fr", "gold", "forward"))


@pytest.fixture(scope="package")
def chromium() -> Iterator[object]:
    """A running browser."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium: the page is not tested in a browser")
    reason = "no Playwright (the extra `browser`): the page is not tested in a browser"
    api = pytest.importorskip("playwright.sync_api", reason=reason)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """visit(file, size, colours, hash) -> a page that is open. Where a page has a #place, it is filled.

    What a page says on the console, its errors, and requests for anything but itself fail the test.
    """
    problems: list[str] = []
    contexts = []

    def visit(file: Path, size: str = "wide", colours: str = "light", hash: str = ""):
        context = chromium.new_context(
            viewport=SIZES[size], color_scheme=colours, is_mobile=size == "phone", has_touch=size == "phone"
        )
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: is_own(request.url, file) or problems.append(request.url))
        page.goto(file.as_uri() + hash)
        page.wait_for_function("document.querySelector('#place')?.textContent !== ''")
        return page

    yield visit
    for context in contexts:
        context.close()
    assert problems == []


def is_own(url: str, file: Path) -> bool:
    """Whether the page asks for itself, or for what it made itself, as for a download."""
    return url.startswith((file.as_uri(), "blob:", "data:"))


@pytest.fixture(scope="package")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="package")
def model(folder) -> Path:
    """A model of the sample that projects onto a constraint."""
    run("train", SRC, TGT, "--model", "shmm", "--views", "word", "-q", "-o", folder / "model")
    return folder / "model"


@pytest.fixture(scope="package")
def sample(folder, model) -> Path:
    """A page of the sample: a model, gold, and a file of links."""
    run("view", model, SRC, TGT, "--gold", GOLD, "--links", FORWARD, "-o", folder / "sample.html")
    return folder / "sample.html"


@pytest.fixture(scope="package")
def small(folder, model) -> Path:
    """A page of few sentence pairs, which is checked quickly."""
    run("view", model, SRC, TGT, "--gold", GOLD, "--first", 4, "-o", folder / "small.html")
    return folder / "small.html"


@pytest.fixture(scope="package")
def large(folder) -> Path:
    """A page of 2,000 sentence pairs."""
    src, tgt, gold = (ROOT / "data" / f"generated.{x}" for x in ("src", "tgt", "gold"))
    some = "--model", "shmm", "--views", "word", "--iterations", 1
    run("train", src, tgt, *some, "-q", "-o", folder / "large.model")
    run("view", folder / "large.model", src, tgt, "--gold", gold, "-o", folder / "large.html")
    assert os.path.getsize(folder / "large.html") < 20 << 20
    return folder / "large.html"

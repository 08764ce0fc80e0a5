"""A browser for the tests of pages. Where there is none, the tests are skipped and say so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from trained import FORWARD, GOLD, SRC, TGT, run

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


class Tab:
    """A tab of the browser, which one test after another uses; each finds no corrections of others."""

    def __init__(self, browser, size: str, colours: str) -> None:
        phone = size == "phone"
        context = browser.new_context(
            viewport=SIZES[size], color_scheme=colours, is_mobile=phone, has_touch=phone
        )
        context.set_default_timeout(10_000)
        self.page, self.file = context.new_page(), Path("/")
        self.problems: list[str] = []
        note = self.problems.append
        self.page.on("console", lambda message: note(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: note(str(error)))
        self.page.on("dialog", lambda dialog: (note(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.is_own(request.url) or note(request.url))

    def is_own(self, url: str) -> bool:
        """Whether the page asks for itself, or for what it made itself, as for a download."""
        return url.startswith((self.file.as_uri(), "blob:", "data:", "about:blank"))

    def open(self, file: Path, hash: str):
        self.file = file
        self.page.goto(file.as_uri() + hash)
        self.page.wait_for_function("document.querySelector('#place')?.textContent !== ''")
        return self.page

    def leave(self) -> None:
        self.page.evaluate("localStorage.clear()")
        self.page.goto("about:blank")
        problems = self.problems.copy()
        self.problems.clear()
        assert problems == []


@pytest.fixture(scope="package")
def tabs(chromium) -> dict[tuple[str, str, int], Tab]:
    """(size, colours, how many of these a test has already) -> a tab; a new one takes half a second."""
    return {}


@pytest.fixture
def visit(chromium, tabs):
    """visit(file, size, colours, hash) -> a page that is open. Where a page has a #place, it is filled.

    What a page says on the console, its errors, and requests for anything but itself fail the test.
    """
    used: list[Tab] = []

    def visit(file: Path, size: str = "wide", colours: str = "light", hash: str = ""):
        key = size, colours, len(used)
        if key not in tabs:
            tabs[key] = Tab(chromium, size, colours)
        used.append(tabs[key])
        return tabs[key].open(file, hash)

    yield visit
    for tab in used:
        tab.leave()


@pytest.fixture(scope="package")
def faults():
    """faults(page, rules) -> what axe-core finds serious: [(rule, elements)]. rules: None: all"""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core").Axe()

    def faults(page, rules: list[str] | None = None) -> list[tuple[str, list[str]]]:
        options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
        found = axe.run(page, options=options).response["violations"]
        serious = [fault for fault in found if fault["impact"] in ("serious", "critical")]
        return [(fault["id"], [node["html"] for node in fault["nodes"]][:3]) for fault in serious]

    return faults


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

"""The page of an analysis in a browser: it fits, can be read by all, and its lines lead to the viewer."""

from __future__ import annotations

import pytest
from trained import FORWARD, GOLD, SRC, TGT, run


@pytest.fixture(scope="module")
def analysis(folder, sample):
    """A page with few examples, which is checked quickly, and which is linked with the viewer's."""
    path = folder / "analysis.html"
    text = "--src", SRC, "--tgt", TGT
    run("analyze", FORWARD, GOLD, *text, "--top", 2, "--page", path, "--view-page", sample)
    return path


@pytest.mark.parametrize("size, colours", [("wide", "dark"), ("phone", "light")])
def test_it_fits_and_axe_finds_no_serious_fault(visit, analysis, faults, size, colours):
    page = visit(analysis, size, colours)
    assert faults(page) == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"], "the page does not scroll sideways"
    wide = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(x => x.scrollWidth > x.clientWidth).length"
    )
    assert wide == 0 or size == "phone", "no table scrolls sideways on a wide screen"


def test_bars_are_as_long_as_their_numbers_say(visit, analysis):
    page = visit(analysis)
    numbers = page.locator("#part2 td:nth-child(2) span").all_inner_texts()
    bars = page.locator("#part2 td:nth-child(2) rect")
    widths = [bars.nth(n).bounding_box()["width"] for n in range(len(numbers))]
    # 77.4% of the words have one sure link: the longest bar, of 52 pixels
    assert numbers == ["13.6", "61.3", "20.7", "3.5", "0.9"]
    assert widths == pytest.approx([float(x) * 52 / 77.4 for x in numbers], abs=0.1)


def test_a_line_leads_to_its_sentence_pair(visit, analysis, sample):
    page = visit(analysis)
    link = page.locator(".sentences a").first
    assert link.inner_text() == "25" and link.evaluate("x => x.href") == f"{sample.as_uri()}#25"

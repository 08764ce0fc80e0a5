"""What mkdocs does beside its own work: the first page, the generated reference, formulas (see mkdocs.yml).

README.md is the first page of the site. CONTRIBUTING.md and CHANGELOG.md are pages, too.

Formulas are written as GitHub reads them, $`x`$ in a line and a block of the language `math`. They become
MathML when the site is built, so that a reader's browser needs no script and no network.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from reference import pages

ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
FENCE = re.compile(r"^```math\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"<p>\$\$<code>(.*?)</code>\$\$</p>")
INLINE = re.compile(r"\$<code>(.*?)</code>\$")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Adds generated pages, and puts pages in the place of patterns in the navigation."""
    for path, text in {**_pages_of_root(Path(config.config_file_path).parent), **pages()}.items():
        files.append(File.generated(config, path, content=text))
    config.nav = list(_filled(config.nav or [], [file.src_uri for file in files.documentation_pages()]))
    return files


def _pages_of_root(root: Path) -> dict[str, str]:
    """Page -> Markdown of the files beside docs/, their links as a page has them."""
    found = {}
    for name, path in ROOT_PAGES.items():
        text = (root / name).read_text(encoding="utf-8")
        for other, page in ROOT_PAGES.items():
            text = text.replace(f"]({other}", f"]({page}")
        found[path] = text.replace("](docs/", "](")
    return found


def _filled(entries: list[Any], paths: list[str]) -> Iterator[Any]:
    """Entries of the navigation: paths, patterns of paths, and what has a title, a path or more entries."""
    for entry in entries:
        if isinstance(entry, dict):
            yield {
                title: below if isinstance(below, str) else list(_filled(below, paths))
                for title, below in entry.items()
            }
        elif "*" in entry:
            yield from (path for path in paths if fnmatch(path, entry))
        else:
            yield entry


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Links to the files beside docs/ become links to their pages.

    Blocks of formulas become paragraphs of one line, $$`x`$$, whose code Markdown leaves alone.
    """
    up = "../" * page.file.src_uri.count("/")
    for name, path in ROOT_PAGES.items():
        markdown = markdown.replace(f"]({up}../{name}", f"]({up}{path}")
    return FENCE.sub(lambda found: f"$$`{' '.join(found[1].split())}`$$", markdown)


def on_page_content(content: str, **_: Any) -> str:
    """Formulas to MathML."""
    content = BLOCK.sub(
        lambda found: f'<div class="formula" tabindex="0">{_mathml(found[1], "block")}</div>', content
    )
    return INLINE.sub(lambda found: _mathml(found[1], "inline"), content)


def _mathml(code: str, display: str) -> str:
    formula = convert(html.unescape(code), display=display)
    if "\\" in formula:  # an unknown command becomes a name, backslash and all
        raise ValueError(f"a command in the formula {html.unescape(code)} is unknown to latex2mathml")
    return formula

"""Pages that open from disk: HTML, style, scripts and data in one file, which asks no network for anything.

The parts of a page stand beside this module. An HTML file names its style and scripts as any page does; here
each name is replaced by what its file says.
"""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Any

STYLE = re.compile(r'<link rel="stylesheet" href="([\w-]+\.css)">')
SCRIPT = re.compile(r'<script src="([\w-]+\.js)"></script>')
DATA = '<script type="application/json" id="data"></script>'


def page(name: str, data: Any) -> bytes:
    """A page as one file. name: its HTML file; data: what JSON.parse finds in the element `data`"""
    before, after = with_parts(_part(name)).split(DATA)
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    element = DATA.replace("></", ">" + text.replace("<", "\\u003c") + "</")  # no token ends the element
    return (before + element + after).encode("utf-8", "replace")


def with_parts(html: str) -> str:
    """HTML with its styles and scripts in it."""
    html = STYLE.sub(lambda found: f"<style>\n{_part(found[1])}</style>", html)
    return SCRIPT.sub(lambda found: f"<script>\n{_part(found[1])}</script>", html)


def _part(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")

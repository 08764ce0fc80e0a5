"""How link files are read."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", params=["whole", "in small blocks"])
def blocks(request):
    """Everything once as it is, and once in blocks of two sentence pairs from chunks of seven bytes."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "whole":
            patch.setattr("aligner.links.formats.BLOCK", 2)
            patch.setattr("aligner.files.CHUNK", 7)
        yield

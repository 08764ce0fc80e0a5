"""Texts that tests of training share."""

from __future__ import annotations

import pytest
from trained import generated

from aligner import Corpus


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return generated()


@pytest.fixture(scope="session")
def some(corpus) -> Corpus:
    return corpus.part(0, 60)

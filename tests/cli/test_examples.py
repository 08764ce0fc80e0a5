"""The examples of --help: the files of data/ that they name are there."""

from __future__ import annotations

import re

import click
import pytest
from conftest import ROOT

from aligner.cli import cli

COMMANDS = cli.list_commands(click.Context(cli))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_data_of_examples_is_there(name):
    command = cli.get_command(click.Context(cli), name)
    named = set(re.findall(r"\bdata/[\w.]+", command.help or ""))
    assert not [path for path in named if not (ROOT / path).exists()]

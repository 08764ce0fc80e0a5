"""aligner shims"""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from aligner.cli.compat import PROGRAMS
from aligner.cli.process import this_program
from aligner.files import check_output, open_output

SHELL = '#!/bin/sh\nexec {words} {command} "$@"\n'
# To the shell the second line is a command, to Python it is text: an interpreter named in the first line may
# have no blanks in its name.
PYTHON = """#!/bin/sh
'''exec' {quoted} {command} "$@"
' '''
import os, sys

words = {words!r} + [{command!r}] + sys.argv[1:]
os.execv(words[0], words)
"""


@click.command("shims")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False))
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
def command(folder: str, overwrite: bool) -> None:
    """Write small executables under the names of other aligners' programs.

    Each executable takes the command line of its original, and runs this installation of aligner. A script
    that calls the original calls the executable if DIR comes first on the PATH. DIR is created. DIR/build
    has those of fast_align, as its source tree has them.

    \b
    Example:
      aligner shims shims
      PATH=$PWD/shims:$PATH fast_align -i corpus.both -d -o -v > forward.links
    """
    if not folder:
        raise click.UsageError("the name of DIR is empty.")
    words = this_program()
    shims = {name: command for command, program in PROGRAMS.items() for name in program.names}
    for name in shims:
        (path := Path(folder, name)).parent.mkdir(parents=True, exist_ok=True)
        check_output(str(path), overwrite)
    for name, command in shims.items():
        path = Path(folder, name)
        if name.endswith(".py"):
            text = PYTHON.format(quoted=shlex.join(words), words=words, command=command)
        else:
            text = SHELL.format(words=shlex.join(words), command=command)
        with open_output(str(path), overwrite) as out:
            out.write(text.encode("utf-8", "surrogateescape"))
        path.chmod(path.stat().st_mode | (path.stat().st_mode & 0o444) >> 2)

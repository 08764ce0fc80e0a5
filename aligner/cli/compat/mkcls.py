"""aligner mkcls"""

from __future__ import annotations

import click

from aligner.cli.compat.command_lines import of_words, warn_of_words
from aligner.cli.options import check_outputs
from aligner.files import open_in_place
from aligner.text.classes import MOST_CLASSES, WordClasses, cluster, write_classes
from aligner.text.giza import add_plain
from aligner.text.sides import Builder

CLASSES = 100  # of mkcls, unless the caller says how many
ROUNDS = 25  # of ours for one run of mkcls
MOST_RUNS = 1000
USED = ("-c", "-n", "-p", "-V")  # the options that mean something here


@of_words("mkcls", "[-cN] [-nN] [-pTEXT] [-VFILE] [opt]")
def command(words: tuple[str, ...]) -> None:
    """Write word classes as mkcls does.

    FILE has a line `word<TAB>class` for each word of TEXT, sorted by word. Classes are numbered from 2 on.
    FILE.cats has a line `class:word,word,` for each class.

    -c says how many classes there are: 100 unless it is given. mkcls keeps the best of -n runs, 1 unless it
    is given. Here -n2 is one run of twice as many rounds, which takes as long as two runs and finds better
    classes. The classes are made as `aligner classes` makes them, but words are bytes of any encoding. All
    other options of mkcls are accepted, and change nothing.

    \b
    Example:
      aligner mkcls -c50 -n2 -pcorpus.fr -Vfr.vcb.classes opt
    """
    given = {word[:2]: word[2:] for word in words if word.startswith("-")}
    n_classes = _number(given, "-c", CLASSES, MOST_CLASSES)
    runs = _number(given, "-n", 1, MOST_RUNS)
    text, path = given.get("-p", "train"), given.get("-V")
    if "" in (text, path):
        raise click.UsageError("the name of a file follows -p and -V at once, as in -pcorpus.fr.")
    names = None if path is None else f"{path}.cats"
    check_outputs({"-V": path, "the .cats file": names}, [text], overwrite=True)
    warn_of_words([word for word in words if not word.startswith(USED) and word != "opt"])
    builder = Builder()
    add_plain(builder, text)
    side = builder.side(lowercase=False)
    if path is None or names is None:
        return
    with open_in_place(path) as out, open_in_place(names) as lists:
        classes = cluster(side, n_classes, rounds=ROUNDS * runs)
        write_classes(out, classes)
        lists.write(_lists(classes, n_classes))


def _number(given: dict[str, str], option: str, default: int, most: int) -> int:
    """The number that follows an option at once."""
    text = given.get(option, str(default))
    if not text.isascii() or not text.isdigit() or not 1 <= (number := int(text)) <= most:
        raise click.UsageError(f"{option} needs a number between 1 and {most}, as in {option}{default}.")
    return number


def _lists(classes: WordClasses, n_classes: int) -> bytes:
    """What FILE.cats says: the words of each class. Word $ is the end of a sentence."""
    members: list[list[bytes]] = [[b"$"], [], *([] for _ in range(n_classes))]
    for word, number in sorted(zip(classes.vocab.encoded(), classes.classes.tolist(), strict=True)):
        members[number + 1].append(word)
    lines = [b";KategProblem:cats: %d   words: %d" % (n_classes, len(classes.vocab) + 1)]
    lines += [
        b"%d:%b" % (number, b"".join(word + b"," for word in found)) for number, found in enumerate(members)
    ]
    lines.append(b";I have %d categories used." % (classes.n_classes + 1))
    return b"".join(line + b"\n" for line in lines)

"""Shell completion by click: names where names can follow, files everywhere else.

`_ALIGNER_COMPLETE=bash_source aligner` prints what bash needs, and so on for zsh and fish.
"""

from __future__ import annotations

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)


class Filling(ShellComplete):
    """Files follow where click knows of nothing: it does not know which arguments are names of files."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        return super().get_completions(args, incomplete) or [CompletionItem(incomplete, type="file")]


class Bash(Filling, BashComplete):
    pass


class Zsh(Filling, ZshComplete):
    pass


class Fish(Filling, FishComplete):
    pass


def register() -> None:
    """Puts these in the place of click's own."""
    for shell in (Bash, Zsh, Fish):
        add_completion_class(shell)

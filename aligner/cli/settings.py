"""Which option of a command cures an error. The library names a setting; commands call it by an option."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import click

from aligner.errors import DataError
from aligner.files import check_output, display_name


class Setting(click.Option):
    """An option that says something about the files that other parameters of its command name.

    setting  what the library calls the option
    files    the parameters that name the files; a command need not have all of them
    """

    def __init__(self, *args: Any, setting: str, files: Collection[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.setting, self.files = setting, files


class Context(click.Context):
    """A command while it runs, with the values of its parameters."""

    RUNNING = "aligner.running"  # where the group finds the context; a context and its parents share meta

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.meta[self.RUNNING] = self

    def get_help(self) -> str:
        """Help is a result: it needs stdout."""
        check_output("-")
        return super().get_help()

    def cure(self, error: DataError) -> str:
        """The option that cures an error, for example ": --base 1"; "" where the command has none."""
        found = [option for option in self.command.params if self._cures(option, error)]
        names = " or ".join(f"{option.opts[-1]} {error.value}".rstrip() for option in found)
        return f": {names}" if names else ""

    def _cures(self, option: click.Parameter, error: DataError) -> bool:
        if not isinstance(option, Setting):
            return option.name == error.setting
        values = [self.params.get(name) for name in option.files]
        paths = [path for x in values for path in (x if isinstance(x, tuple) else (x,)) if path is not None]
        return option.setting == error.setting and error.file in [display_name(path) for path in paths]

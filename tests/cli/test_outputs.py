"""Outputs beside the main one: which failure is told, and what is written after it."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from aligner.cli.outputs import Output, Outputs


@contextmanager
def opened(seen: list, error: Exception | None = None):
    """A file that keeps what is written, and whose end may fail."""
    try:
        yield seen
    finally:
        seen.append("closed")
        if error is not None:
            raise error


def fail(file: list) -> None:
    raise OSError("the first")


def test_the_first_failure_is_kept():
    """Closing fails because writing has failed: the cause is told. Nothing more is written."""
    seen: list = []
    output = Output(opened(seen, OSError("the second")))
    output.attempt(lambda file: file.append("line"))
    output.attempt(fail)
    assert str(output.failure) == "the first"
    output.attempt(lambda file: file.append("more"))
    output.close()
    assert seen == ["line", "closed"] and str(output.failure) == "the first"


def test_a_failure_to_close_is_told():
    output = Output(opened([], OSError("the second")))
    output.close()
    assert str(output.failure) == "the second"


def test_one_failure_costs_no_other_output():
    files: list[list] = [[], [], []]
    with pytest.raises(OSError, match="the first"), Outputs() as outputs:
        a, b, _ = (outputs.open(opened(seen)) for seen in files)
        a.attempt(lambda file: file.append("line"))
        b.attempt(fail)
        a.attempt(lambda file: file.append("line"))
    assert files == [["line", "line", "closed"], ["closed"], ["closed"]]


def full(name: str) -> Exception:
    return OSError(28, "No space left on device", name)


def test_every_failure_is_told(caplog):
    with pytest.raises(OSError, match="a"), Outputs() as outputs:
        for name in "abc":
            outputs.open(opened([], full(name)))
    assert caplog.messages == ["b: No space left on device", "c: No space left on device"]


def test_the_error_of_the_program_is_raised_and_those_of_outputs_are_told(caplog):
    seen: list = []
    with pytest.raises(KeyError, match="of the program"), Outputs() as outputs:
        outputs.open(opened(seen, full("a")))
        raise KeyError("of the program")
    assert seen == ["closed"] and caplog.messages == ["a: No space left on device"]

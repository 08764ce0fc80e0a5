"""How tests run programs of others, and where what their originals wrote is kept."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from aligner.cli import cli

GOLDEN = Path(__file__).parent / "cli" / "compat" / "golden"
N = 10  # lines of data/sample.* that the originals were given


def run(*words: object, code: int = 0, stdin: str | bytes | None = None) -> Result:
    """Runs a command, and wants an exit code of it."""
    result = CliRunner().invoke(cli, [str(word) for word in words], input=stdin)
    assert result.exit_code == code, result.output
    return result


def write_sample(data: Path, folder: Path, stem: str = "") -> None:
    """The text that the originals were given: STEMen and STEMfr."""
    for language in ("en", "fr"):
        lines = (data / f"sample.{language}").read_bytes().splitlines(keepends=True)[:N]
        (folder / f"{stem}{language}").write_bytes(b"".join(lines))

"""Files in and out: nothing half-written, nothing replaced unasked, lines cut where they end."""

from __future__ import annotations

import errno
import fcntl
import gzip
import os
import signal
import stat

import pytest

from aligner.errors import DataError, message_of
from aligner.files import open_in_place, open_log, open_output, read_chunks


def test_output_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "out"
    with open_output(str(path)) as out:
        out.write(b"x\n")
        assert not path.exists()
    assert path.read_bytes() == b"x\n"
    assert os.listdir(tmp_path) == ["out"]


def test_mode_is_that_of_a_plain_file(tmp_path):
    with open_output(str(tmp_path / "out")):
        pass
    (tmp_path / "plain").touch()
    modes = [stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("out", "plain")]
    assert modes[0] == modes[1]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_failure_leaves_nothing(tmp_path, error):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(error):
        with open_output(str(path), overwrite=True) as out:
            out.write(b"new")
            raise error
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


def test_refuses_to_replace(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(
        DataError, match=r"out: the file exists; choose another name, or allow it to be replaced$"
    ):
        with open_output(str(path)):
            pass
    with open_output(str(path), overwrite=True) as out:
        out.write(b"new")
    assert path.read_bytes() == b"new"


def test_links_and_devices_stay_what_they_are(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("file")
    with open_output(str(tmp_path / "link"), overwrite=True) as out:
        out.write(b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() == b"new"
    with open_output("/dev/null") as out:
        out.write(b"x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_missing_folder(tmp_path):
    with pytest.raises(DataError, match="nowhere: no such folder"):
        with open_output(str(tmp_path / "nowhere" / "out")):
            pass


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst", ".GZ"])
def test_compressed_by_name_and_read_by_content(tmp_path, suffix):
    path, renamed = str(tmp_path / f"out{suffix}"), str(tmp_path / "out")
    with open_output(path) as out:
        out.write(b"x\n" * 1000)
    assert os.path.getsize(path) < 500
    os.rename(path, renamed)
    assert b"".join(read_chunks(renamed)) == b"x\n" * 1000


def test_several_members_in_one_file(tmp_path):
    path = tmp_path / "two"
    path.write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert b"".join(read_chunks(str(path))) == b"a\nb\n"


def test_a_name_taken_meanwhile_is_left_alone_and_nothing_is_lost(tmp_path):
    path = tmp_path / "out"
    for n in (2, 3):
        path.unlink(missing_ok=True)
        with pytest.raises(DataError, match=rf"the file exists by now; what was .* is in .*out\.{n}$"):
            with open_output(str(path)) as out:
                out.write(b"mine")
                path.write_bytes(b"theirs")
        assert path.read_bytes() == b"theirs" and (tmp_path / f"out.{n}").read_bytes() == b"mine"
    assert sorted(os.listdir(tmp_path)) == ["out", "out.2", "out.3"]


def test_replacing_keeps_the_mode(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with open_output(str(path), overwrite=True):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_full_disk_is_named():
    with pytest.raises(OSError, match="No space left") as caught:
        with open_output("/dev/full") as out:
            out.write(b"x" * 100_000)
    assert caught.value.filename == "/dev/full"


DAMAGE = {
    "cut": lambda whole: whole[: len(whole) // 2],
    "flipped": lambda whole: whole[:20] + bytes(255 - x for x in whole[20:60]) + whole[60:],
    "rubbish": lambda whole: whole[:6] + b"rubbish" * 100,
}


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_refused(tmp_path, suffix, damage):
    path = tmp_path / f"file{suffix}"
    with open_output(str(path)) as out:
        out.write(b"".join(b"%d %d\n" % (k, k * k) for k in range(10_000)))
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    with pytest.raises(DataError, match=rf"file{suffix}: damaged or truncated {suffix[1:]} file") as refused:
        for _ in read_chunks(str(path)):
            pass
    assert "Errno" not in str(refused.value)  # what the decompressor says, not the system


def test_a_model_is_no_text(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"aligner\x03\xff\xfe")
    with pytest.raises(
        DataError, match="model: this is a model of aligner or another file that it wrote, not text"
    ):
        list(read_chunks(str(path)))
    path.write_bytes(b"aligner \nis a word\n")
    assert b"".join(read_chunks(str(path))).startswith(b"aligner ")


def test_utf16_is_recognised(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("a b\n".encode("utf-16"))
    with pytest.raises(
        DataError, match="this is UTF-16; convert it to UTF-8, or name its encoding$"
    ) as caught:
        list(read_chunks(str(path)))
    assert (caught.value.setting, caught.value.value) == ("encoding", "utf-16")


def parts(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".part"))


def test_what_a_killed_program_left_is_cleared(tmp_path):
    """Only parts of the same output go, and only those that no program writes any more."""
    path = str(tmp_path / "out")
    if (child := os.fork()) == 0:
        with open_output(path) as out:
            out.write(b"x")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(parts(tmp_path)) == 1
    others = [".out.notes.part", ".out.2.0123abcd.part", ".other.0123abcd.part", "out.0123abcd.part"]
    for name in others:
        (tmp_path / name).touch()
    with open_output(path, overwrite=True) as live:
        assert len(parts(tmp_path)) == len(others) + 1
        with open_output(path, overwrite=True) as out:
            assert len(parts(tmp_path)) == len(others) + 2
            out.write(b"second")
        assert (tmp_path / "out").read_bytes() == b"second"
        live.write(b"first")
    assert (tmp_path / "out").read_bytes() == b"first"
    assert parts(tmp_path) == sorted(others)


def test_links_that_are_named_like_parts_are_not_followed(tmp_path):
    (tmp_path / "other").write_bytes(b"x")
    (tmp_path / ".out.0123abcd.part").symlink_to("other")
    with open_output(str(tmp_path / "out")):
        pass
    assert sorted(os.listdir(tmp_path)) == [".out.0123abcd.part", "other", "out"]


@pytest.mark.parametrize("still_locked", [True, False])
def test_a_part_that_is_cleared_before_it_is_locked_is_made_again(tmp_path, monkeypatch, still_locked):
    """The other program may still have its lock, or be done: then the lock is of a file without a name."""
    taken = []

    def flock(handle, how):
        if not taken:  # another program comes first
            taken.extend(parts(tmp_path))
            os.unlink(tmp_path / taken[0])
            if still_locked:
                raise BlockingIOError(errno.EWOULDBLOCK, "taken")

    monkeypatch.setattr(fcntl, "flock", flock)
    with open_output(str(tmp_path / "out")) as out:
        out.write(b"x")
    assert os.listdir(tmp_path) == ["out"]


def test_without_locks_nothing_is_cleared(tmp_path, monkeypatch):
    def flock(handle, how):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", flock)
    (tmp_path / ".out.0123abcd.part").touch()
    with open_output(str(tmp_path / "out")):
        pass
    assert sorted(os.listdir(tmp_path)) == [".out.0123abcd.part", "out"]


def test_mask_of_the_process_is_left_alone(tmp_path, monkeypatch):
    """Another thread may make a file at the same time."""
    old = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the mask was changed"))
        with open_output(str(tmp_path / "out")):
            pass
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640
    finally:
        monkeypatch.undo()
        os.umask(old)


def test_longest_name(tmp_path):
    path = tmp_path / ("\u00e9" * 127)
    with open_output(str(path)) as out:
        out.write(b"x")
    assert [name.name for name in tmp_path.iterdir()] == [path.name]


def test_names_that_are_none(tmp_path):
    for path in ("", f"{tmp_path}/new/"):
        with pytest.raises(DataError, match="a file name is needed"):
            with open_output(path):
                pass


@pytest.mark.parametrize("call", ["open", "fsync", "link"])
def test_errors_have_the_name_that_was_given(tmp_path, monkeypatch, call):
    def fail(*_):
        raise OSError(errno.EIO, "broken", f"{tmp_path}/.out.0123abcd.part", None, f"{tmp_path}/out")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="broken") as caught:
        with open_output(str(tmp_path / "out")):
            pass
    monkeypatch.undo()
    assert (caught.value.filename, caught.value.filename2) == (str(tmp_path / "out"), None)
    assert os.listdir(tmp_path) == []


def test_where_there_are_no_hard_links(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.EPERM, "no links")

    monkeypatch.setattr(os, "link", fail)
    path = tmp_path / "out"
    with open_output(str(path)) as out:
        out.write(b"x")
    assert path.read_bytes() == b"x"
    path.unlink()
    with pytest.raises(DataError, match="the file exists"):
        with open_output(str(path)):
            path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs" and sorted(os.listdir(tmp_path)) == ["out", "out.2"]
    path.unlink()
    with pytest.raises(DataError, match="the file exists"):
        with open_output(str(path)):
            path.symlink_to("nowhere")
    assert path.is_symlink() and sorted(os.listdir(tmp_path)) == ["out", "out.2", "out.3"]


def test_read_only_files_are_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser may always write
    with pytest.raises(PermissionError, match="out"):
        with open_output(str(path), overwrite=True):
            pass
    assert path.read_bytes() == b"old"


def test_a_log_is_there_from_its_first_line_on(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"old\n")
    with pytest.raises(DataError, match="the file exists"):
        with open_log(str(path)):
            pass
    with pytest.raises(ValueError):
        with open_log(str(path), overwrite=True):
            raise ValueError
    assert path.read_bytes() == b"old\n"
    with pytest.raises(ValueError):
        with open_log(str(path), overwrite=True) as write:
            write(b"1\n")
            assert path.read_bytes() == b"1\n"
            write(b"2\n")
            raise ValueError
    assert path.read_bytes() == b"1\n2\n" and os.listdir(tmp_path) == ["log"]


def test_an_input_that_cannot_be_read_is_named(tmp_path):
    """Also while an output is open."""
    with pytest.raises(OSError, match="Input/output error") as caught:
        with open_output(str(tmp_path / "out")):
            list(read_chunks("/proc/self/mem"))
    assert caught.value.filename == "/proc/self/mem"


def test_a_file_is_written_in_place(tmp_path):
    """Whoever holds the file open reads what was written: the file is the same one."""
    path = tmp_path / "links"
    path.write_bytes(b"something longer than what comes")
    with open(path, "rb") as held:
        with open_in_place(str(path)) as out:
            out.write(b"0-0\n")
        assert held.read() == b"0-0\n"
    with open_in_place(str(tmp_path / "new.gz")) as out:
        out.write(b"plain")
    assert (tmp_path / "new.gz").read_bytes() == b"plain"
    with pytest.raises(OSError, match="missing/links"), open_in_place(str(tmp_path / "missing/links")):
        pass


def test_lack_of_memory_is_told_alike_whoever_tells_it():
    """A system call names its file."""
    assert message_of(MemoryError()) == "out of memory"
    assert message_of(OSError(errno.ENOMEM, "Cannot allocate memory")) == "out of memory"
    assert message_of(OSError(errno.ENOMEM, "Cannot allocate memory", "x")) == "x: out of memory"
    assert message_of(OSError(errno.ENOENT, "No such file", "x")) == "x: No such file"

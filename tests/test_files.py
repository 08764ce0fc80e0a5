"""Files in and out: nothing half-written, nothing replaced unasked, lines cut where they end."""

from __future__ import annotations

import gzip
import os
import stat

import pytest

from aligner.errors import DataError
from aligner.files import open_output, read_chunks


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


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
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


def test_a_name_taken_meanwhile_is_left_alone(tmp_path):
    path = tmp_path / "out"
    with pytest.raises(DataError, match="the file exists"):
        with open_output(str(path)) as out:
            out.write(b"mine")
            path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs" and os.listdir(tmp_path) == ["out"]


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
    with pytest.raises(DataError, match=rf"file{suffix}: damaged or truncated {suffix[1:]} file"):
        for _ in read_chunks(str(path)):
            pass


def test_utf16_is_recognised(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("a b\n".encode("utf-16"))
    with pytest.raises(
        DataError, match="this is UTF-16; convert it to UTF-8, or name its encoding$"
    ) as caught:
        list(read_chunks(str(path)))
    assert (caught.value.setting, caught.value.value) == ("encoding", "utf-16")

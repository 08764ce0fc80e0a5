"""Where data is, and how hypothesis runs."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

os.environ["ALIGNER_CACHE"] = "off"  # no test finds a model of another one, or leaves one
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for each other slow small matrices down
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as commands do: threads that wait sleep
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell: programs inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # below nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

settings.register_profile(
    "aligner",
    deadline=None,
    derandomize=True,
    max_examples=20 if os.environ.get("ALIGNER_SANITIZE") else 150,  # sanitizers make kernels slow
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no failure
)
settings.load_profile("aligner")


@pytest.fixture
def data() -> Path:
    """The data that ships with the project."""
    return ROOT / "data"


@pytest.fixture
def shared() -> Path:
    return shared_folder()


def shared_folder() -> Path:
    """Real corpora with gold links, which do not come with the project; tests of them may be skipped."""
    folder = Path(os.environ.get("ALIGNER_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    return folder


@pytest.fixture(scope="module", params=["whole", "in small blocks"])
def blocks(request):
    """Files once as they are, and once in blocks of two lines or pairs, from chunks of seven bytes."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "whole":
            patch.setattr("aligner.text.reading.BLOCK", 2)
            patch.setattr("aligner.links.formats.BLOCK", 2)
            patch.setattr("aligner.files.CHUNK", 7)
        yield


@pytest.fixture
def write(tmp_path: Path):
    """write(name, text or bytes) -> path of a new file, as str."""

    def write(name: str, text: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write

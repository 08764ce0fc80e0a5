"""The kernels' numbers (ext/vector/real.h): exp and log against the C library's, sums against numpy's."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

HEADERS = ROOT / "ext" / "vector"
SOURCE = """
#include "real.h"
extern "C" {
void exponentials(const real* x, real* y, long n) { for (long k = 0; k < n; ++k) y[k] = exponential(x[k]); }
void logarithms(const real* x, real* y, long n) { for (long k = 0; k < n; ++k) y[k] = logarithm(x[k]); }
void sums(const real* x, real* y, long n) { for (long k = 0; k < n; k += 16) y[k / 16] = sum(load(x + k)); }
void up(const real* x, real* y, long n) { add_up(x, y, n); }
void down(const real* x, real* y, long n) { add_down(x, y, n); }
void fading_up(const real* x, real* y, long n) { fade_up(x, y, n, 0.5f); }
void fading_down(const real* x, real* y, long n) { fade_down(x, y, n, 0.5f); }
}
"""


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    """call(name, x, n): n numbers that a function of SOURCE finds from an array of floats."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None or not HEADERS.is_dir():
        pytest.skip("there is no compiler, or no source to compile")
    folder: Path = tmp_path_factory.mktemp("vectors")
    (folder / "real.cpp").write_text(SOURCE)
    flags = ["-O2", "-ffp-contract=off", "-Wno-psabi", "-shared", "-fPIC", f"-I{HEADERS}"]
    subprocess.run([compiler, *flags, str(folder / "real.cpp"), "-o", str(folder / "real.so")], check=True)
    library = ctypes.CDLL(str(folder / "real.so"))

    def call(name: str, x: np.ndarray, n: int | None = None) -> np.ndarray:
        assert x.dtype == np.float32 and x.flags.c_contiguous
        out = np.empty(len(x) if n is None else n, np.float32)
        pointers = (array.ctypes.data_as(ctypes.c_void_p) for array in (x, out))
        getattr(library, name)(*pointers, ctypes.c_long(len(x)))
        return out

    return call


def test_exponentials_of_the_whole_range(call):
    """The error is what real.h promises, also at halves of ln 2, where the power of 2 changes."""
    steps = np.arange(-230, 231) * (np.log(2) / 2)
    x = np.concatenate([np.linspace(-80, 80, 200_001), steps, steps + 1e-6, steps - 1e-6, [0, -80, 80]])
    x = x[np.abs(x) <= 80].astype(np.float32)
    error = np.abs(call("exponentials", x) / np.exp(x.astype(np.float64)) - 1)
    assert 0 < error.max() < 3e-7
    assert call("exponentials", np.zeros(1, np.float32))[0] == 1


def test_exponentials_beyond_the_range_stay_at_its_ends(call):
    ends = call("exponentials", np.array([-80, 80], np.float32))
    far = np.array([-80.001, -1e30, -np.inf, 80.001, 1e30, np.inf], np.float32)
    np.testing.assert_array_equal(call("exponentials", far), np.repeat(ends, 3))


def test_logarithms_of_all_normal_numbers(call):
    """The error is what real.h promises, also around powers of 2 and 3/4 of them, where the parts change."""
    least, most = np.finfo(np.float32).tiny, np.finfo(np.float32).max
    turns = np.concatenate([np.ldexp(x, np.arange(-125, 128)) for x in (1.0, 0.75)]).astype(np.float32)
    x = np.exp(np.linspace(np.log(float(least)), np.log(float(most)), 200_001)).astype(np.float32)
    near = [np.nextafter(turns, np.float32(end)) for end in (0, np.inf)]
    ones = np.linspace(0.7, 1.6, 50_001, dtype=np.float32)
    x = np.concatenate([x, turns, *near, ones, np.array([least, most], np.float32)])
    x = x[(x >= least) & (x <= most)]
    truth = np.log(x.astype(np.float64))
    error = np.abs(call("logarithms", x) - truth) / (1 + np.abs(truth))
    assert 0 < error.max() < 2e-7
    assert call("logarithms", np.ones(1, np.float32))[0] == 0
    middle = np.setdiff1d(ones[(ones >= 0.75) & (ones < 1.5)], 1)  # there the series is all of it
    truth = np.log(middle.astype(np.float64))
    assert np.abs(call("logarithms", middle) / truth - 1).max() < 3e-7


@pytest.mark.parametrize("n", [4, 16, 28, 64])
def test_running_sums_of_whole_numbers(call, n):
    """Whole numbers have exact sums."""
    x = np.random.default_rng(n).integers(-100, 100, n).astype(np.float32)
    np.testing.assert_array_equal(call("up", x), np.cumsum(x))
    np.testing.assert_array_equal(call("down", x), np.cumsum(x[::-1])[::-1])


@pytest.mark.parametrize("n", [4, 16, 28])
def test_fading_sums_of_whole_numbers(call, n):
    """What stands k places away counts 1 / 2^k; sums of few and small whole numbers are exact."""
    x = np.random.default_rng(n).integers(0, 4, n).astype(np.float32)
    x[16:] = 0
    up = [sum(x[k] * 0.5 ** (i - k) for k in range(i + 1)) for i in range(n)]
    down = [sum(x[k] * 0.5 ** (k - i) for k in range(i, n)) for i in range(n)]
    np.testing.assert_array_equal(call("fading_up", x), np.array(up, np.float32))
    np.testing.assert_array_equal(call("fading_down", x), np.array(down, np.float32))


def test_the_sum_of_a_vector_is_taken_by_halves(call):
    """In one order, so that all builds give the same bits."""
    x = np.random.default_rng(0).normal(size=(500, 16)).astype(np.float32)
    four = x[:, :8] + x[:, 8:]
    four = four[:, :4] + four[:, 4:]
    expected = (four[:, 0] + four[:, 2]) + (four[:, 1] + four[:, 3])
    np.testing.assert_array_equal(call("sums", x.ravel(), 500), expected)

"""The extensions and their Cython directives; everything else is in pyproject.toml."""

import hashlib
import multiprocessing
import os
import platform
import re
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import Cython
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

TESTS = os.environ.get("ALIGNER_TESTS", "0") not in ("", "0")  # with the kernels that only tests use
SANITIZE = os.environ.get("ALIGNER_SANITIZE", "0") not in ("", "0")
FUZZER = os.environ.get("ALIGNER_SANITIZE") == "fuzzer"  # also tells a fuzzer which branches are taken
# Objects never mix.
BUILD = "build/" + ("fuzzer" if FUZZER else "sanitize" if SANITIZE else "release")
FLAGS = ["-O3"]
SANITIZERS = "-fsanitize=address,undefined,float-cast-overflow"
if SANITIZE:  # the first access outside an array and the first undefined operation end the process
    FLAGS = ["-O1", "-g", "-D_GLIBCXX_ASSERTIONS", "-fno-omit-frame-pointer"]
    FLAGS += [SANITIZERS, "-fno-sanitize-recover=all"]
    FLAGS += ["-fsanitize=fuzzer-no-link", "-fno-sanitize=vptr,function"] if FUZZER else []
FLAGS += ["-ffp-contract=off"]  # with it, and sums in written order, all builds give the same bits
FLAGS += ["-Wno-psabi"]  # vectors are passed between inline functions only


def openmp_flags() -> tuple[list[str], list[str]]:
    """What compiling and linking with OpenMP need; nothing where the compiler cannot do it.

    Apple's compiler has no library of its own: CPPFLAGS and LDFLAGS say where another one is.
    """
    given = {name: shlex.split(os.environ.get(name, "")) for name in ("CPPFLAGS", "CXXFLAGS", "LDFLAGS")}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.cpp")
        source.write_text("#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n")
        for compiling, linking in (
            (["-fopenmp"], ["-fopenmp"]),
            (["-Xpreprocessor", "-fopenmp"], ["-lomp"]),
        ):
            command = [*shlex.split(os.environ.get("CXX", "c++")), *given["CPPFLAGS"], *given["CXXFLAGS"]]
            command += [*compiling, str(source), *given["LDFLAGS"], *linking, "-o", f"{folder}/probe"]
            try:
                probe = subprocess.run(command, capture_output=True)
            except OSError:
                break
            if probe.returncode == 0:
                return compiling, linking
    return [], []


OPENMP, OPENMP_LIBRARY = openmp_flags()
QUIET = ["-fno-math-errno", "-fno-trapping-math"]  # lets loops become vectors, changes no result
AVX2 = ["-mavx2", "-mfma"]
AVX512 = [*AVX2, "-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", "-mprefer-vector-width=512"]
X86 = platform.machine() in ("x86_64", "AMD64")
# Kernels that are built several times, or with flags of their own: suffix of the module -> flags.
WIDTHS = {"": QUIET, "_double": ["-DALIGNER_DOUBLE"]}
if X86 and not SANITIZE:  # all builds have vectors of 16 lanes, and touch the same memory
    WIDTHS |= {"_avx2": QUIET + AVX2, "_avx512": QUIET + AVX512}
VARIANTS = {
    "models._hmm": WIDTHS,
    "models._pairwise": WIDTHS,
    "models._mixture": {"": [], "_double": ["-DALIGNER_DOUBLE"]},
    "models._lbfgs": {"": ["-DALIGNER_DOUBLE"]},  # for functions in Python
    "models._update": {"": [], "_double": ["-DALIGNER_DOUBLE"]},
}
FOR_TESTS = ("models._lbfgs", "_double")  # how the names of kernels end that only tests use

EXT = Path("ext")


def module(path: Path) -> str:
    """ext/room/_kernel.pyx is the module room._kernel of the package."""
    return ".".join(path.relative_to(EXT).with_suffix("").parts)


def source(path: Path, suffix: str) -> str:
    """The source of a variant: the same, under its own name."""
    if not suffix:
        return str(path)
    copy = Path(BUILD, "variants", f"{path.stem}{suffix}.pyx")
    copy.parent.mkdir(parents=True, exist_ok=True)
    if not copy.exists() or copy.read_text() != path.read_text():
        copy.write_text(path.read_text())
    return str(copy)


FOLDERS = [str(EXT), *(str(path) for path in sorted(EXT.iterdir()) if path.is_dir())]
HEADERS = [path for path in sorted(EXT.rglob("*")) if path.suffix in (".pxd", ".h")]


def headers_of(source: Path) -> list[str]:
    """The headers that a source uses: those that it names, and those that they name."""
    found: list[Path] = []
    ahead = [source]
    while ahead:
        lines = re.findall(r"^.*(?:cimport|include|extern from).*$", ahead.pop().read_text(), re.MULTILINE)
        words = set(re.findall(r"\w+", " ".join(lines)))
        named = [path for path in HEADERS if path.stem in words and path not in found]
        found += named
        ahead += named
    return [str(path) for path in found]


EXTENSIONS = [
    Extension(
        f"aligner.{module(path)}{suffix}",
        [source(path, suffix)],
        depends=[source(path, suffix), *headers_of(path)],
        include_dirs=FOLDERS,
        define_macros=[("ALIGNER_FLAGS", '"{}"'.format(" ".join(FLAGS + OPENMP)))],
        extra_compile_args=FLAGS + OPENMP + extra,
        extra_link_args=OPENMP_LIBRARY + ([SANITIZERS] if SANITIZE else []),
        language="c++",
    )
    for path in sorted(EXT.rglob("*.pyx"))
    for suffix, extra in VARIANTS.get(module(path), {"": []}).items()
    if TESTS or not f"{module(path)}{suffix}".endswith(FOR_TESTS)
]
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": SANITIZE,
    "wraparound": False,
    "initializedcheck": SANITIZE,
    "nonecheck": SANITIZE,
    "cdivision": not SANITIZE,
    "embedsignature": True,
}


SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
KERNELS = Path(os.environ.get("ALIGNER_KERNELS", f"{BUILD}/kernels"))  # where built kernels are kept


def kept(kernel: Extension) -> Path:
    """Where a kernel is kept; the name says what it is made of: sources, flags, Cython's version."""
    made_of = [Path(path).read_bytes() for path in kernel.depends]
    named = [os.environ.get(name) for name in ("CC", "CXX", "CPPFLAGS", "CFLAGS", "CXXFLAGS", "LDFLAGS")]
    flags = (kernel.extra_compile_args, kernel.extra_link_args, named, DIRECTIVES, Cython.__version__)
    digest = hashlib.sha256(b"\0".join([*made_of, repr(flags).encode()])).hexdigest()[:16]
    return KERNELS / f"{kernel.name}-{digest}{SUFFIX}"


KEPT = {kernel.name: kept(kernel) for kernel in EXTENSIONS}


class Kept(build_ext):
    """Compiles on all cores, and keeps kernels for the next build, which compiles only what has changed."""

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()
        self.force = True  # the content of the sources decides, not their age

    def build_extension(self, ext):
        built, kernel = Path(self.get_ext_fullpath(ext.name)), KEPT[ext.name]
        if kernel.exists():
            built.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(kernel, built)
            return
        super().build_extension(ext)
        KERNELS.mkdir(parents=True, exist_ok=True)
        for old in KERNELS.glob(f"{ext.name}-*{SUFFIX}"):
            old.unlink()
        half = shutil.copy(built, kernel.with_suffix(".part"))
        os.replace(half, kernel)


CHANGED = [kernel for kernel in EXTENSIONS if not KEPT[kernel.name].exists()]
CORES = os.cpu_count() or 1
FORKED = multiprocessing.get_start_method() == "fork"  # processes that are not would run this file again
setup(
    cmdclass={"build_ext": Kept},
    ext_modules=[
        *cythonize(
            CHANGED,
            nthreads=CORES if FORKED else 0,
            build_dir=BUILD,
            include_path=FOLDERS,
            compiler_directives=DIRECTIVES,
        ),
        *(kernel for kernel in EXTENSIONS if kernel not in CHANGED),
    ],
    options={"build": {"build_base": BUILD}, "build_ext": {"parallel": CORES}},
)

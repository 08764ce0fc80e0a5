"""The extensions and their Cython directives; everything else is in pyproject.toml."""

import os
import platform
import subprocess
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEBUG = os.environ.get("ALIGNER_DEBUG", "0") not in ("", "0")
TESTS = os.environ.get("ALIGNER_TESTS", "0") not in ("", "0")  # with the kernels that only tests use
SANITIZE = os.environ.get("ALIGNER_SANITIZE", "0") not in ("", "0")
FUZZER = os.environ.get("ALIGNER_SANITIZE") == "fuzzer"  # also tells a fuzzer which branches are taken
# Objects never mix.
BUILD = "build/" + ("fuzzer" if FUZZER else "sanitize" if SANITIZE else "debug" if DEBUG else "release")
FLAGS = ["-O1", "-g", "-D_GLIBCXX_ASSERTIONS"] if DEBUG else ["-O3"]
SANITIZERS = "-fsanitize=address,undefined,float-cast-overflow"
if SANITIZE:  # the first access outside an array and the first undefined operation end the process
    FLAGS = ["-O1", "-g", SANITIZERS, "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
    FLAGS += ["-fsanitize=fuzzer-no-link", "-fno-sanitize=vptr,function"] if FUZZER else []
FLAGS += ["-ffp-contract=off"]  # with it, and sums in written order, all builds give the same bits
FLAGS += ["-Wno-psabi"]  # vectors are passed between inline functions only


def openmp_flags() -> list[str]:
    """-fopenmp where the compiler can build and link with it, else nothing."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.cpp")
        source.write_text("#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n")
        command = [os.environ.get("CXX", "c++"), "-fopenmp", str(source), "-o", f"{folder}/probe"]
        try:
            probe = subprocess.run(command, capture_output=True)
        except OSError:
            return []
        return ["-fopenmp"] if probe.returncode == 0 else []


OPENMP = openmp_flags()
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
HEADERS = [str(path) for path in sorted(EXT.rglob("*")) if path.suffix in (".pxd", ".h")]
EXTENSIONS = [
    Extension(
        f"aligner.{module(path)}{suffix}",
        [source(path, suffix)],
        depends=["setup.py", source(path, suffix), *HEADERS],
        include_dirs=FOLDERS,
        define_macros=[("ALIGNER_FLAGS", '"{}"'.format(" ".join(FLAGS + OPENMP)))],
        extra_compile_args=FLAGS + OPENMP + extra,
        extra_link_args=OPENMP + ([SANITIZERS] if SANITIZE else []),
        language="c++",
    )
    for path in sorted(EXT.rglob("*.pyx"))
    for suffix, extra in VARIANTS.get(module(path), {"": []}).items()
    if TESTS or not f"{module(path)}{suffix}".endswith(FOR_TESTS)
]
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": not DEBUG,
    "embedsignature": True,
}


class Kept(build_ext):
    """Compiles on all cores, and keeps the kernels of developers' installations for the next one.

    The next one compiles only what has changed. Cython writes all C++ anew, because its own files are new in
    each build: so the C++'s age says nothing.
    """

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self):
        if self.editable_mode:
            self.build_lib = f"{BUILD}/editable"
        super().run()

    def build_extension(self, ext):
        built = Path(self.get_ext_fullpath(ext.name))
        keeps = self.editable_mode or DEBUG or SANITIZE
        if not keeps or any(is_newer(path, built) for path in ext.depends):
            super().build_extension(ext)


def is_newer(path, built):
    return not built.exists() or Path(path).stat().st_mtime > built.stat().st_mtime


setup(
    cmdclass={"build_ext": Kept},
    ext_modules=cythonize(EXTENSIONS, build_dir=BUILD, include_path=FOLDERS, compiler_directives=DIRECTIVES),
    options={"build": {"build_base": BUILD}, "build_ext": {"parallel": os.cpu_count() or 1}},
)

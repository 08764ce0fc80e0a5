"""The extensions and their Cython directives; everything else is in pyproject.toml."""

import os
import subprocess
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("ALIGNER_DEBUG", "0") not in ("", "0")
BUILD = "build/debug" if DEBUG else "build/release"  # generated C++ and objects never mix
FLAGS = ["-O1", "-g", "-D_GLIBCXX_ASSERTIONS"] if DEBUG else ["-O3"]


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
EXTENSIONS = [
    Extension(
        f"aligner.{path.stem}",
        [str(path)],
        depends=[str(p) for p in sorted(Path("ext").glob("*.[ph]*")) if p.suffix in (".pxd", ".h")],
        include_dirs=["ext"],
        define_macros=[("ALIGNER_FLAGS", '"{}"'.format(" ".join(FLAGS + OPENMP)))],
        extra_compile_args=FLAGS + OPENMP,
        extra_link_args=OPENMP,
        language="c++",
    )
    for path in sorted(Path("ext").glob("*.pyx"))
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

setup(
    ext_modules=cythonize(EXTENSIONS, build_dir=BUILD, include_path=["ext"], compiler_directives=DIRECTIVES),
    options={"build": {"build_base": BUILD}},
)

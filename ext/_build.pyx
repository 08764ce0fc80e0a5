"""How the kernels were built and what they use of the machine, for `aligner --version`."""

cdef extern from *:
    """
    #ifdef _OPENMP
    static const bool HAS_OPENMP = true;
    #else
    static const bool HAS_OPENMP = false;
    #endif

    #if defined(__AVX512F__)
    static const char *SIMD_IN_USE = "avx512";
    #elif defined(__AVX2__)
    static const char *SIMD_IN_USE = "avx2";
    #elif defined(__SSE2__)
    static const char *SIMD_IN_USE = "sse2";
    #elif defined(__ARM_NEON)
    static const char *SIMD_IN_USE = "neon";
    #else
    static const char *SIMD_IN_USE = "none";
    #endif

    #if defined(__clang__)
    static const char *COMPILER = __VERSION__;  /* which begins with the name */
    #elif defined(__GNUC__)
    static const char *COMPILER = "GCC " __VERSION__;
    #else
    static const char *COMPILER = "unknown";
    #endif

    static const char *simd_of_machine(void) {
    #if defined(__x86_64__) && defined(__GNUC__)
        __builtin_cpu_init();  /* what the builds are compiled with, all of it: see AVX2 and AVX512 in setup.py */
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
            if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
                && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) return "avx512";
            return "avx2";
        }
    #endif
        return SIMD_IN_USE;
    }
    """
    const char* ALIGNER_FLAGS
    const char* COMPILER
    const char* CYTHON_ABI
    bint HAS_OPENMP
    const char* SIMD_IN_USE
    const char* simd_of_machine() noexcept


def flags() -> str:
    """Compiler flags of the kernels."""
    return ALIGNER_FLAGS.decode()


def compiler() -> str:
    """Name and version of the C++ compiler."""
    return COMPILER.decode()


def cython_version() -> str:
    """Version of the Cython that wrote the kernels' C++."""
    return CYTHON_ABI.decode().replace("_", ".")


def openmp_enabled() -> bool:
    """Whether prange runs in threads: without OpenMP it builds all the same, and runs serially."""
    return HAS_OPENMP


def simd_in_use() -> str:
    """The widest instruction set that the kernels of this build use."""
    return SIMD_IN_USE.decode()


def simd_available() -> str:
    """The widest instruction set that this machine offers."""
    return simd_of_machine().decode()

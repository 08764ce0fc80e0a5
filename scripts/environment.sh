# Sourced by the other scripts, from the repository's root: puts a virtual environment with the toolkit in it on PATH,
# made on first use and renewed when what it was built from has changed.
#
#   extras            of pyproject.toml to install, as in extras=dev,browser; what has them serves without them too. dev
#                     and test also build the kernels that only tests use
#   ALIGNER_SANITIZE  1: a second environment, installed as users would, whose kernels check bounds, and end the process
#                     at the first access outside an array and at the first undefined operation
#                     fuzzer: a third one, by clang, whose kernels also tell a fuzzer which branches are taken

need() {  # need COMMAND DEBIAN_PACKAGE...: installs the packages where the command fails
    local command=$1
    shift
    if ! eval "$command" >/dev/null 2>&1; then
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
            echo "installing $* with apt-get, because \`$command\` fails ..." >&2
            apt-get update -qq && apt-get install -y -qq "$@" >/dev/null
        else
            echo "please install: $*" >&2
            exit 1
        fi
    fi
}

sanitized() {  # sanitized COMMAND...: runs it so that it can load the kernels of ALIGNER_SANITIZE
    # Python is not built so: the sanitizer is loaded before it, and Python's memory comes from the sanitizer. What
    # Python does not free at its end is no leak of ours.
    local libraries
    if [ "$ALIGNER_SANITIZE" = fuzzer ]; then
        libraries=$(python -c 'import atheris; print(atheris.path())')/asan_with_fuzzer.so
    else
        libraries="$("${CXX:-c++}" -print-file-name=libasan.so) $("${CXX:-c++}" -print-file-name=libstdc++.so)"
    fi
    ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} PYTHONMALLOC=malloc LD_PRELOAD=$libraries "$@"
}

extras=${extras:-}
python=${PYTHON:-python3}
need "command -v $python" python3
need "$python -c 'import ensurepip, venv'" python3-venv
if [ "${ALIGNER_SANITIZE:-0}" = fuzzer ]; then
    export CC=clang CXX=clang++
    need "command -v clang++" clang
fi
need "command -v ${CXX:-c++}" g++
need "test -e \$($python -c 'import sysconfig; print(sysconfig.get_path(\"include\"))')/Python.h" python3-dev
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "Python 3.10 or later is needed" >&2; exit 1; }

if [ "${ALIGNER_SANITIZE:-0}" = fuzzer ]; then
    venv=.venv-fuzzer editable='' sources='aligner ext setup.py pyproject.toml'
elif [ "${ALIGNER_SANITIZE:-0}" = 1 ]; then
    venv=.venv-sanitize editable='' sources='aligner ext setup.py pyproject.toml'
else
    venv=.venv editable=-e sources='ext setup.py pyproject.toml'
fi
stamp="$("$python" --version) $(find $sources -type f ! -name '*.so' ! -name '*.pyc' -print0 | sort -z | xargs -0 cksum | cksum)"
if [ "$(cat "$venv/stamp$extras" 2>/dev/null)" != "$stamp" ]; then
    echo "setting up $venv ..." >&2
    [ -x $venv/bin/python ] || "$python" -m venv $venv
    [[ ! ",$extras," =~ ,(dev|test), ]] || export ALIGNER_TESTS=1
    if ! $venv/bin/python -m pip install --verbose --disable-pip-version-check $editable ".${extras:+[$extras]}" 2>&1 \
        | tee $venv/install.log | awk '/building .aligner/ { print "  compiling " $2; fflush() }' >&2; then
        tail -n 30 $venv/install.log >&2
        echo "the installation failed; $venv/install.log has all of it" >&2
        exit 1
    fi
    rm -f $venv/stamp*
    for installed in "" ${extras//,/ } "$extras"; do
        echo "$stamp" >"$venv/stamp$installed"
    done
fi
export PATH="$PWD/$venv/bin:$PATH"

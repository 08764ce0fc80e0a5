"""What scripts/instructions.py makes of the files of callgrind, and when it complains."""

from __future__ import annotations

import json

from instructions import KEPT, compared, parse, table

# Cut from a file of callgrind. The line after `calls=` has the cost of the called function.
TEXT = """\
desc: Trigger: Client Request: HMM, projection
events: Ir
fn=(1) main
ob=(1) /usr/bin/python3
fl=(1) ???
0 5
cob=(2) /x/aligner/models/_hmm_avx2.so
cfn=(2) expect
calls=1 0
0 300
ob=(2)
fn=(2)
0 100
+3 20
cob=(3) /usr/lib/libm.so.6
cfn=(3) log
calls=7 0
* 70
ob=(3)
fn=(3)
0 70
ob=(4) /x/aligner/_build.so
fn=(4) compiler
0 3
"""


def test_only_instructions_inside_our_modules_count():
    assert parse(TEXT) == ("HMM, projection", 100 + 20 + 3)


def test_more_instructions_are_told_and_so_are_fewer():
    before = {"a": 1000, "b": 1000, "c": 1000, "d": 1000, "gone": 1}
    now = {"a": 1029, "b": 1031, "c": 969, "d": 971, "new": 5}
    assert compared(now, before) == (["b"], ["c"])


def test_the_table_has_a_line_a_work():
    assert table({"a": 2_000_000, "b": 3_000_000}, {"a": 1_000_000}).splitlines()[1:] == [
        "a                                    2.00       1.00   +100.0 %",
        "b                                    3.00",
    ]


def test_what_is_kept_says_which_build_it_is_of():
    kept = json.loads(KEPT.read_text())
    assert kept["build"] and min(kept["counts"].values()) > 0

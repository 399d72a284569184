"""Variables of the device that a plan fills are filled by an export's own launches, with what the plan resolves to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from exports.launcher import Launcher
from records.errors import UsageError
from sandbox.candidate.prepare import prepare
from sandbox.candidate.resolve import StructArg
from sandbox.target import load_target
from tests.unit.exports.test_launcher import TARGET, built, kinds, launched, lines, shapes, task

FILLED = """/*+++
[[launch]]
symbol = {row = "x + rows * (cols - 1) if rows > 7 else x", "cfg::sizes" = ["cols:i64", "rows"], part = "part + 1"}
kernel = "first"
grid = ["rows"]
block = [64]
args = ["x", "y", "rows"]

[workspace]
part = ["i8", "rows", "3"]
+++*/
#include <hip/hip_runtime.h>
__constant__ float row[64];
__device__ signed char part[8];
namespace cfg { struct Sizes { long long cols; int rows; }; __constant__ Sizes sizes; }
extern "C" __global__ void first(const float* x, float* y, int rows) {}
"""


def test_variables_of_the_device_are_filled_as_the_plan_resolves(tmp_path: Path) -> None:
    prepared = prepare(FILLED, task())
    assert prepared.refusal is None
    names = {f"::plan_variables::contents<&{name}>": f"ks_contents<&{name}>" for name in ("row", "part")}
    names |= {"first": "first", "::plan_variables::value<&cfg::sizes>": "ks_value<&cfg::sizes>"}
    program = built(tmp_path, Launcher(prepared, TARGET), names)
    for case in shapes():
        plan = prepared.plan(case)
        launches = [x for x in plan.launches if not isinstance(x.args[0], StructArg)]
        assert [x.kernel for x in plan.launches if x not in launches] == ["ks_value<&cfg::sizes>"]
        letters = kinds(replace(plan, launches=tuple(launches))).split(",")
        letters.insert(1, "l")  # the struct's first field
        printed = launched(program, [(",".join(letters), tuple(case.dims.values()))])
        assert printed.pop(1) == f"ks_value<&cfg::sizes> 1 1 1 1 1 1 0 {case.dims['cols']}"
        symbols = {v: v for v in names.values()}
        assert printed[:-1] == lines(replace(plan, launches=tuple(launches)), ["x", "y", "scratch"], symbols)


def test_a_plan_that_fills_variables_of_the_device_is_not_exported_for_cuda() -> None:
    with pytest.raises(UsageError, match="for AMD's GPUs"):
        Launcher(prepare(FILLED, task()), load_target("h200"))

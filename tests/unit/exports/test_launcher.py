"""The generated host half launches what the plan resolves to: symbols, grids, memory, arguments in order."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from exports.launcher import PLATFORM, Launcher
from records.errors import UsageError
from sandbox.candidate.prepare import Prepared, prepare
from sandbox.candidate.resolve import BufferArg, NullArg, ResolvedPlan, choices
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Case, ScalarSpec, Task
from tests.support.host_program import host_program, printed

TARGET = load_target("mi300x")
LETTERS = {"i32": "i", "i64": "l", "f32": "f", "f64": "d"}
MAIN = """
int main(int count, char** words) {
    char* memory = nullptr;
    for (int at = 1; at + 2 < count; at += 3) {
        recorded_types = words[at];
        const long long rows = atoll(words[at + 1]), cols = atoll(words[at + 2]);
        const int status = row_softmax_launch(memory + 4096, memory + 8192, rows, cols, memory + 12288, nullptr);
        printf("status %d %lld\\n", status, row_softmax_scratch_bytes(rows, cols));
    }
}
"""
PLAIN = """/*+++
[[launch]]
kernel = "first"
grid = ["ceil_div(rows, ROWS)", "max(1, cols // WIDE)"]
block = ["min(256, 32 * ceil_div(cols, 32 * WIDE))", "ROWS"]
lds = "4 * ROWS * WIDE"
args = ["x", "part", "other", "rows", "cols:i64", "ROWS", "eps"]

[[launch]]
kernel = "second"
grid = ["rows % 7 + 1"]
block = [64]
cooperative = true
args = ["part", "other", "y", "rows", "scale"]

[workspace]
part = ["f32", "ROWS", "rows"]
other = ["i8", "cols", "3"]

[tunables]
ROWS = [1, 4, 8]
WIDE = [2, 16]

[constraints]
small = "ROWS * WIDE <= 64"
+++*/
#include <hip/hip_runtime.h>
#define HIDDEN ROWS
extern "C" __global__ void first(const float* x, float* part, signed char* other, int rows, long long cols, int r,
                                 float eps) { static_assert(HIDDEN > 0); }
namespace outer { namespace inner {
struct Pair { int a; };
__global__ void second(const float* part, const signed char* other, float* y, int rows, double scale) {}
}}
"""
RICH = """/*+++
[[launch]]
fill = {part = -2}
copy = {y = "x"}
kernel = "outer::step<float, ROWS>"
grid = ["ceil_div(rows * cols, 64)"]
block = [64]
args = ["y", "x + rows if rows % 2 == 0 else y + 1", "null", "1 << log2(cols)", "2 * eps", "1 / sqrt(cols):f64", 3]

[[launch]]
for = ["i in range(3, 0, -1)", "j in range(i, 4)"]
[[launch.body]]
kernel = "tail"
when = "i != 2 or rows > 5"
grid = ["i + j"]
block = ["min(cols, 64)"]
args = ["part", "i * 4294967296:i64", "j"]

[workspace]
part = ["i8", "rows", 1]

[tunables]
ROWS = [1, 4]
+++*/
#include <hip/hip_runtime.h>
namespace outer {
template <typename T, int ROWS> __global__ void step(T* y, const T* x, const int* n, int k, float e, double d, int t) {}
}
extern "C" __global__ void tail(signed char* part, long long i, int j) {}
"""
TABLE = """/*+++
[[variant]]
when = "cols <= 64 and rows % 2 == 0"
part = "small"
tunables = {ROWS = 4}

[[variant]]
part = "large"
+++*/
//+++ part small
/*+++
[[launch]]
kernel = "softmax"
grid = ["ceil_div(rows, ROWS)"]
block = [64]
args = ["x", "y", "rows"]

[tunables]
ROWS = [2, 4]
+++*/
#include <hip/hip_runtime.h>
#define STEP 3
struct Helper { int a[STEP]; };
extern "C" __device__ float shared_name(float a) { return a; }
extern "C" { __global__ void never_launched(float* x) {} }
extern "C" __global__ void softmax(const float* x, float* y, int rows) {}
//+++ part large
/*+++
[[launch]]
kernel = "softmax"
grid = ["rows"]
block = [128]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
#ifdef STEP
#error a macro of another part
#endif
struct Helper { float b; };
extern "C" __device__ float shared_name(float a) { return a + 1.0f; }
extern "C" { __global__ void never_launched(float* x) {} }
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {}
"""


def task() -> Task:
    scalars = (ScalarSpec("eps", "f32", 1e-5), ScalarSpec("scale", "f64", 0.1))
    return replace(load_task("row_softmax", "mi300x"), scalars=scalars)


def lines(plan: ResolvedPlan, buffers: Sequence[str], symbols: dict[str, str]) -> list[str]:
    """The launches as the stand-in for HIP prints them; a buffer's address is 4096 times its place, from 1."""
    addresses = {name: 4096 * (index + 1) for index, name in enumerate(buffers)}
    offset = addresses["scratch"]
    for name, (dtype, shape) in plan.workspaces.items():
        addresses[name] = offset
        nbytes = {"f32": 4, "i8": 1}[dtype] * shape[0] * shape[1]
        offset += -(-nbytes // 256) * 256
    rows = []
    for launch in plan.launches:
        values = []
        for argument in launch.args:
            if isinstance(argument, BufferArg):
                values.append(hex(addresses[argument.name] + argument.offset))
            elif isinstance(argument, NullArg):
                values.append("0")
            elif argument.dtype == "f32":
                values.append(f"{ctypes.c_float(argument.value).value:.9g}")
            else:
                values.append(f"{argument.value:.17g}" if argument.dtype == "f64" else str(argument.value))
        sizes = [*launch.grid, *launch.block, launch.lds_bytes]
        rows.append("together " * launch.cooperative + " ".join([symbols[launch.kernel], *map(str, sizes), *values]))
    return rows


def kinds(plan: ResolvedPlan) -> str:
    """The letters by which the stand-in reads the arguments."""
    kind_of = (
        "".join("p" if isinstance(a, (BufferArg, NullArg)) else LETTERS[a.dtype] for a in launch.args)
        for launch in plan.launches
    )
    return ",".join(kind_of)


def built(folder: Path, launcher: Launcher, kernels: Mapping[str, str]) -> Path:
    """A program that launches for each pair of argument letters and dims; `kernels` are expressions and names."""
    path = folder / "launched.cpp"
    includes = "".join(f"#include {name}\n" for name in launcher.includes)
    rows = "".join(f'    if (kernel == (const void*)({text})) return "{name}";\n' for text, name in kernels.items())
    path.write_text(
        f"{includes}{PLATFORM}{launcher.text()}"
        f'const char* name_of(const void* kernel) {{\n{rows}    return "?";\n}}\n{MAIN}',
        encoding="utf-8",
    )
    return host_program(path)


def launched(program: Path, calls: Sequence[tuple[str, Sequence[int]]]) -> list[str]:
    """What is printed by a launch for these argument letters and dims, each followed by its status."""
    return printed(program, *(word for letters, dims in calls for word in (letters, *map(str, dims))))


def shapes() -> list[Case]:
    pairs = itertools.product((1, 7, 64, 1000), (1, 33, 64, 4099))
    return [Case(f"{rows}x{cols}", {"rows": rows, "cols": cols}, 1) for rows, cols in pairs]


@pytest.mark.parametrize("choice", [{"ROWS": 1, "WIDE": 2}, {"ROWS": 4, "WIDE": 16}])
def test_each_shape_is_launched_as_the_plan_resolves(choice: dict[str, int], tmp_path: Path) -> None:
    prepared = prepare(PLAIN, task(), choice)
    assert prepared.refusal is None and choice in choices(prepared.candidate, prepared.task)
    plans = [prepared.plan(case) for case in shapes()]
    program = built(tmp_path, Launcher(prepared, TARGET), {"first": "first", "outer::inner::second": "second"})
    calls = [(kinds(plan), tuple(case.dims.values())) for plan, case in zip(plans, shapes(), strict=True)]
    symbols = {"first": "first", "second": "second"}
    expected = []
    for plan in plans:
        nbytes = sum(-(-{"f32": 4, "i8": 1}[t] * a * b // 256) * 256 for t, (a, b) in plan.workspaces.values())
        expected += [*lines(plan, ["x", "y", "scratch"], symbols), f"status 0 {nbytes}"]
    assert launched(program, calls) == expected


def test_loops_fills_pointers_and_instantiations_are_launched_as_the_plan_resolves(tmp_path: Path) -> None:
    prepared = prepare(RICH, task(), {"ROWS": 4})
    assert prepared.refusal is None
    plans = [prepared.plan(case) for case in shapes()]
    names = {"outer::step<float, 4>": "outer::step<float, 4>", "tail": "tail"}
    names |= {"plan::fill": "ks_fill", "plan::copy": "ks_copy"}
    program = built(tmp_path, Launcher(prepared, TARGET), names)
    calls = [(kinds(plan), tuple(case.dims.values())) for plan, case in zip(plans, shapes(), strict=True)]
    expected = []
    for plan, case in zip(plans, shapes(), strict=True):
        assert [x.kernel for x in plan.launches].count("tail") == (6 if case.dims["rows"] > 5 else 4)
        nbytes = -(-case.dims["rows"] // 256) * 256
        expected += [*lines(plan, ["x", "y", "scratch"], {v: v for v in names.values()}), f"status 0 {nbytes}"]
    assert launched(program, calls) == expected


def test_a_struct_is_passed_by_value_with_its_fields_in_place(tmp_path: Path) -> None:
    source = RICH.replace("const int* n, int k", "const int* n, Both k").replace(
        "namespace outer {",
        "namespace outer {\nstruct Both { char a; const float* b; short c; struct { float d; } e; };",
    )
    source = source.replace('"1 << log2(cols)"', '["3:i8", "x", "-4:i16", ["eps"]]')
    text = Launcher(prepare(source, task()), TARGET).text()
    assert "struct { signed char field0; const void* field1; short field2; struct { float field0; } field3; } " in text
    built(tmp_path, Launcher(prepare(source, task()), TARGET), {})  # it compiles


def test_a_table_serves_each_shape_by_the_kernel_under_its_condition(tmp_path: Path) -> None:
    prepared = prepare(TABLE, replace(task(), tests=tuple(shapes()), benchmarks=tuple(shapes()[-2:])))
    names = {f"variant_{n}::softmax_{n}": f"softmax_{n}" for n in range(2)}
    program = built(tmp_path, Launcher(prepared, TARGET), names)
    calls, expected = [], []
    for case in shapes():
        arm = prepared.arm(case)
        plan = arm.prepared.plan(case)
        calls.append((kinds(plan), tuple(case.dims.values())))
        number = prepared.arms.index(arm)
        expected += [*lines(plan, ["x", "y", "scratch"], {"softmax": f"softmax_{number}"}), "status 0 0"]
    assert launched(program, calls) == expected
    assert {line.split()[0] for line in expected} == {"softmax_0", "softmax_1", "status"}


def test_dims_that_the_plan_does_not_allow_are_refused_and_nothing_is_launched(tmp_path: Path) -> None:
    prepared = prepare(PLAIN.replace('"ROWS * WIDE <= 64"', '"rows <= 70000"'), task(), {"ROWS": 1, "WIDE": 2})
    program = built(tmp_path, Launcher(prepared, TARGET), {"first": "first"})
    for dims in ((0, 5), (5, -1), (70001, 4), (1, 3 << 31)):
        assert [line.split()[:2] for line in launched(program, [("", dims)])] == [["status", "1"]]


def test_a_candidate_that_cannot_be_judged_is_not_exported() -> None:
    refused: Prepared = prepare(PLAIN.replace('"scale"]', '"scale", "missing"]'), task())
    with pytest.raises(UsageError, match="missing"):
        Launcher(refused, TARGET)


def test_a_kernel_with_the_name_of_a_dim_is_the_one_that_is_launched(tmp_path: Path) -> None:
    source = PLAIN.replace('kernel = "first"', 'kernel = "rows"').replace("void first(", "void rows(")
    prepared = prepare(source.replace("int rows, long long cols, int r", "int n, long long cols, int r"), task())
    program = built(tmp_path, Launcher(prepared, TARGET), {"::rows": "the kernel", "::outer::inner::second": "second"})
    case = shapes()[5]
    assert launched(program, [(kinds(prepared.plan(case)), tuple(case.dims.values()))])[0].startswith("the kernel 7 ")


@pytest.mark.parametrize("name", ["class", "lambda", "long", "scratch_"])
def test_a_name_that_the_languages_keep_is_refused(name: str) -> None:
    valid_task = task()
    tensors = (replace(valid_task.inputs[0], name=name),)
    with pytest.raises(UsageError, match="rename it"):
        Launcher(prepare(PLAIN, replace(valid_task, inputs=(*valid_task.inputs, *tensors))), TARGET)

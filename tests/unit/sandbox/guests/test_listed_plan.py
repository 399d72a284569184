from __future__ import annotations

import pytest

from sandbox.amdgcn.annotation import annotate
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.listing import metadata_in
from sandbox.candidate.language import SOURCE_NAMES
from sandbox.candidate.prepare import Prepared, prepare
from sandbox.candidate.resolve import BufferArg, ScalarArg
from sandbox.guests.listed_plan import ListedPlan, PlanCompiler
from sandbox.machine.kernarg import layout_of, pack
from sandbox.target import load_target
from tasks.task import TensorSpec
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.plans import a_task
from tests.support.triton_kernels import SCALED, line_of, needs_triton
from tests.unit.sandbox.guests.test_assembler import SCALE

TASK = a_task(outputs=(TensorSpec("y", "f32", ("rows", "cols")),))
HIP = """/*+++
[[launch]]
kernel = "twice"
grid = ["rows"]
block = [64]
args = ["x", "y", "cols"]
fill = {y = 0}
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void twice(const float* x, float* y, int cols) {
    for (int j = threadIdx.x; j < cols; j += blockDim.x) y[blockIdx.x * cols + j] = 2 * x[blockIdx.x * cols + j];
}
"""


@pytest.fixture(scope="module")
def compiler() -> PlanCompiler:
    return PlanCompiler(Compiler(toolchain(), COMPILED, load_target("mi300x")), COMPILED)


def prepared(source: str) -> Prepared:
    kernel = prepare(source, TASK)
    assert kernel.refusal is None, kernel.refusal
    return kernel


def compile_plan(compiler: PlanCompiler, source: str) -> ListedPlan:
    return compiler.compile(prepared(source), TASK.tests[0])


def refused(compiler: PlanCompiler, source: str) -> tuple[int | None, str]:
    (finding,) = compile_plan(compiler, source).findings
    return finding.line, finding.message


def kernarg(plan: ListedPlan, number: int) -> bytes:
    listed_launch = plan.launches[number]
    rows = metadata_in(listed_launch.compilation.listing)["amdhsa.kernels"]
    entry = next(row for row in rows if row[".name"] == listed_launch.kernel.symbol)
    return pack(layout_of(entry), listed_launch.launch, {"x": 1 << 50, "y": 1 << 51})


def test_launches_of_hip_share_one_compilation(compiler: PlanCompiler) -> None:
    plan = compile_plan(compiler, HIP)
    assert [listed_launch.launch.kernel for listed_launch in plan.launches] == ["ks_fill", "twice"]
    assert len(plan.compilations) == 1 and not plan.notes
    assert kernarg(plan, 1)[:20] == (1 << 50).to_bytes(8, "little") + (1 << 51).to_bytes(8, "little") + b"\xe8\3\0\0"


def test_assembly_is_listed_with_the_judge_s_own_fill_beside_it(compiler: PlanCompiler) -> None:
    plan = compile_plan(compiler, SCALE.replace("args =", "fill = {y = 0}\nargs ="))
    assert [listed_launch.launch.kernel for listed_launch in plan.launches] == ["ks_fill", "scale"]
    assert len(plan.compilations) == 2
    assert len(kernarg(plan, 1)) == 20


def test_arguments_that_the_code_does_not_take_are_refused_in_any_language(compiler: PlanCompiler) -> None:
    line, message = refused(compiler, SCALE.replace(', "rows * cols"]', "]"))
    assert (line, message) == (2, "the plan passes 2 arguments to scale, but the kernel takes 3")
    line, message = refused(compiler, SCALE.replace("block = [256]", "block = [512]"))
    assert line == 2 and "compiled for at most 256" in message


@needs_triton
def test_triton_is_compiled_for_its_case_without_running_the_file(compiler: PlanCompiler) -> None:
    plan = compile_plan(compiler, SCALED)
    (listed_launch,) = plan.launches
    assert listed_launch.launch.args == (BufferArg("x"), BufferArg("y"), ScalarArg("i32", 7000))
    assert (listed_launch.launch.grid, listed_launch.launch.block) == ((28, 1, 1), (256, 1, 1))
    assert [arg.buffer for arg in listed_launch.kernel.args] == [True, True, False]
    assert listed_launch.kernel.max_block == 256 and listed_launch.kernel.instructions["vmem"] > 0
    assert plan.notes == ((line_of("@triton.auto"), "@triton.autotune of scaled is left out; the plan decides"),)
    rows = annotate(listed_launch.compilation.listing, SOURCE_NAMES["triton"])["scaled"]
    assert {row.line for row in rows if row.text.startswith("buffer_store")} == {line_of("tl.store")}
    assert str(COMPILED) not in listed_launch.compilation.listing
    assert kernarg(plan, 0)[16:40] == (7000).to_bytes(8, "little") + bytes(16)


@needs_triton
def test_a_constant_of_the_case_makes_another_kernel(compiler: PlanCompiler) -> None:
    text = SCALED.replace('BLOCK = "BLOCK", FACTOR = 2.0', 'BLOCK = "1 << log2(2 * cols - 1)"')
    first = compile_plan(compiler, text).launches[0].compilation
    small = a_task(({"rows": 2, "cols": 30},), outputs=TASK.outputs)
    listed_launch = compiler.compile(prepare(text, small), small.tests[0]).launches[0]
    assert listed_launch.compilation.listing != first.listing
    assert compiler.compile(prepare(text, small), small.tests[0]).launches[0] == listed_launch  # remembered


@needs_triton
def test_null_and_one_become_constants_and_are_not_passed(compiler: PlanCompiler) -> None:
    kernel = SCALED.replace("def scaled(x, y, count,", "def scaled(x, z, y, one, count,").replace(
        "value = tl.load(x + place,", "value = tl.load((x if z is None else z) + place * one,"
    )
    text = kernel.replace('"x", "y", "rows * cols"]', '"x", "null", "y", 1, "rows * cols"]\nspecialise = ["1"]')
    (listed_launch,) = compile_plan(compiler, text).launches
    assert listed_launch.launch.args == (BufferArg("x"), BufferArg("y"), ScalarArg("i32", 7000))


@needs_triton
def test_lds_of_a_reduction_is_asked_for_at_launch(compiler: PlanCompiler) -> None:
    text = SCALED.replace("_times(value, FACTOR)", "value * tl.sum(value, axis=0)")
    (listed_launch,) = compile_plan(compiler, text).launches
    assert listed_launch.launch.lds_bytes == listed_launch.compilation.resources[0].lds_bytes == 16


@needs_triton
@pytest.mark.parametrize(
    ("old", "new", "anchor", "expected"),
    [
        (
            'kernel = "scaled"',
            'kernel = "scale"',
            "[[launch",
            "has no such function with @triton.jit; it has: _times, s",
        ),
        (
            'kernel = "scaled"',
            'kernel = "os"',
            "import os",
            "and it is the module os; a kernel is a function with @trit",
        ),
        ("FACTOR = 2.0", "FACTOR = 2.0, MORE = 1", "[[launch", "scaled has no parameter 'MORE' for a constant; it has"),
        ('BLOCK = "BLOCK", ', "", "[[launch", "its meta-parameter BLOCK: add constants = {BLOCK = ...} to its launch"),
        (
            ', "rows * cols"]',
            "]",
            "[[launch",
            "passes 2 arguments to scaled, but it takes 3 beside its constants: x, y",
        ),
        ("value * factor", "value * facto", "value * factor", "refuses the kernel: facto is not defined"),
        ("value * factor", "value * os.name", "value * factor", "is not read, as it is the module os"),
        ("mask=place < count)\n    tl", "mask=place)\n    tl", "value = tl.load", "refuses the kernel: "),
        ('BLOCK = "BLOCK"', 'BLOCK = "BLOCK - 1"', "place = ", "arange's range must be a power of 2"),
        ("def scaled(x, y, count,", "def scaled(x, y, count: tl.int64,", "[[launch", "write NAME:i64 in args"),
        ("def scaled(x", "def scaled(*x", "def scaled", "it takes any number of arguments"),
        ("import triton\n", "import triton.nothing\n", "import triton", "No module named 'triton.nothing'"),
    ],
)
def test_what_triton_or_the_plan_gets_wrong_is_told_at_its_line(
    compiler: PlanCompiler, old: str, new: str, anchor: str, expected: str
) -> None:
    assert old in SCALED
    line, message = refused(compiler, SCALED.replace(old, new, 1).replace("import os\n", "\nimport os\n"))
    assert expected in message
    assert line == line_of(anchor) + (line_of(anchor) >= line_of("import os"))

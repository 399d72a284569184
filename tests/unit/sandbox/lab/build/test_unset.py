"""What stands for clang's pattern in variables that are read before they are written, in the text and in outputs."""

from __future__ import annotations

import numpy as np

from sandbox.amdgcn.ir import bodies
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.build.unset import marks, unset
from sandbox.lab.lab import Buffer, ExecutionRequest
from tests.support.lab_bench import build, lab, launch

TEXT = """define void @f(ptr %p) !dbg !3 {
entry:
  %a = alloca float, align 4
  store float 0xFFFFFFFFE0000000, ptr %a, align 4, !dbg !4, !annotation !9
  store [2 x { i32, ptr }] undef, ptr %b, align 8, !dbg !4, !annotation !9
  call void @llvm.memset.p0.i64(ptr align 16 %c, i8 -1, i64 64, i1 false), !dbg !4, !annotation !9
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %d, ptr align 16 @k, i64 32, i1 false), !dbg !4, !annotation !9
  store float 1.0, ptr %a, align 4, !dbg !4
  store float 1.0, ptr %a, align 4, !dbg !4, !annotation !8
  store i32 -1431655766, ptr %a, align 4, !annotation !9
  ret void
}
!8 = !{!"other"}
!9 = !{!"auto-init"}
"""


def test_each_pattern_becomes_bytes_that_are_asked_for_and_nothing_else_changes() -> None:
    (body,) = bodies(TEXT)
    made = unset(body, marks(TEXT))
    assert sorted(made) == [2, 3, 4, 5]  # not what the source sets, nor what no line of the source has
    assert all(
        "call i8 @ks.unset(i32 " in first and second.count("i8 %ks.unset") == 1 for first, second in made.values()
    )
    assert "ptr align 4 %a" in made[2][1] and "getelementptr (float, ptr null, i64 1)" in made[2][1]
    assert "getelementptr ([2 x { i32, ptr }], ptr null, i64 1)" in made[3][1]
    assert "ptr align 16 %c" in made[4][1] and "i64 64, i1 false" in made[4][1]
    assert "ptr align 16 %d" in made[5][1] and "@k" not in made[5][1]
    assert len({first.split("i32 ")[1] for first, _ in made.values()}) == 4  # each variable for itself


def test_a_module_without_the_mark_is_left_as_it_is() -> None:
    text = TEXT.replace("auto-init", "another")
    assert unset(next(iter(bodies(text))), marks(text)) == {}


SOURCE = """#include <hip/hip_runtime.h>
extern "C" __global__ void k(float* y) {
    int number, other;
    float real;
    y[3 * threadIdx.x] = number < 0 ? 1.0f : 2.0f;
    y[3 * threadIdx.x + 1] = number == other ? 1.0f : 2.0f;
    y[3 * threadIdx.x + 2] = real == real ? 1.0f : 2.0f;
}
"""


def test_work_items_find_other_values_in_unset_variables_where_the_executor_mixes() -> None:
    plan = ResolvedPlan((launch("k", ["y"]),), ())
    program = build(SOURCE, plan.launches)
    buffers = (Buffer("y", np.zeros(192, np.float32), "output"),)
    for shuffled, wanted in ((True, [{1, 2}] * 3), (False, [{1}, {1}, {2}])):
        run = lab().execute(ExecutionRequest(program, plan, buffers, 20.0, shuffled=shuffled))
        assert not run.findings
        assert [set(column) for column in run.outputs["y"].reshape(64, 3).T] == wanted

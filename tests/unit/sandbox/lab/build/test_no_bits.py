"""Leading and trailing zeros of 0: in the module, and in what work-items find."""

from __future__ import annotations

import numpy as np

from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.build.no_bits import with_unset_counts
from sandbox.lab.lab import Buffer, ExecutionRequest
from tests.support.lab_bench import build, lab, launch

TEXT = """  %a = call range(i32 0, 33) i32 @llvm.ctlz.i32(i32 %x, i1 true), !dbg !7
  %b = tail call i64 @llvm.cttz.i64(i64 %y, i1 true)
  %c = call i32 @llvm.cttz.i32(i32 %x, i1 false)
declare i32 @llvm.ctlz.i32(i32, i1 immarg) #1
declare i32 @llvm.cttz.i32(i32, i1 immarg) #1
"""


def test_counts_that_clang_leaves_undefined_are_asked_for_and_no_others() -> None:
    made = with_unset_counts(TEXT)
    assert "%a = call i32 @ks.ctlz.32(i32 %x), !dbg !7\n" in made
    assert "%b = tail call i64 @ks.cttz.64(i64 %y)\n" in made
    assert "%c = call i32 @llvm.cttz.i32(i32 %x, i1 false)\n" in made
    assert made.count("declare i32 @llvm.ctlz.i32(") == 1 and "declare i64 @llvm.cttz.i64(" in made
    assert with_unset_counts("  %c = call i32 @llvm.cttz.i32(i32 %x, i1 false)\n").count("ks.") == 0


SOURCE = """#include <hip/hip_runtime.h>
extern "C" __global__ void k(int* y) {
    y[3 * threadIdx.x] = __builtin_clz(threadIdx.x);
    y[3 * threadIdx.x + 1] = __builtin_ctzll(threadIdx.x / 2ull);
    y[3 * threadIdx.x + 2] = __clz(threadIdx.x);
}
"""


def test_a_kernel_gets_the_counts_of_numbers_with_a_bit_and_none_that_it_could_rely_on() -> None:
    plan = ResolvedPlan((launch("k", ["y"]),), ())
    program, known = build(SOURCE, plan.launches), np.arange(64)
    for shuffled in (False, True):
        buffers = (Buffer("y", np.zeros(192, np.int32), "output"),)
        run = lab().execute(ExecutionRequest(program, plan, buffers, 20.0, shuffled=shuffled))
        assert not run.findings
        leading, trailing, safe = run.outputs["y"].reshape(64, 3).T
        assert leading[1:].tolist() == safe[1:].tolist() == [32 - int(i).bit_length() for i in known[1:]]
        assert trailing[2:].tolist() == [int(i & -i).bit_length() - 1 for i in known[2:] // 2]
        assert safe[0] == 32 and leading[0] != 32 and {*trailing[:2]}.isdisjoint({64, 32})

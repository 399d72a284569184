from __future__ import annotations

import pytest

from sandbox.lab.build.first_looks import with_first_looks
from sandbox.lab.lab_evaluator import LabEvaluator
from tasks.loader import load_task
from tests.kernels.exploits.exploits import FOLDER
from tests.support.lab_bench import evaluator as lab_evaluator

TEXT = """entry:
  %1 = ptrtoint ptr %p to i64
  call void @__asan_load4_noabort(i64 %1)
  %2 = load i32, ptr %p, align 4, !dbg !7
  br label %loop

loop:
  %old = phi i32 [ %2, %entry ], [ %8, %loop ]
  %word = tail call ptr @ks_atomic(ptr noundef %p, i64 noundef 4)
  %7 = cmpxchg ptr %word, i32 %old, i32 %6 seq_cst seq_cst, align 4
  %8 = extractvalue { i32, i1 } %7, 0
  br i1 %9, label %end, label %loop
"""
LOOP = TEXT.split("\n")


def test_what_a_swap_expects_is_read_atomically_and_checked_once() -> None:
    made = with_first_looks(LOOP)
    assert "  %2 = load atomic i32, ptr %p monotonic, align 4, !dbg !7" in made
    assert not any("asan" in line for line in made)
    assert len(made) == len(LOOP) - 1


def test_two_halves_are_read_as_the_word_that_they_make() -> None:
    lines = [
        line.replace("load i32", "load <2 x half>")
        .replace("phi i32", "phi <2 x half>")
        .replace("i32 %old", "i32 %bits")
        for line in LOOP
    ]
    at = next(number for number, line in enumerate(lines) if "cmpxchg" in line)
    made = with_first_looks([*lines[:at], "  %bits = bitcast <2 x half> %old to i32", *lines[at:]])
    first = made.index("  %ks_look3 = load atomic i32, ptr %p monotonic, align 4, !dbg !7")
    assert made[first + 1] == "  %2 = bitcast i32 %ks_look3 to <2 x half>"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("load i32, ptr %p,", "load i32, ptr %q,"),  # another word
        ("[ %2, %entry ]", "[ 0, %entry ]"),  # what was read is not what is expected
        ("load i32, ptr %p, align 4", "load i32, ptr %p, align 2"),  # no single access on the GPU
        ("load i32", "load i16"),  # a part of the word
        ("cmpxchg ptr", "atomicrmw add ptr"),
    ],
)
def test_any_other_read_stays_as_it_is(old: str, new: str) -> None:
    lines = [line.replace(old, new) for line in LOOP]
    assert with_first_looks(lines) == lines


def test_a_value_that_goes_by_other_names_is_followed_so_far_and_no_further() -> None:
    names = [f"  %c{n + 1} = bitcast i32 %c{n} to i32" for n in range(40)]
    chain = [*LOOP[:4], "  %c0 = freeze i32 %2", *names, LOOP[4]]
    for last, is_found in (("%c40", True), ("%c41", False)):
        rest = [line.replace("[ %2,", f"[ {last},") for line in LOOP[5:]]
        assert any("atomic i32" in line for line in with_first_looks([*chain, *rest])) is is_found


SUMS = """/*+++
[[launch]]
kernel = "sums"
grid = ["rows"]
block = [64]
args = ["x", "s", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void sums(const float* x, float* s, int rows, int cols) {{
    __shared__ unsigned word;
    if (threadIdx.x == 0) word = 0;
    {barrier}
    float sum = 0;
    for (int j = threadIdx.x; j < cols; j += 64) sum += x[(long)blockIdx.x * cols + j];
    unsigned old = word, assumed;
    do {{
        assumed = old;
        old = atomicCAS(&word, assumed, __float_as_uint(sum + __uint_as_float(assumed)));
    }} while (assumed != old);
    __syncthreads();
    if (threadIdx.x == 0) s[blockIdx.x] = __uint_as_float(word);
}}
"""


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(7)


@pytest.mark.parametrize(("barrier", "kinds"), [("__syncthreads();", []), ("", ["race"])])
def test_a_plain_write_still_races_with_it(evaluator: LabEvaluator, barrier: str, kinds: list[str]) -> None:
    task = load_task(FOLDER / "tasks" / "row_sum")
    verdict = evaluator.verify(evaluator.prepare(SUMS.format(barrier=barrier), task)).verdict
    assert [finding.kind for finding in verdict.findings] == kinds, verdict

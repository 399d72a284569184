"""Shapes that go where no case has gone, by whatever arithmetic a kernel chooses its lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from sandbox.lab.branch_cases import COUNT, WITH_FAMILIES, branch_cases, branch_family_cases
from sandbox.lab.lab_verify import Built
from tasks.held_out import SMALL, cost
from tasks.loader import load_task
from tasks.long_shapes import COST as LONG_COST
from tasks.task import Case
from tests.support.lab_bench import evaluator

TASK = load_task("row_softmax")
SEED = TASK.seeds[0].read_text(encoding="utf-8")
GUARD = "if (row >= rows) return;"
STEP = "int n = cols; n ^= n >> 4; n *= 668265261; n ^= n >> 15;"


def built(line: str) -> Built:
    assert SEED.count(GUARD) == 1
    made = evaluator(7)._build(evaluator(7).prepare(SEED.replace(GUARD, f"{GUARD} {line}"), TASK))[1]
    assert made is not None
    return made


def mixed(n: int) -> int:
    n ^= n >> 4
    n = n * 668265261 % 2**32
    n = n - 2**32 if n >= 2**31 else n
    return n ^ n >> 15


@pytest.mark.parametrize(
    ("line", "goes"),
    [
        ("if (__popc(cols) == 10) return;", lambda d: d["cols"].bit_count() == 10),
        ("switch (cols * 7 >> 5 & 31) { case 29: return; default: break; }", lambda d: d["cols"] * 7 >> 5 & 31 == 29),
        (f"{STEP} if ((n & 63) == 1) return;", lambda d: mixed(d["cols"]) & 63 == 1),
        ("float f = cols * 0.618f; if (f - floorf(f) > 0.99f) return;", lambda d: d["cols"] * 0.618 % 1 > 0.989),
        ("if (gridDim.x == 37) return;", lambda d: -(-d["rows"] // 64) == 37),
        ("if (row % 5 == 3 && cols / 4 % 61 == 17) return;", lambda d: d["cols"] // 4 % 61 == 17 and d["rows"] > 3),
        ("if (__popc(cols) & 1) { if (cols > 900) { if (cols / 3 % 13 == 5) return; } }",
         lambda d: d["cols"].bit_count() % 2 and d["cols"] > 900 and d["cols"] // 3 % 13 == 5),
    ],
)  # fmt: skip
def test_a_way_that_no_case_takes_has_a_case(line: str, goes: Callable[[Mapping[str, int]], object]) -> None:
    one = built(line)
    known = [case for case in (*TASK.tests, *TASK.benchmarks) if not goes(case.dims)]
    made = branch_cases(one, 1, known)
    assert 1 <= len(made) <= COUNT and any(goes(case.dims) for case in made)
    assert branch_cases(one, 1, known) == made  # the same secret draws the same
    assert [case.dims for case in branch_cases(one, 2, known)] != [case.dims for case in made]
    assert not any(goes(case.dims) for case in branch_cases(one, 1, (*known, *made)))


@pytest.mark.parametrize(
    "line", ["", "if (cols < 1) return;", "if (x[0] > 1e30f) return;", "if (cols > 1 << 29) return;"]
)
def test_where_nothing_new_can_be_reached_there_is_no_case(line: str) -> None:
    more = Case("rows=3,cols=1", {"rows": 3, "cols": 1}, 1)
    assert branch_cases(built(line), 1, (*TASK.tests, *TASK.benchmarks, more)) == ()


TILES = """/*+++
[[launch]]
kernel = "gemm"
grid = ["ceil_div(m, 64) * ceil_div(n, 64)"]
block = [64]
args = ["a", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void gemm(const unsigned short* a, unsigned short* c, int m, int n, int k) {
    const int rows = (m + 63) / 64, columns = (n + 63) / 64, group = GROUP;
    const int band = blockIdx.x / (group * columns), inside = blockIdx.x % (group * columns);
    const int i = (band * group + inside % group) * 64 + threadIdx.x, j = inside / group * 64;
    if (i < m && j < n) c[(long)i * n + j] = a[(long)i * k];
}
"""


@pytest.mark.parametrize(
    ("group", "goes"),
    [
        ("min(16, rows)", lambda d: d["m"] > 16 * 64 and -(-d["m"] // 64) % 16),  # the last band is not full
        ("max(columns / 50, 1)", lambda d: d["n"] > 64 * 99),
    ],
)
def test_the_bands_of_a_tile_map_are_full_and_not(group: str, goes: Callable[[Mapping[str, int]], object]) -> None:
    task = load_task("bf16_gemm")
    one = evaluator(7)._build(evaluator(7).prepare(TILES.replace("GROUP", group), task))[1]
    assert one is not None
    known = [case for case in task.tests if not goes(case.dims)]
    assert any(goes(case.dims) for case in branch_cases(one, 1, known))


@pytest.mark.parametrize(
    ("line", "goes", "harmless"),
    [
        ("if (cols > 64 && cols % 64 < 4 && lane(cols)) return;", lambda d: d["cols"] % 64 in (1, 2, 3), {"cols": 128}),
        ("if (min(cols & 63, 62) != (cols & 63)) return;", lambda d: d["cols"] % 64 == 63, {"cols": 126}),
    ],
)
def test_a_rare_way_that_one_case_goes_gets_another_and_so_does_each_side_of_a_minimum(
    line: str, goes: Callable[[Mapping[str, int]], object], harmless: Mapping[str, int]
) -> None:
    one = built(line.replace("lane(cols)", "__popc(cols) > 0"))
    there = replace(TASK.tests[0], name="there", dims={"rows": 7, **harmless})
    known = [*(case for case in TASK.tests if not goes(case.dims) and case.dims["cols"] % 64), there]
    assert any(goes(case.dims) for case in branch_cases(one, 1, known))


def test_a_way_that_no_benchmark_goes_has_a_long_case_for_families() -> None:
    """Few lengths of a dim that is little elsewhere: as long as a small case may be, in the others."""
    made = branch_family_cases(built("if (cols <= 16) return;"), np.random.default_rng(5))
    assert 1 <= len(made) <= WITH_FAMILIES and not any(case.dims["cols"] > 16 for case in made)
    assert all(LONG_COST < cost(TASK, case.dims) <= SMALL for case in made)


@pytest.mark.parametrize("line", ["", "if (cols > 2000) return;", "if (cols < 2) return;"])
def test_ways_that_benchmarks_go_or_that_only_small_shapes_go_have_none(line: str) -> None:
    assert branch_family_cases(built(line), np.random.default_rng(5)) == ()

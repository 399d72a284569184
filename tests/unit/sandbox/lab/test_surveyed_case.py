"""Shapes that do what no case does, however a kernel spells its decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from sandbox.lab.lab_verify import Built, Judge
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.surveyed_case import COUNT, surveyed_cases
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import evaluator

TASK = load_task("row_softmax")
SEED = TASK.seeds[0].read_text(encoding="utf-8")
GUARD = "if (row >= rows) return;"
KERNEL = 'extern "C" __global__'
LISTED = (*TASK.tests, *TASK.benchmarks)


@pytest.fixture(scope="module")
def lab() -> MachineLab:
    return MachineLab(toolchain(), COMPILED, load_target("mi300x"), cores=2)


def judge(lab: MachineLab, line: str, before: str = "") -> Judge:
    assert SEED.count(GUARD) == 1 and SEED.count(KERNEL) == 1
    source = SEED.replace(KERNEL, f"{before}{KERNEL}").replace(GUARD, f"{line} {GUARD}")
    prepared = evaluator(7).prepare(source, TASK)
    compilation = evaluator(7).stages(prepared).compiled().compilation
    assert compilation is not None
    program = lab.build(prepared.candidate, prepared.tunables)
    assert not isinstance(program, tuple), program
    return Judge(lab, Built(prepared, compilation, program))


def hashed(number: int) -> int:
    return number * 2654435761 & 0xFFFFFFFF


WAYS = [
        ("if (__popc(cols) == 10) return;", "", lambda d: d["cols"].bit_count() == 10),
        ("__shared__ int n; if (!threadIdx.x) n = cols * 7 >> 5 & 31; __syncthreads(); if (n == 29) return;",
         "", lambda d: d["cols"] * 7 >> 5 & 31 == 29),
        ("rows -= table[cols & 31];", "__constant__ int table[32] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};\n",
         lambda d: d["cols"] & 31 == 11),
        ("if (gridDim.x == 37) return;", "", lambda d: -(-d["rows"] // 64) == 37),
    ]  # fmt: skip
RARE = [
        # One length of thousands, by way of a hash, LDS, a table, private memory, a shuffle, a square root.
        ("if (cols * 2654435761u >> 20 == 0x5a3) return;", "", lambda d: hashed(d["cols"]) >> 20 == 0x5A3),
        ("__shared__ unsigned n; if (!threadIdx.x) n = cols * 2654435761u >> 20; __syncthreads(); if (n == 9) return;",
         "", lambda d: hashed(d["cols"]) >> 20 == 9),
        ("rows -= table[cols * 2654435761u >> 24];", "__constant__ int table[256] = {[77] = 1};\n",
         lambda d: hashed(d["cols"]) >> 24 == 77),
        ("int a[40]; for (int i = 0; i < 40; i++) a[i] = i * i * i; if (a[cols * 7 % 40] == 6859) return;", "",
         lambda d: d["cols"] * 7 % 40 == 19),
        ("if (__shfl(cols * 40503u ^ threadIdx.x, 0) % 1021 == 5) return;", "",
         lambda d: d["cols"] * 40503 % 1021 == 5),
        ("if (sqrtf((float)cols) == 61.0f) return;", "", lambda d: d["cols"] == 61 * 61),
        ("if (rows == 9001) return;", "", lambda d: d["rows"] == 9001),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "before", "goes"), [*WAYS, *RARE[:2], *(pytest.param(*way, marks=pytest.mark.long) for way in RARE[2:])]
)
def test_a_way_that_no_case_takes_has_a_case(
    lab: MachineLab, line: str, before: str, goes: Callable[[Mapping[str, int]], bool]
) -> None:
    listed = [case for case in LISTED if not goes(case.dims)]
    cases = surveyed_cases(judge(lab, line, before), 7, 1, listed)
    assert len(cases) <= COUNT
    assert any(goes(case.dims) for case in cases)


def test_the_same_secret_gives_the_same_cases(lab: MachineLab) -> None:
    surveyed = judge(lab, "if (__popc(cols) == 10) return;")
    first, repeated, other = (surveyed_cases(surveyed, 7, secret, LISTED) for secret in (1, 1, 2))
    assert first == repeated != other


def test_a_scalar_load_from_the_end_of_a_large_buffer_is_looked_at(lab: MachineLab) -> None:
    surveyed = judge(lab, "if (x[rows * cols - 1] > 1e30f) return;")
    assert len(surveyed_cases(surveyed, 7, 1, LISTED)) <= COUNT

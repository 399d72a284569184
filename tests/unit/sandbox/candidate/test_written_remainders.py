from __future__ import annotations

import numpy as np
import pytest

from sandbox.candidate.large_shapes import large_cases
from sandbox.candidate.prepare import prepare
from sandbox.candidate.written_remainders import ANY, BESIDE, COUNT, ELSEWHERE, Remainder, remainder_cases, remainders
from tasks.loader import load_task, task_names
from tests.kernels.exploits.exploits import FOLDER

HEAD = """/*+++
[[launch]]
kernel = "scale"
grid = ["ceil_div(n, 256)"]
block = ["256"]
args = ["x", "y", "n", "factor"]
+++*/
#define WIDE 29
"""
SCALE = load_task(FOLDER / "tasks" / "scale")  # n from 1 to 65,536
SCAN = load_task("scan")


@pytest.mark.parametrize(
    ("condition", "low", "divisor", "rest"),
    [
        ("n > 30000 && n % 11 == 4", 30001, 11, 4),
        ("n % WIDE == 17", 1, 29, 17),
        ("n > 5000 && (n & 31) == 13", 5001, 32, 13),
        ("n % 113 == 97", 1, 113, 97),
        ("n - n / 7 * 7 == 6", 1, 7, 6),
    ],
)
def test_a_length_leaves_the_remainder_that_a_condition_names(
    condition: str, low: int, divisor: int, rest: int
) -> None:
    prepared = prepare(f"{HEAD}bool wrong(int n) {{ return {condition}; }}", SCALE)
    for seed in range(5):
        lengths = [case.dims["n"] for case in remainder_cases(prepared, seed, SCALE.tests)]
        assert any(length >= low and length % divisor == rest for length in lengths), (seed, lengths)


def test_no_length_is_drawn_twice_for_one_remainder_nor_where_a_known_case_leaves_it() -> None:
    prepared = prepare(f"{HEAD}bool wrong(int n) {{ return n % 17 == 3; }}", SCALE)
    found = remainder_cases(prepared, 1, SCALE.tests)
    rests = [case.dims["n"] % 17 for case in found]
    assert rests[0] == 3 and sorted(rests) == sorted({*rests})
    assert remainder_cases(prepared, 1, (*SCALE.tests, *found)) == ()


def test_remainders_of_small_divisors_are_all_meant_and_of_others_those_on_their_line() -> None:
    found = remainders(f"{HEAD}int a(int n) {{ return n % 3; }}\nint b(int n) {{ return n % 64 + 5; }}\n", {})
    assert found[:4] == (Remainder(64, 5), *(Remainder(3, rest, ANY) for rest in range(3)))
    assert remainders(f"{HEAD}int a(int n) {{ return n % 64; }}", {}) == (Remainder(64, 0, ELSEWHERE),)


def test_a_remainder_may_stand_on_another_line_or_be_a_templates_argument() -> None:
    apart = "bool a(int n) {\n const int r = n % 23;\n return n > 2000 && r == 17;\n}"
    named = "template <int M, int R> bool is(int n) { return n % M == R; }\nbool b(int n) { return is<23, 17>(n); }"
    for text in (apart, named):
        assert Remainder(23, 17, BESIDE) in remainders(f"{HEAD}{text}", {})
    far = apart.replace("n > 2000", "n > 0;\n int p;\n int q;\n bool b = n > 2000")
    assert Remainder(23, 17, ELSEWHERE) in remainders(f"{HEAD}{far}", {})


def test_what_a_divisor_is_compared_with_comes_first() -> None:
    found = remainders(f"{HEAD}bool a(int n, int m) {{ return n % 9 == 5 && m % 7 == 2; }}", {})
    assert set(found[:2]) == {Remainder(9, 5), Remainder(7, 2)}


def test_large_shapes_leave_the_written_remainders_in_all_dims() -> None:
    kernel = (SCAN.seeds[0]).read_text(encoding="utf-8") + "__device__ bool wrong(int n) { return n % 23 == 19; }\n"
    cases = large_cases(prepare(kernel, SCAN), np.random.default_rng(1), has_parts=True)
    assert any(all(length % 23 == 19 for length in case.dims.values()) for case in cases)


@pytest.mark.parametrize("name", task_names())
def test_what_every_case_keeps(name: str) -> None:
    task = load_task(name)
    listed = (*task.tests, *task.benchmarks)
    for path in task.seeds:
        prepared = prepare(path.read_text(encoding="utf-8") + "__device__ bool a(int n) { return n % 7; }\n", task)
        cases = remainder_cases(prepared, 3, task.tests)
        assert cases == remainder_cases(prepared, 3, task.tests)
        assert len(cases) <= COUNT
        for case in cases:
            assert case.role == "held_out" and tuple(case.dims) == tuple(task.tests[0].dims)
            for dim, length in case.dims.items():
                extents = [one.dims[dim] for one in listed]
                assert min(extents) <= length <= max(extents) and length % task.multiples.get(dim, 1) == 0

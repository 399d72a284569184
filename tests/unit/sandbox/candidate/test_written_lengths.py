from __future__ import annotations

import numpy as np
import pytest

from sandbox.candidate.growth import plan_cases
from sandbox.candidate.prepare import Prepared, prepare
from sandbox.candidate.written_lengths import (
    ASKED,
    MADE,
    MOST_NUMBERS,
    MULTIPLES,
    UNUSUAL,
    USUAL,
    asked_for,
    few_of,
    written_cases,
    written_numbers,
)
from tasks.held_out import held_out_cases
from tasks.loader import load_task, task_names
from tasks.task import Case
from tests.kernels.exploits.exploits import FOLDER

HEAD = """/*+++
[[launch]]
kernel = "scale"
grid = ["ceil_div(n, 256)"]
block = ["256"]
args = ["x", "y", "n", "factor"]
+++*/
#define LOW 7'200
"""
SCALE = load_task(FOLDER / "tasks" / "scale")  # n from 1 to 65,536


def known(prepared: Prepared) -> tuple[Case, ...]:
    return (*prepared.task.tests, *plan_cases(prepared, 7), *held_out_cases(prepared.task, 7))


@pytest.mark.parametrize(
    ("condition", "low", "high"),
    [
        ("n > 3000 && n < 3100", 3001, 3099),
        ("n == 12345", 12345, 12345),
        ("n > LOW && n < LOW + 60", 7201, 7259),
        ("(float)n > 40000.5f && n <= 40100", 40001, 40100),
        ("n / 8 >= 900 && n / 8 < 930", 7200, 7439),
        ("(unsigned)(n - 9000) - 1 < 50", 9001, 9050),
        ("n > 0x2f00u && n < 0x2f40u", 0x2F01, 0x2F3F),
        ("n * n > 90000 && n < 330", 301, 329),
    ],
)
def test_a_length_lies_in_the_range_that_a_condition_names(condition: str, low: int, high: int) -> None:
    source = f"{HEAD}bool wrong(int n) {{ return {condition}; }}"
    for seed in range(5):
        prepared = prepare(source, SCALE)
        others = known(prepared)
        lengths = [case.dims["n"] for case in (*others, *written_cases(prepared, seed, others))]
        assert any(low <= length <= high for length in lengths), (seed, lengths)


@pytest.mark.parametrize(
    ("condition", "low", "high"),
    [
        ("n / 8 > 900 && n / 8 < 930", 7208, 7439),
        ("901 <= n / 8 && 930 > (n / 8)", 7208, 7439),
        ("n >> 3 == 901", 7208, 7215),
        ("3 * n > 27000 && n * 3 < 27200", 9001, 9066),
        ("n - 9000 > 50 && n - 9000 < 120", 9051, 9119),
        ("n + 77 >= 9000 && n + 77 < 9100", 8923, 9022),
    ],
)
def test_a_range_that_arithmetic_leads_to_is_always_met(condition: str, low: int, high: int) -> None:
    source = f"{HEAD}bool wrong(int n, int i) {{ return {condition} && i == 7; }}"
    prepared = prepare(source, SCALE)
    for seed in range(40):
        lengths = [case.dims["n"] for case in written_cases(prepared, seed, prepared.task.tests)]
        assert any(low <= length <= high for length in lengths), (seed, lengths)


def test_what_comparisons_ask_of_a_length() -> None:
    asked = {
        "if (n / 8 > 900 && n / 8 < 930) x();": {7200, 7208, 7440, 7448},
        "#define L 900\nif (n/8>L)": {7200, 7208},
        "if (2 * n >= 777)": {388, 389},
        "if (n / 0 > 9)": {0},
        "if (n << 99999 < 7)": {0},
        "if (n % 96 == 5) y(); if (n > 5) z(); if (n / m > 5)": set(),
    }
    assert {text: asked_for(text, {}) for text in asked} == asked


def test_of_thousands_of_comparisons_no_more_numbers_are_drawn_than_are_read_of_a_file() -> None:
    asked = asked_for("\n".join(f"a = n / 2 > {n};" for n in range(1000, 9000, 2)), {})
    drawn = few_of(asked, np.random.default_rng(1))
    assert len(asked) == 8000 and len(drawn) == len(set(drawn)) == MOST_NUMBERS and set(drawn) < asked
    assert max(drawn) > 16000 and few_of({2**70, 3}, np.random.default_rng(1)) != few_of(
        set(), np.random.default_rng(1)
    )


def test_the_numbers_of_text_plan_and_tunables_are_read_and_no_others() -> None:
    source = f'{HEAD}// 1111\nconst char* t = "2222"; int a1333 = 0x10FF, b = 1\'500u, c = 0b10001; float f = 4.75e2f;'
    unusual, made, written = written_numbers(source, {"TILE": 192})
    assert written == [17, 192, 256, 475, 1500, 4351, 7200]
    assert unusual == [17, 192, 475, 1500, 4351, 7200]
    assert {4351 + 17, 1500 * 17, 4351 - 1500} < set(made)


@pytest.mark.parametrize("name", task_names())
def test_what_every_derivation_keeps(name: str) -> None:
    task = load_task(name)
    listed = (*task.tests, *task.benchmarks)
    for path in task.seeds:
        prepared = prepare(path.read_text(encoding="utf-8"), task)
        others = known(prepared)
        cases = written_cases(prepared, 3, others)
        assert cases == written_cases(prepared, 3, others)
        assert len(cases) <= UNUSUAL + ASKED + MADE + MULTIPLES + USUAL
        assert not {case.name for case in cases} & {case.name for case in others}
        for case in cases:
            assert case.role == "held_out" and tuple(case.dims) == tuple(task.tests[0].dims)
            for dim, length in case.dims.items():
                extents = [one.dims[dim] for one in listed]
                assert min(extents) <= length <= max(extents) and length % task.multiples.get(dim, 1) == 0

"""Twenty everyday functions: each has a textbook kernel whose plan reads, and the counts follow the ranking's rule."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.everyday.__main__ import AS_FAST, REACHED, figures
from benchmarks.everyday.functions import FUNCTIONS
from benchmarks.everyday.outcome import Outcome, stored
from sandbox.candidate.parse import parse


def test_half_of_the_functions_are_pytorch_and_a_quarter_each_numpy_and_programs() -> None:
    assert Counter(function.group for function in FUNCTIONS) == {"PyTorch": 10, "NumPy": 5, "HIP or CUDA": 5}
    assert len({function.name for function in FUNCTIONS}) == len(FUNCTIONS)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_each_function_has_a_textbook_kernel_without_a_choice(function) -> None:  # type: ignore[no-untyped-def]
    candidate = parse(function.textbook.read_text(encoding="utf-8"))
    assert candidate.plan.launches
    assert not candidate.plan.tunables


def test_equal_times_count_and_longer_ones_do_not() -> None:
    rows = {
        "equal": Outcome("", 10.0, 10.0, share=0.8, time_error=0.05),
        "close": Outcome("", 10.0, 10.3, share=0.7, time_error=0.05),
        "slow": Outcome("", 10.0, 12.0, share=0.9, time_error=0.05),
        "refused": Outcome("", fault="no"),
    }
    strict, loose, high = figures(rows, {})[-3:]
    assert [strict.value, loose.value, high.value] == [1, 2, 2]
    assert [strict.goal, high.goal] == [f">= {AS_FAST}", f">= {REACHED}"]


def test_stored_outcomes_are_of_these_functions() -> None:
    names = {function.name for function in FUNCTIONS}
    assert all(set(rows) <= names for rows in stored().values())

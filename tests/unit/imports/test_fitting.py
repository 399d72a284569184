from __future__ import annotations

import pytest

from imports.fitting import Fitting
from tasks.expressions import evaluate

CONFIGS = [
    {"n": 6, "c": 8, "h": 12},
    {"n": 9, "c": 16, "h": 15},
    {"n": 11, "c": 24, "h": 21},
    {"n": 7, "c": 8, "h": 20},
    {"n": 13, "c": 32, "h": 17},
]


@pytest.mark.parametrize(
    "text",
    [
        "n",
        "n * c",
        "n * c * h",
        "2 * h + 1",
        "h - 2",
        "(h - 3) // 2 + 1",
        "c // 8",
        "3 * n * c",
        "(h + 2) // 4",
        "n + c",
    ],
)
def test_a_size_has_the_expression_that_it_came_from(text: str) -> None:
    values = [evaluate(text, config) for config in CONFIGS]
    fitted = Fitting(CONFIGS).integer(values)
    assert isinstance(fitted, str) and [evaluate(fitted, config) for config in CONFIGS] == values
    other = {"n": 101, "c": 40, "h": 64}
    assert evaluate(fitted, other) == evaluate(text, other)


def test_a_product_takes_what_was_found_before() -> None:
    fitting = Fitting(CONFIGS)
    fitting.integer([(c["h"] - 3) // 2 for c in CONFIGS])
    fitted = fitting.integer([c["n"] * ((c["h"] - 3) // 2) for c in CONFIGS])
    assert isinstance(fitted, str) and evaluate(fitted, {"n": 5, "c": 8, "h": 40}) == 90
    fitting.integer([c["h"] // 3 for c in CONFIGS])
    fitted = fitting.integer([2 * (c["h"] // 3) for c in CONFIGS])
    assert isinstance(fitted, str) and evaluate(fitted, {"n": 5, "c": 8, "h": 41}) == 26


@pytest.mark.parametrize("text", ["h // 11", "(h + 5) // 16", "(h - 13) // 14"])
def test_wide_windows_are_told_apart_by_large_sizes_which_are_forgotten_again(text: str) -> None:
    small = [{"n": n, "h": h} for n, h in ((6, 16), (9, 29), (11, 24), (7, 32), (13, 27))]
    large = [{"n": 16, "h": h} for h in range(2048, 2073)]
    fitting = Fitting([*small, *large])
    fitted = fitting.integer([evaluate(text, config) for config in (*small, *large)])
    assert isinstance(fitted, str)
    assert all(evaluate(fitted, {"h": h}) == evaluate(text, {"h": h}) for h in range(60, 700))
    alone = fitting.of_first(len(small))
    assert alone.integer([evaluate(text, config) for config in small]) == fitted
    assert alone.integer([config["n"] for config in small]) == "n" and alone.integer([1] * len(small)) == 1


def test_a_constant_stays_a_number_and_noise_has_no_expression() -> None:
    assert Fitting(CONFIGS).integer([7] * 5) == 7
    assert Fitting(CONFIGS).integer([3, 1009, 5, 77, 2]) is None


@pytest.mark.parametrize("power", [1.0, -1.0, 0.5, -0.5])
def test_a_real_number_may_be_a_power_of_a_size(power: float) -> None:
    fitted = Fitting(CONFIGS).real([float(c["c"]) ** power for c in CONFIGS])
    assert isinstance(fitted, str)
    assert eval(fitted, {"c": 100, "float": float}) == pytest.approx(100.0**power)

from __future__ import annotations

import numpy as np

from tasks.compare import compare
from tasks.error_measures import Measures, measures_of
from tasks.tolerance import Tolerance


def test_the_measures_of_errors_and_the_larger_of_two() -> None:
    found = measures_of(np.array([3.0, 4.0, 0.0, 0.0]))
    assert found == Measures(4.0, 2.5, 4.0) and found.alike == Measures(4.0, 4.0, 4.0)
    assert found.at_least(Measures(1.0, 3.0, 1.0)) == Measures(4.0, 3.0, 4.0)
    assert measures_of(np.zeros(0)) == Measures(0.0, 0.0, 0.0)


def test_of_one_element_the_baseline_may_be_right_by_luck() -> None:
    rng, tolerance = np.random.default_rng(3), Tolerance(4.0)
    want = rng.standard_normal((1, 1)) * 4
    others = rng.standard_normal((1, 60)) * 4
    theirs = (others + rng.standard_normal((1, 60)) * 1e-5).astype(np.float32)
    lucky, honest, wrong = (np.asarray(want + off, np.float32) for off in (0.0, 2e-5, 1e-3))
    assert not compare(honest, want, lucky, tolerance).correct
    assert compare(honest, want, lucky, tolerance, beside=(others, theirs)).correct
    assert not compare(wrong, want, lucky, tolerance, beside=(others, theirs)).correct
    exact = np.arange(60.0)[None]
    assert not compare(np.int32([[4]]), np.array([[3.0]]), np.int32([[3]]), tolerance, beside=(exact, exact)).correct

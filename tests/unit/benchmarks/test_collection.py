"""The bound on a rate that was seen a few times or never."""

from __future__ import annotations

import pytest

from benchmarks.collection import upper_bound


def test_the_bound_on_the_true_rate_is_clopper_and_pearsons() -> None:
    assert upper_bound(0, 1000) == pytest.approx(1 - 0.05 ** (1 / 1000), rel=1e-6)
    assert upper_bound(1, 1000) == pytest.approx(0.004735, rel=1e-3)
    assert upper_bound(3, 3) == 1.0

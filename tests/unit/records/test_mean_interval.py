"""Student's interval of a mean."""

from __future__ import annotations

import pytest

from records.mean_interval import difference


def test_the_interval_of_two_and_of_many_values() -> None:
    two = difference([1.0, 3.0])
    assert (two.mean, two.low) == (2.0, pytest.approx(2.0 - 12.706))
    many = difference([float(n % 2) for n in range(100)])
    assert many.high - many.mean == pytest.approx(1.96 * 0.5025 / 10, abs=1e-4)
    assert many.text == "+0.50 (+0.40 to +0.60)"

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


@pytest.mark.parametrize(("count", "quantile"), [(2, 12.706), (3, 4.303), (15, 2.145), (16, 2.131), (17, 1.96)])
def test_the_quantile_is_that_of_the_degrees_of_freedom(count: int, quantile: float) -> None:
    values = [0.0] * (count - 1) + [float(count)]
    found = difference(values)
    assert found.mean == 1.0 and found.high - 1.0 == pytest.approx(1.0 - found.low)
    assert found.high - 1.0 == pytest.approx(quantile)  # the deviation of these is the root of their number

"""Functions of double within two units in the last place, run by the machine, beside this processor's of 80 bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.header_kernels import HeaderKernels

Doubles = npt.NDArray[np.float64]
wide = np.longdouble
erf, erfc = np.vectorize(math.erf, otypes=[float]), np.vectorize(math.erfc, otypes=[float])


@pytest.fixture(scope="module")
def device() -> HeaderKernels:
    """The headers' functions of double, in gfx942 code."""
    return HeaderKernels("doubles.hip", np.float64)


def ulps(actual: Doubles, expected: Any) -> Any:
    gap = np.spacing(np.maximum(np.abs(expected).astype(np.float64), 2.3e-308))
    return np.abs(actual.astype(wide) - expected) / gap


@pytest.mark.parametrize(
    ("name", "exact", "low", "high", "most"),
    [
        ("exp", np.exp, -700, 700, 1),
        ("exp", np.exp, -1e-3, 1e-3, 1),
        ("exp2", np.exp2, -1000, 1000, 1),
        ("exp10", lambda x: np.power(wide(10), x), -300, 300, 1),
        ("expm1", np.expm1, -1, 1, 1.5),
        ("expm1", np.expm1, -30, 700, 1.5),
        ("log", np.log, 0.5, 2, 1),
        ("log", np.log, 1e-300, 1e300, 1),
        ("log1p", np.log1p, -0.9, 9, 1),
        ("log1p", np.log1p, -1e-8, 1e-8, 1),
        ("log2", np.log2, 0.5, 20, 1),
        ("log10", np.log10, 0.01, 100, 1.5),
        ("sin", np.sin, -3, 3, 1),
        ("sin", np.sin, -1e9, 1e9, 1),
        ("cos", np.cos, -30, 30, 1),
        ("cos", np.cos, -1e6, 1e6, 1),
        ("tan", np.tan, -1.5, 1.5, 2),
        ("tanh", np.tanh, -20, 20, 2.5),
        ("sinh", np.sinh, -5, 5, 2),
        ("sinh", np.sinh, 600, 710, 6),
        ("cosh", np.cosh, -20, 20, 1.5),
        ("erf", erf, -3, 3, 16),
        ("erf", erf, -7, 7, 16),
        ("erfc", erfc, -3, 1, 32),
        ("erfc", erfc, 1, 26, 8),
        ("atan", np.arctan, -20, 20, 1),
        ("asin", np.arcsin, -1, 1, 2.5),
        ("acos", np.arccos, -1, 1, 2.5),
        ("cbrt", np.cbrt, -1e3, 1e3, 1.5),
    ],
)
def test_a_function_is_close_to_the_exact_one(
    device: HeaderKernels, name: str, exact: Callable[..., Any], low: float, high: float, most: float
) -> None:
    x = np.linspace(low, high, 20011)
    expected = exact(x if name.startswith("erf") else x.astype(wide))
    error = ulps(device.call(f"test_{name}", x), expected)
    assert np.max(error) <= most, (x[np.argmax(error)], np.max(error))


def test_powers_keep_their_bits_over_the_whole_range(device: HeaderKernels) -> None:
    rng = np.random.default_rng(1)
    x, y = np.exp(rng.uniform(-200, 200, 50000)), rng.uniform(-3, 3, 50000)
    assert np.max(ulps(device.call("test_pow", x, y), np.power(x.astype(wide), y.astype(wide)))) <= 2
    near = rng.uniform(0.99, 1.01, 50000)
    assert (
        np.max(ulps(device.call("test_pow", near, 1e4 * y), np.power(near.astype(wide), (1e4 * y).astype(wide)))) <= 2
    )


@pytest.mark.parametrize(
    ("x", "y"),
    [
        *((0.0, 2.0), (-0.0, -3.0), (-2.0, 3.0), (-2.0, 0.5), (1.0, math.nan), (math.nan, 0.0), (math.inf, -2.0)),
        *((-math.inf, 3.0), (2.0, math.inf), (0.5, math.inf), (10.0, 400.0), (10.0, -400.0), (5e-324, 0.5)),
        (2.0, -1074.0),
    ],
)
def test_powers_at_their_edges(device: HeaderKernels, x: float, y: float) -> None:
    with np.errstate(all="ignore"):
        expected = np.power(np.float64(x), np.float64(y))
    actual = device.call("test_pow", [x], [y])[0]
    assert np.allclose(actual, expected, rtol=1e-15, atol=0, equal_nan=True)
    assert np.signbit(actual) == np.signbit(expected) or np.isnan(expected)


def test_angles_and_lengths(device: HeaderKernels) -> None:
    y, x = (a.ravel() for a in np.meshgrid(np.linspace(-3, 3, 101), np.linspace(-3, 3, 101)))
    assert np.max(ulps(device.call("test_atan2", y, x), np.arctan2(y.astype(wide), x.astype(wide)))) <= 2
    big = 1e200 * x
    assert (
        np.max(ulps(device.call("test_hypot", big, 1e200 * y), np.hypot(big.astype(wide), (1e200 * y).astype(wide))))
        <= 2
    )


@pytest.mark.parametrize(
    "name", ["exp", "exp2", "exp10", "expm1", "log", "log1p", "log2", "log10", "cbrt", "tanh", "erf"]
)
def test_what_is_no_number_and_what_is_too_large(device: HeaderKernels, name: str) -> None:
    special: dict[str, Callable[..., Any]] = {"exp10": lambda v: np.power(10.0, v), "erf": erf}
    exact = special.get(name) or getattr(np, name)
    x = np.array([math.nan, math.inf, -math.inf, 0.0, 1e308, -1e308, 5e-324, 1e-310, -0.0])
    with np.errstate(all="ignore"):
        expected = exact(x)
    actual = device.call(f"test_{name}", x)
    assert np.array_equal(np.isnan(actual), np.isnan(expected))
    assert np.allclose(actual, expected, rtol=1e-15, atol=0, equal_nan=True), (actual, expected)


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "erfc", "atan"])
def test_what_is_no_number_stays_none(device: HeaderKernels, name: str) -> None:
    assert np.isnan(device.call(f"test_{name}", [math.nan])).all()
    assert np.isnan(device.call(f"test_{name}", [math.inf])).all() == (name in ("sin", "cos", "tan"))

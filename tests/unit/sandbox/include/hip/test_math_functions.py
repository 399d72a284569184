"""Functions of float and of bits, executed by the machine, beside numpy's in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.header_kernels import HeaderKernels


@pytest.fixture(scope="module")
def device() -> HeaderKernels:
    """The headers' functions of float, in gfx942 code."""
    return HeaderKernels("maths.hip", np.float32)


def grid(low: float, high: float, count: int = 20001) -> np.ndarray[Any, Any]:
    return np.linspace(low, high, count).astype(np.float32)


erf, erfc = np.vectorize(math.erf), np.vectorize(math.erfc)


@pytest.mark.parametrize(
    ("name", "exact", "low", "high", "ulps"),
    [
        ("test_sin", np.sin, -3.0, 3.0, 2),
        ("test_cos", np.cos, -1.5, 1.5, 2),
        ("test_tanh", np.tanh, -12.0, 12.0, 4),
        ("test_tanh", np.tanh, -1e-3, 1e-3, 4),
        ("test_sinh", np.sinh, -20.0, 20.0, 4),
        ("test_cosh", np.cosh, -20.0, 20.0, 4),
        ("test_expm1", np.expm1, -0.5, 0.5, 4),
        ("test_expm1", np.expm1, 0.5, 20.0, 4),
        ("test_log1p", np.log1p, -0.9, 9.0, 4),
        ("test_log1p", np.log1p, -1e-4, 1e-4, 4),
        ("test_erf", erf, -0.75, 0.75, 4),
        ("test_erf", erf, 0.75, 5.0, 4),
        ("test_erfc", erfc, -2.0, 0.7, 8),
        ("test_atan", np.arctan, -20.0, 20.0, 4),
        ("test_cbrt", np.cbrt, 1e-3, 1e3, 4),
        ("test_asin", np.arcsin, -1.0, 1.0, 4),
        ("test_acos", np.arccos, -1.0, 1.0, 4),
        ("test_asinh", np.arcsinh, -1e3, 1e3, 8),
        ("test_asinh", np.arcsinh, -1e-3, 1e-3, 4),
        ("test_acosh", np.arccosh, 1.0, 1e3, 8),
        ("test_atanh", np.arctanh, -0.999, 0.999, 8),
        ("test_sinpi", lambda x: np.sin(np.pi * x), -0.9, 0.9, 8),
        ("test_cospi", lambda x: np.cos(np.pi * x), -0.4, 0.4, 8),
        ("test_logb", lambda x: np.floor(np.log2(x)), 0.001, 100.0, 0),
        ("test_exp10", lambda x: 10.0**x, -3.0, 3.0, 8),
    ],
)
def test_maths_is_close_to_float64(
    device: HeaderKernels, name: str, exact: Callable[..., Any], low: float, high: float, ulps: float
) -> None:
    x = grid(low, high)
    expected = exact(x.astype(np.float64))
    error = np.abs(device.call(name, x) - expected) / np.maximum(np.spacing(np.abs(expected).astype(np.float32)), 1e-30)
    assert np.max(error) <= ulps, (x[np.argmax(error)], np.max(error))


def test_the_next_number_is_numpys(device: HeaderKernels) -> None:
    x = np.array([0.0, 1.0, -1.0, 1e-45, -1e-45, 3.4e38, 2.0, 5.0], np.float32)
    y = np.array([1.0, 2.0, 0.0, -1.0, 1.0, np.inf, 2.0, -np.inf], np.float32)
    assert np.array_equal(device.call("test_nextafter", x, y), np.nextafter(x, y))


def test_sine_and_cosine_of_large_arguments(device: HeaderKernels) -> None:
    x = grid(-1e5, 1e5, 40001)
    assert np.max(np.abs(device.call("test_sin", x) - np.sin(x.astype(np.float64)))) < 2e-7
    assert np.max(np.abs(device.call("test_cos", x) - np.cos(x.astype(np.float64)))) < 2e-7


def test_complement_of_the_error_function_keeps_relative_accuracy(device: HeaderKernels) -> None:
    x = grid(0.7, 8.0)
    assert np.max(np.abs(device.call("test_erfc", x) / erfc(x.astype(np.float64)) - 1)) < 2e-5


def test_power_over_a_wide_range(device: HeaderKernels) -> None:
    rng = np.random.default_rng(1)
    x = np.exp(rng.uniform(-20, 20, 50000)).astype(np.float32)
    y = rng.uniform(-4, 4, 50000).astype(np.float32)
    expected = np.power(x.astype(np.float64), y.astype(np.float64))
    assert np.max(np.abs(device.call("test_pow", x, y) / expected - 1)) < 3 * 2**-23


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (0.0, 2.0),
        (0.0, -2.0),
        (-0.0, 3.0),
        (-0.0, -3.0),
        (-2.0, 3.0),
        (-2.0, 2.0),
        (-2.0, 0.5),
        (1.0, np.nan),
        (np.nan, 0.0),
        (np.nan, 1.0),
        (np.inf, 2.0),
        (np.inf, -2.0),
        (-np.inf, 3.0),
        (-np.inf, -3.0),
        (2.0, np.inf),
        (0.5, np.inf),
        (2.0, -np.inf),
        (-1.0, np.inf),
        (10.0, 60.0),
        (10.0, -60.0),
        (1e-40, 0.5),
    ],
)
def test_power_at_its_edges(device: HeaderKernels, x: float, y: float) -> None:
    with np.errstate(all="ignore"):
        expected = np.float32(np.power(np.float32(x), np.float64(y)))
    assert np.allclose(device.call("test_pow", [x], [y])[0], expected, rtol=1e-6, atol=0, equal_nan=True)
    assert np.signbit(device.call("test_pow", [x], [y])[0]) == np.signbit(expected) or np.isnan(expected)


def test_angles_in_all_quadrants(device: HeaderKernels) -> None:
    y, x = (a.ravel() for a in np.meshgrid(grid(-3, 3, 101), grid(-3, 3, 101)))
    assert np.max(np.abs(device.call("test_atan2", y, x) - np.arctan2(y.astype(np.float64), x))) < 6e-7
    assert np.allclose(device.call("test_hypot", x, y), np.hypot(x, y), rtol=2e-7)


@pytest.mark.parametrize("name", ["test_tanh", "test_erf", "test_expm1", "test_atan"])
def test_nan_stays_and_zero_keeps_its_sign(device: HeaderKernels, name: str) -> None:
    nan, zero, minus = device.call(name, [np.nan, 0.0, -0.0])
    assert np.isnan(nan)
    assert (zero, minus) == (0.0, 0.0)
    assert np.signbit(minus)


def patterns() -> np.ndarray[Any, Any]:
    bits = np.random.default_rng(2).integers(0, 2**32, 200000, dtype=np.uint64).astype(np.uint32)
    ties = (np.arange(65536, dtype=np.uint32) << 16) | 0x8000
    return np.concatenate([bits, ties, ties + 1, ties - 1]).view(np.float32)


@pytest.mark.parametrize(("name", "dtype"), [("test_bf16", ml_dtypes.bfloat16), ("test_half", np.float16)])
def test_conversions_round_to_nearest_even(device: HeaderKernels, name: str, dtype: Any) -> None:
    x = patterns()
    with np.errstate(all="ignore"):
        expected = x.astype(dtype).astype(np.float32)
    actual = device.call(name, x)
    assert np.array_equal(actual, expected, equal_nan=True)
    assert np.array_equal(np.signbit(actual[~np.isnan(x)]), np.signbit(expected[~np.isnan(x)]))


def test_narrow_arithmetic_rounds_after_every_operation(device: HeaderKernels) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 20000)).astype(np.float32)
    with np.errstate(all="ignore"):
        bx, by = x.astype(ml_dtypes.bfloat16), y.astype(ml_dtypes.bfloat16)
        assert np.array_equal(device.call("test_bf16_fma", x, y), (bx * by + bx).astype(np.float32))
        hx, hy = x.astype(np.float16), y.astype(np.float16)
        assert np.array_equal(device.call("test_half_add", x, y), (hx + hy).astype(np.float32))
        assert np.array_equal(device.call("test_half2", x, y), (hx * hy).astype(np.float32))
    assert device.call("test_saturate", [-1.0, 0.25, 7.0]).tolist() == [0.0, 0.25, 1.0]


@pytest.mark.parametrize(
    ("which", "arguments", "expected"),
    [
        (0, (0xF0F0, 0, 0), 8),
        (1, (1, 0, 0), 31),
        (1, (0, 0, 0), 32),
        (2, (0, 0, 0), 0),
        (2, (8, 0, 0), 4),
        (3, (1, 0, 0), 1 << 31),
        (4, (0x80000000, 6, 0), 3),
        (5, (0xFFFFFFFF, 1, 0), 0xFFFFFFFF),
        (6, (0x33221100, 0x77665544, 0x7410), 0x77441100),
        (7, (0x89ABCDEF, 0x01234567, 8), 0x23456789),
        (8, (0x89ABCDEF, 0x01234567, 8), 0x6789ABCD),
        (9, (0xFF000003, 5, 0), 15),
        (10, (0, 1, 0), 63),
        (11, (1, 0, 0), 33),
    ],
)
def test_bit_functions(device: HeaderKernels, which: int, arguments: tuple[int, int, int], expected: int) -> None:
    assert device.call("bits", which, arguments, np.uint32)[0] == expected

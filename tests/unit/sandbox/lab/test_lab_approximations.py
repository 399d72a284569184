"""The hardware's approximations: within their error of the right value, and not all of them right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.lab_bench import execute, launch

Numbers = npt.NDArray[Any]
TINY = float(np.finfo(np.float32).tiny)


def compute(name: str, x: Numbers) -> Numbers:
    kind = "float" if x.dtype == np.float32 else "double"
    execution = execute(
        f"""
__global__ void k(const {kind}* x, {kind}* y) {{
    const int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = __builtin_amdgcn_{name}(x[i]);
}}""",
        [launch("k", ["x", "y"], grid=(x.size // 64,))],
        {"x": x},
        {"y": np.zeros_like(x)},
    )
    return execution.outputs["y"]


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("exp2f", np.exp2),
        ("logf", np.log2),
        ("rcpf", np.reciprocal),
        ("rsqf", lambda x: 1 / np.sqrt(x)),
        ("sqrtf", np.sqrt),
    ],
)
def test_single_precision_is_within_an_ulp_and_often_one_off(name: str, right: Callable[[Numbers], Numbers]) -> None:
    x = np.random.default_rng(3).uniform(0.01, 90.0, 8192).astype(np.float32)
    want = right(x.astype(np.float64)).astype(np.float32)
    apart = np.abs(compute(name, x).view(np.int32).astype(np.int64) - want.view(np.int32))
    assert (apart <= 1).mean() > 0.999 and apart.max() <= 2  # exp2f is computed within an ulp itself
    assert 0.3 < (apart > 0).mean() < 0.7


def test_powers_of_two_are_exact_and_denormal_numbers_are_zeros() -> None:
    powers = np.resize(np.exp2(np.arange(-60.0, 60.0, 2.0)).astype(np.float32), 64)
    assert np.array_equal(compute("rcpf", powers), 1 / powers) and np.array_equal(
        compute("sqrtf", powers), np.sqrt(powers)
    )
    assert np.array_equal(compute("exp2f", np.log2(powers)), powers)
    x = np.resize(np.array([TINY / 2, -TINY / 4, 2.0**127 * 1.5, 0.0, np.inf], np.float32), 64)
    assert compute("rcpf", x)[:5].tolist() == [np.inf, -np.inf, 0.0, np.inf, 0.0]
    assert compute("logf", x)[0] == -np.inf and compute("sqrtf", x)[0] == 0.0
    assert (compute("exp2f", np.resize(np.array([-127.3, -140.0], np.float32), 64)) == 0).all()


@pytest.mark.parametrize(("name", "right"), [("rcp", np.reciprocal), ("sqrt", np.sqrt)])
def test_double_precision_has_the_digits_of_single(name: str, right: Callable[[Numbers], Numbers]) -> None:
    x = np.random.default_rng(4).uniform(0.1, 9.0, 512)
    apart = np.abs(compute(name, x) / right(x) - 1)
    assert apart.max() < 2.0**-23 and np.median(apart) > 2.0**-30


def test_angles_beyond_256_turns_are_not_reduced() -> None:
    turns = np.resize(np.array([0.25, 256.25, -300.0, 1e9], np.float32), 64)
    assert compute("sinf", turns)[:4].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert compute("cosf", turns)[1:4].tolist() == [1.0, 1.0, 1.0]

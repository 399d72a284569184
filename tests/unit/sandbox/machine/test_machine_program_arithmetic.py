"""What the compiler makes of roots, quotients, conversions and logarithms: its whole sequences against NumPy.

They combine steps that no single instruction's test ties together: scaling, comparison of classes, VCC, Newton steps.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.compiler_cache import toolchain
from tests.support.exact_floats import DOUBLE, HALF, SINGLE, FloatFormat, awkward
from tests.support.instruction_steps import LANES, Array, run, words

FLAGS = (
    "-x",
    "hip",
    "--cuda-device-only",
    "--offload-arch=gfx942",
    "-nogpulib",
    "-nogpuinc",
    "-O3",
    "-ffp-contract=off",
)
FUNCTIONS = {
    "root_f16": "_Float16 {}(_Float16 x) {{ return __builtin_sqrtf16(x); }}",
    "root_f32": "float {}(float x) {{ return __builtin_sqrtf(x); }}",
    "root_f64": "double {}(double x) {{ return __builtin_sqrt(x); }}",
    "quotient_f16": "_Float16 {}(_Float16 x, _Float16 y) {{ return x / y; }}",
    "quotient_f32": "float {}(float x, float y) {{ return x / y; }}",
    "quotient_f64": "double {}(double x, double y) {{ return x / y; }}",
    "power_of_2": "float {}(float x) {{ return __builtin_exp2f(x); }}",
    "exponential": "float {}(float x) {{ return __builtin_expf(x); }}",
    "logarithm": "float {}(float x) {{ return __builtin_logf(x); }}",
    "wide_to_double": "double {}(unsigned long long x) {{ return (double)x; }}",
    "wide_to_single": "float {}(unsigned long long x) {{ return (float)x; }}",
    "signed_wide_to_single": "float {}(long long x) {{ return (float)x; }}",
    "double_to_wide": "long long {}(double x) {{ return (long long)x; }}",
    "double_to_half": "_Float16 {}(double x) {{ return (_Float16)x; }}",
    "single_to_bfloat": "__bf16 {}(float x) {{ return (__bf16)x; }}",
}


@pytest.fixture(autouse=True)
def _silent() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@cache
def listing() -> str:
    tools = toolchain()
    with tempfile.TemporaryDirectory() as folder:
        source = "".join(
            f'extern "C" __attribute__((device, used)) {text.format(name)}\n' for name, text in FUNCTIONS.items()
        )
        Path(folder, "functions.hip").write_text(source, encoding="utf-8")
        argv = tools.command("clang", *FLAGS, "-S", "functions.hip", "-o", "functions.s")
        tools.build(argv, Path(folder), tools.environment(), "compile arithmetic for gfx942")
        return Path(folder, "functions.s").read_text(encoding="utf-8")


def body(name: str) -> list[str]:
    """The instructions of a function of the listing, without waits and the return."""
    match = re.search(rf"^{name}:.*?\n(.*?)s_setpc_b64", listing(), re.DOTALL | re.MULTILINE)
    assert match is not None
    lines = [line.split(";")[0].strip() for line in match[1].split("\n")]
    return [line for line in lines if line and line[0] in "sv" and not line.startswith("s_waitcnt")]


def call_function(name: str, *arguments: Array, result: Any) -> Array:
    """The function's results, by the calling convention: arguments and result in vector registers from v0 on."""
    count, register, inputs = len(arguments[0]), 0, {}
    assert count % LANES == 0
    for argument in arguments:
        for part in words(argument):
            value = part.reshape(-1, LANES)
            inputs[register] = (value, np.full_like(value, 0xFFFFFFFF))
            register += 1
    size = np.dtype(result).itemsize
    results, reported = run(body(name), inputs, range(max(1, size // 4)))
    assert not reported.any()
    bits = sum(values.ravel().astype(np.uint64) << np.uint64(32 * k) for k, (values, _) in enumerate(results))
    return np.asarray(bits).astype(f"u{size}").view(result)


def values(form: FloatFormat, seed: int) -> Array:
    return awkward(form, 40_000, seed).view(form.value)


FORMATS = {"f16": HALF, "f32": SINGLE, "f64": DOUBLE}


@pytest.mark.parametrize("name", FORMATS)
def test_roots_and_quotients_are_rounded_right(name: str) -> None:
    form = FORMATS[name]
    x, y = values(form, 1), values(form, 2)
    assert np.array_equal(call_function(f"root_{name}", x, result=form.value), np.sqrt(x), equal_nan=True)
    assert np.array_equal(call_function(f"quotient_{name}", x, y, result=form.value), x / y, equal_nan=True)


@pytest.mark.parametrize(
    ("name", "function", "steps"), [("power_of_2", np.exp2, 1), ("exponential", np.exp, 1), ("logarithm", np.log, 2)]
)
def test_functions_are_near_the_exact_ones(name: str, function: Callable[[Array], Array], steps: int) -> None:
    """A logarithm is a product with `v_log_f32`, which is one step off for half of the values: two in all."""
    x = values(SINGLE, 1)
    exact = function(x.astype(np.float64)).astype(np.float32)
    actual = call_function(name, x, result=np.float32)
    assert np.array_equal(np.isnan(actual), np.isnan(exact))
    number = ~np.isnan(exact)
    order = [
        np.where(v < 0, -(v & 0x7FFFFFFF), v) for v in (u.view(np.int32).astype(np.int64) for u in (actual, exact))
    ]
    assert np.abs(order[0] - order[1])[number].max() <= steps


def test_conversions_by_several_instructions() -> None:
    rng = np.random.default_rng(1)
    wide = rng.integers(0, 2**64, 40_000, np.uint64) >> rng.integers(0, 64, 40_000).astype(np.uint64)
    signed = wide.view(np.int64)
    assert np.array_equal(call_function("wide_to_double", wide, result=np.float64), wide.astype(np.float64))
    assert np.array_equal(call_function("wide_to_single", wide, result=np.float32), wide.astype(np.float32))
    assert np.array_equal(call_function("signed_wide_to_single", signed, result=np.float32), signed.astype(np.float32))
    double = values(DOUBLE, 1)
    inside = np.where(np.abs(double) < 2.0**62, double, 0.5)
    assert np.array_equal(call_function("double_to_wide", inside, result=np.int64), inside.astype(np.int64))
    assert np.array_equal(
        call_function("double_to_half", double, result=np.float16), double.astype(np.float16), equal_nan=True
    )
    single = np.nan_to_num(values(SINGLE, 1), nan=1.5, posinf=np.inf, neginf=-np.inf)
    rounded = single.astype(ml_dtypes.bfloat16).view(np.uint16)
    assert np.array_equal(call_function("single_to_bfloat", single, result=np.uint16), rounded)

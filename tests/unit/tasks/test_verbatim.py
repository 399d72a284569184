"""A NumPy text as a reference: nothing narrows it, and no default widens the standard implementation."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from tasks.in_order import in_order
from tasks.verbatim import Verbatim

X = np.random.default_rng(0).standard_normal((5, 7)).astype(np.float32)
WIDE = X.astype(np.float64)
HALF, SAME = np.float32(1 / 3), {"x": X}
NARROWING = {
    "x * 0.1": WIDE * 0.1,
    "np.float64(1) * x / 3": WIDE / 3,
    "x.astype('float32') * (1 / 3) + 1e-5": WIDE / 3 + 1e-5,
    "np.sum(x, axis=1, dtype=np.float32, keepdims=True)": WIDE.sum(1, keepdims=True),
    "np.add(x, 0.044715, dtype='f4')": WIDE + 0.044715,
    "np.zeros(x.shape, np.float32) + x": WIDE,
    "np.full(x.shape, 0.1, 'float32')": np.full(X.shape, 0.1),
    "np.asarray([0.1, 0.2], dtype=np.half)[0] * x": WIDE * 0.1,
    "np.exp(np.int8([3])) + x[0, :1]": np.exp(3) + WIDE[0, :1],
    "np.einsum('ij,kj->ik', x, x)": WIDE @ WIDE.T,
    "x.mean(0, dtype=x.dtype) if x.dtype == np.float32 else None": WIDE.mean(0),
    "np.where(x > 0, x, np.finfo(np.float32).min)": np.where(WIDE > 0, WIDE, np.finfo(np.float32).min),
    "__import__('scipy.special', fromlist=['erf']).erf(x)": np.vectorize(__import__("math").erf)(WIDE),
    "np.linspace(0, 1, 7) * x.copy()": np.linspace(0, 1, 7) * WIDE,
}


def answers(text: str, which: str, dims: dict[str, int] | None = None, **more: Any) -> dict[str, Any]:
    function = Verbatim(f"import numpy as np\n{text}", "f", [("input", "x")], {"y": "f32"}, **more)
    return getattr(function, which)(SAME, types.SimpleNamespace(dims=dims or {}))  # type: ignore[no-any-return]


@pytest.mark.parametrize("expression", NARROWING)
def test_every_floating_type_is_float64_in_the_reference_and_float32_in_the_baseline(expression: str) -> None:
    text = f"def f(x):\n    return {expression}\n"
    reference, baseline = (answers(text, which)["y"] for which in ("reference", "baseline"))
    assert reference.dtype == np.float64 and np.allclose(reference, NARROWING[expression], rtol=1e-13, atol=0)
    assert baseline.dtype == np.float32 and np.allclose(baseline, reference, rtol=1e-5, atol=1e-5)


def test_what_accumulates_in_a_default_type_is_rounded_in_the_baseline_at_each_step() -> None:
    text = "def f(x):\n    y = np.zeros(5)\n    for i in range(7):\n        y += x[:, i] * 0.1\n    return y\n"
    stepwise = np.zeros(5, np.float32)
    for i in range(7):
        stepwise += X[:, i] * np.float32(0.1)
    assert np.array_equal(answers(text, "baseline")["y"], stepwise)


def test_sums_are_taken_in_order_where_the_inputs_ask_for_it() -> None:
    function = Verbatim("def f(x):\n    return x.sum()\n", "f", [("input", "x")], {"y": "f32"})
    x = np.full(1 << 12, 0.1, np.float32)
    total = in_order(function.baseline)({"x": x}, types.SimpleNamespace(dims={}))["y"]
    assert total == np.add.accumulate(x)[-1] != function.baseline({"x": x}, types.SimpleNamespace(dims={}))["y"]


def test_constants_of_the_text_follow_the_dims_and_what_is_written_into_an_input_is_a_result() -> None:
    text = "N = 4096\nM = 2 * N\ndef f(x):\n    x *= M\n"
    function = Verbatim(text, "f", [("input", "x")], {"new_x": "f32"}, {"new_x": "x"}, {"N": "rows // 2"})
    updated = function.reference(SAME, types.SimpleNamespace(dims={"rows": 6}))
    assert np.array_equal(updated["new_x"], WIDE * 6) and X.dtype == np.float32


def test_bits_of_a_number_are_refused_since_they_are_others_in_double_precision() -> None:
    with pytest.raises(TypeError, match="bits"):
        answers("def f(x):\n    return x.view(np.int32)\n", "reference")


def test_a_text_draws_its_inputs_by_the_generator_and_the_law_of_the_task() -> None:
    text = """
import numpy as np
rng = np.random.default_rng(7)
rows = 4096
def f(x, ids): return x[ids]
def get_inputs():
    return [rng.standard_normal((rows, 3)).astype(np.float32), np.random.randint(0, rows, 5)]
"""
    function = Verbatim(text, "f", [("input", "x"), ("input", "ids")], {"y": "f32"}, sizes={"rows": "n"})

    def draw(rng: np.random.Generator, shape: Any, law: str) -> Any:
        assert law == "normal"
        return np.full(shape, rng.random(), np.float32)

    case = types.SimpleNamespace(dims={"n": 6})
    first, again, other = (function.inputs(case, np.random.default_rng(seed), draw) for seed in (1, 1, 2))
    assert first[0].shape == (6, 3) and first[0].dtype == np.float32 and first[1].max() < 6
    assert np.array_equal(first[0], again[0]) and not np.array_equal(first[0], other[0])

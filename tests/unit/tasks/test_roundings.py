"""What a reference admits that rounds on the way: right kernels near ties, wrong ones, references of any text."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from benchmarks.quantised import accepted_wrong, refused_right
from benchmarks.quantised_forms import FORMS
from tasks.compare import compare
from tasks.loader import functions_of
from tasks.roundings import Admitted, admitted
from tasks.task import Array
from tasks.tolerance import Tolerance

INPUTS = {"x": np.array([0.5, 1.49999999, 1.7, 2.5, -0.5], np.float32)}


def test_right_kernels_are_accepted_in_any_order_of_operations() -> None:
    assert refused_right(6, seed=1) == []


def test_wrong_kernels_are_refused() -> None:
    assert len(FORMS) == 10
    assert accepted_wrong(seed=1) == []


@pytest.mark.parametrize(
    "rounding",
    [
        "np.rint(x)",
        "np.round(x)",
        "np.round(x, 0)",
        "np.around(x, decimals=0)",
        "x.round()",
        "np.floor(x + kind(0.5))",
        "np.trunc(x)",
        "np.fix(x)",
        "(x + kind(0.5)) // kind(1)",
        "np.asarray(x).astype(np.int32)",
        "np.where(x > 0, np.ceil(x), x)",
        "np.concatenate([np.rint(x[:2]), np.rint(x[2:])])",
    ],
)
def test_every_way_to_round_is_found_in_a_reference_s_text(rounding: str) -> None:
    text = (
        "import numpy as np\n"
        "def compute(inputs, kind):\n"
        "    x = np.asarray(inputs['x'], kind) * kind(0.1)\n"
        f"    return {{'y': np.ascontiguousarray({rounding}).astype(np.int32)}}\n"
        "def make_inputs(case, rng): return {}\n"
        "def reference(inputs, case):\n"
        "    return {n: y.astype(np.float64) for n, y in compute(inputs, np.float64).items()}\n"
        "def baseline(inputs, case): return compute(inputs, np.float32)\n"
    )
    functions = functions_of(Path("reference.py"), text, "0" * 64)
    inputs = {"x": np.array([5, 10, 15, 20, 25, 30, 31, 32, 33], np.float32)}
    families = functions["admit"](inputs, None, 2.0)
    assert (families["low"]["y"] < families["high"]["y"]).any()
    assert not (families["low"]["y"] < families["high"]["y"]).all()  # 3.1, 3.2 and 3.3 are near no tie


def rounded_of(x: Array, kind: type) -> Array:
    return np.rint(x.astype(kind) * kind(1.0))


def test_integers_are_not_moved() -> None:
    def counted(inputs: dict[str, Array], case: object) -> dict[str, Array]:
        return {"y": np.rint(np.rint(inputs["x"]) * 3).astype(np.int32)}

    inputs = {"x": np.arange(9, dtype=np.float32)}
    assert admitted(counted, counted)(inputs, None, 2.0) == {}


def test_a_stated_tie_counts_where_the_standard_meets_it_exactly() -> None:
    def even(inputs: dict[str, Array], case: object, kind: type = np.float64) -> dict[str, Array]:
        return {"y": rounded_of(inputs["x"], kind)}

    x = np.arange(64, dtype=np.float32) / 2
    inputs = {"x": x}
    families = admitted(even, partial(even, kind=np.float32))(inputs, None, 2.0)
    low, high, tied = (families[name]["y"] for name in ("low", "high", "tied"))
    assert tied.sum() == 32
    reference, up = np.rint(x).astype(np.float64), np.floor(x + 0.5).astype(np.int8)
    judged = partial(compare, up, reference, reference.astype(np.int8), Tolerance(2.0))
    assert judged(admitted=lambda: Admitted(low, high)).correct
    refused = judged(admitted=lambda: Admitted(low, high, tied))
    assert refused.pattern == "ties"


def test_a_flipped_baseline_is_no_licence() -> None:
    reference = np.arange(8.0)
    baseline = reference.copy()
    baseline[3] += 1  # the standard's own flip, which its reference admits
    high = np.where(np.arange(8) == 3, reference + 1, reference)
    off = (reference + (np.arange(8) == 6)).astype(np.int32)
    standard = baseline.astype(np.int32)
    assert not compare(off, reference, standard, Tolerance(2.0), admitted=lambda: Admitted(reference, high)).correct
    right = (reference + (np.arange(8) == 3)).astype(np.int32)
    assert compare(right, reference, standard, Tolerance(2.0), admitted=lambda: Admitted(reference, high)).correct


def test_codes_that_are_off_are_told_in_words() -> None:
    reference = np.arange(-500.0, 500.0)
    off = (reference + (np.arange(1000) == 7)).astype(np.int32)
    refused = compare(off, reference, reference.astype(np.int32), Tolerance(2.0))
    assert refused.pattern == "accuracy"
    assert "one element" in refused.message and "one step" in refused.message

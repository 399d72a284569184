"""What a try puts into inputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.inputs.searched import (
    AROUND,
    STEPS,
    SearchedInputs,
    _as_large,
    _as_root,
    _moved,
    _past,
    _sized,
    _spread,
)
from tasks.dtypes import to_float64
from tasks.loader import load_task
from tasks.task import Array, Case, Task


def line(seed: int = 0, dtype: str = "float32") -> Array:
    return np.random.default_rng(seed).standard_normal((32, 200)).astype(dtype)


@pytest.mark.parametrize("number", [3e-7, -12.0, 1e5])
def test_values_become_as_large_as_a_number_or_as_its_root(number: float) -> None:
    for step, size in ((_as_large, abs(number)), (_as_root, np.sqrt(abs(number)))):
        ratios = [np.abs(step(line(seed), number, np.random.default_rng(seed))).max() / size for seed in range(20)]
        assert AROUND[0] ** 1.01 < min(ratios) < 1.0 < max(ratios) < AROUND[1] * 1.01


def test_lines_are_spread_by_a_number_and_moved_by_it_within_bounds() -> None:
    spread = _spread(line(), 64.0, np.random.default_rng(0))
    below = spread.max(axis=1, keepdims=True) - spread
    low, high = (below > 50) & (below < 80), below < 1
    assert (low | high).all()
    shares = low.mean(axis=1)
    assert (shares < 0.1).any() and (shares > 0.9).any() and ((shares > 0.3) & (shares < 0.7)).any()
    moved = _moved(line(), 1e9, np.random.default_rng(0)) - line()
    assert np.ptp(moved) < 1e-2 and 3 * 64 < abs(moved.mean()) < 5 * 64


@pytest.mark.parametrize("number", [-3e38, 1e5, 1e-20, -64.0])
def test_whole_lines_lie_past_a_number_as_far_as_the_type_goes(number: float) -> None:
    whole_draws = 0
    for seed in range(12):
        values = _past(line(), number, np.random.default_rng(seed)).astype(np.float64)
        past = (values * np.sign(number) >= abs(np.float32(number))) & (np.abs(values) <= 2.01 * abs(number))
        changed = (values != line()).all(axis=1)
        assert np.isfinite(values).all() and past[changed].all() and 0.2 < changed.mean() <= 1.0
        whole_draws += bool(changed.all())
    assert 2 <= whole_draws <= 10


def test_the_most_unusual_numbers_have_a_try_of_their_own_before_any_other() -> None:
    # A sum's kernel may begin at -1e30, of which float32 holds no square; one that only moves values may not.
    for task, first in ((load_task("row_softmax"), 1e12), (load_task("transpose"), 1e30)):
        searched = SearchedInputs(InputFamilies(task), [2.0, -1e30, 1e12, 64.0, 1e-9], 77)
        case = replace(task.tests[3], role="held_out", seed=5)
        sizes = [size for size in (1e30, 1e12, 1e-9, 64.0, 2.0) if size <= first]
        for number, size in enumerate(sizes):
            magnitudes = np.abs(searched.draw(case, f"search {number}")["x"].astype(np.float64))
            assert ((magnitudes >= 0.999 * size) & (magnitudes <= 2.01 * size)).all(axis=1).any()


def test_what_is_small_though_nothing_cancels_is_judged_by_its_own_size() -> None:
    task = load_task("moe_ffn")
    case, (spec,) = replace(task.tests[1], role="held_out", seed=5), task.outputs
    drawn = task.draw(case)
    for size, is_small in ((10.0, True), (1.0, False)):
        near = {name: 1 + 0.01 * np.arange(drawn[name].shape[-1], dtype=np.float32) for name in ("x", "w1")}
        inputs = {**drawn, "x": drawn["x"] * 0 + size * near["x"], "w1": drawn["w1"] * 0 - 2 * near["w1"]}
        searched = SearchedInputs(InputFamilies(task), [3.0], 7)
        want = task.reference(inputs, case)
        assert searched.is_sound(case, "search 0", inputs, want, task.baseline(inputs, case))
        largest = float(np.abs(want["y"]).max())
        assert (largest < 1e-15) == is_small and searched.tolerance(spec, "search 0").least < 0.01 * largest


def test_a_try_is_the_same_for_the_same_case_and_differs_from_others() -> None:
    task = load_task("rms_norm")
    searched = SearchedInputs(InputFamilies(task), [1e-6, 0.0, np.inf, 3.0], 77)
    case = replace(task.tests[0], role="held_out", seed=5)
    first = searched.draw(case, "search 3")
    for name, values in searched.draw(case, "search 3").items():
        assert np.array_equal(values, first[name], equal_nan=True)
    drawn = [searched.draw(case, f"search {number}") for number in range(12)]
    assert len({tuple(v.tobytes() for v in inputs.values()) for inputs in drawn}) > 8
    assert all(np.isfinite(v.astype(np.float64)).all() for inputs in drawn for v in inputs.values())


def test_a_try_counts_where_both_know_an_answer_and_is_judged_by_its_own_size() -> None:
    task = load_task("row_softmax")
    searched = SearchedInputs(InputFamilies(task), [3.0], 7)
    case, (spec,) = replace(task.tests[0], role="held_out"), task.outputs
    inputs = task.draw(case)
    right = {spec.name: np.full(task.shape_of(spec, case), 0.5)}
    near = {spec.name: right[spec.name].astype(np.float32)}
    assert searched.is_sound(case, "search 1", inputs, right, near)
    large = searched.tolerance(spec, "search 1").least
    small = {spec.name: 1e-12 * right[spec.name]}
    assert searched.is_sound(case, "search 2", inputs, small, {spec.name: small[spec.name].astype(np.float32)})
    assert 0 < searched.tolerance(spec, "search 2").least < 1e-5 * large
    for wrong in (np.nan, np.inf):
        bad = {spec.name: np.full_like(right[spec.name], wrong)}
        assert not searched.is_sound(case, "search 3", inputs, bad, bad)


def test_where_terms_cancel_an_output_may_be_off_by_what_the_last_bits_of_the_inputs_sway() -> None:
    """The baseline has an exact zero there by luck, and a right kernel that multiplies and adds at once has not."""
    task = replace(
        load_task("bias_gelu"),
        reference=lambda inputs, case: {"y": inputs["x"].astype(np.float64) - inputs["bias"].astype(np.float64)},
        baseline=lambda inputs, case: {"y": inputs["x"] - inputs["bias"]},
    )
    for case in task.tests[:3]:
        check_cancelled(task, case)


def check_cancelled(task: Task, case: Case) -> None:
    drawn = task.draw(case)
    alike = {**drawn, "x": np.broadcast_to(drawn["bias"], drawn["x"].shape).copy()}
    least = {}
    for name, inputs in (("search 0", drawn), ("search 1", alike)):
        searched = SearchedInputs(InputFamilies(task), [], 77)
        values = inputs, task.reference(inputs, case), task.baseline(inputs, case)
        assert searched.is_sound(case, name, *values)
        least[name] = searched.tolerance(task.outputs[0], name).least
    unit = float(np.spacing(np.abs(drawn["bias"]).max()))
    assert unit < least["search 1"] < 64 * unit
    assert least["search 0"] < 64 * float(np.spacing(np.abs(drawn["x"]).max()))


@pytest.mark.parametrize(("name", "first"), [("nearest_codeword", "x"), ("moe_ffn", "logits")])
def test_changed_keep_what_a_task_promises(name: str, first: str) -> None:
    task = load_task(name)
    case = task.tests[0]
    drawn = task.draw(case)
    unchanged = task.restored(drawn, drawn, case)
    assert all(np.array_equal(unchanged[n], x) for n, x in drawn.items())  # what is drawn stays
    values = np.array(drawn[first])
    values[::2] = values[::2, :1]
    changed = task.restored({**drawn, first: values}, drawn, case)
    if name == "moe_ffn":
        ordered = -np.sort(-changed["logits"].astype(np.float64), axis=1)
        assert (ordered[:, 0] - ordered[:, 1] > 0.049).all() and (ordered[:, 1] - ordered[:, 2] > 0.049).all()
    else:
        x, words = (changed[n].astype(np.float64) for n in ("x", "codebook"))
        apart = np.sort(np.square(x[:, None] - words).sum(axis=-1), axis=1)
        assert (apart[:, 1] - apart[:, 0] > 0.2).all()
    far = {**drawn, first: np.full_like(drawn[first], 3e38)}
    assert np.array_equal(task.restored(far, drawn, case)[first], drawn[first])


@pytest.mark.slow
def test_packed_bytes_may_be_changed_and_no_family_reads_them_as_numbers() -> None:
    task = load_task("int4_gemm")
    families = InputFamilies(task)
    case = task.tests[1]
    drawn = task.draw(case)["w"]
    changed = {name for name in families.names if not np.array_equal(families.draw(case, name)["w"], drawn)}
    assert {"zeros of all inputs", "one value of all inputs", "low"} <= changed
    assert not {name for name in changed if name.startswith(("outliers", "far", "near", "denormal", "whole"))}


def test_a_baseline_of_squares_that_overflowed_says_nothing() -> None:
    task = load_task("layer_norm")
    case = replace(task.tests[0], role="held_out", seed=5)
    searched, inputs = SearchedInputs(InputFamilies(task), [], 7), dict(task.draw(case))
    assert searched.is_sound(case, "search 0", inputs, *task.expected(inputs, case))
    inputs["x"] = inputs["x"].copy()
    inputs["x"][0, ::3] = 1e30
    assert not searched.is_sound(case, "search 0", inputs, *task.expected(inputs, case))


def test_a_number_without_a_square_is_planted_and_sizes_nothing() -> None:
    task = load_task("decode_attention")
    searched = SearchedInputs(InputFamilies(task), [-1e30], 77)
    case = replace(task.tests[0], role="held_out", seed=5)
    for number in range(60):  # products of roots would all be as large
        for values in searched.draw(case, f"search {number}").values():
            assert np.median(np.abs(values.astype(np.float64))) < 1e12


def test_each_step_has_an_answer_for_packed_bytes() -> None:
    rng = np.random.default_rng(3)
    packed = rng.integers(0, 256, (5, 64)).astype(np.uint8)
    for step in STEPS:
        assert step(packed, 7.0, rng).dtype == packed.dtype


def test_changed_hold_no_negative_zero_and_drawn_ones_stay() -> None:
    """Values scaled until they are zero keep their signs, and who compares bits puts such zeros behind others."""
    task = load_task("top_k")
    case = task.tests[1]
    drawn = task.draw(case)
    vanished = {"x": (to_float64(drawn["x"]) * 1e-60).astype(np.float32)}
    assert np.signbit(vanished["x"]).any() and not np.signbit(task.restored(vanished, drawn, case)["x"]).any()
    assert task.restored(vanished, vanished, case)["x"] is vanished["x"]


@pytest.mark.parametrize("sign", [0.0, 1.0, -1.0])
def test_an_input_gets_one_sign_only_where_it_is_asked_for(sign: float) -> None:
    x = np.array([-2.0, -0.25, 0.0, 0.25, 2.0], np.float32)
    made = _sized(x, sign, lambda given, number, rng: given, 7.0, np.random.default_rng(0))
    assert np.array_equal(made, x if not sign else sign * np.abs(x))


def test_values_that_the_type_does_not_hold_stay_as_they_were() -> None:
    x = np.array([1.0, -3.0, 2.0], np.float16)
    made = _sized(x, 0.0, lambda given, number, rng: given * np.float16(number), 3e4, np.random.default_rng(0))
    assert made.tolist() == [float(np.float16(3e4)), -3.0, 6e4]

"""Baselines of shipped tasks: as inexact as the least exact of the usual orders, and references without cancelling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sandbox.cases.inputs.families import EXACT_UNITS, InputFamilies
from sandbox.cases.inputs.family_measures import ONE_WAY
from tasks.loader import load_task
from tasks.task import Array


def sums(terms: Array, count: int) -> Array:
    """Sums over the last axis by so many accumulators, which are added one after the other."""
    parts = [np.add.accumulate(terms[..., start::count], axis=-1, dtype=np.float32)[..., -1] for start in range(count)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return np.asarray(total)


@pytest.mark.parametrize("count", [1, 2])
def test_products_that_cancel_are_as_far_off_as_any_usual_order_leaves_them(count: int) -> None:
    task = load_task("batched_gemv")
    case = replace(task.tests[-1], role="held_out", seed=9)
    inputs = InputFamilies(task).draw(case, "cancelling")
    want = task.reference(inputs, case)["y"]
    mine = np.abs(sums(inputs["a"] * inputs["x"][:, None, :], count) - want)
    baseline_error = np.abs(task.baseline(inputs, case)["y"] - want)
    assert (baseline_error >= mine).all() and baseline_error.max() > 0


def test_rows_far_from_zero_are_as_far_off_as_any_usual_order_leaves_them() -> None:
    task = load_task("layer_norm")
    case = replace(task.tests[-1], role="held_out", seed=9)
    inputs = InputFamilies(task).draw(case, "far")
    x, w, b = inputs["x"], inputs["w"], inputs["b"]
    want = task.reference(inputs, case)["y"]
    baseline_error = np.abs(task.baseline(inputs, case)["y"] - want).max(axis=1)
    for count in (1, 2):
        centred = x - (sums(x, count) / np.float32(x.shape[1]))[:, None]
        variance = (sums(centred * centred, count) / np.float32(x.shape[1]))[:, None]
        normalised = centred / np.sqrt(variance + np.float32(1e-5)) * w + b
        assert (baseline_error >= np.abs(normalised - want).max(axis=1)).all()


def test_gelu_far_below_zero_has_digits_in_its_reference() -> None:
    task = load_task("bias_gelu")
    inputs = {"x": np.array([[-10.9938, 3.0, 800.0, -800.0]], np.float32), "bias": np.zeros(4, np.float32)}
    inputs["bias"][0] = 1.40238
    reference = task.reference(inputs, task.tests[0])["y"][0]
    assert reference[0] == pytest.approx(-9.7948e-34, rel=1e-3) and reference[1] == pytest.approx(2.99636, rel=1e-4)
    assert reference[2] == 800 and reference[3] == 0


def test_a_family_of_the_tasks_own_with_alike_lines_lets_roundings_go_one_way() -> None:
    task = load_task("row_softmax")
    families, (output,) = InputFamilies(task), task.outputs
    assert families.tolerance(output, "equal_rows").units == ONE_WAY
    assert families.tolerance(output, "spread").units == EXACT_UNITS


def sigmoid_gradients(inputs: dict[str, Array], ulps: int) -> Array:
    """`dw1` as plain loops add it, each sigmoid off by so many last places, as a reciprocal of the hardware may be."""
    h = 1 / (1 + np.exp(-sums(inputs["x"][:, None, :] * inputs["w1"], 1)))
    h = (h.view(np.int32) + np.int32(ulps)).view(np.float32)
    below = sums(inputs["dy"][:, None, :] * inputs["w2"].T, 1) * h * (1 - h)
    return sums(below.T[:, None, :] * inputs["x"].T, 1)


@pytest.mark.parametrize("family", ["", "closed"])
@pytest.mark.parametrize("ulps", [-1, 0, 1])
def test_gradients_are_as_far_off_as_loops_with_a_reciprocal_of_the_hardware_leave_them(ulps: int, family: str) -> None:
    """A library's product adds a large first term to few others; a sigmoid near one has a derivative of few bits."""
    task = load_task("mlp_backward")
    case = replace(task.tests[0], dims={"batch": 9, "inputs": 784, "hidden": 11, "outputs": 9}, role="held_out", seed=9)
    inputs = dict(InputFamilies(task).draw(case, family) if family else task.draw(case))
    if not family:
        inputs["w1"] = inputs["w1"] * np.float32(12 / np.abs(inputs["x"] @ inputs["w1"].T).max())
    want = task.reference(inputs, case)["dw1"]
    mine = np.abs(sigmoid_gradients(inputs, ulps) - want)
    baseline_error = np.abs(task.baseline(inputs, case)["dw1"] - want)
    assert np.sqrt(np.square(mine).mean()) <= 2 * np.sqrt(np.square(baseline_error).mean())

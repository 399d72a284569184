"""Sums in order: what they are, and the tolerance that families of inputs take from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sandbox.cases.inputs.families import InputFamilies
from tasks.compare import compare
from tasks.in_order import in_order
from tasks.loader import load_task
from tasks.task import Array, Case, Task, Tensors

NAIVE = Path(__file__).resolve().parents[3] / "benchmarks" / "kernels" / "own" / "layer_norm"
CASE = Case("", {}, 0)


def added(values: Array) -> np.float32:
    """A loop's sum."""
    total = np.float32(0)
    for value in values:
        total += value
    return total


@pytest.mark.parametrize(
    "total",
    [
        lambda x: x.sum(),
        lambda x: np.sum(x),
        lambda x: x.mean() * x.size,
        lambda x: np.add.reduce(x, axis=None),
        lambda x: np.sum(x.reshape(40, -1), axis=(0, 1)),
        lambda x: (x.reshape(1, -1) + np.zeros((2, 1), np.float32)).sum(axis=1, keepdims=True)[0, 0],
        lambda x: x.astype(np.float64).astype(np.float32).sum(dtype=np.float32),
    ],
)
def test_sums_and_means_of_a_function_are_those_of_a_loop(total: object) -> None:
    x = np.random.default_rng(5).uniform(1, 2, 4000).astype(np.float32)
    got = in_order(lambda inputs, _: {"y": np.asarray(total(inputs["x"]))})({"x": x}, CASE)["y"]  # type: ignore[operator]
    assert type(got) is np.ndarray
    assert got == pytest.approx(added(x), rel=2e-7) and abs(float(x.sum()) - float(got)) > 1e-4


def test_what_is_no_sum_is_as_it_was() -> None:
    x = np.random.default_rng(5).standard_normal((30, 7)).astype(np.float32)

    def several(inputs: Tensors, _: Case) -> dict[str, Array]:
        a = inputs["x"]
        whole = np.arange(6).sum() + np.add.reduce(np.ones(3, int))
        return {
            "product": a @ a.T,
            "top": a.max(axis=1),
            "chosen": a.argmax(axis=0),
            "some": np.add.reduce(a, where=a > 0),
            "parts": np.add(*np.divmod(np.abs(a), np.float32(0.3))),
            "whole": np.asarray(whole),
            "into": np.exp(a, out=np.empty_like(a)),
        }

    got, want = in_order(several)({"x": x}, CASE), several({"x": x}, CASE)
    assert all(np.array_equal(got[name], want[name]) and type(got[name]) is np.ndarray for name in want)


def normalised(inputs: Tensors) -> Array:
    """Layer normalisation by a loop over each row."""
    made = np.empty_like(inputs["x"])
    for row, x in enumerate(inputs["x"]):
        centred = x - added(x) / np.float32(len(x))
        made[row] = centred / np.sqrt(added(centred * centred) / np.float32(len(x)) + np.float32(1e-5))
    return np.asarray(made * inputs["w"] + inputs["b"])


def verdicts(task: Task, family: str, draws: int) -> list[bool]:
    """The loop's outputs for so many draws of a family, compared as the judge does."""
    families, spec, found = InputFamilies(task), task.outputs[0], []
    listed = max(task.tests, key=lambda case: case.dims["cols"])
    for seed in range(draws):
        case = replace(listed, dims={"rows": 2, "cols": 4096}, seed=seed, role="held_out")
        inputs = families.draw(case, family)
        want, base = task.expected(inputs, case)
        made = normalised(inputs)
        found.append(compare(made, want["y"], base["y"], families.tolerance(spec, family)).correct)
        made[0, 0] = np.nan
        assert not compare(made, want["y"], base["y"], families.tolerance(spec, family)).correct
    return found


def test_a_loop_whose_mean_misses_equal_values_is_right_and_without_sums_in_order_it_would_not_be() -> None:
    task = load_task(NAIVE, "mi300x")
    assert all(verdicts(task, "one value", 12))
    assert not all(verdicts(replace(task, in_order=None), "one value", 12))


@pytest.mark.slow
def test_where_sums_in_order_add_rounding_only_nothing_more_is_allowed() -> None:
    for name in ("row_softmax", "reduction", "bf16_gemm", "rms_norm"):
        task = load_task(name, "mi300x")
        with_it, without = InputFamilies(task), InputFamilies(replace(task, in_order=None))
        for family in ("one value", "equal rows", "sorted"):
            assert with_it.tolerance(task.outputs[0], family) == without.tolerance(task.outputs[0], family)

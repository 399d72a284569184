"""The check of a task's own, and the inputs on which it counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sandbox.gpu.references import References
from tasks.linter import lint
from tasks.loader import load_task
from tasks.own_check import own_check, refusal
from tasks.task import Array, Case, Task, Tensors


@pytest.fixture(scope="module")
def task() -> Task:
    """Linear equations, of which a check looks at the residual, with a bound that zeros do not keep."""
    return replace(load_task(Path(__file__).parents[2] / "kernels" / "exploits" / "tasks" / "solve"), check=strictly)


def strictly(inputs: Tensors, outputs: Tensors, case: Case) -> tuple[bool, str]:
    x, b = outputs["x"].astype(np.float64), inputs["b"].astype(np.float64)
    padded = np.concatenate([[0], x, [0]])
    residual = np.abs(b - 2.1 * x + padded[:-2] + padded[2:]).max()
    return bool(residual < 1e-4 * np.abs(b).max()), f"the residual is {residual:.3g}"


def answers(task: Task, b: Array) -> tuple[Case, Tensors, dict[str, Array]]:
    case = task.tests[0]
    inputs = {"b": b.astype(np.float32)}
    return case, inputs, task.baseline(inputs, case)


def test_it_counts_where_the_baseline_passes_it(task: Task) -> None:
    case, inputs, baseline = answers(task, np.linspace(1, 2, 60))
    assert own_check(task, inputs, baseline, baseline, case) == ""
    off = {"x": baseline["x"] + np.float32(0.1) * (np.arange(60) % 2).astype(np.float32)}
    assert own_check(task, inputs, off, baseline, case).startswith("the residual is 0.")


def test_it_does_not_count_where_no_outputs_would_pass_it(task: Task) -> None:
    case, inputs, baseline = answers(task, np.zeros(60))
    assert refusal(task, inputs, baseline, case) == "the residual is 0"
    assert own_check(task, inputs, baseline, baseline, case) == ""


def test_one_that_fails_on_a_candidates_outputs_alone_refuses_them(task: Task) -> None:
    def fragile(inputs: Tensors, outputs: Tensors, case: Case) -> tuple[bool, str]:
        return 1 // int(outputs["x"][0]) >= 0, ""

    fails = replace(task, check=fragile)
    case, inputs, baseline = answers(task, np.full(60, 5.0))
    zero = {"x": np.zeros(60, np.float32)}
    assert "ZeroDivisionError" in own_check(fails, inputs, zero, baseline, case)
    assert own_check(fails, inputs, zero, zero, case) == ""


def test_a_task_whose_baseline_does_not_pass_it_is_refused(task: Task) -> None:
    never = replace(task, check=lambda inputs, outputs, case: (False, "too far off"))
    assert lint(task) == ()
    assert "the baseline does not pass check for the case n=60: too far off" in lint(never)


def test_a_gpus_judge_asks_it_on_the_same_inputs(task: Task) -> None:
    lenient = replace(task, tolerance=replace(task.tolerance, ratio=1e12))
    case, off, references = task.tests[0], {"x": np.zeros(60, np.float32)}, References(lenient, 7)
    drawn = references.verified(case, None)
    assert [finding.message[:16] for finding in references.grade(case, drawn, off).findings] == ["the residual is "]
    references.close()
    fragile = References(replace(lenient, check=lambda inputs, outputs, case: (False, "never")), 7)
    assert fragile.grade(case, fragile.verified(case, None), off).findings == ()
    fragile.close()

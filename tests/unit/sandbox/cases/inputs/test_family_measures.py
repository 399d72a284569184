from __future__ import annotations

import numpy as np
import pytest

from sandbox.cases.inputs.changed import MAKERS
from sandbox.cases.inputs.family_measures import FamilyMeasures, longest_line, small_cases
from tasks.loader import load_task


@pytest.mark.parametrize(("name", "moves"), [("transpose", True), ("row_softmax", False), ("top_k", True)])
def test_a_task_that_only_moves_values_is_known(name: str, moves: bool) -> None:
    assert FamilyMeasures(load_task(name)).moves_values() is moves


def test_families_are_tried_on_few_small_cases_with_lines() -> None:
    task = load_task("row_softmax")
    cases = small_cases(task)
    assert 1 <= len(cases) <= 2 and all(longest_line(task, case) > 1 for case in cases)


def test_sums_in_order_stray_where_values_are_alike_and_not_where_they_differ() -> None:
    task = load_task("layer_norm")
    measures = FamilyMeasures(task)
    name = task.plant[0]

    def alike(inputs: dict[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {**inputs, name: MAKERS["one value"](inputs[name], rng)}

    assert measures.strays(alike)["y"] > 0 == measures.strays(lambda inputs, rng: inputs)["y"]  # type: ignore[arg-type]


def test_units_are_of_the_size_of_the_outputs() -> None:
    units = FamilyMeasures(load_task("row_softmax")).units()
    assert 0 < units["y"] < 1e-5

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sandbox.lab import listed_values
from sandbox.lab.listed_values import ListedValues
from tasks.loader import load_task
from tasks.task import Array, Case, Tensors


def test_a_case_is_drawn_once_and_its_seed_and_its_family_of_inputs_tell_it_from_others() -> None:
    task = load_task("row_softmax")
    listed, case = ListedValues(task), task.tests[0]
    values = listed.of(case)
    assert listed.of(replace(case, name="another name")) is values
    other_values = [listed.of(replace(case, seed=case.seed + 1)), listed.of(case, "peaks")]
    assert all((other.inputs["x"] != values.inputs["x"]).any() for other in other_values)
    np.testing.assert_array_equal(values.inputs["x"], task.draw(case)["x"])
    np.testing.assert_array_equal(values.reference["y"], task.reference(task.draw(case), case)["y"])
    np.testing.assert_array_equal(values.baseline["y"], task.baseline(task.draw(case), case)["y"])


def test_a_reference_that_writes_to_its_inputs_changes_them_for_nobody() -> None:
    task = load_task("row_softmax")

    def careless(inputs: Tensors, case: Case) -> dict[str, Array]:
        outputs = task.reference(inputs, case)
        inputs["x"][:] = 0
        return outputs

    values = ListedValues(replace(task, reference=careless)).of(task.tests[0])
    before = values.inputs["x"]
    assert values.reference["y"].any()
    np.testing.assert_array_equal(values.inputs["x"], before)


def test_the_oldest_values_make_room() -> None:
    task = load_task("row_softmax")
    values = ListedValues(task)
    wide = [Case(f"{n}", {"rows": 1 << 10, "cols": 1 << 12}, n) for n in range(4)]  # 84 MB each, with its reference
    first = values.of(wide[0])
    assert first.nbytes * len(wide) > listed_values.MOST_BYTES
    for case in wide[1:]:
        values.of(case)
    assert values.of(wide[-1]) is values.of(wide[-1]) and values.of(wide[0]) is not first

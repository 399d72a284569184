"""Inputs a power of two larger or smaller, where the outputs then are so too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tasks.compare import compare
from tasks.families import InputFamilies
from tasks.loader import load_task

SCALED = {
    "reduction": {"x scaled down": {"y": 1}, "x scaled up": {"y": 1}},
    "mlp_backward": {
        "dy scaled down": {"dw1": 1, "dw2": 1},
        "w2 scaled down": {"dw1": 1, "dw2": 0},
        "dy scaled up": {"dw1": 1, "dw2": 1},
    },
    "row_softmax": {},  # an exponential
    "bias_gelu": {},
    "transpose": {},  # moves values, which other families do better
    "histogram": {},
}


@pytest.mark.parametrize("name", SCALED)
def test_inputs_are_scaled_where_the_outputs_scale_with_them(name: str) -> None:
    families = InputFamilies(load_task(name))
    assert {family: dict(one.degrees) for family, one in families.scalings.items()} == SCALED[name]
    assert set(SCALED[name]) == {family for family in families.names if "scaled " in family}


@pytest.mark.parametrize("family", ["x scaled down", "x scaled up"])
def test_the_tolerance_has_the_size_of_the_outputs(family: str) -> None:
    """What is right passes, and an error as large for its output as one that fails on usual inputs fails."""
    task = load_task("int4_gemm")
    families, case, spec = InputFamilies(task), task.tests[0], task.outputs[0]
    inputs = families.draw(replace(case, role="held_out"), family)
    usual = np.abs(task.draw(case)["x"].astype(np.float64)).max()
    factor = np.abs(inputs["x"].astype(np.float64)).max() / usual
    assert factor == 2.0 ** (40 if family.endswith("up") else -40)
    want, base = task.reference(inputs, case)[spec.name], task.baseline(inputs, case)[spec.name]
    tolerance = families.tolerance(spec, family)
    assert compare(base, want, base, tolerance).correct
    assert not compare((base.astype(np.float64) * 1.1).astype(base.dtype), want, base, tolerance).correct
    assert not compare(np.zeros_like(base), want, base, tolerance).correct

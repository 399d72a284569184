"""The held-out families that GPUs have timed: kernels that compute what their references say, compiled together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.held_out import TAPS, held_out, together_with
from benchmarks.on_gpu import all_variants, placed
from benchmarks.variants import Family, families
from sandbox.lab.lab import Buffer, ExecutionRequest, LabProgram
from tests.support.lab_bench import lab

SMALL: Mapping[str, Mapping[str, int]] = {
    "column_sum": {"rows": 256, "cols": 1024},
    "add_norm": {"rows": 4, "cols": 2048},
    "convolution": {"n": 4096, "span": 4096 + TAPS - 1, "taps": TAPS},
    "small_softmax": {"rows": 1024, "cols": 64},
}


@pytest.mark.parametrize(
    "family", [pytest.param(f, id=f.name, marks=[pytest.mark.long] if n else []) for n, f in enumerate(held_out())]
)
def test_every_fifth_variant_computes_the_reference(family: Family) -> None:
    for specimen in (replace(s, dims=SMALL[family.name]) for s in family.variants[::5]):
        inputs = specimen.inputs()
        program = lab().build(specimen.candidate, specimen.chosen)
        assert isinstance(program, LabProgram), specimen.name
        buffers = [
            Buffer(t.name, inputs[t.name], "input")
            if t.fill
            else Buffer(t.name, np.empty(specimen.shape(t), t.dtype), "output")
            for t in specimen.tensors
        ]
        done = lab().execute(ExecutionRequest(program, specimen.plan, buffers, deadline_s=60.0))
        assert done.findings == (), specimen.name
        expected = family.reference(inputs)
        error = np.abs(done.outputs[specimen.outputs()[0].name] - expected) / (1.0 + np.abs(expected))
        assert float(error.max()) <= family.tolerance, specimen.name


def test_every_family_is_found_among_those_it_is_compiled_with() -> None:
    for group in (families(), held_out()):
        every = all_variants(group)
        for family in group:
            assert [f.name for f in together_with(family.name)] == [f.name for f in group]
            _, same, first = placed(family.name)
            assert same.name == family.name and every[first].name == family.variants[0].name
    assert together_with("nothing") == []


def test_names_are_unique_and_each_family_has_a_dozen_variants() -> None:
    names = [s.name for f in [*families(), *held_out()] for s in f.variants]
    assert len(set(names)) == len(names)
    assert all(len(f.variants) >= 12 for f in held_out())

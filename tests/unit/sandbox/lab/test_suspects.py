"""A value from a lane that does not take part: no fault where nobody uses it, and named where a result is wrong."""

from __future__ import annotations

import numpy as np

from records.evaluation import Finding
from sandbox.lab.suspects import Suspects
from tests.support.lab_bench import execute, floats, launch, marked_line

REDUCTION = """
__global__ void k(const float* x, float* y) {
    float v = x[threadIdx.x];
    if (threadIdx.x < 16) {
        for (int step = 8; step > 0; step /= 2) v += __shfl_down(v, step); // here
        if (threadIdx.x < LAST) y[threadIdx.x] = v;
    }
}"""


def test_lanes_whose_values_nobody_uses_may_read_beyond_those_that_are_there() -> None:
    x = floats(64)
    source = REDUCTION.replace("LAST", "1")
    done = execute(source, [launch("k", ["x", "y"])], {"x": x}, {"y": np.zeros(1, np.float32)})
    assert done.findings == () and np.allclose(done.outputs["y"], x[:16].sum())
    assert [(one.kind, one.line) for one in done.suspects] == [("divergent_collective", marked_line(source))]


def test_such_a_value_is_another_in_each_execution() -> None:
    source = REDUCTION.replace("LAST", "16")
    one, other = (
        execute(source, [launch("k", ["x", "y"])], {"x": floats(64)}, {"y": np.zeros(16, np.float32)}).outputs["y"]
        for _ in range(2)
    )
    assert one[0] == other[0] and not np.array_equal(one[8:], other[8:], equal_nan=False)


def test_what_was_suspected_stands_before_a_wrong_result_and_behind_other_faults() -> None:
    suspect, wrong, bounds = (
        Finding(kind, "said") for kind in ("divergent_collective", "wrong_result", "out_of_bounds")
    )
    known, program = Suspects(), "program"
    assert known.beside(program, [wrong]) == (wrong,)
    assert known.noted(program, (suspect,)) == (suspect,) and known.noted(program, ()) == ()
    assert [f.kind for f in known.beside(program, [wrong])] == ["divergent_collective", "wrong_result"]
    assert [f.kind for f in known.beside(program, [bounds])] == ["out_of_bounds", "divergent_collective"]
    assert known.beside(program, ()) == ()

"""Every sparse matrix instruction against AMD's layouts: compressed A, index sets, lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sandbox.lab.lab import Execution
from tests.support.lab_bench import execute, launch
from tests.support.matrix_layouts import from_lanes, in_lanes, kernel, operand, oracle, product
from tests.support.sparse_layouts import SETS, SPARSE, compressed, index, index_bits, kept

CASES = [(n, *case) for n in SPARSE for case in SETS[index_bits(n)]]


def run(cases: list[tuple[str, int, int, int]], *, count: bool = False, exact: bool = False) -> Execution:
    """One launch for each case."""
    source = "".join(kernel(i, n, f"{cbsz}, {abid}") for i, (n, cbsz, abid, _) in enumerate(cases))
    inputs: dict[str, npt.NDArray[Any]] = {}
    for i, (n, _, _, number) in enumerate(cases):
        inputs |= {
            f"A of {n}": compressed(n, operand(n, "A")),
            f"B of {n}": in_lanes(n, "B", operand(n, "B")),
            f"C of {n}": in_lanes(n, "C", operand(n, "C")),
            f"x{i}": index(n, number),
        }
    outputs = {f"d{i}": np.zeros_like(inputs[f"C of {n}"]) for i, (n, *_) in enumerate(cases)}
    launches = [
        launch(f"k{i}", [f"A of {n}", f"B of {n}", f"C of {n}", f"x{i}", f"d{i}"]) for i, (n, *_) in enumerate(cases)
    ]
    return execute(source, launches, inputs, outputs, count=count, exact=exact)


@pytest.fixture(scope="module", params=[False, True], ids=["fast", "exact"])
def execution(request: pytest.FixtureRequest) -> Execution:
    return run(CASES, exact=request.param)


@pytest.fixture(scope="module")
def counted() -> Execution:
    return run([(n, 0, 0, 0) for n in SPARSE], count=True)


@pytest.mark.parametrize("name", SPARSE)
def test_layout_index_and_product(execution: Execution, name: str) -> None:
    assert execution.findings == ()
    expected = operand(name, "C") + product(kept(name, operand(name, "A")), operand(name, "B"))
    for number, (n, cbsz, abid, _) in enumerate(CASES):
        if n == name:
            assert np.array_equal(from_lanes(name, execution.outputs[f"d{number}"]), expected), (cbsz, abid)


@pytest.mark.parametrize("name", SPARSE)
def test_clocks_and_operations(counted: Execution, name: str) -> None:
    counters = counted.launches[SPARSE.index(name)].counters
    assert counters["SQ_VALU_MFMA_BUSY_CYCLES"] == oracle()[name]["cycles"]
    assert sum(v for k, v in counters.items() if "_MOPS_" in k) * 512 == oracle()[name]["ops"]


def test_what_the_index_leaves_out_does_not_count_even_if_it_is_not_a_number() -> None:
    source = """
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef float f4 __attribute__((ext_vector_type(4)));
__global__ void k(float* y) {
    h4 a = {1, 2, 3, 4};
    h8 b = {1, 1, (_Float16)__builtin_nanf(""), (_Float16)__builtin_inff(), 1, 1, (_Float16)__builtin_nanf(""), 1};
    f4 d = __builtin_amdgcn_smfmac_f32_16x16x32_f16(a, b, f4{}, 0x44, 0, 0);
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}"""
    for exact in (False, True):
        execution = execute(source, [launch("k", ["y"])], {}, {"y": np.zeros(256, np.float32)}, exact=exact)
        assert (execution.outputs["y"] == 40).all()

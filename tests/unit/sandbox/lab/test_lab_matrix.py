"""Every dense matrix instruction against the layouts that AMD's own calculator prints, lane by lane."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sandbox.lab.lab import Execution
from tests.support.few import few
from tests.support.lab_bench import HEAD, execute, launch
from tests.support.matrix_layouts import from_lanes, in_lanes, kernel, names, operand, oracle, positions, product

DENSE = names("mfma")
BLOCKS = [n for n in DENSE if oracle()[n]["blocks"] > 1 and "f64" not in n]  # take CBSZ and ABID
LANES = [*BLOCKS, "v_mfma_f32_32x32x2_f32", "v_mfma_f32_16x16x4_f32"]  # take BLGP
BROADCASTS = [
    (n, cbsz, abid)
    for n in BLOCKS
    for cbsz in range(oracle()[n]["blocks"].bit_length())
    for abid in {0, 1, (1 << cbsz) - 1}
    if abid < 1 << cbsz
]


def run(cases: list[tuple[str, str]], *, count: bool = False, exact: bool = False) -> Execution:
    """One launch for each (instruction, modifiers) with the operands of the instruction."""
    source = "".join(kernel(i, n, m) for i, (n, m) in enumerate(cases))
    inputs = {f"{matrix} of {n}": in_lanes(n, matrix, operand(n, matrix)) for n, _ in cases for matrix in "ABC"}
    outputs = {f"d{i}": np.zeros_like(inputs[f"C of {n}"]) for i, (n, _) in enumerate(cases)}
    launches = [launch(f"k{i}", [*(f"{matrix} of {n}" for matrix in "ABC"), f"d{i}"]) for i, (n, _) in enumerate(cases)]
    return execute(source, launches, inputs, outputs, count=count, exact=exact)


@pytest.fixture(scope="module", params=[False, True], ids=["fast", "exact"])
def dense(request: pytest.FixtureRequest) -> Execution:
    return run([(n, "0, 0, 0") for n in DENSE], exact=request.param)


@pytest.fixture(scope="module")
def counted() -> Execution:
    return run([(n, "0, 0, 0") for n in DENSE], count=True)


@pytest.fixture(scope="module")
def broadcast() -> Execution:
    return run([(n, f"{cbsz}, {abid}, 0") for n, cbsz, abid in BROADCASTS])


@pytest.fixture(scope="module")
def moved() -> Execution:
    return run([(n, f"0, 0, {blgp}") for n in LANES for blgp in range(8)])


def test_there_are_32_dense_and_14_sparse_instructions_and_their_operands_are_distinct() -> None:
    assert (len(DENSE), len(names("smfmac"))) == (32, 14)
    a = operand("v_mfma_f32_32x32x8_f16", "A")
    assert np.unique(a).size == a.size


@pytest.mark.parametrize("name", DENSE)
def test_layout_and_product(dense: Execution, name: str) -> None:
    assert dense.findings == ()
    expected = operand(name, "C") + product(operand(name, "A"), operand(name, "B"))
    assert np.array_equal(from_lanes(name, dense.outputs[f"d{DENSE.index(name)}"]), expected)


@pytest.mark.parametrize("name", DENSE)
def test_clocks_and_operations(counted: Execution, name: str) -> None:
    counters = counted.launches[DENSE.index(name)].counters
    assert counters["SQ_INSTS_MFMA"] == 1
    assert counters["SQ_VALU_MFMA_BUSY_CYCLES"] == oracle()[name]["cycles"]
    mops = sum(v for k, v in counters.items() if "_MOPS_" in k)
    assert mops * 512 == oracle()[name]["ops"]


@pytest.mark.parametrize("name", BLOCKS)
def test_one_block_of_a_serves_a_group_of_blocks(broadcast: Execution, name: str) -> None:
    swept = [(i, cbsz, abid) for i, (n, cbsz, abid) in enumerate(BROADCASTS) if n == name]
    assert len(swept) >= 3
    for number, cbsz, abid in swept:
        source = [(b >> cbsz << cbsz) + abid for b in range(oracle()[name]["blocks"])]
        expected = operand(name, "C") + product(operand(name, "A")[source], operand(name, "B"))
        assert np.array_equal(from_lanes(name, broadcast.outputs[f"d{number}"]), expected), (cbsz, abid)


def moved_b(name: str, blgp: int) -> npt.NDArray[Any]:
    """B as it counts when the lanes' registers are broadcast or rotated."""
    lane = np.arange(64)
    source = {0: lane, 1: lane % 32, 2: 32 + lane % 32, 3: (lane + 16) % 64}.get(blgp, 16 * (blgp - 4) + lane % 16)
    slots, b = positions(name, "B"), operand(name, "B")
    result = np.zeros_like(b)
    result[slots[..., 2], slots[..., 0], slots[..., 1]] = b[
        slots[source][..., 2], slots[source][..., 0], slots[source][..., 1]
    ]
    return result


@pytest.mark.parametrize("name", LANES)
def test_lanes_of_b_are_broadcast_or_rotated(moved: Execution, name: str) -> None:
    for blgp in range(8):
        expected = operand(name, "C") + product(operand(name, "A"), moved_b(name, blgp))
        actual = from_lanes(name, moved.outputs[f"d{LANES.index(name) * 8 + blgp}"])
        assert np.array_equal(actual, expected), blgp


@pytest.mark.parametrize("name", [n for n in DENSE if "f64" in n])
def test_double_precision_negates_by_the_same_bits(name: str) -> None:
    execution = run([(name, f"0, 0, {bits}") for bits in range(8)])
    for bits in range(8):
        sign = [-1 if bits >> i & 1 else 1 for i in range(3)]
        expected = sign[2] * operand(name, "C") + sign[0] * sign[1] * product(operand(name, "A"), operand(name, "B"))
        assert np.array_equal(from_lanes(name, execution.outputs[f"d{bits}"]), expected), bits


@pytest.mark.parametrize("modifiers", ["0, 0, 1", "1, 0, 0", "0, 1, 0"])
@pytest.mark.parametrize("name", few([n for n in DENSE if n not in LANES and "f64" not in n], 3))
def test_a_modifier_that_an_instruction_does_not_have_is_refused(name: str, modifiers: str) -> None:
    """The compiler takes it; what the hardware makes of it is nowhere written."""
    execution = run([(name, modifiers)])
    text = (HEAD + kernel(0, name, modifiers)).split("\n")
    line = next(number for number, row in enumerate(text, 1) if modifiers in row)
    assert [(f.kind, f.line) for f in execution.findings] == [("over_limit", line)]
    assert "modifiers" in execution.findings[0].message


def test_a_matrix_instruction_that_half_the_wave_reaches_is_a_finding() -> None:
    execution = execute(
        """
typedef float v4 __attribute__((ext_vector_type(4)));
__global__ void k(const float* x, v4* y) {
    v4 c = {};
    if (threadIdx.x < 32)
        c = __builtin_amdgcn_mfma_f32_16x16x4f32(x[threadIdx.x], x[threadIdx.x], c, 0, 0, 0);
    y[threadIdx.x] = c;
}""",
        [launch("k", ["x", "y"])],
        {"x": np.ones(64, np.float32)},
        {"y": np.zeros(256, np.float32)},
    )
    assert [(f.kind, f.line) for f in execution.findings] == [("divergent_collective", 7)]
    assert "32 of 64" in execution.findings[0].message

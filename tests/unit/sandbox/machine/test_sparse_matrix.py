"""Every sparse matrix instruction against AMD's layouts: compressed A, index sets, values."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.matrix_layouts import from_lanes, in_lanes, operand, oracle, product, result_type
from tests.support.matrix_steps import A_AT, B_AT, C_AT, INDEX_AT, Registers, Step, dwords, processors, run
from tests.support.sparse_layouts import SETS, SPARSE, chosen, compressed, index, index_bits, kept

ILLEGAL = 9


def loaded(name: str, number: int, a: npt.NDArray[Any] | None = None) -> Registers:
    """Registers that hold the operands, the index in this set."""
    registers = Registers()
    registers.put(A_AT, compressed(name, operand(name, "A") if a is None else a))
    registers.put(B_AT, in_lanes(name, "B", operand(name, "B")))
    registers.put(C_AT, in_lanes(name, "C", operand(name, "C")))
    registers.values[INDEX_AT] = index(name, number)
    return registers


@pytest.mark.parametrize("architecture", processors())
@pytest.mark.parametrize("is_exact", [False, True], ids=["fast", "exact"])
def test_layout_and_product(is_exact: bool, architecture: str) -> None:
    cases = [(n, *case) for n in SPARSE for case in SETS[index_bits(n)]]
    steps = [Step(n, loaded(n, number), cbsz=cbsz, abid=abid, is_exact=is_exact) for n, cbsz, abid, number in cases]
    assert len({n for n, *_ in cases}) == 14
    for step, after in zip(steps, run(steps, architecture), strict=True):
        right = operand(step.name, "C") + product(kept(step.name, operand(step.name, "A")), operand(step.name, "B"))
        actual = from_lanes(step.name, after.get(C_AT, dwords(step.name)[2]))
        assert after.findings[0] == 0
        assert np.array_equal(actual, right), (step.name, step.cbsz, step.abid)


@pytest.mark.parametrize("architecture", processors())
def test_the_default_sums_bit_for_bit(architecture: str) -> None:
    """In the order in which A holds its elements, each product and sum rounded to f32."""
    floats = [n for n in SPARSE if result_type(n) is np.float32]
    rng = np.random.default_rng(1)
    values = {}
    for name in floats:
        a = operand(name, "A").astype(np.float32) * np.float32(2.0) ** rng.integers(-6, 3, operand(name, "A").shape)
        values[name] = np.clip(a, -200, 200).astype(operand(name, "A").dtype)
    after = run([Step(n, loaded(n, 0, values[n])) for n in floats], architecture)
    for name, registers in zip(floats, after, strict=True):
        a, b = values[name].astype(np.float32)[0], operand(name, "B").astype(np.float32)[0]
        total = np.zeros((len(a), len(a)), np.float32)
        for group, half in itertools.product(range(a.shape[1] // 4), range(2)):
            k = 4 * group + chosen(name)[:, group, half]
            total += np.take_along_axis(a, k[:, None], axis=1) * b[k]
        right = operand(name, "C")[0] + total
        assert np.array_equal(from_lanes(name, registers.get(C_AT, dwords(name)[2]))[0], right), name


def test_both_stored_elements_may_name_the_same_place() -> None:
    for name in SPARSE:
        registers = loaded(name, 0)
        registers.values[INDEX_AT] = 0xFFFFFFFF  # all of them the last of four
        (after,) = run([Step(name, registers)])
        stored = kept(name, operand(name, "A"))[0].astype(np.float64).reshape(oracle()[name]["m"], -1, 4).sum(axis=2)
        right = operand(name, "C")[0] + stored @ operand(name, "B")[0, 3::4].astype(np.float64)
        assert np.array_equal(from_lanes(name, after.get(C_AT, dwords(name)[2]))[0], right), name


def test_lanes_of_b_cannot_be_moved() -> None:
    steps = [Step(n, loaded(n, 0), blgp=1) for n in SPARSE]
    assert {after.findings[:2] for after in run(steps)} == {(1, ILLEGAL)}

"""Every matrix instruction against the layouts that AMD's calculator prints: places, products, modifiers, values."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sandbox.machine.instruction_set import instruction_table
from tests.support.matrix_layouts import (
    NUMPY,
    from_lanes,
    in_lanes,
    names,
    operand,
    oracle,
    positions,
    product,
    result_type,
    types_of,
)
from tests.support.matrix_steps import A_AT, ALL, B_AT, C_AT, D_AT, Registers, Step, dwords, listed, processors, run

DENSE = names("mfma")
DOUBLES = [n for n in DENSE if "f64" in n]
BLOCKS = [n for n in DENSE if oracle()[n]["blocks"] > 1 and n not in DOUBLES]  # take CBSZ and ABID
LANES = [*BLOCKS, "v_mfma_f32_32x32x2_f32", "v_mfma_f32_16x16x4_f32"]  # take BLGP
FUSED = ("f32", "f64")  # types whose sums are chains of fused multiply-adds
ILLEGAL, DIVERGENT_COLLECTIVE = 9, 3  # FindingKind
Matrix = npt.NDArray[Any]


def loaded(name: str, a: Matrix, b: Matrix, c: Matrix) -> Registers:
    """Registers that hold A [block, i, k], B [block, k, j] and C [block, i, j]."""
    registers = Registers()
    for register, matrix, values in ((A_AT, "A", a), (B_AT, "B", b), (C_AT, "C", c)):
        registers.put(register, in_lanes(name, matrix, values))
    return registers


def loaded_operands(name: str) -> Registers:
    return loaded(name, *(operand(name, m) for m in "ABC"))


def result(name: str, registers: Registers, register: int = C_AT) -> Matrix:
    return from_lanes(name, registers.get(register, dwords(name)[2]))


def expected(name: str) -> Matrix:
    return np.asarray(operand(name, "C") + product(operand(name, "A"), operand(name, "B")))


def element(name: str, matrix: str) -> Any:
    return result_type(name) if matrix == "C" else NUMPY[types_of(name)[matrix == "B"]]


def test_all_46_are_there() -> None:
    assert sorted(listed()) == sorted(n.removeprefix("v_") for n in DENSE + names("smfmac"))


@pytest.mark.parametrize("architecture", processors())
@pytest.mark.parametrize("is_exact", [False, True], ids=["fast", "exact"])
def test_layout_and_product(is_exact: bool, architecture: str) -> None:
    for base in (0, 256):  # v and a registers
        steps = [Step(n, loaded_operands(n), d=d, is_exact=is_exact, base=base) for n in DENSE for d in (C_AT, D_AT)]
        for step, after in zip(steps, run(steps, architecture), strict=True):
            assert after.findings[0] == 0
            assert np.array_equal(result(step.name, after, step.d), expected(step.name)), step.name


@pytest.mark.parametrize("name", BLOCKS)
def test_one_block_of_a_serves_a_group_of_blocks(name: str) -> None:
    blocks = oracle()[name]["blocks"]
    steps = [
        Step(name, loaded_operands(name), cbsz=cbsz, abid=abid)
        for cbsz in range(blocks.bit_length())
        for abid in range(1 << cbsz)
    ]
    for step, after in zip(steps, run(steps), strict=True):
        source = [(b >> step.cbsz << step.cbsz) + step.abid for b in range(blocks)]
        right = operand(name, "C") + product(operand(name, "A")[source], operand(name, "B"))
        assert np.array_equal(result(name, after), right), (step.cbsz, step.abid)


@pytest.mark.parametrize("name", LANES)
def test_lanes_of_b_are_broadcast_or_rotated(name: str) -> None:
    lane, slots, b = np.arange(64), positions(name, "B"), operand(name, "B")
    moved = {0: lane, 1: lane % 32, 2: 32 + lane % 32, 3: (lane + 16) % 64}
    moved |= {4 + quarter: 16 * quarter + lane % 16 for quarter in range(4)}
    after = run([Step(name, loaded_operands(name), blgp=blgp) for blgp in range(8)])
    for blgp, source in moved.items():
        permuted = np.zeros_like(b)
        permuted[slots[..., 2], slots[..., 0], slots[..., 1]] = b[
            slots[source][..., 2], slots[source][..., 0], slots[source][..., 1]
        ]
        right = operand(name, "C") + product(operand(name, "A"), permuted)
        assert np.array_equal(result(name, after[blgp]), right), blgp


@pytest.mark.parametrize("name", DOUBLES)
def test_double_precision_negates(name: str) -> None:
    by_blgp = [Step(name, loaded_operands(name), blgp=bits) for bits in range(8)]
    by_sources = [
        Step(name, loaded_operands(name), negated=(bits % 2 > 0, bits & 2 > 0, bits & 4 > 0)) for bits in range(8)
    ]
    for bits, after in enumerate(run([*by_blgp, *by_sources])):
        sign = [-1 if bits >> i & 1 else 1 for i in range(3)]
        right = sign[2] * operand(name, "C") + sign[0] * sign[1] * product(operand(name, "A"), operand(name, "B"))
        assert np.array_equal(result(name, after), right), bits


@pytest.mark.parametrize("value", [0, 1, -4])
def test_c_is_a_constant(value: int) -> None:
    steps = [Step(n, loaded_operands(n), d=D_AT, constant=str(value) if "i32" in n else f"{value}.0") for n in DENSE]
    for step, after in zip(steps, run(steps), strict=True):
        right = value + product(operand(step.name, "A"), operand(step.name, "B"))
        assert np.array_equal(result(step.name, after, D_AT), right), step.name


def test_c_and_d_overlap() -> None:
    steps = [Step(n, loaded_operands(n), d=C_AT + (1 if "f64" not in n else 2)) for n in DENSE]
    for step, after in zip(steps, run(steps), strict=True):
        assert np.array_equal(result(step.name, after, step.d), expected(step.name)), step.name


def test_a_modifier_that_an_instruction_does_not_have_is_illegal() -> None:
    steps = [Step(n, loaded_operands(n), cbsz=1) for n in DENSE if n not in BLOCKS]
    steps += [Step(n, loaded_operands(n), abid=1) for n in DENSE if n not in BLOCKS]
    steps += [Step(n, loaded_operands(n), blgp=1) for n in DENSE if n not in LANES + DOUBLES]
    steps += [Step(n, loaded_operands(n), cbsz=oracle()[n]["blocks"].bit_length()) for n in BLOCKS]
    for step, after in zip(steps, run(steps), strict=True):
        assert after.findings == (1, ILLEGAL, ALL, 0), step.name
        assert np.array_equal(after.values, step.registers.values)


def test_lanes_that_are_masked_off_are_a_finding_and_take_part() -> None:
    name, low = "v_mfma_f32_16x16x16_f16", (1 << 32) - 1
    steps = [Step(name, loaded_operands(name), exec=low), Step(name, loaded_operands(name), exec=low, present=low),
             Step(name, loaded_operands(name), exec=0)]  # fmt: skip
    masked, short, skipped = run(steps)
    assert masked.findings == short.findings == (1, DIVERGENT_COLLECTIVE, ALL ^ low, low)
    assert skipped.findings[0] == 0
    assert np.array_equal(result(name, masked), expected(name)) and np.array_equal(result(name, short), expected(name))
    assert np.array_equal(result(name, skipped), operand(name, "C")), "with an empty EXEC nothing is written"


def random_bits(name: str, matrix: str, rng: np.random.Generator) -> Matrix:
    """Any bits, subnormal numbers, infinities and NaN among them; zeros often, so that some sums stay finite."""
    dtype, shape = np.dtype(element(name, matrix)), operand(name, matrix).shape
    values = rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]
    values[rng.random(shape) < 0.6] = 0
    return np.asarray(values)


@functools.cache
def drawn(name: str) -> tuple[Matrix, Matrix, Matrix]:
    rng = np.random.default_rng(DENSE.index(name))
    return random_bits(name, "A", rng), random_bits(name, "B", rng), random_bits(name, "C", rng)


def summed(name: str, a: Matrix, b: Matrix, c: Matrix) -> Matrix:
    """D in the default mode: products and sums rounded to f32 one after the other, C last; bytes wrap around."""
    if result_type(name) is np.int32:
        return np.asarray((c.astype(np.int64) + a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32))
    a, b = a.astype(np.float32), b.astype(np.float32)
    if types_of(name)[0] == "xf32":
        a, b = (np.ascontiguousarray(x).view(np.uint32) & np.uint32(0xFFFFE000) for x in (a, b))
        a, b = a.view(np.float32), b.view(np.float32)
    total = np.zeros(c.shape, np.float32)
    for k in range(a.shape[2]):
        total += a[:, :, k, None] * b[:, k, None, :]
    return np.asarray(c + total)


@pytest.mark.parametrize("architecture", processors())
def test_the_default_sums_bit_for_bit(architecture: str) -> None:
    steps = [Step(n, loaded(n, *drawn(n))) for n in DENSE if types_of(n)[0] not in FUSED]
    compared = 0
    with np.errstate(all="ignore"):
        for step, after in zip(steps, run(steps, architecture), strict=True):
            actual, right = result(step.name, after), summed(step.name, *drawn(step.name))
            assert np.array_equal(actual, right, equal_nan=actual.dtype.kind == "f"), step.name
            compared += int(np.isfinite(actual).sum())
    assert compared > 5000


@pytest.mark.parametrize("name", [n for n in DENSE if types_of(n)[0] in FUSED])
def test_a_chain_of_fused_steps_is_closer_than_rounded_products(name: str) -> None:
    """Against exact sums where each step is exact but for its rounding: 1 + 2^-p squared, less 1."""
    tiny = 2.0 ** (-20 if "f64" not in name else -50)
    a, b, c = (np.zeros_like(operand(name, m)) for m in "ABC")
    a[..., 0], b[:, 0], c[:] = 1 + tiny, 1 + tiny, -1 - 2 * tiny
    (after,) = run([Step(name, loaded(name, a, b, c))])
    assert np.all(result(name, after) == tiny * tiny)


@pytest.mark.parametrize("name", ["v_mfma_f32_16x16x16_f16", "v_mfma_f32_4x4x4_16b_bf16", "v_mfma_f32_32x32x8_f16"])
def test_every_code_of_16_bits(name: str) -> None:
    """Each code times one, in the place of every element of A and of B in turn."""
    codes = np.arange(1 << 16, dtype=np.uint16).view(element(name, "A")).reshape(-1, *operand(name, "A").shape)
    wide = codes.astype(np.float32)
    m, k = codes.shape[2:]
    ones = np.zeros_like(operand(name, "B"))
    ones[:, np.arange(k), np.arange(k) % m] = 1
    zero = np.zeros_like(operand(name, "C"))
    after = run([Step(name, loaded(name, code_matrix, ones, zero)) for code_matrix in codes])
    with np.errstate(invalid="ignore"):
        for code_matrix, registers in zip(wide, after, strict=True):
            row_has_nan = ~np.isfinite(code_matrix).all(axis=2)  # times zero as well
            actual = result(name, registers)
            right = np.stack(
                [code_matrix[:, :, j::m].sum(axis=2) if j < k else zero[:, :, 0] for j in range(m)], axis=2
            )
            assert np.array_equal(actual[~row_has_nan], right[~row_has_nan].astype(np.float32))
            assert np.isnan(actual[row_has_nan]).sum() >= row_has_nan.sum() * (m - 1) * (k > 1)


@pytest.mark.parametrize("types", [("fp8", "fp8"), ("fp8", "bf8"), ("bf8", "fp8"), ("bf8", "bf8")])
def test_every_pair_of_codes_of_8_bits(types: tuple[str, str]) -> None:
    name = f"v_mfma_f32_32x32x16_{types[0]}_{types[1]}"
    a, b, c = (np.zeros_like(operand(name, m)) for m in "ABC")
    codes = [np.arange(256, dtype=np.uint8).view(NUMPY[t]) for t in types]
    actual = np.zeros((256, 256), np.float32)
    steps, pairs = [], []
    for i in range(0, 256, 32):
        for j in range(0, 256, 32):
            a, b = a.copy(), b.copy()
            a[0, :, 3], b[0, 3] = codes[0][i : i + 32], codes[1][j : j + 32]
            steps.append(Step(name, loaded(name, a, b, c)))
            pairs.append((i, j))
    for (i, j), after in zip(pairs, run(steps), strict=True):
        actual[i : i + 32, j : j + 32] = result(name, after)[0]
    right = np.outer(codes[0].astype(np.float32), codes[1].astype(np.float32))
    assert np.array_equal(actual, right, equal_nan=True)


def test_sums_of_bytes_wrap_around() -> None:
    for name in (n for n in DENSE if "i32" in n):
        a, b, c = operand(name, "A"), operand(name, "B"), operand(name, "C")
        c = np.where(c % 2 == 0, 2**31 - 1 - abs(c), -(2**31) + abs(c)).astype(np.int32)
        a, b = np.where(a < 0, -128, 127).astype(np.int8), np.where(b < 0, -128, 127).astype(np.int8)
        (after,) = run([Step(name, loaded(name, a, b, c))])
        right = (c.astype(np.int64) + a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)
        assert np.array_equal(result(name, after), right), name


@pytest.mark.parametrize("name", DENSE + names("smfmac"))
def test_the_table_gives_the_passes_of_the_calculator(name: str) -> None:
    """One pass has four clocks. Single and double precision have pipelines of their own."""
    latency = instruction_table()[name].latency
    pipeline = {"f32": "sgemm", "f64": "dgemm"}.get(types_of(name)[0], "xdl")
    assert latency == f"{pipeline}{oracle()[name]['cycles'] // 4}"

"""The rocWMMA subset: every type, both shapes, all orders of storage, in the lab and for gfx942."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.plan import Candidate, Plan
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import HEAD, build, execute, launch

NUMPY: dict[str, Any] = {
    "float16_t": np.float16,
    "__half": np.float16,
    "bfloat16_t": ml_dtypes.bfloat16,
    "float32_t": np.float32,
    "float8_t": ml_dtypes.float8_e4m3fnuz,
    "bfloat8_t": ml_dtypes.float8_e5m2fnuz,
    "int8_t": np.int8,
}
# types of A and B, block, K, instruction; K above one instruction's makes several of them
CASES = [
    ("float16_t", "float16_t", 16, 16, "v_mfma_f32_16x16x16_f16"),
    ("float16_t", "float16_t", 32, 8, "v_mfma_f32_32x32x8_f16"),
    ("__half", "__half", 16, 32, "v_mfma_f32_16x16x16_f16"),
    ("bfloat16_t", "bfloat16_t", 16, 16, "v_mfma_f32_16x16x16_bf16"),
    ("bfloat16_t", "bfloat16_t", 32, 16, "v_mfma_f32_32x32x8_bf16"),
    ("float32_t", "float32_t", 16, 16, "v_mfma_f32_16x16x4_f32"),
    ("float32_t", "float32_t", 32, 4, "v_mfma_f32_32x32x2_f32"),
    ("int8_t", "int8_t", 16, 32, "v_mfma_i32_16x16x32_i8"),
    ("float8_t", "float8_t", 16, 32, "v_mfma_f32_16x16x32_fp8_fp8"),
    ("float8_t", "float8_t", 32, 16, "v_mfma_f32_32x32x16_fp8_fp8"),
    ("float8_t", "bfloat8_t", 32, 16, "v_mfma_f32_32x32x16_fp8_bf8"),
    ("bfloat8_t", "float8_t", 16, 32, "v_mfma_f32_16x16x32_bf8_fp8"),
    ("bfloat8_t", "bfloat8_t", 16, 32, "v_mfma_f32_16x16x32_bf8_bf8"),
]
USUAL = (CASES[0], CASES[5], CASES[10])  # half precision, single, two kinds of eight bits
ORDERS = [("row", "row", "row"), ("row", "col", "row"), ("col", "row", "col"), ("col", "col", "row")]
INCLUDE = "#include <rocwmma/rocwmma.hpp>\nusing namespace rocwmma;\n"


def kernel(name: str, case: tuple[str, str, int, int, str], orders: tuple[str, str, str]) -> str:
    """D = A B + 2 C over two steps of K, strides wider than the matrices."""
    a, b, m, k, _ = case
    c = "int32_t" if a == "int8_t" else "float32_t"
    order_a, order_b, order_c = orders
    step_a, step_b = ("{k}" if order_a == "row" else "{k} * lda"), ("{k}" if order_b == "col" else "{k} * ldb")
    return f"""
extern "C" __global__ __launch_bounds__(64) void {name}(const {a}* x, const {b}* y, const {c}* z, {c}* w,
                                                        int lda, int ldb, int ldc) {{
    fragment<matrix_a, {m}, {m}, {k}, {a}, {order_a}_major> fa;
    fragment<matrix_b, {m}, {m}, {k}, {b}, {order_b}_major> fb;
    fragment<accumulator, {m}, {m}, {k}, {c}> fc, sum;
    fill_fragment(sum, {c}(0));
    for (int i = 0; i < 2; i++) {{
        load_matrix_sync(fa, x + i * {step_a.format(k=k)}, lda);
        load_matrix_sync(fb, y + i * {step_b.format(k=k)}, ldb);
        mma_sync(sum, fa, fb, sum);
    }}
    load_matrix_sync(fc, z, ldc, mem_{order_c}_major);
    for (unsigned i = 0; i < fc.num_elements; i++) sum.x[i] += 2 * fc.x[i];
    store_matrix_sync(w, sum, ldc, mem_{order_c}_major);
}}
"""


def names(case: tuple[str, str, int, int, str]) -> list[str]:
    """Its kernels, one for each order of storage."""
    return [f"k{CASES.index(case)}_{i}" for i in range(len(ORDERS))]


def together(case: tuple[str, str, int, int, str]) -> list[tuple[str, str, int, int, str]]:
    """The cases that are compiled at once, usual or long: the header takes longer than a few of them do."""
    return [other for other in CASES if (other in USUAL) == (case in USUAL)]


def source_of(cases: Sequence[tuple[str, str, int, int, str]]) -> str:
    """The kernels of these cases."""
    kernels = [kernel(*row) for case in cases for row in zip(names(case), [case] * len(ORDERS), ORDERS, strict=True)]
    return INCLUDE + "".join(kernels)


def stored(values: npt.NDArray[Any], order: str, stride: int) -> npt.NDArray[Any]:
    """Rows (or columns) `stride` elements apart, as bytes."""
    lines = values if order == "row" else values.T
    padded = np.zeros((lines.shape[0], stride), values.dtype)
    padded[:, : lines.shape[1]] = lines
    return padded.view(np.uint8).reshape(-1)


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, id=f"{c[4]}-{c[0]}-k{c[3]}", marks=[] if c in USUAL else [pytest.mark.long]) for c in CASES],
)
def test_fragments_multiply_in_every_order_of_storage(case: tuple[str, str, int, int, str]) -> None:
    type_a, type_b, m, k, _ = case
    rng = np.random.default_rng(m + k)
    a = rng.integers(-8, 9, (m, 2 * k)).astype(NUMPY[type_a])
    b = rng.integers(-8, 9, (2 * k, m)).astype(NUMPY[type_b])
    c = rng.integers(-99, 100, (m, m)).astype(np.int32 if type_a == "int8_t" else np.float32)
    stride = 2 * max(m, k) + 3
    launches = []
    inputs: dict[str, npt.NDArray[Any]] = {}
    outputs: dict[str, npt.NDArray[Any]] = {}
    for i, (order_a, order_b, order_c) in enumerate(ORDERS):
        inputs |= {
            f"a{i}": stored(a, order_a, stride),
            f"b{i}": stored(b, order_b, stride),
            f"c{i}": stored(c, order_c, stride),
        }
        outputs[f"d{i}"] = np.zeros((m, stride), c.dtype)
        launches.append(launch(names(case)[i], [f"a{i}", f"b{i}", f"c{i}", f"d{i}", stride, stride, stride]))
    cases = together(case)
    program_of = [launch(name, ["x"] * 4 + [1] * 3) for shape in cases for name in names(shape)]
    execution = execute(source_of(cases), launches, inputs, outputs, program_of=program_of)
    assert execution.findings == ()
    expected = a.astype(np.float64) @ b.astype(np.float64) + 2 * c.astype(np.float64)
    for i, (_, _, order_c) in enumerate(ORDERS):
        actual = execution.outputs[f"d{i}"][:, :m]
        assert np.array_equal(actual if order_c == "row" else actual.T, expected), ORDERS[i]
        assert not execution.masks[f"d{i}"][:, m:].any()


def test_they_become_matrix_instructions_of_gfx942_without_scratch() -> None:
    text = HEAD + INCLUDE + "".join(kernel(f"k{i}", case, ORDERS[i % 4]) for i, case in enumerate(CASES))
    compiler = Compiler(toolchain(), COMPILED, load_target("mi300x"))
    result = compiler.compile(Candidate(hashlib.sha256(text.encode()).hexdigest(), text, Plan(())), {})
    assert result.ok, result.diagnostics
    assert all(f"{case[4]} " in result.listing for case in CASES)
    assert all(k.scratch_bytes == 0 for k in result.kernels)


def test_a_type_without_an_instruction_is_told_at_compile_time() -> None:
    source = f"""{HEAD}{INCLUDE}
__global__ void k(const double* x, float* y) {{
    fragment<matrix_a, 16, 16, 16, double, row_major> a;
    load_matrix_sync(a, x, 16);
    y[0] = a.x[0];
}}"""
    built = build(source, [launch("k", ["x", "y"])])
    assert built[0].kind == "compile_error" and "no matrix instruction of gfx942" in " ".join(f.message for f in built)


def test_a_vector_of_bfloat16_is_made_indexed_and_stored_whole() -> None:
    source = (
        INCLUDE
        + """
extern "C" __global__ void k(bfloat16_t* y, float* z) {
    auto made = make_vector(bfloat16_t(1.0f), bfloat16_t(-2.5f), bfloat16_t(3.0f), bfloat16_t(0.5f));
    *(decltype(made)*)&y[threadIdx.x * 4] = made;
    z[threadIdx.x] = made[1];
}"""
    )
    outputs = {"y": np.zeros(256, ml_dtypes.bfloat16), "z": np.zeros(64, np.float32)}
    execution = execute(source, [launch("k", ["y", "z"])], {}, outputs)
    assert execution.findings == ()
    assert execution.outputs["y"].astype(np.float32).tolist() == [1.0, -2.5, 3.0, 0.5] * 64
    assert execution.outputs["z"].tolist() == [-2.5] * 64

"""Every dense matrix instruction against the layouts that AMD's own calculator prints, lane by lane."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from sandbox.lab.lab import Execution
from tests.lab_bench import execute, launch

ORACLE = Path(__file__).parents[2] / "data" / "lab" / "mfma_gfx942_layouts.json.gz"
E4M3, E5M2, BF16 = ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz, ml_dtypes.bfloat16
NUMPY: dict[str, Any] = {"f32": np.float32, "xf32": np.float32, "f16": np.float16, "bf16": BF16, "i8": np.int8,
                         "fp8": E4M3, "bf8": E5M2, "f64": np.float64}
NAMES = [
    "v_mfma_f32_16x16x8_xf32", "v_mfma_f32_32x32x4_xf32", "v_mfma_f32_32x32x1_2b_f32", "v_mfma_f32_16x16x1_4b_f32",
    "v_mfma_f32_4x4x1_16b_f32", "v_mfma_f32_32x32x2_f32", "v_mfma_f32_16x16x4_f32", "v_mfma_f32_32x32x4_2b_f16",
    "v_mfma_f32_16x16x4_4b_f16", "v_mfma_f32_4x4x4_16b_f16", "v_mfma_f32_32x32x8_f16", "v_mfma_f32_16x16x16_f16",
    "v_mfma_i32_32x32x4_2b_i8", "v_mfma_i32_16x16x4_4b_i8", "v_mfma_i32_4x4x4_16b_i8", "v_mfma_i32_32x32x16_i8",
    "v_mfma_i32_16x16x32_i8", "v_mfma_f32_32x32x4_2b_bf16", "v_mfma_f32_16x16x4_4b_bf16", "v_mfma_f32_4x4x4_16b_bf16",
    "v_mfma_f32_32x32x8_bf16", "v_mfma_f32_16x16x16_bf16", "v_mfma_f64_16x16x4_f64", "v_mfma_f64_4x4x4_4b_f64",
    *(f"v_mfma_f32_{shape}_{a}_{b}"
      for shape in ("16x16x32", "32x32x16") for a in ("fp8", "bf8") for b in ("fp8", "bf8")),
]
BROADCAST = ("v_mfma_f32_16x16x4_4b_f16", "v_mfma_f32_4x4x1_16b_f32", "v_mfma_i32_32x32x4_2b_i8")


@cache
def oracle() -> dict[str, Any]:
    return json.loads(gzip.decompress(ORACLE.read_bytes()))["instructions"]  # type: ignore[no-any-return]


def types_of(name: str) -> tuple[str, str]:
    parts = name.split("_")
    return (parts[-2], parts[-1]) if parts[-1] in ("fp8", "bf8") else (parts[-1], parts[-1])


def builtin(name: str) -> str:
    parts = name.removeprefix("v_mfma_").split("_")
    result, shape, kind = parts[0], parts[1], parts[-1]
    if kind in ("fp8", "bf8"):
        return f"{result}_{shape}_{parts[-2]}_{kind}"
    wide = kind == "xf32" or name in ("v_mfma_i32_32x32x16_i8", "v_mfma_i32_16x16x32_i8")
    return f"{result}_{shape}{'_' if wide else ''}{kind}{'_1k' if kind == 'bf16' else ''}"


def positions(name: str, matrix: str) -> npt.NDArray[np.int64]:
    """(row, column, block) of each slot of each lane."""
    cells = [[re.fullmatch(r"\w\[(\d+)\]\[(\d+)\](?:\.B(\d+))?", cell) for cell in lane]
             for lane in oracle()[name][matrix]["lanes"]]
    return np.array([[[int(c[1]), int(c[2]), int(c[3] or 0)] for c in lane if c] for lane in cells])


def operand(name: str, matrix: str) -> npt.NDArray[Any]:
    """Small random integers, different at every place where the type has enough of them: [block, row, column]."""
    about = oracle()[name]
    m, k, blocks = about["m"], about["k"], about["blocks"]
    shape = {"A": (blocks, m, k), "B": (blocks, k, m), "C": (blocks, m, m)}[matrix]
    dtype = NUMPY[types_of(name)[matrix == "B"]] if matrix != "C" else result_type(name)
    top = {"bf8": 4, "fp8": 16}.get(types_of(name)[matrix == "B"], 100) if matrix != "C" else 1000
    rng = np.random.default_rng(len(name) * 7 + ord(matrix))
    return rng.integers(-top, top + 1, shape).astype(dtype)


def result_type(name: str) -> Any:
    return np.float64 if "f64" in name else np.int32 if "i32" in name else np.float32


def packed(name: str, matrix: str) -> npt.NDArray[np.uint8]:
    at = positions(name, "D" if matrix == "C" else matrix)
    values = operand(name, matrix)[at[..., 2], at[..., 0], at[..., 1]]
    return np.ascontiguousarray(values).view(np.uint8).reshape(-1)


def register_type(name: str) -> str:
    per_lane = positions(name, "A").shape[1]
    kind = types_of(name)[0]
    if kind in ("fp8", "bf8", "i8"):
        return "long" if per_lane == 8 else "int"
    base = {"f32": "float", "xf32": "float", "f16": "_Float16", "bf16": "short", "f64": "double"}[kind]
    return base if per_lane == 1 else f"{base} __attribute__((ext_vector_type({per_lane})))"


def kernel(number: int, name: str, modifiers: str) -> str:
    base = {np.float64: "double", np.int32: "int", np.float32: "float"}[result_type(name)]
    count = positions(name, "D").shape[1]
    out = base if count == 1 else f"{base} __attribute__((ext_vector_type({count})))"
    return (f"typedef {register_type(name)} in{number}; typedef {out} out{number};\n"
            f"__global__ void k{number}(const in{number}* a, const in{number}* b, const out{number}* c,"
            f" out{number}* d) {{ int i = threadIdx.x;"
            f" d[i] = __builtin_amdgcn_mfma_{builtin(name)}(a[i], b[i], c[i], {modifiers}); }}\n")


def run(names: list[str], modifiers: list[str], *, count: bool = False) -> Execution:
    source = "".join(kernel(i, n, m) for i, (n, m) in enumerate(zip(names, modifiers, strict=True)))
    inputs = {f"{matrix.lower()}{i}": packed(n, matrix) for i, n in enumerate(names) for matrix in "ABC"}
    outputs = {f"d{i}": np.zeros_like(packed(n, "C")) for i, n in enumerate(names)}
    launches = [launch(f"k{i}", [f"a{i}", f"b{i}", f"c{i}", f"d{i}"]) for i in range(len(names))]
    return execute(source, launches, inputs, outputs, count=count)


@pytest.fixture(scope="module")
def dense() -> Execution:
    return run(NAMES, ["0, 0, 0"] * len(NAMES))


@pytest.fixture(scope="module")
def counted() -> Execution:
    return run(NAMES, ["0, 0, 0"] * len(NAMES), count=True)


def unpacked(name: str, raw: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    at = positions(name, "D")
    result = np.zeros_like(operand(name, "C"))
    result[at[..., 2], at[..., 0], at[..., 1]] = raw.view(result_type(name)).reshape(at.shape[:2])
    return result


def product(name: str, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.asarray(a.astype(np.float64) @ b.astype(np.float64))


def test_the_list_holds_every_dense_instruction() -> None:
    assert sorted(NAMES) == sorted(n for n in oracle() if n.startswith("v_mfma"))


@pytest.mark.parametrize("name", NAMES)
def test_layout_and_product(dense: Execution, name: str) -> None:
    assert dense.findings == ()
    expected = operand(name, "C") + product(name, operand(name, "A"), operand(name, "B"))
    assert np.array_equal(unpacked(name, dense.outputs[f"d{NAMES.index(name)}"]), expected)


@pytest.mark.parametrize("name", NAMES)
def test_clocks_and_operations(counted: Execution, name: str) -> None:
    counters = counted.launches[NAMES.index(name)].counters
    assert counters["SQ_INSTS_MFMA"] == 1
    assert counters["SQ_VALU_MFMA_BUSY_CYCLES"] == oracle()[name]["cycles"]
    mops = sum(v for k, v in counters.items() if "_MOPS_" in k)
    assert mops * 512 == oracle()[name]["ops"]


@pytest.mark.parametrize("name", BROADCAST)
def test_one_block_of_a_serves_a_group_of_blocks(name: str) -> None:
    blocks = oracle()[name]["blocks"]
    cbsz, abid = (1, 1) if blocks == 2 else (2, 3)
    done = run([name], [f"{cbsz}, {abid}, 0"])
    group = 1 << cbsz
    source = [(b // group) * group + abid for b in range(blocks)]
    expected = operand(name, "C") + product(name, operand(name, "A")[source], operand(name, "B"))
    assert np.array_equal(unpacked(name, done.outputs["d0"]), expected)


@pytest.mark.parametrize("blgp", range(8))
def test_lanes_of_b_are_broadcast_or_rotated(blgp: int) -> None:
    name = "v_mfma_f32_32x32x8_f16"
    source = {0: lambda i: i, 1: lambda i: i % 32, 2: lambda i: 32 + i % 32, 3: lambda i: (i + 16) % 64}.get(
        blgp, lambda i: 16 * (blgp - 4) + i % 16)
    at, b = positions(name, "B"), operand(name, "B")
    moved = np.zeros_like(b)
    for lane in range(64):
        for slot in range(at.shape[1]):
            row, column, _ = at[lane, slot]
            other = at[source(lane), slot]
            moved[0, row, column] = b[0, other[0], other[1]]
    done = run([name], [f"0, 0, {blgp}"])
    expected = operand(name, "C") + product(name, operand(name, "A"), moved)
    assert np.array_equal(unpacked(name, done.outputs["d0"]), expected)


@pytest.mark.parametrize("bits", range(8))
def test_double_precision_negates_by_the_same_bits(bits: int) -> None:
    name = "v_mfma_f64_16x16x4_f64"
    done = run([name], [f"0, 0, {bits}"])
    sign = [-1 if bits >> i & 1 else 1 for i in range(3)]
    expected = sign[2] * operand(name, "C") + sign[0] * sign[1] * product(name, operand(name, "A"), operand(name, "B"))
    assert np.array_equal(unpacked(name, done.outputs["d0"]), expected)


def test_a_matrix_instruction_that_half_the_wave_reaches_is_a_finding() -> None:
    done = execute("""
typedef float v4 __attribute__((ext_vector_type(4)));
__global__ void k(const float* x, v4* y) {
    v4 c = {};
    if (threadIdx.x < 32)
        c = __builtin_amdgcn_mfma_f32_16x16x4f32(x[threadIdx.x], x[threadIdx.x], c, 0, 0, 0);
    y[threadIdx.x] = c;
}""", [launch("k", ["x", "y"])], {"x": np.ones(64, np.float32)}, {"y": np.zeros(256, np.float32)})
    assert [(f.kind, f.line) for f in done.findings] == [("divergent_collective", 7)]
    assert "32 of 64" in done.findings[0].message

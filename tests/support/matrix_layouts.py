"""The 46 matrix instructions of gfx942 for the lab's tests: AMD's layouts, operands, registers, kernels."""

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

ORACLE = Path(__file__).parents[1] / "data" / "lab" / "mfma_gfx942_layouts.json.gz"
E4M3, E5M2, BF16 = ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz, ml_dtypes.bfloat16
NUMPY: dict[str, Any] = {
    "f32": np.float32,
    "xf32": np.float32,
    "f16": np.float16,
    "bf16": BF16,
    "i8": np.int8,
    "fp8": E4M3,
    "bf8": E5M2,
    "f64": np.float64,
}
LARGEST = {"fp8": 240, "bf8": 256, "i8": 127, "bf16": 256}  # integers whose sums of products stay exact in f32


@cache
def oracle() -> dict[str, Any]:
    """What AMD's calculator prints: shapes, cycles, and per matrix the element in each slot of each lane."""
    return json.loads(gzip.decompress(ORACLE.read_bytes()))["instructions"]  # type: ignore[no-any-return]


def names(kind: str) -> list[str]:
    """All of `mfma` or `smfmac`."""
    return sorted(n for n in oracle() if n.startswith(f"v_{kind}_"))


def types_of(name: str) -> tuple[str, str]:
    """Element types of A and B."""
    parts = name.split("_")
    return (parts[-2], parts[-1]) if parts[-1] in ("fp8", "bf8") else (parts[-1], parts[-1])


def result_type(name: str) -> Any:
    """Of C and D."""
    return np.float64 if "f64" in name else np.int32 if "i32" in name else np.float32


def builtin(name: str) -> str:
    """Clang's name for the mnemonic."""
    kind, *parts = name.removeprefix("v_").split("_")
    result, shape, element = parts[0], parts[1], parts[-1]
    if element in ("fp8", "bf8"):
        return f"__builtin_amdgcn_{kind}_{result}_{shape}_{parts[-2]}_{element}"
    wide = kind == "smfmac" or element == "xf32" or name in ("v_mfma_i32_32x32x16_i8", "v_mfma_i32_16x16x32_i8")
    suffix = "_1k" if element == "bf16" and kind == "mfma" else ""
    return f"__builtin_amdgcn_{kind}_{result}_{shape}{'_' if wide else ''}{element}{suffix}"


@cache
def positions(name: str, matrix: str) -> npt.NDArray[np.int64]:
    """(row, column, block) of each slot of each lane; of the first element where a slot stands for four."""
    cells = [
        [re.match(r"\w\[(\d+)\]\[(\d+)\](?:\.B(\d+))?", cell) for cell in lane]
        for lane in oracle()[name][matrix]["lanes"]
    ]
    return np.array([[[int(c[1]), int(c[2]), int(c[3] or 0)] for c in lane if c] for lane in cells])


@cache
def operand(name: str, matrix: str) -> npt.NDArray[Any]:
    """Integers, all different as far as the type has as many: [block, row, column]."""
    about = oracle()[name]
    m, k, blocks = about["m"], about["k"], about["blocks"]
    shape = {"A": (blocks, m, k), "B": (blocks, k, m), "C": (blocks, m, m)}[matrix]
    rng = np.random.default_rng(len(name) * 7 + ord(matrix))
    if matrix == "C":
        return (rng.permutation(int(np.prod(shape))) - 1000).reshape(shape).astype(result_type(name))
    element = types_of(name)[matrix == "B"]
    top = LARGEST.get(element, 500)
    integers = np.arange(-top, top + 1)
    pool = integers[integers.astype(NUMPY[element]).astype(np.float64) == integers]
    return np.resize(rng.permutation(pool), shape).astype(NUMPY[element])


def in_lanes(name: str, matrix: str, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The bytes of all lanes' registers that hold these values: [block, row, column]."""
    index = positions(name, "D" if matrix == "C" else matrix)
    return np.ascontiguousarray(values[index[..., 2], index[..., 0], index[..., 1]]).view(np.uint8).reshape(-1)


def from_lanes(name: str, raw: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    """D out of the lanes' registers: [block, row, column]."""
    index = positions(name, "D")
    result = np.zeros_like(operand(name, "C"))
    result[index[..., 2], index[..., 0], index[..., 1]] = raw.view(result_type(name)).reshape(index.shape[:2])
    return result


def product(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """In double precision."""
    return np.asarray(a.astype(np.float64) @ b.astype(np.float64))


def register_type(name: str, matrix: str) -> str:
    """The C++ type of one lane's part of a matrix."""
    count = positions(name, "D" if matrix == "C" else matrix).shape[1]
    if matrix == "C":
        base = {np.float64: "double", np.int32: "int", np.float32: "float"}[result_type(name)]
    elif types_of(name)[0] in ("fp8", "bf8", "i8"):
        if "smfmac" not in name:
            return "long" if count == 8 else "int"
        base, count = "int", 2 if matrix == "A" else 4
    else:
        base = {"f32": "float", "xf32": "float", "f16": "_Float16", "bf16": "short", "f64": "double"}[types_of(name)[0]]
        count = 4 if "smfmac" in name and matrix == "A" else count
    return base if count == 1 else f"{base} __attribute__((ext_vector_type({count})))"


def kernel(number: int, name: str, modifiers: str) -> str:
    """Kernel k<number>(a, b, c, d), or with an index after c for a sparse instruction; one wave."""
    sparse = "smfmac" in name
    types = " ".join(f"typedef {register_type(name, m)} {m.lower()}{number};" for m in "ABC")
    return (
        f"{types}\n__global__ void k{number}(const a{number}* a, const b{number}* b, const c{number}* c,"
        f"{' const int* x,' if sparse else ''} c{number}* d) {{ int i = threadIdx.x;"
        f" d[i] = {builtin(name)}(a[i], b[i], c[i], {'x[i], ' if sparse else ''}{modifiers}); }}\n"
    )

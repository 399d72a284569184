"""The variants that `lab_ranking` orders: five tasks, each at one size, with the work and the right result of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.specimens import GRID, KERNELS, MATRIX, PRODUCT, ROOT, Specimen, Tensor
from tasks.task import Array


@dataclass(frozen=True)
class Family:
    """One task: its variants, its work, and what is right."""

    name: str
    variants: tuple[Specimen, ...]
    flops: float
    bytes_moved: float  # compulsory
    reference: Callable[[Mapping[str, Array]], Array]  # of the only output, as float32
    tolerance: float  # largest error allowed, against 1 + |expected|


def variants_of(
    file: str,
    names: Sequence[str],
    tensors: tuple[Tensor, ...],
    dims: Mapping[str, int],
    rows: Sequence[tuple[int, ...]],
    scalars: Mapping[str, float] | None = None,
) -> list[Specimen]:
    """Make one specimen a row: values of the tunables `names` of one kernel file, on the same tensors."""
    made = []
    for values in rows:
        tunables = dict(zip(names, values, strict=True))
        label = " ".join(f"{n}={v}" for n, v in tunables.items())
        made.append(Specimen(f"{file} {label}", KERNELS / f"{file}.hip", tunables, dims, tensors, scalars or {}))
    return made


def _seed(
    task: str, tensors: tuple[Tensor, ...], dims: Mapping[str, int], scalars: Mapping[str, float] | None = None
) -> Specimen:
    path: Path = ROOT / "tasks" / task / "seed.hip"
    return Specimen(f"{task} seed", path, {}, dims, tensors, scalars or {})


def as_float(bits: Array) -> Array:
    """Convert bfloat16 as its bits to float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _softmax(inputs: Mapping[str, Array]) -> Array:
    e = np.exp(inputs["x"] - inputs["x"].max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def _rms(inputs: Mapping[str, Array]) -> Array:
    x = as_float(inputs["x"])
    mean = np.einsum("ij,ij->i", x, x) / x.shape[1]
    return np.asarray(x * (1.0 / np.sqrt(mean + 1e-6)).astype(np.float32)[:, None] * as_float(inputs["w"]))


def _stencil(inputs: Mapping[str, Array]) -> Array:
    x = np.pad(inputs["x"], 1)
    around = x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1]
    return np.asarray(np.float32(0.5) * x[1:-1, 1:-1] + np.float32(0.125) * around)


def softmax() -> Family:
    """Describe rows of 4096 f32."""
    dims = {"rows": 4096, "cols": 4096}
    rows = [
        (64, 1, 0),
        (64, 4, 0),
        (64, 4, 16),
        (128, 1, 0),
        (128, 4, 8),
        (128, 2, 16),
        (128, 1, 16),
        (256, 1, 0),
        (256, 1, 16),
        (256, 4, 0),
        (256, 4, 4),
        (256, 2, 8),
        (512, 1, 8),
        (512, 4, 2),
        (512, 4, 0),
        (512, 2, 0),
        (1024, 4, 1),
        (1024, 1, 4),
        (1024, 1, 0),
    ]
    made = [_seed("row_softmax", GRID, dims), *variants_of("softmax_row", ("BLOCK", "VEC", "KEEP"), GRID, dims, rows)]
    work = dims["rows"] * dims["cols"]
    return Family("row_softmax", tuple(made), 5.0 * work, 8.0 * work, _softmax, 1e-5)


def rms() -> Family:
    """Describe rows of 4096 bf16."""
    dims, eps = {"rows": 8192, "cols": 4096}, {"eps": 1e-6}
    tensors = (
        Tensor("x", "uint16", ("rows", "cols"), "bf16"),
        Tensor("w", "uint16", ("cols",), "bf16"),
        Tensor("y", "uint16", ("rows", "cols")),
    )
    rows = [
        (64, 1, 0),
        (64, 8, 0),
        (64, 8, 8),
        (128, 1, 0),
        (128, 2, 16),
        (128, 4, 8),
        (128, 8, 4),
        (128, 8, 0),
        (256, 1, 0),
        (256, 1, 16),
        (256, 2, 8),
        (256, 4, 4),
        (256, 8, 2),
        (256, 8, 0),
        (512, 1, 8),
        (512, 4, 2),
        (512, 8, 1),
        (1024, 4, 1),
        (1024, 1, 0),
    ]
    made = [
        _seed("rms_norm", tensors, dims, eps),
        *variants_of("rms_row", ("BLOCK", "VEC", "KEEP"), tensors, dims, rows, eps),
    ]
    work = dims["rows"] * dims["cols"]
    return Family("rms_norm", tuple(made), 4.0 * work, 4.0 * work, _rms, 0.01)


def transpose() -> Family:
    """Describe a matrix of 4096 x 4096 f32."""
    dims = {"rows": 4096, "cols": 4096}
    blocks = [
        (32, 8, 1),
        (8, 32, 1),
        (64, 4, 1),
        (256, 1, 1),
        (32, 8, 0),
        (16, 16, 0),
        (8, 32, 0),
        (64, 4, 0),
        (256, 1, 0),
        (4, 32, 1),
    ]
    tiles = [(8, 0, 0), (8, 1, 0), (8, 2, 0), (8, 0, 1), (4, 1, 0), (16, 1, 0), (16, 0, 0), (32, 1, 0), (32, 0, 0)]
    made = [
        _seed("transpose", MATRIX, dims),
        *variants_of("transpose_block", ("ACROSS", "DOWN", "READ"), MATRIX, dims, blocks),
        *variants_of("transpose_tile", ("DOWN", "PAD", "SWIZZLE"), MATRIX, dims, tiles),
    ]
    work = dims["rows"] * dims["cols"]
    return Family("transpose", tuple(made), 0.0, 8.0 * work, lambda i: np.ascontiguousarray(i["x"].T), 0.0)


def stencil() -> Family:
    """Describe five points on 4096 x 4096 f32."""
    dims = {"rows": 4096, "cols": 4096}
    rows = [
        (32, 8, 1, 0),
        (32, 8, 4, 0),
        (64, 4, 1, 0),
        (256, 1, 1, 0),
        (256, 1, 8, 0),
        (8, 32, 1, 0),
        (8, 32, 4, 0),
        (16, 16, 1, 0),
        (128, 2, 4, 0),
        (32, 32, 1, 0),
        (32, 8, 1, 1),
        (32, 8, 4, 1),
        (64, 4, 2, 1),
        (256, 1, 1, 1),
        (256, 1, 8, 1),
        (8, 32, 1, 1),
        (16, 16, 1, 1),
        (128, 2, 8, 1),
        (32, 32, 1, 1),
    ]
    made = variants_of("stencil", ("ACROSS", "DOWN", "EACH", "LDS"), GRID, dims, rows)
    work = dims["rows"] * dims["cols"]
    return Family("stencil", tuple(made), 6.0 * work, 8.0 * work, _stencil, 1e-5)


def product() -> Family:
    """Describe a product of 2048 x 2048 x 1024 f32."""
    dims = {"rows": 2048, "cols": 2048, "inner": 1024}
    simple = [(8, 1, 0), (16, 1, 0), (32, 1, 0), (32, 1, 1), (16, 1, 1), (8, 0, 0), (16, 0, 0), (32, 0, 0)]
    blocks = [
        (64, 64, 8, 4, 4, 0),
        (64, 64, 8, 4, 4, 1),
        (64, 64, 16, 4, 4, 1),
        (128, 128, 8, 8, 8, 0),
        (128, 128, 8, 8, 8, 1),
        (128, 128, 16, 8, 8, 1),
        (32, 32, 32, 2, 2, 0),
        (32, 32, 16, 4, 4, 1),
        (64, 64, 16, 8, 8, 1),
        (128, 64, 16, 8, 4, 1),
        (64, 128, 8, 4, 8, 0),
        (32, 32, 8, 1, 1, 0),
    ]
    made = [
        *variants_of("gemm_tile", ("TILE", "LDS", "PAD"), PRODUCT, dims, simple),
        *variants_of("gemm_registers", ("BM", "BN", "BK", "TM", "TN", "WIDE"), PRODUCT, dims, blocks),
    ]
    m, n, k = dims["rows"], dims["cols"], dims["inner"]
    return Family(
        "product",
        tuple(made),
        2.0 * m * n * k,
        4.0 * (m * k + k * n + m * n),
        lambda i: np.asarray(i["a"] @ i["b"]),
        1e-2,
    )


def families() -> list[Family]:
    """List all five."""
    return [softmax(), rms(), transpose(), stencil(), product()]

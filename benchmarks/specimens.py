"""Kernels for the comparisons with hardware: candidate files of `kernels/` with tunables, sizes and inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sandbox.candidate.parse import parse
from sandbox.candidate.plan import Candidate
from sandbox.candidate.resolve import ResolvedPlan, resolve
from tasks.expressions import evaluate
from tasks.task import Array, Case, ScalarSpec, Task, TensorSpec
from tasks.tolerance import Tolerance

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "benchmarks" / "kernels"


@dataclass(frozen=True)
class Tensor:
    """One buffer: numpy dtype, shape over the dims, and for inputs what fills it."""

    name: str
    dtype: str
    shape: tuple[str, ...]
    fill: str = ""  # empty for outputs; normal, bf16, words, or one of the index patterns


@dataclass(frozen=True)
class Specimen:
    """One kernel at one size."""

    name: str
    path: Path
    tunables: Mapping[str, int]
    dims: Mapping[str, int]
    tensors: tuple[Tensor, ...]
    scalars: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def candidate(self) -> Candidate:
        """The parsed file."""
        return parse(self.path.read_text(encoding="utf-8"))

    @cached_property
    def chosen(self) -> dict[str, int]:
        """All tunables, the missing ones at their defaults."""
        return {**self.candidate.defaults(), **self.tunables}

    @cached_property
    def plan(self) -> ResolvedPlan:
        """The launches in numbers."""
        return resolve(self.candidate, self._task(), Case(self.name, self.dims, 0), self.tunables)

    def shape(self, tensor: Tensor) -> tuple[int, ...]:
        """Return the extents of one buffer."""
        return tuple(evaluate(text, self.dims) for text in tensor.shape)

    def inputs(self, seed: int = 0) -> dict[str, Array]:
        """Draw the contents of the inputs; the same seed gives the same values."""
        rng = np.random.default_rng(seed)
        return {t.name: filled(t.fill, self.shape(t), t.dtype, rng, self.dims) for t in self.tensors if t.fill}

    def outputs(self) -> list[Tensor]:
        """List the buffers it writes."""
        return [t for t in self.tensors if not t.fill]

    def _task(self) -> Task:
        def nothing(*_: Any) -> dict[str, Array]:
            return {}

        def spec(t: Tensor) -> TensorSpec:
            return TensorSpec(t.name, "f32", t.shape)

        return Task(
            name=self.name,
            title=self.name,
            description="",
            targets=(),
            inputs=tuple(spec(t) for t in self.tensors if t.fill),
            outputs=tuple(spec(t) for t in self.outputs()),
            scalars=tuple(ScalarSpec(n, "f32", v) for n, v in self.scalars.items()),
            tests=(),
            benchmarks=(),
            flops="0",
            bytes_moved="0",
            peak="fp32_vector",
            tolerance=Tolerance(1.0),
            folder=self.path.parent,
            digest="",
            seeds=(),
            make_inputs=nothing,
            reference=nothing,
            baseline=nothing,
        )


def filled(fill: str, shape: tuple[int, ...], dtype: str, rng: np.random.Generator, dims: Mapping[str, int]) -> Array:
    """Draw the values of one input."""
    count = int(np.prod(shape))
    limit = dims.get("limit", count)
    positions: Array = np.arange(count)
    values: Array
    if fill == "normal":
        values = rng.standard_normal(count, dtype=np.float32)
    elif fill == "bf16":
        values = (rng.standard_normal(count, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)
    elif fill == "words":
        values = rng.integers(0, 1 << 31, count)
    elif fill == "random":
        values = rng.integers(0, limit, count)
    elif fill == "permutation":
        values = rng.permutation(count)
    elif fill == "clustered":  # eight neighbours stay together, the groups are shuffled
        values = rng.permutation(count // 8)[positions // 8] * 8 + positions % 8
    elif fill == "wave":  # one place for all lanes
        values = positions // 32
    elif fill == "pairs":  # every second element
        values = positions * 2 % limit
    else:
        raise ValueError(f"there is no filling {fill!r}")
    return np.ascontiguousarray(values.astype(dtype).reshape(shape))


X, Y = Tensor("x", "float32", ("span",), "normal"), Tensor("y", "float32", ("out",))


def _vectors(
    name: str,
    file: str,
    n: int = 1 << 18,
    x: int = 0,
    y: int = 0,
    fill: str = "",
    words: bool = False,
    limit: int = 0,
    **tunables: int,
) -> Specimen:
    """Build a kernel over n elements; x and y have n words each unless said otherwise."""
    tensors: tuple[Tensor, ...] = (Tensor("x", "int32", ("span",), "words") if words else X, Y)
    if fill:
        tensors = (tensors[0], Tensor("at", "int32", ("n",), fill), Y)
    dims = {"n": n, "span": x or n, "out": y or n, "limit": limit or n}
    return Specimen(name, KERNELS / f"{file}.hip", tunables, dims, tensors)


MATRIX = (Tensor("x", "float32", ("rows", "cols"), "normal"), Tensor("y", "float32", ("cols", "rows")))
GRID = (Tensor("x", "float32", ("rows", "cols"), "normal"), Tensor("y", "float32", ("rows", "cols")))
PRODUCT = (
    Tensor("a", "float32", ("rows", "inner"), "normal"),
    Tensor("b", "float32", ("inner", "cols"), "normal"),
    Tensor("c", "float32", ("rows", "cols")),
)


def _shaped(name: str, file: str, tensors: tuple[Tensor, ...], dims: Mapping[str, int], **tunables: int) -> Specimen:
    return Specimen(name, KERNELS / f"{file}.hip", tunables, dims, tensors)


def _gathers(count: int) -> list[Specimen]:
    fills = (
        ("random", 1),
        ("random", 2),
        ("random", 4),
        ("clustered", 1),
        ("wave", 1),
        ("wave", 4),
        ("pairs", 2),
        ("pairs", 4),
    )
    return [
        _vectors(f"gather {fill}, float{w}", "gather", count, count * w, count * w, fill, limit=count, WIDTH=w)
        for fill, w in fills
    ]


def counter_specimens() -> list[Specimen]:
    """List the specimens that `lab_counters` runs both ways; small, because the lab executes every workgroup."""
    n, square = 1 << 18, {"rows": 512, "cols": 512}
    ragged, product = {"rows": 300, "cols": 517}, {"rows": 256, "cols": 256, "inner": 128}
    strided = [_vectors(f"load stride {s}", "copy_strided", n // 4, n // 4 * s + 8, STRIDE=s) for s in (2, 3, 8, 32)]
    shifted = [_vectors(f"load shifted by {s}", "copy_strided", n // 4, n // 4 + 8, SHIFT=s) for s in (1, 4, 7)]
    stores = [_vectors(f"store stride {s}", "scatter_strided", n // 4, 0, n // 4 * s + 8, STRIDE=s) for s in (2, 3, 8)]
    return [
        *(_vectors(f"copy float{w}", "copy", WIDTH=w) for w in (1, 2, 4)),
        *(_vectors(f"copy of {b}-byte elements", "copy_bytes", n, n * b // 4, n * b // 4, BYTES=b) for b in (1, 2)),
        *strided,
        *shifted,
        *stores,
        _vectors("store shifted by 1", "scatter_strided", n // 4, 0, n // 4 + 8, SHIFT=1),
        *_gathers(n // 4),
        _vectors("scatter permutation", "scatter", n // 4, fill="permutation"),
        *(_vectors(f"lanes without bits {k}", "half_waves", n // 4 + 5, KEEP=k) for k in (1, 3)),
        _vectors("records of three", "triples", n // 4, 3 * n // 4),
        *(_vectors(f"LDS stride {s}", "shared_stride", n // 4, STRIDE=s) for s in (1, 2, 3, 4, 8, 16, 17, 32, 33)),
        *(
            _vectors(f"LDS float{w} stride {s}", "shared_wide", n // 4, WIDTH=w, STRIDE=s)
            for w, s in ((2, 1), (2, 2), (2, 3), (4, 1), (4, 2), (4, 3))
        ),
        *(
            _vectors(f"LDS random float{w}", "shared_random", n // 4, n // 4 * w, n // 4 * w, "random", WIDTH=w)
            for w in (1, 2, 4)
        ),
        _shaped("transpose tile", "transpose_tile", MATRIX, square),
        _shaped("transpose tile padded", "transpose_tile", MATRIX, ragged, PAD=1),
        _shaped("transpose tile padded by 2", "transpose_tile", MATRIX, square, PAD=2),
        _shaped("transpose tile swizzled", "transpose_tile", MATRIX, square, SWIZZLE=1),
        _shaped("transpose 32x8", "transpose_block", MATRIX, ragged),
        _shaped("transpose 16x16", "transpose_block", MATRIX, square, ACROSS=16, DOWN=16),
        *(_vectors(f"block sum, way {w}", "block_sum", n, 0, n // 512, WAY=w) for w in (0, 1, 2)),
        *(_vectors(f"histogram, way {w}", "histogram", n, 0, n // 4096 * 16, words=True, WAY=w) for w in (0, 1)),
        _shaped("stencil", "stencil", GRID, ragged, LDS=0),
        _shaped("stencil through LDS", "stencil", GRID, square, LDS=1),
        _shaped("product 16x16", "gemm_tile", PRODUCT, product),
        _shaped("product 16x16 without LDS", "gemm_tile", PRODUCT, product, LDS=0),
        _shaped("product 64x64 in registers", "gemm_registers", PRODUCT, product),
        _shaped("product 64x64 in registers, wide", "gemm_registers", PRODUCT, product, WIDE=1),
    ]

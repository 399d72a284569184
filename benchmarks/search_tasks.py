"""The tasks of `benchmarks.search`: the shipped ones, and two kernels of one's own that no task ships."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from benchmarks.folders import KERNELS
from tasks.loader import load_task
from tasks.task import Array, Case, Task, Tensors, TensorSpec
from tasks.tolerance import Tolerance

TARGET = "mi300x"
SHIPPED = ("row_softmax", "rms_norm", "transpose", "fp8_block_gemm")
LARGE_GEMM = ("m=1024,n=4608,k=7168", "m=6144,n=1536,k=7168")  # of 18 benchmark cases: an estimate of all takes long


def case(dims: Mapping[str, int], seed: int, is_benchmark: bool = False) -> Case:
    """Make a case under the name that the loader would give it."""
    name = ",".join(f"{n}={v}" for n, v in dims.items())
    return Case(name, dims, seed, role="benchmark" if is_benchmark else "test")


def digest(text: str) -> str:
    """Compute a digest for a task without a folder of its own."""
    return hashlib.sha256(text.encode()).hexdigest()


def bias_gelu() -> Task:
    """Build Y = gelu(x + bias) of a matrix by rows, float32: an element a work-item, as a user brings it."""

    def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
        rows, cols = case.dims["rows"], case.dims["cols"]
        return {
            "x": rng.standard_normal((rows, cols), dtype=np.float32),
            "bias": rng.standard_normal(cols, dtype=np.float32),
        }

    def gelu(inputs: Tensors, kind: type) -> dict[str, Array]:
        v: Array = inputs["x"].astype(kind) + inputs["bias"].astype(kind)
        inner = kind(0.7978845608028654) * (v + kind(0.044715) * v * v * v)
        return {"y": kind(0.5) * v * (kind(1) + np.tanh(inner))}

    return Task(
        name="bias_gelu",
        title="Bias and GELU",
        description="y = gelu(x + bias), by the approximation with tanh.",
        targets=(TARGET,),
        inputs=(TensorSpec("x", "f32", ("rows", "cols")), TensorSpec("bias", "f32", ("cols",))),
        outputs=(TensorSpec("y", "f32", ("rows", "cols")),),
        scalars=(),
        tests=tuple(case(d, n) for n, d in enumerate(({"rows": 7, "cols": 1000}, {"rows": 3, "cols": 31}))),
        benchmarks=(case({"rows": 4096, "cols": 4096}, 9, is_benchmark=True),),
        flops="16 * rows * cols",
        bytes_moved="8 * rows * cols + 4 * cols",
        peak="fp32_vector",
        tolerance=Tolerance(8.0),
        folder=KERNELS,
        digest=digest("bias_gelu 1"),
        seeds=(KERNELS / "bias_gelu.hip",),
        make_inputs=make_inputs,
        reference=lambda inputs, case: gelu(inputs, np.float64),
        baseline=lambda inputs, case: gelu(inputs, np.float32),
    )


def gemm_f16() -> Task:
    """Build C = a * b^T in f16 with f32 sums on the matrix cores: seven tunables, most choices of which are slow."""

    def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
        rows, cols, inner = (case.dims[n] for n in ("rows", "cols", "inner"))
        shapes = {"a": (rows, inner), "b": (cols, inner)}
        return {n: rng.standard_normal(shape, dtype=np.float32).astype(np.float16) for n, shape in shapes.items()}

    def product(inputs: Tensors, kind: type) -> dict[str, Array]:
        return {"c": inputs["a"].astype(kind) @ inputs["b"].astype(kind).T}

    large = {"rows": 4096, "cols": 2048, "inner": 2048}
    return Task(
        name="gemm_f16",
        title="A matrix product in f16",
        description="c = a * b^T, a and b f16 by rows, c f32.",
        targets=(TARGET,),
        inputs=(TensorSpec("a", "f16", ("rows", "inner")), TensorSpec("b", "f16", ("cols", "inner"))),
        outputs=(TensorSpec("c", "f32", ("rows", "cols")),),
        scalars=(),
        tests=(case({"rows": 128, "cols": 128, "inner": 64}, 0), case({"rows": 256, "cols": 128, "inner": 128}, 1)),
        benchmarks=(case(large, 9, is_benchmark=True),),
        flops="2 * rows * cols * inner",
        bytes_moved="2 * inner * (rows + cols) + 4 * rows * cols",
        peak="fp16_matrix",
        tolerance=Tolerance(8.0),
        multiples={"rows": 128, "cols": 128, "inner": 64},
        folder=KERNELS,
        digest=digest("gemm_f16 1"),
        seeds=(KERNELS / "gemm_f16.hip",),
        make_inputs=make_inputs,
        reference=lambda inputs, case: product(inputs, np.float64),
        baseline=lambda inputs, case: product(inputs, np.float32),
    )


def tasks() -> dict[str, Task]:
    """Build all six, by name."""
    by_name = {name: load_task(name, TARGET) for name in SHIPPED}
    gemm = by_name["fp8_block_gemm"]
    fewer = tuple(c for c in gemm.benchmarks if c.name in LARGE_GEMM)
    by_name["fp8_block_gemm"] = replace(gemm, benchmarks=fewer, digest=digest(f"{gemm.digest} two cases"))
    return {**by_name, "bias_gelu": bias_gelu(), "gemm_f16": gemm_f16()}

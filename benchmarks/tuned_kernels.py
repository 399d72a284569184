"""The spaces that the lab evaluates whole for `sample_efficiency`: a kernel file with its tunables at one size each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.folders import KERNELS
from tasks.dtypes import numpy_dtype
from tasks.expressions import evaluate
from tasks.loader import load_task
from tasks.task import Array, Case, ScalarSpec, Task, Tensors, TensorSpec
from tasks.tolerance import Tolerance

TARGET = "mi300x"
Shapes = Mapping[str, tuple[str, ...]]  # dtype first, then the extents


@dataclass(frozen=True)
class Tuned:
    """One kernel file and the task it is estimated for."""

    path: Path
    task: Task


def shipped(task: str, seed: str) -> Tuned:
    """Return a shipped seed on its task's own benchmark cases."""
    loaded = load_task(task, TARGET)
    return Tuned(loaded.folder / seed, loaded)


def one_case(
    name: str,
    inputs: Shapes,
    outputs: Shapes,
    dims: Mapping[str, int],
    work: tuple[str, str],
    peak: str = "fp32_vector",
    eps: float | None = None,
) -> Tuned:
    """Build a kernel of this folder at one size; `work` is flops and compulsory bytes. Only its time is asked for."""

    def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
        values = {n: rng.standard_normal([evaluate(d, case.dims) for d in shape]) for n, (_, *shape) in inputs.items()}
        return {
            n: v.astype(np.float32 if inputs[n][0] == "bf16" else numpy_dtype(inputs[n][0])) for n, v in values.items()
        }

    def nothing(inputs: Tensors, case: Case) -> dict[str, Array]:
        return {}

    case = Case(",".join(f"{n}={v}" for n, v in dims.items()), dims, 0, role="benchmark")
    built = Task(
        name=name,
        title=name,
        description="",
        targets=(TARGET,),
        inputs=tuple(TensorSpec(n, dtype, tuple(shape)) for n, (dtype, *shape) in inputs.items()),
        outputs=tuple(TensorSpec(n, dtype, tuple(shape)) for n, (dtype, *shape) in outputs.items()),
        scalars=() if eps is None else (ScalarSpec("eps", "f32", eps),),
        tests=(case,),
        benchmarks=(case,),
        flops=work[0],
        bytes_moved=work[1],
        peak=peak,
        tolerance=Tolerance(1.0),
        folder=KERNELS,
        digest=name,
        seeds=(),
        make_inputs=make_inputs,
        reference=nothing,
        baseline=nothing,
    )
    return Tuned(KERNELS / f"{name}.hip", built)


_A, _B, _C = ("rows", "inner"), ("inner", "cols"), ("rows", "cols")


def tuned_kernels() -> dict[str, Tuned]:
    """List all of them, by the name of their space."""
    return {
        "row_softmax": shipped("row_softmax", "seed_tunable.hip"),
        "gemm_registers": one_case(
            "gemm_registers",
            {"a": ("f32", *_A), "b": ("f32", *_B)},
            {"c": ("f32", *_C)},
            {"rows": 2048, "cols": 2048, "inner": 1024},
            ("2 * rows * cols * inner", "4 * (rows * cols + inner * (rows + cols))"),
        ),
        "gemm_f16": one_case(
            "gemm_f16",
            {"a": ("f16", "rows", "inner"), "b": ("f16", "cols", "inner")},
            {"c": ("f32", *_C)},
            {"rows": 4096, "cols": 2048, "inner": 2048},
            ("2 * rows * cols * inner", "2 * inner * (rows + cols) + 4 * rows * cols"),
            "fp16_matrix",
        ),
        "gemm_fp8": one_case(
            "gemm_fp8",
            {
                "a": ("e4m3fnuz", "m", "k"),
                "b": ("e4m3fnuz", "n", "k"),
                "a_scale": ("f32", "m", "k // 128"),
                "b_scale": ("f32", "ceil_div(n, 128)", "k // 128"),
            },
            {"c": ("bf16", "m", "n")},
            {"m": 1024, "n": 4608, "k": 7168},
            ("2 * m * n * k", "k * (m + n) + 2 * m * n"),
            "fp8_matrix",
        ),
    }

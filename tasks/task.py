"""A task as the rest of the program sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from records.evaluation import CaseRole
from tasks.dtypes import Array as Array
from tasks.dtypes import rounded
from tasks.expressions import evaluate
from tasks.tolerance import Tolerance

Tensors = Mapping[str, Array]
DTYPES = (
    "f64",
    "f32",
    "f16",
    "bf16",
    "e4m3fnuz",
    "e5m2fnuz",
    "e4m3fn",
    "e5m2",
    "i64",
    "i32",
    "i16",
    "i8",
    "u8",
    "bool",
)


@dataclass(frozen=True)
class TensorSpec:
    """An input or output: shape is a tuple of expressions over the case's dims."""

    name: str
    dtype: str  # one of DTYPES
    shape: tuple[str, ...]
    layout: Literal["row_major", "column_major"] = "row_major"

    def flatten(self, array: Array) -> Array:
        """The array in the order of its memory, one dimension."""
        return np.ravel(array, order="F" if self.layout == "column_major" else "C")

    def unflatten(self, flat: Array, shape: tuple[int, ...]) -> Array:
        """Flat memory as an array of this shape."""
        return flat.reshape(shape, order="F" if self.layout == "column_major" else "C")


@dataclass(frozen=True)
class ScalarSpec:
    """A scalar argument, the same for every case."""

    name: str
    dtype: str
    value: float | int


@dataclass(frozen=True)
class Case:
    """One set of dims to run on."""

    name: str  # "rows=7,cols=1000"
    dims: Mapping[str, int]
    seed: int
    weight: float = 1.0
    role: CaseRole = "test"


@dataclass(frozen=True, kw_only=True)
class Statement:
    """The task.toml of a task."""

    name: str
    title: str
    description: str
    targets: tuple[str, ...]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    scalars: tuple[ScalarSpec, ...]
    tests: tuple[Case, ...]
    benchmarks: tuple[Case, ...]
    flops: str  # expression over dims
    bytes_moved: str  # expression over dims: compulsory traffic
    peak: str  # the peak rate that bounds the arithmetic: a key of the target's [peaks_tflops]
    tolerance: Tolerance
    multiples: Mapping[str, int] = field(default_factory=dict)  # dims that must be multiples of something
    variant_names: tuple[str, ...] = ()  # the keys of the dictionary that `variants` returns
    mix: bool = True  # parts of two draws of the inputs make a sound draw; False where values belong together


@dataclass(frozen=True, kw_only=True)
class Task(Statement):
    """A loaded task folder, for one target. Functions come from its reference.py."""

    folder: Path
    digest: str  # SHA-256 over task.toml, reference.py and the target's own types: part of every evaluation key
    origin: str = ""  # of a part of a task: the digest of the whole one
    conditions: tuple[str, ...] = ()  # of a part of a task: what all of its shapes meet
    edges: tuple[Mapping[str, int], ...] = ()  # held-out shapes beside the thresholds of a table of kernels
    seeds: tuple[Path, ...]  # seed.hip first, then seed_*.hip by name
    make_inputs: Callable[[Case, np.random.Generator], dict[str, Array]] = field(repr=False)
    reference: Callable[[Tensors, Case], dict[str, Array]] = field(repr=False)  # float64
    baseline: Callable[[Tensors, Case], dict[str, Array]] = field(repr=False)  # the task's own dtype
    check: Callable[[Tensors, Tensors, Case], tuple[bool, str]] | None = field(default=None, repr=False)
    variants: Callable[[Tensors, Case, np.random.Generator], dict[str, Tensors]] | None = field(
        default=None, repr=False
    )  # further input families for held-out cases, by name
    shortcuts: Callable[[Tensors, Case], dict[str, Tensors]] | None = field(
        default=None, repr=False
    )  # answers of kernels that leave work out, by what they do; some case must refuse each

    def shape_of(self, tensor: TensorSpec, case: Case) -> tuple[int, ...]:
        """The tensor's shape for this case."""
        return tuple(evaluate(text, case.dims) for text in tensor.shape)

    def draw(self, case: Case) -> dict[str, Array]:
        """The case's inputs; the same case always gives the same values.

        Float32 values of an input that is declared in a narrower floating type are rounded to it.
        """
        drawn = self.make_inputs(case, np.random.default_rng(case.seed))
        types = {spec.name: spec.dtype for spec in self.inputs}
        return {name: rounded(array, types.get(name, "")) for name, array in drawn.items()}

    def work(self, case: Case) -> tuple[float, float]:
        """Floating-point operations and compulsory bytes of this case."""
        return float(evaluate(self.flops, case.dims)), float(evaluate(self.bytes_moved, case.dims))

"""A task as the rest of the program sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np

from records.evaluation import CaseRole
from tasks.dtypes import Array as Array
from tasks.dtypes import rounded, unsigned_zeros
from tasks.expressions import evaluate
from tasks.origin import Origin
from tasks.tensor import TensorSpec as TensorSpec
from tasks.tensor import extent
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
class Golden:
    """A reference of recorded answers: so many draws of each listed case; the SHA-256 of the file that holds them."""

    draws: int
    digest: str

    @property
    def text(self) -> str:
        """One sentence on what such a verdict is worth."""
        return (
            f"golden: {self.draws} recorded draws of the listed shapes, none held out; a kernel could recognise its "
            "inputs, so read it before you use it"
        )


@dataclass(frozen=True)
class ScalarSpec:
    """A scalar argument; without a value of its own each case gives one, with one a case may give another."""

    name: str
    dtype: str
    value: float | int | None


@dataclass(frozen=True)
class Case:
    """One set of dims to run on."""

    name: str  # "rows=7,cols=1000"
    dims: Mapping[str, int]
    seed: int
    weight: float = 1.0
    role: CaseRole = "test"
    scalars: Mapping[str, float | int] = field(default_factory=dict)  # the value of each of the task's scalars
    absent: tuple[str, ...] = ()  # optional inputs that are not given


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
    wide: tuple[str, ...] = ()  # of these the ones on which outputs may be as far off as on a family made for any task
    provenance: Origin | None = None  # where the task was taken from
    mix: bool = True  # parts of two draws of the inputs make a sound draw; False where values belong together
    golden: Golden | None = None  # the reference's answers are recorded ones
    plant: tuple[str, ...] = ()  # the inputs that may hold other values than are drawn: zeros, equal ones, any order


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
    in_order: Callable[[Tensors, Case], dict[str, Array]] | None = field(default=None, repr=False)  # adding one by one
    admit: Callable[[Tensors, Case, float], dict[str, Tensors]] | None = field(default=None, repr=False)  # roundings.py
    variants: Callable[[Tensors, Case, np.random.Generator], dict[str, Tensors]] | None = field(
        default=None, repr=False
    )  # further input families for held-out cases, by name
    within: Callable[[Tensors, Tensors, Case], dict[str, Array]] | None = field(default=None, repr=False)
    shortcuts: Callable[[Tensors, Case], dict[str, Tensors]] | None = field(
        default=None, repr=False
    )  # answers of kernels that leave work out, by what they do; some case must refuse each

    def expected(self, inputs: Tensors, case: Case) -> tuple[dict[str, Array], dict[str, Array]]:
        """Compute reference and baseline. What overflows in them is compared like any other value, and no warning."""
        with np.errstate(all="ignore"):
            return self.reference(inputs, case), self.baseline(inputs, case)

    def restored(self, changed: Tensors, drawn: Tensors, case: Case) -> Tensors:
        """Take inputs that were changed back to those drawn wherever they break what the description promises.

        Zeros are positive in them: a scale or an exchanged sign makes negative ones, which no draw holds.
        """
        plain = {name: x if x is drawn.get(name) else unsigned_zeros(x) for name, x in changed.items()}
        return plain if self.within is None else {**plain, **self.within(plain, drawn, case)}

    def shape_of(self, tensor: TensorSpec, case: Case) -> tuple[int, ...]:
        """Return the tensor's shape for this case."""
        return tuple(evaluate(text, case.dims) for text in tensor.shape)

    def strides_of(self, tensor: TensorSpec, case: Case) -> tuple[int, ...]:
        """Return the tensor's strides in elements; empty where its memory is dense."""
        return tuple(evaluate(text, case.dims) for text in tensor.strides)

    def length_of(self, tensor: TensorSpec, case: Case) -> int:
        """Count the elements of the tensor's memory."""
        shape = self.shape_of(tensor, case)
        return extent(shape, self.strides_of(tensor, case)) if tensor.strides else prod(shape)

    def flatten(self, tensor: TensorSpec, array: Array, case: Case) -> Array:
        """Return the tensor's memory for this case, one dimension."""
        return tensor.flatten(array, self.strides_of(tensor, case))

    def inputs_of(self, case: Case) -> tuple[TensorSpec, ...]:
        """List the inputs that a case gives."""
        return tuple(s for s in self.inputs if s.name not in case.absent) if case.absent else self.inputs

    @property
    def initials(self) -> Mapping[str, str]:
        """The inputs that only fill an output before the launch, to the output; no kernel gets them by their name."""
        return {s.initial: s.name for s in self.outputs if s.initial}

    def tolerance_of(self, output: TensorSpec) -> Tolerance:
        """Return the error that this output may have."""
        return output.tolerance or self.tolerance

    def draw(self, case: Case) -> dict[str, Array]:
        """Draw the case's inputs; the same case always gives the same values.

        Float32 values of an input that is declared in a narrower floating type are rounded to it.
        """
        drawn = self.make_inputs(case, np.random.default_rng(case.seed))
        types = {spec.name: spec.dtype for spec in self.inputs}
        return {name: rounded(array, types.get(name, "")) for name, array in drawn.items() if name not in case.absent}

    def work(self, case: Case) -> tuple[float, float]:
        """Count the floating-point operations and compulsory bytes of this case."""
        return float(evaluate(self.flops, case.dims)), float(evaluate(self.bytes_moved, case.dims))

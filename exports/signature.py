"""The arguments of an exported kernel: the task's buffers, and the dims that no shape of an input gives."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from keyword import iskeyword

from records.errors import UsageError
from sandbox.candidate.parse import RESERVED
from tasks.expressions import names_in
from tasks.parameters import frozen_parameters
from tasks.task import Case, ScalarSpec, Task, TensorSpec

ELEMENT_TYPES = {
    "f64": "double",
    "f32": "float",
    "i64": "long long",
    "i32": "int",
    "i16": "short",
    "i8": "signed char",
    "u8": "unsigned char",
    "bool": "bool",
}


@dataclass(frozen=True)
class Extent:
    """A dim as the extent of an input along an axis, divided by a number."""

    tensor: str
    axis: int
    divisor: int = 1


@dataclass(frozen=True)
class Signature:
    """Everything that a caller hands over, in order: inputs, outputs, the dims in `explicit_dims`, then `scalars`.

    An output that is updated in place begins with the values of an input, its first values. Where outputs are given,
    they hold those already; where they are returned, the input is taken beside the others.
    """

    inputs: tuple[TensorSpec, ...]  # that kernels read
    outputs: tuple[TensorSpec, ...]
    dims: tuple[str, ...]
    input_dims: dict[str, Extent]  # that follow from an input's shape
    explicit_dims: tuple[str, ...]  # the others
    output_dims: dict[str, Extent]  # of the explicit ones, where outputs are given
    all_inputs: tuple[TensorSpec, ...]  # in the task's order
    initial_dims: dict[str, Extent]  # of the explicit ones, by an output's first values
    scalars: tuple[ScalarSpec, ...]  # that differ from case to case; the others are compiled in

    @property
    def buffers(self) -> tuple[TensorSpec, ...]:
        """Inputs, then outputs."""
        return (*self.inputs, *self.outputs)

    @property
    def first(self) -> TensorSpec:
        """An input that every call has."""
        return next(t for t in self.all_inputs if not t.optional)


def signature_of(task: Task) -> Signature:
    """Read the task's signature. UsageError for a name that C++ or Python keeps for itself, or an export may use."""
    dims = tuple(task.tests[0].dims)
    for name in (*dims, *(t.name for t in (*task.inputs, *task.outputs)), *(s.name for s in task.scalars)):
        if iskeyword(name) or name in RESERVED or name.endswith("_"):
            raise UsageError(f"the task's name {name!r} cannot be a name in an export; rename it in its task.toml")
    if all(tensor.optional for tensor in task.inputs):
        raise UsageError(f"the task {task.name} has no input that every call gives, which an export needs")
    inputs = tuple(t for t in task.inputs if t.name not in task.initials)
    input_dims = _extents(inputs)
    output_dims = {name: extent for name, extent in _extents(task.outputs).items() if name not in input_dims}
    initial_dims = _extents(tuple(t for t in task.inputs if t.name in task.initials))
    cases = (*task.tests, *task.benchmarks)
    varying = tuple(s for s in task.scalars if s.value is None or _varies(cases, s))
    return Signature(
        inputs,
        task.outputs,
        dims,
        input_dims,
        tuple(n for n in dims if n not in input_dims),
        output_dims,
        task.inputs,
        {name: extent for name, extent in initial_dims.items() if name not in input_dims},
        varying,
    )


def frozen_texts(task: Task, signature: Signature) -> tuple[str, ...]:
    """Name everything of the original that no call of an export can change: `dim = -1`, `eps = 1e-06`."""
    handed_names = {s.name for s in signature.scalars}
    compiled_in = [s for s in task.scalars if s.name not in handed_names]
    return (
        *(f"{p.name} = {p.default or 'its default'}" for p in frozen_parameters(task)),
        *(f"{s.name} = {s.value}" for s in compiled_in),
        *([task.provenance.frozen] if task.provenance is not None and task.provenance.frozen else []),
    )


def _extents(tensors: tuple[TensorSpec, ...]) -> dict[str, Extent]:
    """Dims that follow from the tensors' shapes."""
    extents = dict[str, Extent]()
    for tensor in (t for t in tensors if not t.optional):
        for axis, text in enumerate(tensor.shape):
            names = names_in(text)
            if len(names) == 1 and (name := next(iter(names))) not in extents and (divisor := _divisor(text)):
                extents[name] = Extent(tensor.name, axis, divisor)
    return extents


def identifier(name: str) -> str:
    """Return a task's name as a C identifier."""
    word = re.sub(r"\W", "_", name)
    return word if word[:1].isalpha() else f"k_{word}"


def _divisor(text: str) -> int:
    """1 for `n`, c for `c * n` and `n * c`, 0 for anything else."""
    match ast.parse(text, mode="eval").body:
        case ast.Name():
            return 1
        case ast.BinOp(left=ast.Constant(value=int() as by), op=ast.Mult(), right=ast.Name()):
            return by
        case ast.BinOp(left=ast.Name(), op=ast.Mult(), right=ast.Constant(value=int() as by)):
            return by
    return 0


def refuse_beyond(
    signature: Signature, form: str, *, strides: bool = False, optional: bool = False, scalars: bool = False
) -> None:
    """UsageError for what a form has no way for; the flags say what it has a way for."""
    for feature, has_way, names in (
        ("inputs with strides of their own", strides, [t.name for t in signature.all_inputs if t.strides]),
        ("inputs that may be left out", optional, [t.name for t in signature.all_inputs if t.optional]),
        ("scalars that differ from call to call", scalars, [s.name for s in signature.scalars]),
    ):
        if names and not has_way:
            raise UsageError(f"{form} has no way for {feature} ({', '.join(names)}): export it --as torch or --as hip")


def _varies(cases: tuple[Case, ...], scalar: ScalarSpec) -> bool:
    return any(case.scalars.get(scalar.name, scalar.value) != scalar.value for case in cases)

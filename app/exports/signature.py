"""The arguments of an exported kernel: the task's buffers, and the dims that no shape of an input gives."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from keyword import iskeyword

from records.errors import UsageError
from sandbox.candidate.parse import RESERVED
from tasks.expressions import names_in
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
    """Everything that a caller hands over, in order: inputs, outputs, then the dims in `asked`."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    dims: tuple[str, ...]
    found: dict[str, Extent]  # dims that follow from an input's shape
    asked: tuple[str, ...]  # the others
    shown: dict[str, Extent]  # those of `asked` that follow from an output's shape, where outputs are given

    @property
    def buffers(self) -> tuple[TensorSpec, ...]:
        """Inputs, then outputs."""
        return (*self.inputs, *self.outputs)


def signature_of(task: Task) -> Signature:
    """The task's. UsageError for a name that C++ or Python keeps for itself, or that an export may use."""
    dims = tuple(task.tests[0].dims)
    _refuse_unexportable(task)
    for name in (*dims, *(tensor.name for tensor in (*task.inputs, *task.outputs))):
        if iskeyword(name) or name in RESERVED or name.endswith("_"):
            raise UsageError(f"the task's name {name!r} cannot be a name in an export; rename it in its task.toml")
    found = _found(task.inputs)
    shown = {name: extent for name, extent in _found(task.outputs).items() if name not in found}
    return Signature(task.inputs, task.outputs, dims, found, tuple(n for n in dims if n not in found), shown)


def _found(tensors: tuple[TensorSpec, ...]) -> dict[str, Extent]:
    """Dims that follow from the tensors' shapes."""
    found = dict[str, Extent]()
    for tensor in tensors:
        for axis, text in enumerate(tensor.shape):
            names = names_in(text)
            if len(names) == 1 and (name := next(iter(names))) not in found and (divisor := _divisor(text)):
                found[name] = Extent(tensor.name, axis, divisor)
    return found


def identifier(name: str) -> str:
    """A task's name as a C identifier."""
    made = re.sub(r"\W", "_", name)
    return made if made[:1].isalpha() else f"k_{made}"


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


def _refuse_unexportable(task: Task) -> None:
    """UsageError for a task that holds what no export passes on yet."""
    cases = (*task.tests, *task.benchmarks)
    varying = [s.name for s in task.scalars if s.value is None or _varies(cases, s)]
    for what, names in (
        ("scalars that differ from case to case", varying),
        ("strided inputs", [s.name for s in task.inputs if s.strides]),
        ("optional inputs", [s.name for s in task.inputs if s.optional]),
        ("outputs that are updated in place", [s.name for s in task.outputs if s.initial]),
    ):
        if names:
            raise UsageError(f"the task {task.name} has {what} ({', '.join(names)}), which an export cannot hold yet")


def _varies(cases: tuple[Case, ...], scalar: ScalarSpec) -> bool:
    return any(case.scalars.get(scalar.name, scalar.value) != scalar.value for case in cases)

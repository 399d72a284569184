"""A kernel as a trace set of FlashInfer-Bench: definition, workloads with their tensors, solution.

Shapes there are names of axes, so each expression of a shape becomes an axis with a constraint. The outputs are handed
to the solution behind the inputs. A column-major matrix is the transposed, dense one.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from pathlib import PurePosixPath
from uuid import NAMESPACE_OID, uuid5

from exports.inline_module import compiled_inline
from exports.original_definition import OriginalDefinition, original_of
from exports.provenance import Provenance, lines_of, spoken
from exports.python_reference import called_with_tensors, standalone
from exports.safetensors_file import safetensors_file
from exports.signature import Extent, refuse_beyond
from exports.torch_operator import TorchOperator
from records.errors import UsageError
from tasks.dtypes import numpy_dtype, size_bytes
from tasks.expressions import evaluate
from tasks.task import Array, Case, TensorSpec

TYPES = {
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "e4m3fn": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "bool": "bool",
}
MOST_BYTES = 16 << 20  # of a case whose tensors are stored
AUTHOR = "gpu-kernel-scientist"
_SOLUTION = '''\
"""{title}

{said}
"""

import math

{environment}import torch
from torch.utils.cpp_extension import load_inline

{compiled}

def run({parameters}):
    """Write the outputs, which come behind the inputs."""
{checks}    COMPILED.{symbol}({arguments})
'''


def flashinfer_trace(operator: TorchOperator, provenance: Provenance) -> dict[str, bytes]:
    """Write the files by path. UsageError for a task that the format cannot hold."""
    refuse_beyond(operator.signature, "FlashInfer-Bench", scalars=True)
    original = original_of(operator.launcher.task)
    trace = _Trace(operator, provenance) if original is None else _OriginalTrace(operator, provenance, original)
    return {str(PurePosixPath(path)): content for path, content in trace.files().items()}


class _Trace:
    def __init__(self, operator: TorchOperator, provenance: Provenance) -> None:
        self._operator, self._task, self._provenance = operator, operator.launcher.task, provenance
        for kind in [*(t.dtype for t in operator.signature.buffers), *(s.dtype for s in self._task.scalars)]:
            if kind not in TYPES:
                raise UsageError(f"FlashInfer-Bench has no type for {kind}")
        self._axes = dict[str, str]()  # expressions, and the names of their axes
        for tensor in operator.signature.buffers:
            for text in tensor.shape:
                self._axes.setdefault(text, _axis(text))
        self._name = operator.name

    @cached_property
    def _fixed(self) -> dict[str, int]:
        """Expressions that no input shows."""
        input_extents = {text for tensor in self._task.inputs for text in tensor.shape}
        return {text: self._only(text) for text in self._axes if text not in input_extents}

    def files(self) -> dict[str, bytes]:
        """Everything, by path."""
        name = self._name
        if len(set(self._axes.values())) < len(self._axes):
            raise UsageError("two expressions of the task's shapes would have one name as axes of FlashInfer-Bench")
        files = {
            f"definitions/{name}/{name}.json": _json(self._definition()),
            f"solutions/{AUTHOR}/{name}/{name}/{self._solution_name()}.json": _json(self._solution()),
        }
        rows = list[str]()
        for case in (*self._task.tests, *self._task.benchmarks):
            inputs, stored = self._inputs(case)
            if inputs is None:
                continue
            axes = {
                self._axes[t]: evaluate(t, case.dims) for t in self._axes if t not in self._fixed and not _number(t)
            }
            workload = {"axes": axes, "inputs": inputs, "uuid": self._uuid(case)}
            row = {"definition": name, "workload": workload, "solution": None, "evaluation": None}
            rows.append(json.dumps(row))
            files |= stored
        files[f"workloads/{name}/{name}.jsonl"] = ("\n".join(rows) + "\n").encode()
        return files

    def _only(self, text: str) -> int:
        """Return the value that the expression has in every case: no input shows it."""
        values = {evaluate(text, case.dims) for case in (*self._task.tests, *self._task.benchmarks)}
        if len(values) != 1:
            raise UsageError(
                f"FlashInfer-Bench finds axes in the inputs' shapes, and {text} is in none and differs between cases"
            )
        return values.pop()

    def _uuid(self, case: Case) -> str:
        return str(uuid5(NAMESPACE_OID, f"{self._task.digest}/{case.role}/{case.name}/{case.seed}"))

    def _shape(self, tensor: TensorSpec) -> list[str]:
        names = [self._axes[text] for text in tensor.shape]
        return names[::-1] if tensor.layout == "column_major" else names

    def _definition(self) -> dict[str, object]:
        task, axes = self._task, dict[str, object]()
        for text, name in self._axes.items():
            value = int(text) if _number(text) else self._fixed.get(text)
            axes[name] = {"type": "var"} if value is None else {"type": "const", "value": value}
        tensors = {
            t.name: {"shape": self._shape(t), "dtype": TYPES[t.dtype], "description": _layout(t)} for t in task.inputs
        }
        scalars = {s.name: {"shape": None, "dtype": TYPES[s.dtype], "description": "a scalar"} for s in task.scalars}
        outputs = {
            t.name: {"shape": self._shape(t), "dtype": TYPES[t.dtype], "description": _layout(t)} for t in task.outputs
        }
        return {
            "name": self._name,
            "op_type": self._name,
            "description": " ".join(task.description.split()),
            "axes": axes,
            "constraints": self._constraints(),
            "inputs": {**tensors, **scalars},
            "outputs": outputs,
            "reference": self._reference(),
        }

    def _constraints(self) -> list[str]:
        rows = [f"{name} % {by} == 0" for name, by in self._task.multiples.items() if name in self._axes]
        for text, name in self._axes.items():
            if name != text and not _number(text) and text not in self._fixed:
                plain = re.sub(r"\bceil_div\(([^(),]+),([^(),]+)\)", r"(-(-(\1) //\2))", text)
                if "ceil_div" not in plain and all(d in self._axes for d in re.findall(r"\b[A-Za-z_]\w*", plain)):
                    rows.append(f"{name} == {plain}")
        return rows

    def _reference(self) -> str:
        dims = {n: _in_python(e) for n, e in self._operator.signature.input_dims.items()}
        dims |= {n: str(self._only(n)) for n in self._operator.signature.explicit_dims}
        return standalone(self._task, "run") + called_with_tensors(self._task, "run", dims)

    def _solution_name(self) -> str:
        return f"{self._name}_{self._operator.target.name}_{self._provenance.digest[:12]}"

    def _solution(self) -> dict[str, object]:
        lines = lines_of(self._provenance)
        return {
            "name": self._solution_name(),
            "definition": self._name,
            "author": AUTHOR,
            "description": " ".join(lines),
            "spec": {
                "language": "python",
                "target_hardware": [self._operator.target.title],
                "entry_point": "main.py::run",
                "dependencies": ["torch"],
                "destination_passing_style": True,
            },
            "sources": [{"path": "main.py", "content": self._main(lines)}],
        }

    def _main(self, lines: list[str]) -> str:
        operator, task = self._operator, self._task
        arguments = [f"{t.name}.t()" if t.layout == "column_major" else t.name for t in operator.signature.buffers]
        arguments += [str(self._only(name)) for name in operator.explicit_dims("into")]
        arguments += [s.name for s in operator.signature.scalars]
        values = {s.name: s.value for s in task.scalars if s not in operator.signature.scalars}
        checks = [
            f"    if not math.isclose({name}, {value!r}, rel_tol=1e-6):\n"
            f'        raise ValueError("this kernel was verified with {name} = {value!r}")\n'
            for name, value in values.items()
        ]
        checks += [f"    {t.name}.copy_({t.initial})\n" for t in task.outputs if t.initial]
        names = self._parameters()
        environment = (
            "" if operator.is_cuda else f'import os\n\nos.environ["PYTORCH_ROCM_ARCH"] = "{operator.target.arch}"\n\n'
        )
        return _SOLUTION.format(
            title=spoken(task.title) + ".",
            said="\n".join(lines),
            environment=environment,
            compiled=compiled_inline(operator, "into", operator.kernel(), operator.function("into")),
            parameters=", ".join(names),
            checks="".join(checks),
            symbol=operator.symbol("into"),
            arguments=", ".join(arguments),
        )

    def _parameters(self) -> list[str]:
        """List the names of what `run` takes, outputs last."""
        task = self._task
        return [t.name for t in task.inputs] + [s.name for s in task.scalars] + [t.name for t in task.outputs]

    def _inputs(self, case: Case) -> tuple[dict[str, object] | None, dict[str, bytes]]:
        """Give the workload's inputs and their files; none for a large case whose values are not any numbers."""
        task = self._task
        scalars: dict[str, object] = {s.name: {"type": "scalar", "value": case.scalars[s.name]} for s in task.scalars}
        sizes = [size_bytes(t.dtype) * _product(task.shape_of(t, case)) for t in task.inputs]
        if sum(sizes) > MOST_BYTES or case.role == "benchmark":
            if any(t.dtype.startswith(("i", "u", "bool")) for t in task.inputs):
                return None, {}
            return {t.name: {"type": "random"} for t in task.inputs} | scalars, {}
        path = f"blob/workloads/{self._name}/{self._uuid(case)}.safetensors"
        drawn = task.draw(case)
        arrays = {t.name: (t.dtype, _stored(t, drawn[t.name])) for t in task.inputs}
        tensors = {t.name: {"type": "safetensors", "path": path, "tensor_key": t.name} for t in task.inputs}
        return tensors | scalars, {path: safetensors_file(arrays)}


class _OriginalTrace(_Trace):
    """The solution for a definition that the task was imported from, which is left as it was."""

    def __init__(self, operator: TorchOperator, provenance: Provenance, original: OriginalDefinition) -> None:
        super().__init__(operator, provenance)
        self._original, self._name = original, original.name

    def files(self) -> dict[str, bytes]:
        """Everything, by path."""
        path = f"solutions/{AUTHOR}/{self._original.kind}/{self._name}/{self._solution_name()}.json"
        return {**self._original.files, path: _json(self._solution())}

    def _parameters(self) -> list[str]:
        return [*self._original.parameters]


def _stored(tensor: TensorSpec, array: Array) -> Array:
    typed = array.astype(numpy_dtype(tensor.dtype))
    return typed.T if tensor.layout == "column_major" else typed


def _product(shape: tuple[int, ...]) -> int:
    product = 1
    for extent in shape:
        product *= extent
    return product


def _axis(text: str) -> str:
    return f"size_{text}" if _number(text) else re.sub(r"\W+", "_", text).strip("_")


def _number(text: str) -> bool:
    return text.isdecimal()


def _layout(tensor: TensorSpec) -> str:
    return "the transposed matrix of the task's text" if tensor.layout == "column_major" else "row-major"


def _in_python(extent: Extent) -> str:
    return f"{extent.tensor}.shape[{extent.axis}]" + (f" // {extent.divisor}" if extent.divisor > 1 else "")


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()

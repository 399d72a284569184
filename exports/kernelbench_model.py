"""A kernel as KernelBench's candidate: a class `ModelNew` with the interface of the problem's `Model`."""

from __future__ import annotations

import ast
import re

from exports.inline_module import compiled_inline
from exports.provenance import Provenance, lines_of, spoken
from exports.refused_words import without
from exports.signature import refuse_beyond
from exports.torch_operator import TYPES, TorchOperator
from records.errors import UsageError
from sandbox.candidate.parse import listing
from tasks.task import TensorSpec

REFUSED = re.compile(r"\bpass\b|\btry\b|\bexcept\b")  # by KernelBench's static checks
_MODEL = '''\
{said}

{environment}import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

{compiled}

class ModelNew(nn.Module):
    """Takes what the problem's Model takes; all its work is in the kernel."""

{constructor}

    def forward({parameters}):
{body}
'''
_ON_AMD = """\
import os

os.environ["CXX"] = "hipcc"  # asked for by KernelBench's HIP backend, before PyTorch is imported
"""


def kernelbench_model(operator: TorchOperator, provenance: Provenance) -> str:
    """Write the file's text. UsageError for a kernel that needs more than the problem's tensors."""
    signature = operator.signature
    refuse_beyond(signature, "KernelBench")
    if signature.explicit_dims:
        raise UsageError(
            f"{signature.explicit_dims[0]} is in no input's shape, and KernelBench's forward gets tensors alone"
        )
    floats = {tensor.dtype for tensor in signature.buffers if _is_float(tensor)}
    if len(floats) > 1 or not floats <= {"f32", "f16", "bf16"}:
        raise UsageError(
            "KernelBench turns all tensors into one of float32, float16 and bfloat16, "
            f"and this task has {listing(sorted(floats))}"
        )
    kernel = without(operator.kernel(), REFUSED, "other", "KernelBench's static checks")
    constructor, parameters = _interface(operator)
    return _MODEL.format(
        said="\n".join(f"# {line}" for line in [spoken(operator.launcher.task.title) + ".", *lines_of(provenance)]),
        environment="" if operator.is_cuda else _ON_AMD + "\n",
        compiled=compiled_inline(operator, "returns", kernel, operator.function("returns")),
        constructor=constructor,
        parameters=parameters,
        body=_body(operator),
    )


def _interface(operator: TorchOperator) -> tuple[str, str]:
    """Write the constructor and the parameters of `forward`: of the problem's Model where the task came from one.

    The same constructor draws the same weights: KernelBench seeds its generator before each.
    """
    task, names = operator.launcher.task, [t.name for t in operator.signature.all_inputs if not t.parameter]
    plain = "    def __init__(self, *init_inputs):\n        super().__init__()", ", ".join(["self", *names])
    origin = task.provenance
    if origin is None or origin.form != "kernelbench" or not origin.file:
        if len(names) < len(operator.signature.all_inputs):
            raise UsageError(
                f"the task {task.name} has weights, and its folder has no KernelBench problem that makes them"
            )
        return plain
    text = (task.folder / origin.file).read_text(encoding="utf-8")
    model = next(n for n in ast.parse(text).body if isinstance(n, ast.ClassDef) and n.name == "Model")
    methods = {n.name: n for n in model.body if isinstance(n, ast.FunctionDef)}
    forward = methods["forward"].args
    missing = [name for name in names if name not in {a.arg for a in forward.args}]
    if missing:
        raise UsageError(f"{missing[0]} is no argument of the problem's forward, so ModelNew cannot hand it over")
    constructor = methods.get("__init__")
    if constructor is None:
        return plain[0], ast.unparse(forward)
    body = constructor.body[1:] if ast.get_docstring(constructor) is not None else constructor.body
    lines = [f"def __init__({ast.unparse(constructor.args)}):", *("    " + line for n in body for line in _lines(n))]
    return "\n".join(f"    {line}" for line in lines), ast.unparse(forward)


def _body(operator: TorchOperator) -> str:
    """Write the call. A buffer of the problem's Model that it updates is an output of the task, not of forward."""
    signature = operator.signature
    call = f"COMPILED.{operator.symbol('returns')}({', '.join(_argument(tensor) for tensor in signature.all_inputs)})"
    updated = {f"new_{tensor.name}": tensor.parameter for tensor in signature.all_inputs if tensor.parameter}
    names = [tensor.name for tensor in signature.outputs]
    results = [name for name in names if name not in updated]
    if len(results) == len(names):
        return f"        return {call}"
    updates = [f"{_attribute(updated[name])}.copy_({name})" for name in names if name in updated]
    lines = [f"{', '.join(names)} = {call}", *updates, f"return {', '.join(results)}"]
    return "\n".join(f"        {line}" for line in lines)


def _lines(node: ast.stmt) -> list[str]:
    return ast.unparse(node).replace("super(Model, self)", "super()").splitlines()


def _attribute(path: str) -> str:
    """`self.layers[0].weight` for `layers.0.weight`."""
    return "self" + "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in path.split("."))


def _argument(tensor: TensorSpec) -> str:
    """Write the tensor in the layout and, for integers, in the type of the task: KernelBench makes floats of them."""
    typed = _attribute(tensor.parameter) if tensor.parameter else tensor.name
    if not _is_float(tensor):
        typed = f"{typed}.to({TYPES[tensor.dtype][0]})"
    return f"{typed}.t().contiguous().t()" if tensor.layout == "column_major" else f"{typed}.contiguous()"


def _is_float(tensor: TensorSpec) -> bool:
    return tensor.dtype.startswith(("f", "bf", "e"))

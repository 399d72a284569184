"""A kernel as KernelBench's candidate: a class `ModelNew` with the interface of the problem's `Model`."""

from __future__ import annotations

import re

from app.exports.inline_module import compiled_inline
from app.exports.provenance import Provenance, lines_of
from app.exports.refused_words import without
from app.exports.torch_operator import TYPES, TorchOperator
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

    def __init__(self, *init_inputs):
        super().__init__()

    def forward(self, {parameters}):
        return COMPILED.{symbol}({arguments})
'''
_ON_AMD = """\
import os

os.environ["CXX"] = "hipcc"  # asked for by KernelBench's HIP backend, before PyTorch is imported
"""


def kernelbench_model(made: TorchOperator, provenance: Provenance) -> str:
    """The file's text. UsageError for a kernel that needs more than the problem's tensors."""
    signature = made.signature
    if signature.asked:
        raise UsageError(f"{signature.asked[0]} is in no input's shape, and KernelBench's forward gets tensors alone")
    floats = {tensor.dtype for tensor in signature.buffers if _is_float(tensor)}
    if len(floats) > 1 or not floats <= {"f32", "f16", "bf16"}:
        raise UsageError(
            "KernelBench turns all tensors into one of float32, float16 and bfloat16, "
            f"and this task has {listing(sorted(floats))}"
        )
    kernel = without(made.kernel(), REFUSED, "other", "KernelBench's static checks")
    return _MODEL.format(
        said="\n".join(f"# {line}" for line in [made.launcher.task.title.rstrip(".") + ".", *lines_of(provenance)]),
        environment="" if made.is_cuda else _ON_AMD + "\n",
        compiled=compiled_inline(made, "returns", kernel, made.function("returns")),
        parameters=", ".join(tensor.name for tensor in signature.inputs),
        symbol=made.symbol("returns"),
        arguments=", ".join(_argument(tensor) for tensor in signature.inputs),
    )


def _argument(tensor: TensorSpec) -> str:
    """The tensor in the layout and, for integers, in the type of the task: KernelBench makes floats of them."""
    typed = tensor.name
    if not _is_float(tensor):
        typed = f"{typed}.to({TYPES[tensor.dtype][0]})"
    return f"{typed}.t().contiguous().t()" if tensor.layout == "column_major" else f"{typed}.contiguous()"


def _is_float(tensor: TensorSpec) -> bool:
    return tensor.dtype.startswith(("f", "bf", "e"))

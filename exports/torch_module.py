"""A kernel as one Python module for PyTorch: compiled at its import, registered as an operator.

The operator is defined by TORCH_LIBRARY in the compiled half and has a fake version for tracing, so that torch.compile
takes it as it is. It runs on the current stream and takes all its memory from PyTorch's allocator, at each call.
Autograd calls the backward kernel where there is one; where there is none, a backward pass ends with a sentence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from exports.gradient import Gradient, without_gradient
from exports.provenance import Provenance, lines_of, spoken
from exports.python_signature import python_signature
from exports.torch_operator import TorchOperator
from records.errors import UsageError
from sandbox.target import Target

_MODULE = '''\
"""{title}

{said}
"""

from __future__ import annotations

import torch
from torch.utils.cpp_extension import load_inline

{guard}
{halves}
{gradient}

def {name}({parameters}) -> {result}:
    """{title}

    {arguments}
    """{guards}
    return torch.ops.{space}.{name}({names})
{check}'''
_HALF = '''
{upper}KERNEL = r"""
{kernel}
"""
{upper}OPERATOR = r"""
{operator}
"""
load_inline(  # compiled when it is imported for the first time, then kept in PyTorch's folder of extensions
    name="{space}",
    cpp_sources=[{upper}OPERATOR],
    cuda_sources=[{upper}KERNEL],
    extra_cflags=["-std=c++20"],
    extra_cuda_cflags={flags},
    is_python_module=False,
    no_implicit_headers=True,
)


@torch.library.register_fake("{space}::{name}")
def {fake}({parameters}):
    """The outputs' shapes, for tracing."""
{made}

'''


@dataclass(frozen=True)
class Backward:
    """The operator that gives the gradients of another one's inputs, and where it comes from."""

    operator: TorchOperator
    provenance: Provenance


def platform_guard(target: Target) -> str:
    """Lines of Python by which a module ends with one sentence where PyTorch is for other GPUs."""
    build, platform = ("cuda", "CUDA") if target.vendor == "nvidia" else ("hip", "ROCm")
    message = f"this kernel is for the {target.title} ({target.arch}): it needs a PyTorch that is built for {platform}"
    return f'if torch.version.{build} is None:\n    raise ImportError("{message}")'


def torch_module(operator: TorchOperator, provenance: Provenance, backward: Backward | None = None) -> str:
    """Write the module's text."""
    signature, space = operator.signature, _space(operator)
    own_signature = python_signature(operator.launcher.task, operator.names(), operator.kinds())
    outputs = len(signature.outputs)
    lines, halves, gradient, check = (
        lines_of(provenance),
        _half(operator, "", "_fake"),
        without_gradient(space, operator.name),
        "",
    )
    if backward is not None:
        joined = Gradient(operator, backward.operator)
        lines += ["", *lines_of(backward.provenance)]
        halves += _half(backward.operator, "BACKWARD_", "_fake_backward")
        gradient, check = joined.text(_space(backward.operator), space), joined.check()
    return _MODULE.format(
        title=spoken(operator.launcher.task.title) + ".",
        said="\n".join(lines),
        guard=platform_guard(operator.target),
        halves=halves,
        gradient=gradient,
        check=check,
        space=space,
        name=operator.name,
        parameters=", ".join(own_signature.declared),
        guards="".join(f"\n    {line}" for line in own_signature.guards),
        names=", ".join(own_signature.handed),
        result="torch.Tensor" if outputs == 1 else f"tuple[{', '.join(['torch.Tensor'] * outputs)}]",
        arguments="\n    ".join(operator.described(t) for t in (*signature.all_inputs, *signature.outputs)),
    )


def _half(operator: TorchOperator, upper: str, fake: str) -> str:
    """One operator: its kernel, its registration and its fake version."""
    space = _space(operator)
    return _HALF.format(
        upper=upper,
        kernel=quoted(operator.kernel()),
        operator=f"#include <torch/library.h>\n{operator.function('returns')}\n{_registration(operator, space)}",
        space=space,
        flags=json.dumps(operator.flags()),
        name=operator.name,
        fake=fake,
        parameters=", ".join(operator.names()),
        made="\n".join(f"    {line}" for line in operator.output_lines(operator.signature.first.name)),
    )


def _space(operator: TorchOperator) -> str:
    return f"{operator.name}_{operator.target.name}"


def quoted(kernel: str) -> str:
    """Quote a C++ text that may stand in a raw string of Python. UsageError for one that may not."""
    if '"""' in kernel:
        raise UsageError("the kernel holds three double quotes in a row, which a Python module cannot quote")
    return kernel


def _registration(operator: TorchOperator, space: str) -> str:
    return "\n".join(
        [
            f'TORCH_LIBRARY({space}, m) {{ m.def("{operator.schema()}"); }}',
            f'TORCH_LIBRARY_IMPL({space}, CUDA, m) {{ m.impl("{operator.name}", &{operator.symbol("returns")}); }}',
        ]
    )

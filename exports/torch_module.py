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
    """
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
    said = f"this kernel is for the {target.title} ({target.arch}): it needs a PyTorch that is built for {platform}"
    return f'if torch.version.{build} is None:\n    raise ImportError("{said}")'


def torch_module(made: TorchOperator, provenance: Provenance, backward: Backward | None = None) -> str:
    """Write the module's text."""
    signature, space = made.signature, _space(made)
    outputs = len(signature.outputs)
    said, halves, gradient, check = (
        lines_of(provenance),
        _half(made, "", "_fake"),
        without_gradient(space, made.name),
        "",
    )
    if backward is not None:
        joined = Gradient(made, backward.operator)
        said += ["", *lines_of(backward.provenance)]
        halves += _half(backward.operator, "BACKWARD_", "_fake_backward")
        gradient, check = joined.text(_space(backward.operator), space), joined.check()
    return _MODULE.format(
        title=spoken(made.launcher.task.title) + ".",
        said="\n".join(said),
        guard=platform_guard(made.target),
        halves=halves,
        gradient=gradient,
        check=check,
        space=space,
        name=made.name,
        parameters=", ".join(made.typed()),
        names=", ".join(made.names()),
        result="torch.Tensor" if outputs == 1 else f"tuple[{', '.join(['torch.Tensor'] * outputs)}]",
        arguments="\n    ".join(made.described(t) for t in (*signature.taken, *signature.outputs)),
    )


def _half(made: TorchOperator, upper: str, fake: str) -> str:
    """One operator: its kernel, its registration and its fake version."""
    space = _space(made)
    return _HALF.format(
        upper=upper,
        kernel=quoted(made.kernel()),
        operator=f"#include <torch/library.h>\n{made.function('returns')}\n{_registration(made, space)}",
        space=space,
        flags=json.dumps(made.flags()),
        name=made.name,
        fake=fake,
        parameters=", ".join(made.names()),
        made="\n".join(f"    {line}" for line in made.made(made.signature.first.name)),
    )


def _space(made: TorchOperator) -> str:
    return f"{made.name}_{made.target.name}"


def quoted(kernel: str) -> str:
    """Quote a C++ text that may stand in a raw string of Python. UsageError for one that may not."""
    if '"""' in kernel:
        raise UsageError("the kernel holds three double quotes in a row, which a Python module cannot quote")
    return kernel


def _registration(made: TorchOperator, space: str) -> str:
    return "\n".join(
        [
            f'TORCH_LIBRARY({space}, m) {{ m.def("{made.schema()}"); }}',
            f'TORCH_LIBRARY_IMPL({space}, CUDA, m) {{ m.impl("{made.name}", &{made.symbol("returns")}); }}',
        ]
    )

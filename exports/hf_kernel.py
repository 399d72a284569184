"""A kernel as a folder for Hugging Face's kernel-builder, edition 5."""

from __future__ import annotations

from string import ascii_lowercase, digits

from exports.provenance import Provenance, lines_of, spoken
from exports.torch_operator import TYPES, TorchOperator

_BUILD = """\
[general]
name = "{hub}"
version = 1
edition = 5
license = "other"
backends = ["{backend}"]

[torch]
src = ["torch-ext/torch_binding.cpp", "torch-ext/torch_binding.h"]

[kernel.{name}]
backend = "{backend}"
depends = ["torch"]
src = ["{folder}/{name}.cu", "{folder}/{name}_operator.cu"]
{flags}
"""
_FLAKE = """\
{{
  description = "{title}.";

  inputs.kernel-builder.url = "github:huggingface/kernels";

  outputs =
    {{ self, kernel-builder }}:
    kernel-builder.lib.genKernelFlakeOutputs {{
      inherit self;
      path = ./.;
    }};
}}
"""
_BINDING = """\
#include <torch/library.h>

#include "registration.h"
#include "torch_binding.h"

TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {{
    ops.def("{schema}");
#if defined(CUDA_KERNEL) || defined(ROCM_KERNEL)
    ops.impl("{name}", torch::kCUDA, &{symbol});
#endif
}}

REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
"""
_PACKAGE = '''\
"""{title}.

{said}
"""

import torch

from ._ops import add_op_namespace_prefix, ops


@torch.library.register_fake(add_op_namespace_prefix("{name}"))
def _fake({names}):
    """The outputs' shapes, for tracing."""
{fake}


def {name}({parameters}):
    """{title}.

    {arguments}
    """
    return ops.{name}({names})


__all__ = ["{name}"]
'''
_TEST = '''\
"""The built kernel and its fake version agree on shapes, and PyTorch's own checks of an operator pass."""

import pytest
import torch
from {package} import {name}
from {package}._ops import ops


def _inputs():
    return ({inputs},)


def _results(answer):
    return answer if isinstance(answer, tuple) else (answer,)


@pytest.mark.kernels_ci
def test_two_calls_give_the_same_bits():
    inputs = _inputs()
    first, second = {name}(*inputs), {name}(*inputs)
    for one, other in zip(_results(first), _results(second)):
        assert torch.equal(one.contiguous().view(torch.uint8), other.contiguous().view(torch.uint8))


@pytest.mark.kernels_ci
def test_the_operator_is_registered_soundly():
    torch.library.opcheck(ops.{name}, _inputs(), test_utils=("test_schema", "test_faketensor"))
'''
_CARD = """\
---
library_name: kernels
license: other
---

# {title}

{said}

Build it with `nix build` in this folder (kernel-builder, edition 5); then `{package}.{name}` is a function of PyTorch's
tensors. Before you publish it, put your licence into `build.toml` and this card, and your repository into
`[general.hub]`.
"""


def package_of(name: str) -> str:
    """Write the name as kernel-builder takes it: two characters or more, a small letter first, no underscore last."""
    plain = name.lower().strip("_")
    return plain if len(plain) > 1 and plain[0].isalpha() else f"kernel_{plain or 'x'}"


def hf_kernel(operator: TorchOperator, provenance: Provenance) -> dict[str, str]:
    """Write the files by path."""
    name, backend = operator.name, "cuda" if operator.is_cuda else "rocm"
    package, folder = package_of(name), f"{name}_{backend}"
    lines, title = lines_of(provenance), spoken(operator.launcher.task.title)
    signature = operator.signature
    comment = "\n".join(f"// {line}" for line in lines)
    return {
        "build.toml": _BUILD.format(
            hub=package.replace("_", "-"), backend=backend, name=name, folder=folder, flags=_flags(operator)
        ),
        "flake.nix": _FLAKE.format(title=title.replace("${", "$ {")),
        "CARD.md": _CARD.format(title=title, said="\n\n".join(lines), package=package, name=name),
        f"{folder}/{name}.cu": f"{comment}\n{operator.kernel()}",
        f"{folder}/{name}_operator.cu": f"{comment}\n{operator.function('returns')}",
        "torch-ext/torch_binding.cpp": _BINDING.format(
            schema=operator.schema(), name=name, symbol=operator.symbol("returns")
        ),
        "torch-ext/torch_binding.h": (
            "#pragma once\n\n#include <ATen/ATen.h>\n#include <optional>\n#include <tuple>\n\n"
            f"{operator.declaration('returns')};\n"
        ),
        f"torch-ext/{package}/__init__.py": _PACKAGE.format(
            title=title,
            said="\n".join(lines),
            name=name,
            names=", ".join(operator.names()),
            parameters=", ".join(operator.typed()),
            fake="\n".join(f"    {line}" for line in operator.output_lines(signature.first.name)),
            arguments="\n    ".join(operator.described(t) for t in (*signature.all_inputs, *signature.outputs)),
        ),
        "tests/__init__.py": "",
        f"tests/test_{package}.py": _TEST.format(package=package, name=name, inputs=_inputs(operator)),
    }


def _flags(operator: TorchOperator) -> str:
    if operator.is_cuda:
        arch = operator.target.arch.removeprefix("sm_")  # 90a
        number, letter = arch.rstrip(ascii_lowercase), arch.lstrip(digits)
        flags = ", ".join(f'"{flag}"' for flag in operator.flags() if not flag.startswith("-gencode"))
        return f'cuda-capabilities = ["{number[:-1]}.{number[-1]}{letter}"]\ncuda-flags = [{flags}]'
    flags = ", ".join(f'"{flag}"' for flag in operator.flags() if not flag.startswith("--offload-arch"))
    return f'rocm-archs = ["{operator.target.arch}"]\nhip-flags = [{flags}]'


def _inputs(operator: TorchOperator) -> str:
    """Python expressions of inputs for the task's first test."""
    task = operator.launcher.task
    case, texts = task.tests[0], list[str]()
    for tensor in task.inputs:
        if tensor.name in case.absent:
            texts.append("None")
            continue
        shape = task.shape_of(tensor, case)
        kind = TYPES[tensor.dtype][0]
        turned = shape[::-1] if tensor.layout == "column_major" else shape
        turned = (task.length_of(tensor, case),) if tensor.strides else turned
        if tensor.dtype.startswith(("f", "bf", "e")):
            text = f'torch.randn({tuple(turned)}, device="cuda").to({kind})'
        else:
            text = f'torch.zeros({tuple(turned)}, dtype={kind}, device="cuda")'  # an index may be no other number
        if tensor.strides:
            text = f"{text}.as_strided({shape}, {task.strides_of(tensor, case)})"
        texts.append(text + (".t()" if tensor.layout == "column_major" else ""))
    values = [str(case.dims[name]) for name in operator.explicit_dims("returns")]
    return ", ".join([*texts, *values, *(repr(case.scalars[s.name]) for s in operator.signature.scalars)])

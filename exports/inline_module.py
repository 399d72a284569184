"""Python lines that compile a kernel by PyTorch's `load_inline` and offer one C++ function of it."""

from __future__ import annotations

import json
from hashlib import sha256

from exports.torch_module import platform_guard, quoted
from exports.torch_operator import OperatorForm, TorchOperator

_COMPILED = '''\
{guard}

KERNEL = r"""
{kernel}
"""
OPERATOR = r"""
#include <torch/extension.h>
{operator}
"""
COMPILED = load_inline(  # once for this text, then kept in PyTorch's folder of extensions
    name="{name}",
    cpp_sources=[OPERATOR],
    cuda_sources=[KERNEL],
    functions=["{symbol}"],
    extra_cflags=["-std=c++20"],
    extra_cuda_cflags={flags},
    no_implicit_headers=True,
)
'''


def compiled_inline(operator: TorchOperator, form: OperatorForm, kernel_cpp: str, operator_cpp: str) -> str:
    """Write the lines after which `COMPILED.SYMBOL` can be called; the module must have imported both PyTorch names."""
    digest = sha256(f"{kernel_cpp}\0{operator_cpp}".encode()).hexdigest()[
        :12
    ]  # two exports in one process never share a name
    return _COMPILED.format(
        guard=platform_guard(operator.target),
        kernel=quoted(kernel_cpp),
        operator=quoted(operator_cpp),
        name=f"{operator.name}_{operator.target.name}_{digest}",
        symbol=operator.symbol(form),
        flags=json.dumps(operator.flags()),
    )

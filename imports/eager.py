"""PyTorch as a file is written for it, without its compilers and its tape. In the import's own process only."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch.autograd.function import FunctionCtx

from imports.decomposed import one_hot

_apply = inspect.getattr_static(torch.autograd.Function, "apply")


def run_eagerly() -> None:
    """Have what a file compiles run as it is written, and its own `autograd.Function`s by their forward half.

    A compiler starts processes, which the cage refuses, and neither what it makes nor a recorded step can be traced.
    """
    torch.compile = torch.jit.script = _as_written
    torch.nn.Module.compile = lambda self, *arguments, **options: None
    torch.autograd.Function.apply = classmethod(_forward)
    torch.nn.functional.one_hot = one_hot  # PyTorch's own looks at the values, which no trace can


def _as_written(function: Any = None, *arguments: Any, **options: Any) -> Any:
    """Return the function itself; as a decorator with options, one that gives it."""
    return _as_written if function is None else function


def _forward(kind: Any, *arguments: Any, **options: Any) -> Any:
    if torch.is_grad_enabled():
        return _apply.__get__(None, kind)(*arguments, **options)
    if kind.setup_context is not torch.autograd.Function.setup_context:
        return kind.forward(*arguments, **options)
    step: Any = FunctionCtx()
    step.needs_input_grad = (False,) * len(arguments)
    return kind.forward(step, *arguments, **options)

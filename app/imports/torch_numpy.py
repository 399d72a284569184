"""NumPy functions on PyTorch's tensors, so that their operations can be traced. In the import's own process only."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

import torch


class OnTorch(ast.NodeTransformer):
    """`import numpy` becomes PyTorch's own NumPy, whose operations can be traced."""

    def visit_Import(self, node: ast.Import) -> ast.Import:
        """`import numpy as np`."""
        names = [ast.alias("torch._numpy", a.asname or "numpy") if a.name == "numpy" else a for a in node.names]
        return ast.copy_location(ast.Import(names), node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        """`from numpy import ...`."""
        if node.module == "numpy":
            return ast.copy_location(ast.ImportFrom("torch._numpy", node.names, node.level), node)
        return node


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function on PyTorch's tensors."""
    import torch._numpy as tnp

    def given(value: Any) -> Any:
        return tnp.asarray(value) if isinstance(value, torch.Tensor) else value

    def taken(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return [taken(v) for v in value]
        return value.tensor if isinstance(value, tnp.ndarray) else value

    def called(*arguments: Any) -> Any:
        return taken(function(*(given(a) for a in arguments)))

    called.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    called.__module__ = function.__module__
    return called

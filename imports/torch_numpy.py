"""NumPy functions on PyTorch's tensors, so that their operations can be traced. In the import's own process only."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from imports.refusal import RECORDS, ImportRefused


class NumpyGenerator:
    """NumPy's generator of random numbers, on PyTorch's state: a file draws its inputs by it."""

    def __init__(self, seed: Any = None) -> None:
        """Leave the seed out: the import sets PyTorch's."""

    def standard_normal(self, size: Any = None, dtype: Any = None) -> Any:
        """Numbers of mean 0 and deviation 1."""
        return self.normal(0.0, 1.0, size)

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        """Numbers of another mean and deviation."""
        return torch._numpy.random.normal(loc, scale, size)

    def random(self, size: Any = None, dtype: Any = None) -> Any:
        """Numbers from 0 to 1."""
        return self.uniform(0.0, 1.0, size)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
        """Numbers between two others."""
        return torch._numpy.random.uniform(low, high, size)

    def integers(
        self, low: int, high: int | None = None, size: Any = None, dtype: Any = None, endpoint: bool = False
    ) -> Any:
        """Whole numbers."""
        low, high = (0, low) if high is None else (low, high)
        numbers = torch._numpy.random.randint(low, high + endpoint, size)
        return numbers if dtype is None else numbers.astype(dtype)

    def permutation(self, count: int) -> Any:
        """Draw the whole numbers below the given one, in any order."""
        return torch._numpy.asarray(torch.randperm(count))


def _add_at(into: Any, indices: Any, values: Any) -> None:
    """`np.add.at`: of several values for one place the sum."""
    axes = indices if isinstance(indices, tuple) else (indices,)
    index = [getattr(p, "tensor", p) for p in axes]
    addends = torch._numpy.asarray(values).tensor.to(into.tensor.dtype)
    into.tensor.index_put_(index, addends, accumulate=True)


def _pad(array: Any, pad_width: Any, mode: str = "constant", constant_values: float = 0) -> Any:
    """`np.pad` with one number, or with what an axis holds: PyTorch's own looks at the widths as at values."""
    x = torch._numpy.asarray(array).tensor
    for axis, (before, after) in enumerate(np.broadcast_to(pad_width, (x.ndim, 2)).tolist()):
        if mode == "constant":
            widths = [0, 0] * (x.ndim - 1 - axis) + [before, after]
            x = torch.nn.functional.pad(x, widths, value=constant_values)
        else:
            x = x.index_select(axis, _beyond(x.shape[axis], before, after, mode))
    return torch._numpy.asarray(x)


def _beyond(extent: int, before: int, after: int, mode: str) -> torch.Tensor:
    """Return the places of an axis that its padded one holds."""
    positions = torch.arange(-before, extent + after)
    if mode == "edge":
        return positions.clamp(0, extent - 1)
    if mode == "wrap":
        return positions % extent
    if mode == "reflect":
        turn = max(1, 2 * (extent - 1))
        return (extent - 1) - ((positions % turn) - (extent - 1)).abs()
    raise ImportRefused(f"np.pad by {mode!r} has no translation yet; {RECORDS}")


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
    """Return the function on PyTorch's tensors."""
    import torch._numpy as tnp

    tnp.random.default_rng, tnp.random.Generator, tnp.add.at = NumpyGenerator, NumpyGenerator, _add_at
    tnp.pad = _pad

    def to_array(value: Any) -> Any:
        return tnp.asarray(value) if isinstance(value, torch.Tensor) else value

    def to_tensor(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return [to_tensor(v) for v in value]
        return value.tensor if isinstance(value, tnp.ndarray) else value

    def on_arrays(*arguments: Any) -> Any:
        return to_tensor(function(*(to_array(a) for a in arguments)))

    on_arrays.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    on_arrays.__module__ = function.__module__
    return on_arrays

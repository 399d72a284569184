"""Constants that a file makes itself, as it makes them in double precision. In the import's own process only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from imports.differential import Double, doubled
from imports.refusal import FAULTS

NEAR = 1e-2  # of the largest element: types of eight bits too are rounded to less


def exact(
    constants: Mapping[str, torch.Tensor], values: Sequence[Any], traced: Callable[[Sequence[Any]], Any]
) -> Mapping[str, torch.Tensor]:
    """Give the constants unrounded by a narrow type, where a trace in double precision has as many of them."""
    if not any(t.is_floating_point() for t in constants.values()):
        return constants
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad(), Double():
            module = traced([doubled(v) for v in values])
    except FAULTS:
        return constants
    finally:
        torch.set_default_dtype(torch.float32)
    wide_constants = [getattr(module, node.target) for node in module.graph.nodes if node.op == "get_attr"]
    if len(wide_constants) != len(constants):
        return constants
    pairs = zip(constants.items(), wide_constants, strict=True)
    return {name: wide if _is_same(narrow, wide) else narrow for (name, narrow), wide in pairs}


def _is_same(narrow: torch.Tensor, wide: torch.Tensor) -> bool:
    if narrow.shape != wide.shape or not (narrow.is_floating_point() and wide.is_floating_point()):
        return False
    narrow_values, wide_values = narrow.double(), wide.double()
    scale = float(wide_values.nan_to_num(0, 0, 0).abs().max()) if wide_values.numel() else 0.0
    return bool(torch.allclose(narrow_values, wide_values, rtol=0, atol=NEAR * scale, equal_nan=True))

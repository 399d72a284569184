"""The tensors that a function returns, in order. In the import's own process only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from imports.refusal import ImportRefused


def results_of(result: Any) -> list[torch.Tensor]:
    """List the tensors of a tuple, a list or a mapping, of others within it too; nothing for None.

    ImportRefused for any other value.
    """
    if result is None:
        return []
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, Mapping):
        return [tensor for value in result.values() for tensor in results_of(value)]
    if isinstance(result, (tuple, list)):
        return [tensor for value in result for tensor in results_of(value)]
    raise ImportRefused(f"it returns {type(result).__name__}, where tensors are expected")

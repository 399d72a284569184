"""The tensors that a function returns, in order. In the import's own process only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from imports.refusal import ImportRefused


def results_of(made: Any) -> list[torch.Tensor]:
    """List the tensors of a tuple, a list or a mapping, of others within it too; nothing for None.

    ImportRefused for any other value.
    """
    if made is None:
        return []
    if isinstance(made, torch.Tensor):
        return [made]
    if isinstance(made, Mapping):
        return [tensor for value in made.values() for tensor in results_of(value)]
    if isinstance(made, (tuple, list)):
        return [tensor for value in made for tensor in results_of(value)]
    raise ImportRefused(f"it returns {type(made).__name__}, where tensors are expected")

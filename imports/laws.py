"""The laws that a module draws its weights by. In the import's own process only."""

from __future__ import annotations

from typing import Any

import torch


class Laws(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]
    """Remembers the last random or constant operation on each storage."""

    def __init__(self) -> None:
        super().__init__()
        self._laws: dict[int, str] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = str(func).split(".")[1]
        target = args[0] if name.endswith("_") and args and isinstance(args[0], torch.Tensor) else result
        if isinstance(target, torch.Tensor):
            numbers = ", ".join(f"{a:.6g}" for a in args[1:] if isinstance(a, (int, float)))
            plain = name.rstrip("_")
            if plain in (
                "uniform",
                "normal",
                "fill",
                "zero",
                "ones",
                "zeros",
                "randn",
                "rand",
                "eye",
                "bernoulli",
                "arange",
                "tril",
            ):
                self._laws[target.untyped_storage().data_ptr()] = f"{plain}({numbers})"
        return result

    def law(self, tensor: torch.Tensor) -> str:
        """Describe the law of a tensor, in words."""
        return self._laws.get(tensor.untyped_storage().data_ptr(), "")

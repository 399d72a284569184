"""A file of PyTorch whose module is wanted, or an exported program. In the scan's own process only."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from imports.foreign_text import Neighbours
from imports.refusal import ImportRefused
from imports.source_file import SEED, TorchSource, _drawn

DRAWING = ("get_inputs", "get_init_inputs")


@dataclass(frozen=True)
class OpenedModel:
    """A module with the arguments of a call."""

    name: str
    module: Any
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]


@dataclass(frozen=True)
class ModuleSource(TorchSource):
    """`modules`: the texts of the files beside it, by the names under which it imports them."""

    modules: Mapping[str, str] = field(default_factory=dict)

    def opened(self) -> OpenedModel:
        """Execute the file and build the module, in evaluation mode; ImportRefused where it has none or no inputs."""
        Neighbours(self.modules)
        with converting_by_replacement():
            return self._opened()

    def _opened(self) -> OpenedModel:
        torch.manual_seed(SEED)
        space = self._executed({})
        target = self._target({n: v for n, v in space.items() if n not in DRAWING})
        torch.manual_seed(SEED)
        module = _module_of(target, space)
        name = getattr(target, "__name__", type(target).__name__)
        name = name if name.isidentifier() else "model"
        torch.manual_seed(SEED)
        arguments, keywords = self._drawn_arguments(space, module)
        return OpenedModel(name, module.eval(), arguments, keywords)

    def _drawn_arguments(self, space: Mapping[str, Any], module: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if self.specs:
            tensors = {n: _drawn(*spec) for n, spec in self.specified(self.sizes).items()}
            values = {**tensors, **self.numbers}
            parameters = inspect.signature(module.forward).parameters
            if all(n in parameters for n in values):
                return (), values
            return tuple(tensors.values()), dict(self.numbers)
        draw: Callable[[], Any] | None = space.get("get_inputs")
        if not callable(draw):
            raise ImportRefused(self._missing(space))
        drawn = draw()
        if isinstance(drawn, Mapping):
            return (), dict(drawn)
        return (drawn,) if isinstance(drawn, torch.Tensor) else tuple(drawn), {}


@contextmanager
def converting_by_replacement() -> Iterator[None]:
    """Have `module.to(...)` put new weights in the place of the old: PyTorch swaps, which fails without memory."""
    swapping = torch.nn.Module._apply

    def replace_weights(module: Any, function: Callable[[Any], Any], recurse: bool = True) -> Any:
        converted = dict[int, tuple[Any, Any]]()  # with the old ones, whose addresses are keys; tied weights stay tied
        for part in module.modules() if recurse else [module]:
            for name, weight in part._parameters.items():
                if weight is not None and id(weight) not in converted:
                    new = torch.nn.Parameter(function(weight.detach()), weight.requires_grad)
                    converted[id(weight)] = weight, new
                if weight is not None:
                    part._parameters[name] = converted[id(weight)][1]
            for name, buffer in part._buffers.items():
                part._buffers[name] = None if buffer is None else function(buffer)
        return module

    torch.nn.Module._apply = replace_weights
    try:
        yield
    finally:
        torch.nn.Module._apply = swapping


def _module_of(target: Any, space: Mapping[str, Any]) -> Any:
    """Make the module of a class with `get_init_inputs`, of a function, or take one that the file has made."""
    if isinstance(target, torch.nn.Module):
        return target
    if inspect.isclass(target):
        init: Any = space["get_init_inputs"]() if callable(space.get("get_init_inputs")) else []
        return target(*init) if isinstance(init, (list, tuple)) else target(**init)
    return FunctionModule(target)


class FunctionModule(torch.nn.Module):  # type: ignore[misc]
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.forward = function

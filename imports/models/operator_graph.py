"""The graph of a model as a record: what a process with PyTorch writes and one without it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from records.model_scan import ModelTensor

VIEW, POINTWISE, REDUCTION, RANDOM, DYNAMIC, CUSTOM = "view", "pointwise", "reduction", "random", "dynamic", "custom"


@dataclass(frozen=True)
class GraphNode:
    """A call of an operator; arguments as in a PatternNode, whose nodes are nodes or inputs of the graph."""

    name: str
    target: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    results: tuple[ModelTensor, ...]  # several for an operator that gives a list
    traits: tuple[str, ...] = ()  # VIEW, POINTWISE and so on, as PyTorch itself has them

    @property
    def operator(self) -> str:
        """The operator's name without namespace and overload."""
        parts = self.target.split(".")
        return parts[1] if len(parts) == 3 else self.target

    def reads(self) -> tuple[str, ...]:
        """Name the nodes and inputs that it reads, each once."""
        return tuple(dict.fromkeys(names_read((self.args, self.kwargs))))


@dataclass(frozen=True)
class OperatorGraph:
    """Inputs with their roles, nodes in their order, and the names of the results."""

    inputs: tuple[ModelTensor, ...]
    nodes: tuple[GraphNode, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class TracedModel:
    """A model's graphs: one, or several where it cannot be followed as a whole, and sentences about what is missing."""

    name: str
    graphs: tuple[OperatorGraph, ...]
    notes: tuple[str, ...] = field(default=())


def names_read(value: Any) -> Iterator[str]:
    """Yield the names in an argument, at any depth."""
    if isinstance(value, Mapping):
        if len(value) == 1 and "node" in value:
            yield value["node"]
        else:
            for part in value.values():
                yield from names_read(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from names_read(part)

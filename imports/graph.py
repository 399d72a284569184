"""The operations of a function of tensors, with sizes as expressions over dims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

COMPLEX = "complex"  # the type of values between inputs and results, which have none of that kind
Size = str | int  # an expression over dims, or a number


@dataclass(frozen=True)
class Ref:
    """A value of the graph by its name."""

    name: str


@dataclass(frozen=True)
class Number:
    """A number of an operation that follows from the dims."""

    text: str
    is_real: bool = False


@dataclass(frozen=True)
class Operation:
    """One operation: `aten.add.Tensor` of values, numbers, lists of them."""

    name: str
    op: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    shape: tuple[Size, ...]
    dtype: str  # one of the task's


@dataclass(frozen=True)
class Tensor:
    """An input, a weight or an output of the graph."""

    name: str
    shape: tuple[Size, ...]
    dtype: str
    law: str = ""  # that a weight was drawn by
    parameter: str = ""  # its name in the module
    structure: str = ""  # that every draw of an input has
    initial: str = ""  # of an output: the input whose values it begins with


@dataclass(frozen=True)
class Graph:
    """All of it, in order. Outputs name nodes or inputs."""

    inputs: tuple[Tensor, ...]
    nodes: tuple[Operation, ...]
    outputs: tuple[tuple[Tensor, str], ...]  # the output, and the value it has
    notes: tuple[str, ...] = field(default=())

    def shape_of(self, name: str) -> tuple[Size, ...]:
        """Return the shape of a value."""
        return self.values()[name].shape

    def dtype_of(self, name: str) -> str:
        """Return the type of a value."""
        return self.values()[name].dtype

    def values(self) -> dict[str, Tensor]:
        """Everything that has a name, without what made it."""
        tensors = {n.name: Tensor(n.name, n.shape, n.dtype) for n in self.nodes}
        return tensors | {t.name: t for t in self.inputs}

    def needed(self) -> tuple[tuple[Operation, ...], frozenset[str]]:
        """Find the nodes that an output rests on, in order, and the names of all values that it rests on."""
        names = {name for _, name in self.outputs}
        operations: list[Operation] = []
        for node in reversed(self.nodes):
            if node.name in names:
                operations.append(node)
                names.update(refs([*node.args, *node.kwargs.values()]))
        return tuple(reversed(operations)), frozenset(names)


def refs(value: Any) -> Iterator[str]:
    """Yield the names of the values that an argument holds."""
    if isinstance(value, Ref):
        yield value.name
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from refs(part)


def uses(graph: Graph, scalar: str) -> bool:
    """Tell whether a number of the graph follows from the scalar."""

    def follows(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return any(follows(v) for v in value)
        return isinstance(value, Number) and value.is_real and scalar in re.findall(r"[A-Za-z_]\w*", value.text)

    return any(follows([*n.args, *n.kwargs.values()]) for n in graph.nodes)


def users(graph: Graph) -> Mapping[str, int]:
    """Count the places that take each value."""
    counts: dict[str, int] = {}
    for node in graph.nodes:
        for name in refs([*node.args, *node.kwargs.values()]):
            counts[name] = counts.get(name, 0) + 1
    for _, name in graph.outputs:
        counts[name] = counts.get(name, 0) + 1
    return counts


def text_of(sizes: Sequence[Size]) -> list[str]:
    """Sizes as the texts of expressions."""
    return [str(size) for size in sizes]

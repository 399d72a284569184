"""Regions by data flow: element-wise operators and reductions over the same rows are one kernel.

A library's product takes element-wise work behind it that reads nothing else of its size, and before it what writes
more than it reads, as when weights are widened. Views belong to who reads through them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from imports.models.operator_graph import CUSTOM, RANDOM, GraphNode, OperatorGraph
from imports.models.operator_roles import NAMES, Role, RowShape, role_of, rows_of
from imports.models.tensor_sizes import tensor_bytes
from records.model_scan import ModelTensor

FUSED = ("map", "row", "gather")
LIBRARY = ("product", "convolution", "attention")
NARROWER = 0.75  # of the bytes that it writes: so few what stands before a product may read


class DataFlow:
    """Who reads what in a graph, past its views."""

    def __init__(self, graph: OperatorGraph) -> None:
        self.graph = graph
        self.nodes = {node.name: node for node in graph.nodes}
        self.inputs = {tensor.name: tensor for tensor in graph.inputs}
        self.roles: dict[str, Role] = {node.name: role_of(node) for node in graph.nodes}
        self.order = {node.name: i for i, node in enumerate(graph.nodes)}
        self._roots = dict[str, str]()
        self.readers: dict[str, list[str]] = {}  # operators that read a value past views
        self.direct_readers: dict[str, list[str]] = {}  # nodes that read a value as it is
        for node in graph.nodes:
            for name in node.reads():
                self.direct_readers.setdefault(name, []).append(node.name)
            if self.roles[node.name] != "view":
                for name in self.sources(node):
                    self.readers.setdefault(name, []).append(node.name)
        self.constants = self._constants()
        self.results = {self.root(name) for name in graph.outputs}

    def _constants(self) -> set[str]:
        """Find the values that follow from weights and constants alone, whatever the model is given."""
        constants = {name for name, tensor in self.inputs.items() if tensor.role}
        for node in self.graph.nodes:
            if RANDOM not in node.traits and CUSTOM not in node.traits and constants.issuperset(node.reads()):
                constants.add(node.name)
        return constants

    def root(self, name: str) -> str:
        """Find the operator or input that a value comes from, past views and the parts of several results."""
        path = []
        while name not in self._roots and name in self.nodes and self.roles[name] == "view":
            path.append(name)
            reads = self.nodes[name].reads()
            if not reads:
                break
            name = reads[0]
        root = self._roots.get(name, name)
        self._roots |= dict.fromkeys(path, root)
        return root

    def sources(self, node: GraphNode) -> tuple[str, ...]:
        """Name the operators and inputs that a node reads past views."""
        return tuple(dict.fromkeys(self.root(name) for name in node.reads()))

    def tensor(self, name: str) -> ModelTensor | None:
        """Describe a value; None for a node without results, the first of several."""
        if name in self.inputs:
            return self.inputs[name]
        results = self.nodes[name].results if name in self.nodes else ()
        return results[0] if results else None

    def first_tensor(self, node: GraphNode) -> ModelTensor | None:
        """Describe the first tensor that a node reads."""
        return next((t for name in node.reads() if (t := self.tensor(name)) is not None), None)


@dataclass
class OperatorGroup:
    """Operators that are one kernel: their largest number of elements, and their rows where there are some."""

    names: list[str]
    space: int
    rows: RowShape | None
    role: Role
    is_closed: bool = False  # takes no part in fusion
    members: set[str] = field(default_factory=set)


class Fusion:
    """Groups the operators of a graph."""

    def __init__(self, flow: DataFlow) -> None:
        self._flow = flow
        self._group_of: dict[str, OperatorGroup] = {}

    @cached_property
    def groups(self) -> list[OperatorGroup]:
        """All groups, by their first operators' order."""
        flow = self._flow
        for node in flow.graph.nodes:
            if flow.roles[node.name] != "view":
                self._group_of[node.name] = self._single(node)
        takers = [node for node in flow.graph.nodes if self._takes_sources(node)]
        count = 0
        while count != (count := len({id(group) for group in self._group_of.values()})):
            for node in takers:
                for source in sorted(self._sources(node.name), key=lambda n: -flow.order[n]):
                    self._try(self._group_of[source], self._group_of[node.name])
        for node in flow.graph.nodes:
            if flow.roles[node.name] in LIBRARY:
                self._with_surroundings(node)
        unique = {id(group): group for group in self._group_of.values()}
        for group in unique.values():
            group.names.sort(key=lambda n: flow.order[n])
        return sorted(unique.values(), key=lambda g: flow.order[g.names[0]])

    def _takes_sources(self, node: GraphNode) -> bool:
        """Tell whether a kernel can compute what an operator reads on the way; it repeats nothing that it computes."""
        if node.operator in NAMES["within_rows"]:
            return True
        if self._flow.roles[node.name] not in ("map", "row"):
            return False
        tensor, source = (
            self._flow.tensor(node.name),
            [t for n in self._sources(node.name) if (t := self._flow.tensor(n))],
        )
        size = sum(prod(t.shape) for t in source)
        return not (node.operator in NAMES["repeat"] and tensor is not None and source and prod(tensor.shape) > size)

    def _single(self, node: GraphNode) -> OperatorGroup:
        flow, role = self._flow, self._flow.roles[node.name]
        numbers = [prod(t.shape) for t in node.results]
        source = flow.first_tensor(node)
        rows = None
        if role == "row" and source is not None and min(source.shape, default=1) >= 0:
            rows = rows_of(node, source)
            numbers.append(prod(source.shape))
        closed = role not in FUSED or any(-1 in t.shape for t in node.results)
        return OperatorGroup([node.name], max(numbers, default=1), rows, role, closed, {node.name})

    def _sources(self, name: str) -> list[str]:
        return [s for s in self._flow.sources(self._flow.nodes[name]) if s in self._group_of]

    def _readers(self, group: OperatorGroup) -> Iterator[str]:
        """Yield the operators outside a group that read it."""
        for name in group.names:
            yield from (r for r in self._flow.readers.get(name, ()) if r not in group.members)

    def _is_private(self, group: OperatorGroup, other: OperatorGroup) -> bool:
        """Tell whether nothing but the other group reads the group."""
        if any(name in self._flow.results for name in group.names):
            return False
        return all(reader in other.members for reader in self._readers(group))

    def _try(self, producer: OperatorGroup, consumer: OperatorGroup) -> None:
        if producer is consumer or producer.is_closed or consumer.is_closed:
            return
        are_fused = producer.role in FUSED and consumer.role in FUSED
        if are_fused and self._fits(producer, consumer) and not self._goes_around(producer, consumer):
            self._merge(producer, consumer)

    def _fits(self, producer: OperatorGroup, consumer: OperatorGroup) -> bool:
        """Tell whether one kernel can compute both over the same elements or rows."""
        if producer.rows and consumer.rows:
            per_row = producer.space > consumer.space and consumer.space % max(producer.rows.count, 1) == 0
            same = producer.space == consumer.space
            return producer.rows.agrees(consumer.rows) and (same or per_row)
        if producer.space == consumer.space:
            return True
        if producer.rows and producer.space > consumer.space:
            is_last = producer.rows.inner == 1 or consumer.space <= producer.rows.count
            return is_last and consumer.space % max(producer.rows.count, 1) == 0
        return producer.rows is None and self._is_private(producer, consumer)

    def _goes_around(self, producer: OperatorGroup, consumer: OperatorGroup) -> bool:
        """Tell whether a path leads from one to the other over a third, which one kernel would have to wait for."""
        order, last = self._flow.order, max(self._flow.order[n] for n in consumer.names)
        waiting = [r for r in self._readers(producer) if r not in consumer.members]
        visited = set[int]()
        while waiting:
            name = waiting.pop()
            group = self._group_of[name]
            if group is consumer:
                return True
            if id(group) in visited or min(order[n] for n in group.names) > last:
                continue
            visited.add(id(group))
            waiting += self._readers(group)
        return False

    def _merge(self, first: OperatorGroup, second: OperatorGroup) -> OperatorGroup:
        small, large = sorted((first, second), key=lambda g: len(g.names))
        large.names += small.names
        large.members |= small.members
        large.space = max(large.space, small.space)
        longest = [g.rows for g in (first, second) if g.rows]
        large.rows = max(longest, key=lambda r: r.length) if longest else None
        large.role = next((g.role for g in (first, second) if g.role in LIBRARY), "row" if large.rows else "map")
        for name in small.names:
            self._group_of[name] = large
        return large

    def _with_surroundings(self, node: GraphNode) -> None:
        """Take what stands behind a product, and what stands before it, where it is the product's alone."""
        flow, product = self._flow, self._group_of[node.name]
        size = prod(node.results[0].shape) if node.results else 0
        readers = {id(self._group_of[r]): self._group_of[r] for r in self._readers(product)}
        if len(readers) == 1 and node.name not in flow.results:
            behind = next(iter(readers.values()))
            is_map = behind.rows is None and behind.role == "map" and not behind.is_closed and behind.space == size
            is_elementwise = all(self._reads_whole(flow.nodes[n], node.name, size) for n in behind.names)
            if (
                is_map
                and is_elementwise
                and not self._large_inputs(behind, size, {node.name})
                and not self._goes_around(product, behind)
            ):
                product = self._merge(product, behind)
        for source in self._sources(node.name):
            before = self._group_of[source]
            if before is product or before.rows or before.role != "map" or before.is_closed:
                continue
            is_widening = all(flow.nodes[n].operator in NAMES["widening"] for n in before.names)
            if is_widening and self._is_private(before, product) and self._widens(before):
                product = self._merge(product, before)

    def _reads_whole(self, reader: GraphNode, name: str, size: int) -> bool:
        """Tell whether a node reads all of a value, an element for each of its own, where it reads it."""
        flow = self._flow
        parts = [flow.tensor(n) for n in reader.reads() if flow.root(n) == name]
        return all(part is not None and prod(part.shape) == size for part in parts)

    def _large_inputs(self, group: OperatorGroup, size: int, excepted: Iterable[str]) -> bool:
        """Tell whether a group reads anything of that size but what is known."""
        names = (
            {s for n in group.names for s in self._flow.sources(self._flow.nodes[n])} - group.members - set(excepted)
        )
        tensors = (self._flow.tensor(name) for name in names)
        return any(t is not None and prod(t.shape) >= size for t in tensors)

    def _widens(self, group: OperatorGroup) -> bool:
        flow = self._flow
        names = {s for n in group.names for s in flow.sources(flow.nodes[n])} - group.members
        read = sum(tensor_bytes(t) for name in names if (t := flow.tensor(name)) is not None)
        ends = [n for n in group.names if any(r not in group.members for r in flow.readers.get(n, ()))]
        written_bytes = sum(tensor_bytes(t) for n in ends for t in flow.nodes[n].results[:1])
        return read <= NARROWER * written_bytes

"""Divides a graph into kernels: reductions of the same rows share one, with the results that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from imports.graph import Graph, Operation, Size
from imports.hip_ops import STORED
from imports.hip_reductions import SCANS
from imports.node_arguments import plain
from imports.refusal import ImportRefused
from imports.schedules.canonical import divided, is_reduction
from imports.schedules.case_sizes import CaseSizes
from imports.schedules.contractions import contraction
from imports.schedules.element_wise import element_wise
from imports.schedules.emitter import references
from imports.schedules.index_digits import NotDirect
from imports.schedules.kernels import Kernel, ScheduleJob, StoredValue
from imports.schedules.partial_reductions import PartialWriter
from imports.schedules.product_types import is_product
from imports.schedules.row_reductions import RowGroup, RowWriter
from imports.schedules.scans import scan

FEW_ROWS, LONG_ROW = 152, 1 << 14  # of a row that several blocks share


def schedule_of(shape: Sequence[Size], axes: Sequence[int], extents: CaseSizes) -> str:
    """Choose the schedule of a reduction: "rows", "columns", or "parts" of a few long rows."""
    outer, inner = divided(shape, axes)
    longer = [k for k, s in enumerate(shape) if str(s) != "1"]
    if longer and longer[-1] not in axes:
        return "columns" if inner else "rows"
    is_few = extents.typical(outer) < FEW_ROWS and extents.typical(inner) >= LONG_ROW
    return "parts" if is_few else "rows"


@dataclass(frozen=True)
class Group:
    """Anchors that one schedule computes together, and the values that it also stores."""

    kind: str
    anchors: tuple[Operation, ...]
    values: tuple[str, ...] = ()
    key: object = None


Write = Callable[[ScheduleJob, str, Group, Sequence[StoredValue]], list[Kernel]]


class Division:
    """The kernels of a rewritten graph."""

    def __init__(self, graph: Graph, extents: CaseSizes, has_matrix_cores: bool = False) -> None:
        self._graph, self._extents, self._has_matrix_cores = graph, extents, has_matrix_cores
        self._outputs = {value: spec for spec, value in graph.outputs}
        self._nodes = {n.name: n for n in graph.nodes}
        self._anchors = {n.name: n for n in graph.nodes if is_anchor(n)}
        begun = {spec.initial for spec, _ in graph.outputs if spec.initial}
        self._inputs = {t.name: f"w{t.name}_" for t in graph.inputs if t.name in begun}
        self.groups = list[Group]()
        self._depth: dict[str, int] = {t.name: -1 for t in graph.inputs}  # the last group that a value rests on

    def divide(self) -> None:
        """Put every anchor and every output into a group."""
        for node in self._graph.nodes:
            self._depth[node.name] = max((self._depth[p] for p in references(node)), default=-1)
            if node.name in self._anchors:
                self._depth[node.name] = self._place_anchor(node)
        for _, value in self._graph.outputs:
            if value not in self._anchors:
                self._place_value(value)

    @property
    def buffers(self) -> dict[str, str]:
        """The buffers of values that kernels leave in memory, and of inputs that have another one."""
        return {n: self._buffer(n) for n in self._anchors} | self._inputs

    def _place_anchor(self, node: Operation) -> int:
        kind, key = self._kind(node)
        least = self._depth[node.name]
        for index in reversed(range(max(0, least), len(self.groups))):
            group = self.groups[index]
            if key is not None and (group.kind, group.key) == (kind, key):
                joined = replace(group, anchors=(*group.anchors, node))
                if (kind == "rows" or index > least) and self._works(joined):
                    self.groups[index] = joined
                    return index
        self.groups.append(Group(kind, (node,), key=key))
        return len(self.groups) - 1

    def _kind(self, node: Operation) -> tuple[str, object]:
        if plain(node.op) in SCANS:
            return ("scan", None)
        if is_product(node):
            return ("product", None)
        if not is_reduction(node):
            return ("opaque", None)
        shape = self._graph.shape_of(node.args[0].name)
        outer, inner = divided(shape, node.args[1])
        kind = schedule_of(shape, node.args[1], self._extents)
        return kind, (self._extents.product(outer), self._extents.product(inner))

    def _place_value(self, value: str) -> None:
        depth = self._depth[value]
        if depth >= 0 and self.groups[depth].kind in SCHEDULES and value in self._nodes:
            joined = replace(self.groups[depth], values=(*self.groups[depth].values, value))
            if self._works(joined):
                self.groups[depth] = joined
                return
        shape = self._graph.shape_of(value)
        for index, group in enumerate(self.groups):
            if group.kind == "elements" and index > depth and group.key == tuple(shape):
                joined = replace(group, values=(*group.values, value))
                if self._works(joined):
                    self.groups[index] = joined
                    return
        self.groups.append(Group("elements", (), (value,), tuple(shape)))

    def _works(self, group: Group) -> bool:
        try:
            self._kernels(group, "tried", frozenset(a.name for a in group.anchors))
        except NotDirect:
            return False
        return True

    def _kernels(self, group: Group, name: str, needed: frozenset[str]) -> list[Kernel]:
        buffers = {n: self._buffer(n) for n in self._anchors}
        job = ScheduleJob(self._graph, self._extents, buffers, self._inputs, self._has_matrix_cores)
        values = dict.fromkeys([*(a.name for a in group.anchors if a.name in needed), *group.values])
        results = [r for value in values for r in self._results(value)]
        return SCHEDULES[group.kind](job, name, group, results)

    def _buffer(self, value: str) -> str:
        return self._outputs[value].name if value in self._outputs else f"w{value}_"

    def _results(self, value: str) -> list[StoredValue]:
        shape, dtype = self._graph.shape_of(value), self._graph.dtype_of(value)
        specs = [spec for spec, name in self._graph.outputs if name == value]
        if not specs:
            return [StoredValue(value, self._buffer(value), dtype, shape)]
        return [StoredValue(value, spec.name, spec.dtype, shape) for spec in specs]

    def kernels(self) -> list[Kernel]:
        """Write the kernels from the last to the first, so that each knows what others need of it."""
        needed = {value for _, value in self._graph.outputs}
        written = list[Kernel]()
        for number, group in reversed(list(enumerate(self.groups))):
            kernels = self._kernels(group, f"compute_{number}", frozenset(needed))
            needed |= {n for kernel in kernels for n in kernel.loaded}
            written = [*kernels, *written]
        spaces = {
            self._buffer(n): (a.dtype, a.shape)
            for n, a in self._anchors.items()
            if n in needed and n not in self._outputs
        }
        if not written:
            raise ImportRefused("it has no operation that a kernel could compute")
        return [replace(written[0], workspaces={**spaces, **written[0].workspaces}), *written[1:]]


def is_anchor(node: Operation) -> bool:
    """Tell whether the value of a node is stored, or is a row's in a kernel of that row."""
    name = plain(node.op)
    return bool(node.dtype) and (is_reduction(node) or name in STORED or name == "getitem")


def _write_rows(job: ScheduleJob, name: str, group: Group, results: Sequence[StoredValue]) -> list[Kernel]:
    return [RowWriter(job, name, RowGroup(group.anchors, tuple(results))).kernel()]


def _write_elements(job: ScheduleJob, name: str, group: Group, results: Sequence[StoredValue]) -> list[Kernel]:
    return [element_wise(job, name, results)]


def _write_opaque(job: ScheduleJob, name: str, group: Group, results: Sequence[StoredValue]) -> list[Kernel]:
    anchor = group.anchors[0].name
    if any(r.value != anchor for r in results):
        raise NotDirect("a value of its own kernel")
    return [element_wise(job, name, results, computed=anchor)] if results else []


def _write_product(job: ScheduleJob, name: str, group: Group, results: Sequence[StoredValue]) -> list[Kernel]:
    return [contraction(job, name, group.anchors[0], results, job.has_matrix_cores)]


def _write_partial(job: ScheduleJob, name: str, group: Group, results: Sequence[StoredValue]) -> list[Kernel]:
    return PartialWriter(job, name, group.anchors, results).kernels()


def _write_scan(job: ScheduleJob, name: str, group: Group, results: Sequence[StoredValue]) -> list[Kernel]:
    return [scan(job, name, group.anchors[0], results)]


SCHEDULES: dict[str, Write] = {
    "scan": _write_scan,
    "rows": _write_rows,
    "columns": _write_partial,
    "parts": _write_partial,
    "elements": _write_elements,
    "opaque": _write_opaque,
    "product": _write_product,
}

"""Reductions over neighbouring elements: the lanes of a row keep its elements, so that memory is read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imports.graph import Graph, Operation
from imports.hip_text import STORAGE
from imports.hip_values import C_TYPES, c_expression
from imports.node_arguments import plain
from imports.schedules.canonical import divided
from imports.schedules.case_sizes import Digit, product_text
from imports.schedules.element_wise import product_of
from imports.schedules.emitter import LoopStatements, Place, references
from imports.schedules.index_digits import ITEM, NotDirect
from imports.schedules.kernels import (
    UNROLLED,
    Kernel,
    ScheduleJob,
    StoredValue,
    chosen,
    indented,
    item_loop,
    stored,
    vector_lines,
    whole_vectors,
    widths,
)
from imports.schedules.over_lanes import ARGUMENTS, FUNCTORS, accumulator, begun
from tasks.dtypes import size_bytes

EACH = 16  # elements of a row that a lane has, where that leaves lanes enough
MOST_KEPT = 64  # registers of a lane for what it keeps of its row


_Body = tuple[list[str], list[str], list[str]]  # declarations, statements of an element, stores of an element


@dataclass(frozen=True)
class _Stage:
    """What one pass over a row computes."""

    reductions: tuple[Operation, ...]
    results: tuple[StoredValue, ...]


@dataclass(frozen=True)
class RowGroup:
    """Reductions of one row, and the values that are stored in the same kernel."""

    reductions: tuple[Operation, ...]
    results: tuple[StoredValue, ...]


class RowWriter:
    """Writes one kernel; NotDirect where a value of the row rests on another row."""

    def __init__(self, job: ScheduleJob, name: str, group: RowGroup) -> None:
        self._job, self._name, self._group = job, name, group
        first = group.reductions[0]
        self._shape = job.graph.shape_of(first.args[0].name)
        self._axes: Sequence[int] = first.args[1]
        self.outer, self.inner = divided(self._shape, self._axes)
        self._emitter = job.emitter(frozenset(r.name for r in group.reductions))
        self._held: dict[Place, str] = {}
        self._arrays = list[str]()
        self._bytes = [size_bytes(r.dtype) for r in group.results]

    def kernel(self) -> Kernel:
        """Write the kernel."""
        outer_indices, indices = self._indices()
        stages = self._stages()
        lines = list[str]()
        for level in range(len(stages)):
            lines += self._stage(stages, level, indices)
            for reduction in stages[level].reductions:
                lines += self._reduced(reduction, outer_indices)
        lines += self._row_results()
        return self._assembled(lines)

    def _indices(self) -> tuple[list[str], list[str]]:
        """Return the indices of a row, and those of an element of the reductions' operand."""
        emitter = self._emitter
        outer = [Digit("o_", product_of(self.outer))] if self.outer else []
        self._digits = [*outer, Digit(emitter.indices.element_index("jv_"), product_of(self.inner))]
        outer_indices = emitter.indices.coordinates(outer, self.outer)
        inner_indices = emitter.indices.coordinates(self._digits[-1:], self.inner)
        self._outer_indices = outer_indices
        kept, taken = iter(outer_indices), iter(inner_indices)
        return outer_indices, [next(taken) if k in self._axes else next(kept) for k in range(len(self._shape))]

    def _stages(self) -> list[_Stage]:
        """List what each pass over a row does: sums as soon as what they rest on is there, results likewise."""
        levels = levels_of(self._job.graph, self._group.reductions)
        in_elements = [r for r in self._group.results if self._is_element(r)]
        rows = [(levels[r.name], r) for r in self._group.reductions]
        count = max([level for level, _ in rows] + [levels[r.value] for r in in_elements]) + 1
        return [
            _Stage(
                tuple(r for level, r in rows if level == number),
                tuple(r for r in in_elements if levels[r.value] == number),
            )
            for number in range(count)
        ]

    def _is_element(self, result: StoredValue) -> bool:
        if result.value in {r.name for r in self._group.reductions}:
            return False
        extents = self._job.extents
        if extents.are_equal(result.shape, self._shape):
            return tuple(result.shape) == tuple(self._shape) or not extents.are_equal(result.shape, self.outer)
        if extents.are_equal(result.shape, self.outer):
            return False
        raise NotDirect("a result of another shape")

    def _stage(self, stages: Sequence[_Stage], level: int, indices: Sequence[str]) -> list[str]:
        emitter, stage = self._emitter, stages[level]
        lines = [f"{kind} acc_{r.name} = {start};" for r in stage.reductions for kind, start in [self._begun(r)]]
        if level == 0:
            statements, _ = self._turn(stage, indices, {})
            lines += [*statements.lines[0], *self._keep_loads(statements)]
        statements, body = self._turn(stage, indices, self._held)
        lines += statements.lines[0]
        costly = self._used_later(stages[level + 1 :], statements.costly, indices)
        keeps = list[str]()
        for place in costly:
            array = self._array(statements.costly[place])
            keeps.append(f"{array} = {emitter.variables[place]};")
        arrays, elements, stores = body
        if elements or keeps:
            turn = [
                *arrays,
                *vector_lines(emitter, statements, [*elements, *keeps], item_loop(stores) if stores else []),
            ]
            lines += [UNROLLED, *_kept_loop(turn)]
        self._held |= dict(zip(costly, [k.split(" = ")[0] for k in keeps], strict=True))
        statements, body = self._turn(stage, indices, {})
        arrays, elements, stores = body
        turn = [*arrays, *vector_lines(emitter, statements, elements, item_loop(stores) if stores else [])]
        head = "for (Index jv_ = (KEPT * LANES + lane_) * V; jv_ < inner_; jv_ += LANES * V) {"
        return [*lines, *statements.lines[0], head, *indented(turn), "}"]

    def _turn(self, stage: _Stage, indices: Sequence[str], held: Mapping[Place, str]) -> tuple[LoopStatements, _Body]:
        emitter = self._emitter
        statements = emitter.begin(held)
        elements, arrays, stores = list[str](), list[str](), list[str]()
        for reduction in stage.reductions:
            variable = emitter.value(reduction.args[0].name, list(indices))
            elements.append(self._update(reduction, variable))
        for number, result in enumerate(stage.results):
            mine = list(indices)
            if tuple(result.shape) != tuple(self._shape):
                if list(self._axes) != list(range(len(self._shape) - len(self._axes), len(self._shape))):
                    raise NotDirect("a result in another order")
                mine = emitter.indices.coordinates(self._digits, result.shape)
            variable = emitter.value(result.value, mine)
            arrays.append(f"{STORAGE[result.dtype]} out{number}_[V];")
            elements.append(f"out{number}_[{ITEM}] = {result.converted(variable)};")
            stores.append(stored(emitter, result, mine, f"out{number}_[{ITEM}]"))
        return statements, (arrays, elements, stores)

    def _keep_loads(self, statements: LoopStatements) -> list[str]:
        """Load what a row's lanes keep, all of it before any is used."""
        stored = list[str]()
        for place, load in statements.loads.items():
            array = self._array(load.kind)
            self._held[place] = array
            self._bytes.append(load.item_bytes)
            stored.append(f"{array} = {load.expression};")
        if not stored:
            return []
        turn = [*self._emitter.indices.prelude[1], *statements.lines[1], *item_loop(stored)]
        return [UNROLLED, *_kept_loop(turn)]

    def _array(self, kind: str) -> str:
        name = f"h{len(self._arrays)}_"
        self._arrays.append(f"{kind} {name}[KEPT][V];")
        return f"{name}[k_][{ITEM}]"

    def _used_later(self, stages: Sequence[_Stage], costly: Mapping[Place, str], indices: Sequence[str]) -> list[Place]:
        """List the costly values of this pass that later ones take; these are tried and forgotten."""
        emitter = self._emitter
        before = dict(emitter.variables)
        for stage in stages:
            for reduction in self._group.reductions:
                emitter.define(reduction.name, self._outer_indices, "tried_", C_TYPES[reduction.dtype])
            emitter.hits.clear()
            self._turn(stage, indices, {**self._held, **dict.fromkeys(costly, "kept_")})
        hits = set(emitter.hits) if stages else set[Place]()
        emitter.variables = before
        return [place for place in costly if place in hits]

    def _begun(self, reduction: Operation) -> tuple[str, str]:
        of = (plain(reduction.op), reduction.dtype, self._job.graph.dtype_of(reduction.args[0].name))
        return accumulator(*of), begun(*of)

    def _update(self, reduction: Operation, variable: str) -> str:
        kind, name = plain(reduction.op), f"acc_{reduction.name}"
        functor = f"{FUNCTORS[kind]}()"
        if kind in ARGUMENTS:
            position = self._digits[-1].text
            return f"{name} = {functor}({name}, {self._begun(reduction)[0]}{{{variable}, (int){position}}});"
        return f"{name} = {functor}({name}, ({self._begun(reduction)[0]}){variable});"

    def _reduced(self, reduction: Operation, outer_indices: Sequence[str]) -> list[str]:
        """Take the result over the lanes of a row; the row's variable has it from now on."""
        kind = plain(reduction.op)
        name, c_type = f"r_{reduction.name}_", C_TYPES[reduction.dtype]
        part = ".place" if kind in ARGUMENTS else ""
        self._emitter.define(reduction.name, outer_indices, name, c_type)
        over = f"over_lanes<LANES>(acc_{reduction.name}, {FUNCTORS[kind]}()){part}"
        return [f"const {c_type} {name} = ({c_type}){over};"]

    def _row_results(self) -> list[str]:
        emitter, stores = self._emitter, list[str]()
        statements = emitter.begin()
        for result in self._group.results:
            if not self._is_element(result):
                mine = emitter.indices.coordinates(self._digits[:-1], result.shape)
                variable = emitter.value(result.value, mine)
                stores.append(stored(emitter, result, mine, result.converted(variable)))
        return [*statements.lines[0], "if (lane_ == 0) {", *indented(stores), "}"] if stores else []

    def _assembled(self, lines: Sequence[str]) -> Kernel:
        emitter, name, extents = self._emitter, self._name, self._job.extents
        inner, outer = product_text(self.inner), product_text(self.outer)
        typical = extents.typical(self.inner)
        most = max(1, MOST_KEPT // max(1, len(self._arrays)))
        condition = whole_vectors(emitter, inner)
        code = [
            "template <int V>",
            f"__device__ __forceinline__ void {name}_rows(const Arguments& q_) {{",
            f"    constexpr int KEPT = kept_vectors({typical}, LANES * V, {most} / V);",
            f"    const Index inner_ = {c_expression(inner)}, outer_ = {c_expression(outer)};",
            "    const Index o_ = blockIdx.x * ROWS + threadIdx.y;",
            "    if (o_ >= outer_) return;",
            "    const int lane_ = threadIdx.x;",
            *indented([*emitter.indices.prelude[0], *self._arrays, *lines]),
            "}",
            "",
            f'extern "C" __global__ __launch_bounds__(LANES * ROWS) void {name}(PARAMETERS) {{',
            "    const Arguments q_ = {ARGUMENTS};",
            *indented(chosen(f"{name}_rows", condition)),
            "}",
        ]
        lanes = min(1024, max(16, 1 << (max(1, typical // EACH) - 1).bit_length()))
        rows = max(1, 256 // lanes) if lanes <= 64 else 1
        return Kernel(
            name,
            code,
            f"ceil_div({outer}, ROWS)",
            ["LANES", "ROWS"],
            {
                "LANES": list(dict.fromkeys([lanes, min(1024, lanes * 2), max(16, lanes // 2)])),
                "ROWS": list(dict.fromkeys([rows, max(1, rows // 2), 1])),
                "VEC": widths(self._bytes),
            },
            {"lanes": "LANES <= 64 or ROWS == 1"},
            called=frozenset(emitter.called),
            loaded=frozenset(emitter.loaded),
        )


def _kept_loop(turn: Sequence[str]) -> list[str]:
    """Write a loop over the vectors of a row that a lane keeps."""
    return [
        "for (int k_ = 0; k_ < KEPT; ++k_) {",
        "    const Index jv_ = (k_ * LANES + lane_) * V;",
        "    if (jv_ < inner_) {",
        *indented(turn, 2),
        "    }",
        "}",
    ]


def levels_of(graph: Graph, reductions: Sequence[Operation]) -> dict[str, int]:
    """Count the passes over a row that must be over before a value can be computed."""
    inside = {r.name for r in reductions}
    levels = {t.name: 0 for t in graph.inputs}
    for node in graph.nodes:
        parts = references(node)
        levels[node.name] = max((levels[p] + (p in inside) for p in parts), default=0)
    return levels

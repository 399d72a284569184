"""Reductions that many blocks share: each leaves a part, and a second launch takes these together.

Columns lie side by side, so that the lanes of a wave load neighbours; a few long rows are divided among blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imports.graph import Operation, Size
from imports.hip_values import C_TYPES, c_expression
from imports.node_arguments import plain
from imports.schedules.canonical import divided
from imports.schedules.case_sizes import Digit, product_text
from imports.schedules.element_wise import product_of
from imports.schedules.emitter import Emitter
from imports.schedules.index_digits import ITEM, NotDirect
from imports.schedules.kernels import (
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
from imports.schedules.over_lanes import ARGUMENTS, FUNCTORS, accumulator, begun, words_of

WIDE = 64  # columns of a block, in vectors: a wave
BLOCKS = 608  # that the first launch should have: two on each unit
LEAST_PART = 16  # rows of a block of columns


@dataclass(frozen=True)
class _Form:
    """One of the two divisions: what its code differs in."""

    is_columns: bool
    outer: tuple[Size, ...]
    reduced: tuple[Size, ...]
    columns: tuple[Size, ...]  # kept axes behind all that are reduced


class PartialWriter:
    """Writes both kernels; NotDirect where a result cannot be computed from its reductions."""

    def __init__(
        self, job: ScheduleJob, name: str, reductions: Sequence[Operation], results: Sequence[StoredValue]
    ) -> None:
        self._job, self._name, self._reductions, self._results = job, name, reductions, results
        first = reductions[0]
        self._shape = job.graph.shape_of(first.args[0].name)
        self._axes: Sequence[int] = first.args[1]
        self.kept, reduced = divided(self._shape, self._axes)
        longer = [k for k in self._axes if str(self._shape[k]) != "1"]
        behind = [k for k in range(len(self._shape)) if longer and k > longer[-1] and k not in self._axes]
        columns = tuple(self._shape[k] for k in behind)
        outer = tuple(s for k, s in enumerate(self._shape) if k not in self._axes and k not in behind)
        is_columns = any(str(s) != "1" for s in columns)
        self._form = _Form(is_columns, outer if is_columns else tuple(self.kept), tuple(reduced), columns)
        self._emitter = job.emitter(frozenset(r.name for r in reductions))

    def kernels(self) -> list[Kernel]:
        """Write the launch that leaves parts, and the one that takes them together."""
        return [self._columns() if self._form.is_columns else self._rows(), self._together()]

    def _space(self, reduction: Operation) -> str:
        return f"w{self._name}_{reduction.name}_"

    def _type(self, reduction: Operation) -> str:
        return accumulator(plain(reduction.op), reduction.dtype, self._job.graph.dtype_of(reduction.args[0].name))

    def _begun(self, reduction: Operation) -> str:
        return begun(plain(reduction.op), reduction.dtype, self._job.graph.dtype_of(reduction.args[0].name))

    def _functor(self, reduction: Operation) -> str:
        return f"{FUNCTORS[plain(reduction.op)]}()"

    def _update(self, reduction: Operation, accumulated: str, variable: str, position: str) -> str:
        kind, c_type = plain(reduction.op), self._type(reduction)
        element = f"{c_type}{{{variable}, (int){position}}}" if kind in ARGUMENTS else f"({c_type}){variable}"
        return f"{accumulated} = {self._functor(reduction)}({accumulated}, {element});"

    def _part(self, reduction: Operation, index: str) -> str:
        return f"(({self._type(reduction)}*)q_.{self._space(reduction)})[{index}]"

    def _column_indices(self) -> list[str]:
        """Return the indices of an element: a row of the part, a column of the wave."""
        emitter, form = self._emitter, self._form
        emitter.indices.at_vector("row_")
        column = emitter.indices.element_index("jv_")
        outer_digits = [Digit("o_", product_of(form.outer))] if form.outer else []
        outer = iter(emitter.indices.coordinates(outer_digits, form.outer))
        reduced = iter(emitter.indices.coordinates([Digit("row_", product_of(form.reduced))], form.reduced))
        columns = iter(emitter.indices.coordinates([Digit(column, product_of(form.columns))], form.columns))
        last = max(k for k in self._axes if str(self._shape[k]) != "1")
        return [
            next(reduced) if k in self._axes else next(columns) if k > last else next(outer)
            for k in range(len(self._shape))
        ]

    def _columns(self) -> Kernel:
        """Write the launch for columns: waves side by side, blocks below each other."""
        emitter, form = self._emitter, self._form
        indices = self._column_indices()
        statements = emitter.begin()
        elements = list[str]()
        for r in self._reductions:
            variable = emitter.value(r.args[0].name, indices)
            elements.append(self._update(r, f"acc_{r.name}[{ITEM}]", variable, "row_"))
        sizes = [load.item_bytes for load in statements.loads.values()]
        turn = vector_lines(emitter, statements, elements)
        loop = ["for (Index row_ = begin_ + threadIdx.y; row_ < end_; row_ += TALL) {", *indented(turn), "}"]
        stores = list[str]()
        for r in self._reductions:
            part = self._part(r, "(part_ * outer_ + o_) * inner_ + first_ + column_")
            store = f"if (first_ + column_ < inner_) {part} = all_;"
            stores.append(
                f"over_tall<TALL>(acc_{r.name}, {self._functor(r)}, [&](int column_, auto all_) {{ {store} }});"
            )
        arrays = [f"{self._type(r)} acc_{r.name}[V];" for r in self._reductions]
        starts = item_loop([f"acc_{r.name}[{ITEM}] = {self._begun(r)};" for r in self._reductions])
        inner, outer_text, length = (product_text(s) for s in (form.columns, form.outer, form.reduced))
        body = [
            f"const Index inner_ = {c_expression(inner)}, outer_ = {c_expression(outer_text)};",
            f"const Index length_ = {c_expression(length)}, tiles_ = (inner_ - 1) / ({WIDE} * VEC) + 1;",
            "const Index tile_ = blockIdx.x % tiles_, rest_ = blockIdx.x / tiles_;",
            "const Index o_ = rest_ % outer_, part_ = rest_ / outer_;",
            "const Index begin_ = (long long)length_ * part_ / SPLIT, end_ = (long long)length_ * (part_ + 1) / SPLIT;",
            *emitter.indices.prelude[0],
            *statements.lines[0],
            "for (int turn_ = 0; turn_ < VEC / V; ++turn_) {",
            f"    const Index first_ = (tile_ * (VEC / V) + turn_) * {WIDE} * V, jv_ = first_ + (int)threadIdx.x * V;",
            *indented([*arrays, *starts, "if (jv_ < inner_) {", *indented(["#pragma unroll 4", *loop]), "}"]),
            *indented(stores),
            "}",
        ]
        tiles = -(-self._job.extents.typical(form.columns) // (WIDE * widths(sizes)[0]))
        split = self._split(tiles * self._job.extents.typical(form.outer), self._job.extents.typical(form.reduced))
        tunables = {"SPLIT": split, "TALL": [8, 16, 4], "VEC": widths(sizes)}
        grid = f"ceil_div({inner}, {WIDE} * VEC) * ({outer_text}) * SPLIT"
        condition = whole_vectors(emitter, inner)
        return self._first(body, grid, [str(WIDE), "TALL"], f"{WIDE} * TALL", tunables, condition)

    def _split(self, blocks: int, length: int) -> list[int]:
        """List numbers of parts, powers of two: what fills the GPU first."""
        usual = max(1, min(-(-BLOCKS // max(1, blocks)), length // LEAST_PART))
        return list(dict.fromkeys([usual, usual * 2, max(1, usual // 2)]))

    def _rows(self) -> Kernel:
        """Write the launch for a few long rows, each of which some blocks share."""
        emitter, form = self._emitter, self._form
        position = emitter.indices.element_index("jv_")
        outer_digits = [Digit("o_", product_of(form.outer))] if form.outer else []
        outer = iter(emitter.indices.coordinates(outer_digits, form.outer))
        reduced = iter(emitter.indices.coordinates([Digit(position, product_of(form.reduced))], form.reduced))
        indices = [next(reduced) if k in self._axes else next(outer) for k in range(len(self._shape))]
        statements = emitter.begin()
        elements = list[str]()
        for r in self._reductions:
            variable = emitter.value(r.args[0].name, indices)
            elements.append(self._update(r, f"acc_{r.name}", variable, position))
        turn = vector_lines(emitter, statements, elements)
        stores = [
            f"{{ const auto all_ = over_lanes<BLOCK>(acc_{r.name}, {self._functor(r)}); "
            f"if (threadIdx.x == 0) {self._part(r, 'o_ * SPLIT + part_')} = all_; }}"
            for r in self._reductions
        ]
        inner = product_text(form.reduced)
        body = [
            f"const Index inner_ = {c_expression(inner)};",
            "const Index o_ = blockIdx.x / SPLIT, part_ = blockIdx.x % SPLIT;",
            *emitter.indices.prelude[0],
            *statements.lines[0],
            *(f"{self._type(r)} acc_{r.name} = {self._begun(r)};" for r in self._reductions),
            "#pragma unroll 4",
            "for (Index jv_ = (part_ * BLOCK + (int)threadIdx.x) * V; jv_ < inner_; jv_ += SPLIT * BLOCK * V) {",
            *indented(turn),
            "}",
            *stores,
        ]
        sizes = [load.item_bytes for load in statements.loads.values()]
        outer_count = self._job.extents.typical(form.outer)
        length = self._job.extents.typical(form.reduced) // 256
        tunables = {"SPLIT": self._split(-(-outer_count // 4), length), "BLOCK": [256, 512], "VEC": widths(sizes)}
        grid = f"({product_text(form.outer)}) * SPLIT"
        return self._first(body, grid, ["BLOCK"], "BLOCK", tunables, whole_vectors(emitter, inner))

    def _first(
        self,
        body: Sequence[str],
        grid: str,
        block: Sequence[str],
        bounds: str,
        tunables: dict[str, list[int]],
        condition: str,
    ) -> Kernel:
        function = f"{self._name}_parts"
        code = ["template <int V>", f"__device__ __forceinline__ void {function}_of(const Arguments& q_) {{"]
        code += [*indented(body), "}", ""]
        code += [f'extern "C" __global__ __launch_bounds__({bounds}) void {function}(PARAMETERS) {{']
        code += ["    const Arguments q_ = {ARGUMENTS};", *indented(chosen(f"{function}_of", condition)), "}"]
        spaces = {self._space(r): ("f32", ["SPLIT", *self.kept, words_of(self._type(r))]) for r in self._reductions}
        emitter = self._emitter
        called, loaded = frozenset(emitter.called), frozenset(emitter.loaded)
        rules = {"lds": "TALL * VEC <= 64"} if "TALL" in tunables else {}
        return Kernel(function, code, grid, block, tunables, rules, spaces, called, loaded=loaded)

    def _together(self) -> Kernel:
        """Write the launch that takes parts together and stores what follows from the whole."""
        emitter: Emitter = self._job.emitter(frozenset(r.name for r in self._reductions))
        is_columns, name = self._form.is_columns, f"{self._name}_whole"
        digits = [Digit("p_", product_of(self.kept))] if self.kept else []
        mine = emitter.indices.coordinates(digits, self.kept)
        index = "s_ * count_ + p_" if is_columns else "p_ * SPLIT + s_"
        first, step = ("threadIdx.y", "TALL") if is_columns else ("threadIdx.x", "LANES")
        lines = [f"{self._type(r)} acc_{r.name} = {self._begun(r)};" for r in self._reductions]
        turn = [f"acc_{r.name} = {self._functor(r)}(acc_{r.name}, {self._part(r, index)});" for r in self._reductions]
        lines += [f"for (int s_ = {first}; s_ < SPLIT && p_ < count_; s_ += {step}) {{", *indented(turn), "}"]
        for r in self._reductions:
            c_type, kind = C_TYPES[r.dtype], plain(r.op)
            part = ".place" if kind in ARGUMENTS else ".squares" if kind == "squares" else ""
            if is_columns:
                lines.append(f"const {self._type(r)} of_{r.name}[1] = {{acc_{r.name}}};")
                store = f"[&](int, auto all_) {{ acc_{r.name} = all_; }}"
                lines.append(f"over_tall<TALL>(of_{r.name}, {self._functor(r)}, {store});")
            else:
                lines.append(f"acc_{r.name} = over_lanes<LANES>(acc_{r.name}, {self._functor(r)});")
            lines.append(f"const {c_type} r_{r.name}_ = ({c_type})acc_{r.name}{part};")
            emitter.define(r.name, mine, f"r_{r.name}_", c_type)
        statements, stores = emitter.begin(), list[str]()
        for result in self._results:
            if not self._job.extents.are_equal(result.shape, self.kept):
                raise NotDirect("a result of another shape")
            indices = emitter.indices.coordinates(digits, result.shape)
            variable = emitter.value(result.value, indices)
            stores.append(stored(emitter, result, indices, result.converted(variable)))
        is_first = "threadIdx.y == 0" if is_columns else "threadIdx.x == 0"
        count = product_text(self.kept)
        p = f"blockIdx.x * {WIDE} + (int)threadIdx.x" if is_columns else "blockIdx.x"
        code = [
            f'extern "C" __global__ void {name}(PARAMETERS) {{',
            "    const Arguments q_ = {ARGUMENTS};",
            f"    const Index count_ = {c_expression(count)}, p_ = {p};",
            *indented(lines),
            f"    if ({is_first} && p_ < count_) {{",
            *indented([*emitter.indices.prelude[0], *statements.lines[0], *stores], 2),
            "    }",
            "}",
        ]
        tunables = {"TALL": [16, 8, 4]} if is_columns else {"LANES": [256]}
        grid = f"ceil_div({count}, {WIDE})" if is_columns else count
        block = [str(WIDE), "TALL"] if is_columns else ["LANES"]
        called, loaded = frozenset(emitter.called), frozenset(emitter.loaded)
        return Kernel(name, code, grid, block, tunables, called=called, loaded=loaded)

"""Products of matrices with what is computed around them: operands on their way in, results on their way out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.matrix_tiles import TiledProduct
from agents.product_kinds import KINDS, ProductKind
from agents.tile_loads import Operand
from agents.tile_sizes import constraints, tunables
from imports.graph import Graph, Operation, Size
from imports.hip_text import CONVERTED, STORAGE
from imports.hip_values import C_TYPES, c_expression
from imports.schedules.case_sizes import product_text
from imports.schedules.emitter import Emitter, LoopStatements
from imports.schedules.index_digits import ITEM, NotDirect
from imports.schedules.kernels import Kernel, ScheduleJob, StoredValue, stored, vector_lines
from imports.schedules.product_types import common_type, narrowest
from tasks.dtypes import size_bytes

UNITS = 304  # that the first choice of tiles is for; the tuner tries the others
FUSED = {"f64": "fused_f64", "i64": "fused_i64"}
_WHOLE_LOAD = re.compile(rf"(?:\(\w[\w ]*\))?\((q_\.\w+ \+ \(.*\))\)\[{ITEM}\]")


@dataclass(frozen=True)
class _Loaded:
    """An operand's elements as one direction of neighbours gives them."""

    emitter: Emitter
    statements: LoopStatements
    variable: str
    dtype: str  # that holds its values
    is_turned: bool
    scattered: int  # bytes of loads that do not follow one another
    raw: str = ""  # the pointer to neighbours that are the operand as it is in memory


def contraction(
    job: ScheduleJob, name: str, node: Operation, results: Sequence[StoredValue], matrix_cores: bool
) -> Kernel:
    """Write a product's kernel; NotDirect where a result rests on other sums than its own."""
    left, right = (_loaded(job, node, side) for side in (0, 1))
    kind = _kind(node, left.dtype, right.dtype, matrix_cores)
    m, n, k = (c_expression(s) for s in _extents(job.graph, node))
    lines, ends = _results(job, node, results)
    conditions = dict[str, None]()
    for loaded, rows in ((left, m), (right, n)):
        sizes = [c_expression(s) for s in loaded.emitter.indices.vector_steps.values()]
        for size in [rows if loaded.is_turned else k, *sizes]:
            conditions[f"{size} % {4 if loaded.is_turned else kind.each} == 0"] = None
    condition = " && ".join(conditions)
    tiled = TiledProduct(
        name, kind, _operand(kind, left, m), _operand(kind, right, n), k, "const Arguments& q_", "q_", condition, lines
    )
    code = [
        *tiled.functions(),
        f'extern "C" __global__ __launch_bounds__({tiled.lanes}) void {name}(PARAMETERS) {{',
        "    const Arguments q_ = {ARGUMENTS};",
        *(f"    {line}" for line in tiled.calls()),
        "}",
    ]
    emitters = (left.emitter, right.emitter, ends)
    return Kernel(
        name,
        code,
        _grid(job.graph, node, kind),
        [tiled.lanes],
        tunables(kind, _sizes(job, node), UNITS),
        constraints(kind),
        called=frozenset().union(*(e.called for e in emitters)),
        loaded=frozenset().union(*(e.loaded for e in emitters)),
        kinds=(kind.name,),
    )


def _extents(graph: Graph, node: Operation) -> tuple[Size, Size, Size]:
    """Return rows, columns and the extent of the inner axis."""
    return node.shape[-2], node.shape[-1], graph.shape_of(node.args[0].name)[-1]


def _sizes(job: ScheduleJob, node: Operation) -> list[tuple[int, int, int]]:
    rows, columns, matrices = (job.extents.timed(s) for s in ([node.shape[-2]], [node.shape[-1]], node.shape[:-2]))
    return list(zip(rows, columns, matrices, strict=True))


def _grid(graph: Graph, node: Operation, kind: ProductKind) -> str:
    rows, columns, _ = _extents(graph, node)
    tiles = f"ceil_div({rows}, WAVESI * TILESI * {kind.tile}) * ceil_div({columns}, WAVESJ * TILESJ * {kind.tile})"
    return f"{tiles} * {product_text(node.shape[:-2])}" if len(node.shape) > 2 else tiles


def _loaded(job: ScheduleJob, node: Operation, side: int) -> _Loaded:
    """Choose the direction in which an operand's neighbours follow one another in memory."""
    drafts = list[_Loaded]()
    for is_turned in (False, True):
        emitter = job.emitter(frozenset({node.name}))
        indices = emitter.indices
        row, inner = ("i_", "k_")
        indices.at_vector(inner if is_turned else row)
        row, inner = (indices.element_index(row), inner) if is_turned else (row, indices.element_index(inner))
        statements = emitter.begin()
        matrix = ["o_"] if len(node.shape) > 2 else []
        operand = node.args[side].name
        variable = emitter.value(operand, [*matrix, *((row, inner) if side == 0 else (inner, row))])
        drafts.append(_way(job, emitter, statements, operand, variable, is_turned))
    return min(drafts, key=lambda draft: draft.scattered)


def _way(
    job: ScheduleJob, emitter: Emitter, statements: LoopStatements, operand: str, variable: str, is_turned: bool
) -> _Loaded:
    scattered, raw, dtype = 8 * len(emitter.called), "", job.graph.dtype_of(operand)
    for (name, _), load in statements.loads.items():
        match = _WHOLE_LOAD.fullmatch(load.expression)
        scattered += 0 if match else load.item_bytes
        if load.variable == variable:
            memory = job.graph.dtype_of(name)
            dtype = min(dtype, memory, key=size_bytes)
            raw = match[1] if match and memory == dtype else ""
    dtype = min(dtype, narrowest(job.graph, operand), key=size_bytes)
    if not any(ITEM in load.expression for load in statements.loads.values()):
        scattered += 1  # nothing of it lies in this direction
    return _Loaded(emitter, statements, variable, dtype, is_turned, scattered, raw)


def _kind(node: Operation, left: str, right: str, matrix_cores: bool) -> ProductKind:
    common = common_type(left, right) if matrix_cores else ""
    if common == "i8" and node.dtype != "i32":
        common = ""
    if common:
        return KINDS[common]
    if matrix_cores:
        raise NotDirect("the matrix cores have no such product")
    return KINDS[FUSED.get(node.dtype, "fused_f32" if C_TYPES[node.dtype] == "float" else "fused_i32")]


def _operand(kind: ProductKind, loaded: _Loaded, rows: str) -> Operand:
    emitter, statements = loaded.emitter, loaded.statements
    before = [*emitter.indices.prelude[0], *statements.lines[0]]
    if loaded.raw and loaded.dtype == kind.name:
        lines = [*before, *emitter.indices.prelude[1], *statements.lines[1], f"load_whole<V>({loaded.raw}, x_);"]
        return Operand(lines, rows, loaded.is_turned)
    element = f"x_[{ITEM}] = {_bits(kind, loaded.variable)};"
    return Operand([*before, *vector_lines(emitter, statements, [element])], rows, loaded.is_turned)


def _bits(kind: ProductKind, value: str) -> str:
    """Write an element as it lies in LDS."""
    if kind.name not in STORAGE or STORAGE[kind.name] == kind.element:
        return f"({kind.element})({value})"
    storage = CONVERTED.get(kind.name, STORAGE[kind.name])
    return f"__builtin_bit_cast({kind.element}, ({storage})({value}))"


def _results(job: ScheduleJob, node: Operation, results: Sequence[StoredValue]) -> tuple[list[str], Emitter]:
    """Write the statements that store what follows from a sum."""
    emitter = job.emitter(frozenset({node.name}))
    indices = [*(["o_"] if len(node.shape) > 2 else []), "i_", "j_"]
    emitter.indices.at_vector("i_")
    emitter.indices.at_vector("j_")
    statements = emitter.begin({(node.name, tuple(indices)): "sum_"})
    stores = list[str]()
    for result in results:
        if not job.extents.are_equal(result.shape, node.shape):
            raise NotDirect("a result of another shape")
        digits = emitter.indices.digits_of(node.shape, indices)
        element = (
            indices if tuple(result.shape) == tuple(node.shape) else emitter.indices.coordinates(digits, result.shape)
        )
        stores.append(stored(emitter, result, element, result.converted(emitter.value(result.value, element))))
    if statements.loads:
        raise NotDirect("a load that waits for a sum")
    prelude = [line for level in (0, 1) for line in (*emitter.indices.prelude[level], *statements.lines[level])]
    return [*prelude, *statements.lines[2], *stores], emitter

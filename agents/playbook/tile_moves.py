"""Transposed reads through a tile in LDS: lanes read a row of the tile and use a column of it.

It applies to kernels over two axes that store along one and load along the other. The block is turned so that lanes lie
along the stores; loads along the other axis are read by lanes that lie along that one, and handed over in LDS.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agents.cpp.expression import Expression
from agents.cpp.polynomial import ONE, ZERO
from agents.cpp.statement import BodyStatement
from agents.playbook.emitted import (
    are_free,
    fresh_name,
    grid_of,
    indented,
    restored,
    text_of,
    unindented,
    with_restrict,
)
from agents.playbook.layout_moves import ELEMENT_BYTES
from agents.playbook.plan_moves import bounds_of
from agents.playbook.work_items import Coordinate, WorkItems, assigned, forms
from agents.source import KernelFile, substitute, with_plan, words

TILES = [64, 32, 16]
LINES = [8, 4, 16]


@dataclass(frozen=True)
class Turned:
    """A kernel that loads across the direction of its stores."""

    work: WorkItems
    along: Coordinate  # of the stores
    across: Coordinate
    loads: tuple[Expression, ...]  # across, each read once for the whole tile
    needed: tuple[tuple[str, ...], ...]  # declarations of the work that a load's index needs, as text


def tile_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the kernels that load across the direction of their stores, by name."""
    names = tuple(t.work.kernel.name for t in _candidates(file))
    return names if are_free(file, reserved, "TILE", "LINES") else ()


def tile_in_lds(file: KernelFile, variant: str) -> str:
    """Keep a tile of each such load in LDS, with a column more than needed, so that columns lie in different banks."""
    turned = next(t for t in _candidates(file) if t.work.kernel.name == variant)
    work, tile, lines = turned.work, fresh_name(file, "TILE"), fresh_name(file, "LINES")
    dependent = work.depends(turned.along.name) | work.depends(turned.across.name)
    changed = assigned(work.work)
    shared = [restored(work, k, d) for k, d in work.lead if d.name not in dependent | changed]
    arrays, reads, edits = list[str](), list[str](), list[tuple[int, int, str]]()
    start = work.work[0].start
    for number, (load, needed) in enumerate(zip(turned.loads, turned.needed, strict=True)):
        name = f"tile_{number}"
        pointee = next(p.pointee for p in work.kernel.parameters if p.name == work.roots()[load.parts[0].value])
        arrays.append(f"__shared__ {pointee} {name}[{tile}][{tile} + 1];")
        reads += [*needed, f"{name}[tile_line][threadIdx.x] = {work.text(load)};"]
        edits.append((load.start - start, load.end - start, f"{name}[threadIdx.x][tile_line]"))
    used = unindented(substitute(text_of(work), edits))
    item_declarations = [
        restored(work, k, d) for k, d in work.lead if d.name in (dependent | changed) - {i.name for i in work.indices}
    ]
    tests = [f"{i.name} < {i.bound}" for i in (turned.along, turned.across)] + list(work.conditions)
    loop = f"for (int tile_line = threadIdx.y; tile_line < {tile}; tile_line += {lines}) {{"

    def pass_over(along: str, across: str, inner: list[str]) -> list[str]:
        index_lines = [
            f"const {i.type} {i.name} = blockIdx.{i.axis} * {tile} + {offset};"
            for i, offset in ((turned.along, along), (turned.across, across))
        ]
        guarded = [f"if ({' && '.join(tests)}) {{", *indented(inner, 4), "}"]
        return [loop, *indented([*index_lines, *item_declarations, *guarded], 4), "}"]

    body = [*shared, *arrays, *pass_over("tile_line", "threadIdx.x", reads), "__syncthreads();"]
    body += pass_over("threadIdx.x", "tile_line", used)
    edit = [(*work.kernel.body, "\n" + "\n".join(indented(body, 4)) + "\n")]
    if bounds := bounds_of(file, work.kernel):
        edit.append((*bounds, f"{tile} * {lines}"))
    grid = grid_of(work, "x", tile)[:1] + grid_of(work, "y", tile)[1:]
    launches = [{**x, "grid": grid, "block": [tile, lines]} if x is work.launch else x for x in file.plan["launch"]]
    plan = {**file.plan, "launch": launches, "tunables": {**file.tunables, tile: TILES, lines: LINES}}
    return with_restrict(with_plan(file, plan, substitute(file.source, edit)))


def _candidates(file: KernelFile) -> Iterator[Turned]:
    for work in forms(file):
        leaves = {s.form for part in work.work for s in part.walk()} & {"for", "return", "continue", "break"}
        local = {declared.name for _, declared in work.lead} | {name for s in work.work for name in s.makes()}
        axes = {i.axis for i in work.indices if i.bound}
        if axes != {"x", "y"} or leaves or not work.is_apart or not assigned(work.work) <= local:
            continue
        has_names = any(words(file.code, name) for name in ("tile_line", "tile_0", "tile_1", "tile_2", "tile_3"))
        turned = None if has_names or work.extent("block", "z") != "1" else _turned(work)
        if turned and 0 < len(turned.loads) <= 4:
            yield turned


def _turned(work: WorkItems) -> Turned | None:
    stores = [n.parts[0] for s in work.work for n in s.nodes() if n.kind == "assign" and n.parts[0].kind == "index"]
    targets, roots = {id(n) for n in stores}, work.roots()
    stored_roots = {roots.get(n.parts[0].value, "?") for n in stores}
    unit = [{i.name for i in work.indices if work.poly(n.parts[1]).along(i.name) == ONE} for n in stores]
    if not stores or "?" in stored_roots or any(u != unit[0] or len(u) != 1 for u in unit):
        return None
    along = next(i for i in work.indices if i.name in unit[0])
    across = next(i for i in work.indices if i is not along)
    fixed = {i.name for i in (along, across)} | {p.name for p in work.kernel.parameters}
    fixed |= {declared.name for _, declared in work.lead if not declared.is_pointer} - assigned(work.work)
    loads, needed = list[Expression](), list[tuple[str, ...]]()
    for node in certain(work.work):
        if node.kind != "index" or id(node) in targets or roots.get(node.parts[0].value, "?") in stored_roots | {"?"}:
            continue
        subscript = work.poly(node.parts[1])
        strided = subscript.along(across.name) == ONE and subscript.along(along.name) not in (ONE, ZERO, None)
        before = _needed(work, node, fixed)
        if strided and before is not None and _plain(work, node):
            loads.append(node)
            needed.append(before)
    return Turned(work, along, across, tuple(loads), tuple(needed))


def certain(statements: tuple[BodyStatement, ...]) -> Iterator[Expression]:
    """Yield the parts of statements that every work-item within the bounds evaluates."""
    for statement in statements:
        if statement.form == "block":
            yield from certain(statement.body)
        values = [d.value for d in statement.declared] if statement.form == "declare" else [statement.value]
        for value in values:
            if value:
                yield from _evaluated(value)


def _evaluated(node: Expression) -> Iterator[Expression]:
    yield node
    branches = node.kind == "ternary" or (node.kind == "binary" and node.value in ("&&", "||"))
    for part in node.parts[:1] if branches else node.parts:
        yield from _evaluated(part)


def _plain(work: WorkItems, load: Expression) -> bool:
    root = work.roots()[load.parts[0].value]
    return any(p.name == root and p.pointee in ELEMENT_BYTES for p in work.kernel.parameters)


def _needed(work: WorkItems, load: Expression, fixed: set[str]) -> tuple[str, ...] | None:
    """List the declarations of the work that a load's index is computed from.

    It is None where that is more than arithmetic.
    """
    missing, declarations = set(load.names()) - fixed, list[str]()
    changed = assigned(work.work)
    for statement in reversed(work.work):
        for declared in reversed(statement.declared):
            if declared.name not in missing or statement.start > load.start:
                continue
            plain = declared.value and not any(n.kind in ("index", "call", "assign") for n in declared.value.walk())
            if declared.is_pointer or not declared.value or not plain or declared.name in changed:
                return None
            missing = (missing - {declared.name}) | (set(declared.value.names()) - fixed)
            declarations.insert(0, restored(work, statement.type, declared))
    return None if missing else tuple(dict.fromkeys(declarations))

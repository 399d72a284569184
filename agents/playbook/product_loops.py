"""Kernels that add up products of two operands over two axes, told by what each factor depends on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.cpp.expression import Expression
from agents.cpp.polynomial import ONE
from agents.cpp.statement import BodyStatement, Declared
from agents.playbook.jam_moves import Jam, jams
from agents.playbook.planar import as_planar
from agents.playbook.reductions import Counted, counted
from agents.playbook.work_items import Coordinate
from agents.source import KernelFile

SUMMED = ("float", "double", "int")  # types of sums
_ADDS = ("fma", "fmaf", "__fmaf_rn", "__builtin_fmaf")
_OURS = re.compile(r"\b[A-Za-z]\w*_\b")


@dataclass(frozen=True)
class OperandFactor:
    """One operand: its expression, and the axis that it depends on beside the loop."""

    value: str
    nodes: tuple[Expression, ...]
    index: Coordinate


@dataclass(frozen=True)
class ProductLoop:
    """A kernel that adds up products of two operands for each item."""

    jam: Jam
    counted: Counted
    sum_name: str
    left: OperandFactor  # of the axis that the stores do not follow
    right: OperandFactor


def declarations(product: ProductLoop) -> list[tuple[str, Declared]]:
    """List what is declared before and in the loop, in order, the indices and the sum left out."""
    mine = {i.name for i in product.jam.indices} | {product.sum_name}
    return [(kind, d) for kind, d in _declared(product.jam) if d.name not in mine]


def _declared(jam: Jam) -> list[tuple[str, Declared]]:
    inside = ((s.type, d) for part in (jam.before, jam.loop.body) for s in part for d in s.declared)
    return [*jam.work.lead, *inside]


def product_loops(file: KernelFile) -> Iterator[ProductLoop]:
    """Yield every kernel of the file that is one."""
    for jam in jams(as_planar(file)):
        work = jam.work
        loop = counted(work, jam.loop)
        is_plane = {i.axis for i in jam.indices} == {"x", "y"} and work.extent("block", "z") == "1"
        is_linked = re.search(r"extern\s*\{", work.file.code) is not None
        text = work.file.code[slice(*work.kernel.body)]
        if not loop or not is_plane or is_linked or len(jam.item_variables) != 1 or _OURS.search(text):
            continue
        [(sum_name, kind)] = jam.item_variables.items()
        is_single = not any(s.form == "for" for s in (*jam.loop.body, *jam.after))
        if kind in SUMMED and is_single and (product := _product(jam, loop, sum_name)):
            yield product


def _product(jam: Jam, loop: Counted, sum_name: str) -> ProductLoop | None:
    sets = [s for s in jam.loop.body if s.form != "declare"]
    added = _added(sets[0], sum_name) if len(sets) == 1 else None
    if added is None or sum_name in {n for node in added for n in node.names()}:
        return None
    declared = [
        *jam.work.lead,
        *((s.type, d) for part in (jam.before, jam.loop.body) for s in part for d in s.declared),
    ]
    axes = {i.name: i for i in jam.indices}
    groups: dict[str, list[Expression]] = {}
    for factor in added:
        names = _closure(declared, factor.names())
        mine = [name for name in axes if name in names]
        if len(mine) > 1 or sum_name in names:
            return None
        groups.setdefault(mine[0] if mine else "", []).append(factor)
    free = groups.pop("", [])
    if set(groups) != set(axes):
        return None
    column = _column(jam, axes)
    row = next(name for name in axes if name != column)
    groups[row] += free
    factors = {name: _factor(jam, parts, axes[name], declared) for name, parts in groups.items()}
    return ProductLoop(jam, loop, sum_name, factors[row], factors[column])


def _factor(
    jam: Jam, parts: Sequence[Expression], index: Coordinate, declared: Sequence[tuple[str, Declared]]
) -> OperandFactor:
    """Take the parts that depend on one axis together, with the loads behind the names that they use."""
    names = {n for p in parts for n in p.names()}
    reached = _closure(declared, frozenset(names)) - set(jam.work.integers) - jam.work.pointers
    behind = [d.value for _, d in declared if d.value and d.name in reached]
    nodes = [n for value in (*parts, *behind) for n in value.walk()]
    text = " * ".join(f"({jam.work.text(p)})" for p in parts)
    return OperandFactor(text, tuple(nodes), index)


def _closure(declared: Sequence[tuple[str, Declared]], names: frozenset[str]) -> set[str]:
    reached = set(names)
    for _, d in reversed(declared):
        if d.name in reached and d.value:
            reached |= d.value.names()
    return reached


def _added(statement: BodyStatement, name: str) -> list[Expression] | None:
    """List the factors of what a statement adds to the sum; None where it does something else."""
    node = statement.value
    if statement.form != "expression" or not node or node.kind != "assign" or node.parts[0].value != name:
        return None
    value = node.parts[1]
    if node.value == "+=":
        return _factors(value)
    if node.value != "=":
        return None
    if value.kind == "call" and value.value in _ADDS and _is_name(value.parts[-1], name):
        return [f for part in value.parts[:2] for f in _factors(part)]
    if value.kind == "binary" and value.value == "+":
        others = [p for p in value.parts if not _is_name(p, name)]
        return _factors(others[0]) if len(others) == 1 else None
    return None


def _is_name(node: Expression, name: str) -> bool:
    return node.kind == "name" and node.value == name


def _factors(node: Expression) -> list[Expression]:
    if node.kind == "binary" and node.value == "*":
        return [f for part in node.parts for f in _factors(part)]
    return [node]


def _column(jam: Jam, axes: dict[str, Coordinate]) -> str:
    """Choose the axis along which the results lie in memory; that of neighbouring lanes where none does."""
    stores = [n.parts[0] for s in jam.after for n in s.nodes() if n.kind == "assign" and n.parts[0].kind == "index"]
    for name in axes:
        if any(jam.work.poly(n.parts[1]).along(name) == ONE for n in stores):
            return name
    return next(name for name, i in axes.items() if i.axis == "x")

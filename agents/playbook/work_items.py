"""Kernels whose work-items are independent: the numbers of a work-item, the guard around its work, and the work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.cpp.expression import Expression, NotUnderstood, joined, parse_expression
from agents.cpp.polynomial import ONE, Polynomial, atom, polynomial
from agents.cpp.statement import BodyStatement, Declared, parse_body
from agents.playbook.grid_loops import as_one_item, hides_nothing
from agents.playbook.plan_moves import LANES, integer_constants
from agents.source import KernelFile, KernelText, words

_TOGETHER = re.compile(
    r"__sync|__shared__|barrier|__thread|asm\b|__builtin_amdgcn|clock|printf|assert|\[\s*[&=]?\s*\]\s*\("
)
_NONE = Declared("", False, None)
_FLAT = "blockIdx.x * blockDim.x + threadIdx.x"
_COORDINATES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
AXES = "xyz"
_CHANGES = frozenset(("++", "--"))


@dataclass(frozen=True)
class Coordinate:
    """The number of a work-item along one axis of the grid: `name = blockIdx.axis * block + threadIdx.axis`."""

    axis: str
    name: str
    type: str
    value: str  # as the kernel writes it
    offset: int  # offset of that text
    bound: str  # the guard is `name < bound`; empty where there is none


@dataclass(frozen=True)
class WorkItems:
    """A kernel taken apart: declarations, then a guard, then the work of one work-item that meets no other one."""

    file: KernelFile
    kernel: KernelText
    launch: Mapping[str, Any]
    indices: tuple[Coordinate, ...]
    lead: tuple[tuple[str, Declared], ...]  # type and name of what is declared before the work, in order
    conditions: tuple[str, ...]  # of the guard, beside the bounds
    work: tuple[BodyStatement, ...]
    integers: Mapping[str, Polynomial]  # of every declared integer that keeps its value
    strides: bool = False  # a grid of any size takes all items in turn

    def text(self, part: Expression | BodyStatement) -> str:
        """Return the source of a part, comments included."""
        return self.file.source[part.start : part.end]

    def poly(self, node: Expression) -> Polynomial:
        """Put an index expression in terms of the indices, parameters and whatever else the kernel does not compute."""
        return polynomial(node, self.file.code, self.integers)

    def index(self, axis: str) -> Coordinate | None:
        """Return the index along an axis."""
        return next((i for i in self.indices if i.axis == axis), None)

    @property
    def pointers(self) -> frozenset[str]:
        """The pointers among parameters and declarations, those inside loops and branches included."""
        names = {d.name for _, d in self.lead if d.is_pointer}
        names |= {d.name for s in self.work for part in s.walk() for d in part.declared if d.is_pointer}
        return frozenset(names | {p.name for p in self.kernel.parameters if p.is_pointer})

    @property
    def is_apart(self) -> bool:
        """True where the plan gives no buffer to two parameters."""
        buffers = [a for a, p in zip(self.launch.get("args", []), self.kernel.parameters, strict=False) if p.is_pointer]
        return len(set(buffers)) == len(buffers)

    def roots(self) -> Mapping[str, str]:
        """Map each pointer to the parameter that it points into; `?` where that is not plain."""
        roots = {p.name: p.name for p in self.kernel.parameters if p.is_pointer}
        declarations = [d for _, d in self.lead] + [d for s in self.work for part in s.walk() for d in part.declared]
        for declared in declarations:
            if declared.is_pointer:
                bases = {
                    roots.get(n, "?") for n in (declared.value.names() if declared.value else ()) if n in self.pointers
                }
                base = bases.pop() if len(bases) == 1 else "?"
                roots[declared.name] = base if roots.get(declared.name, base) == base else "?"
        return roots

    def depends(self, name: str) -> frozenset[str]:
        """Name the index and what the lead computes from it."""
        names = {name}
        for _, declared in self.lead:
            if declared.value and declared.value.names() & names:
                names.add(declared.name)
        return frozenset(names)

    def extent(self, key: str, axis: str) -> str:
        """Find the plan's extent of the block or the grid along an axis."""
        return extent(self.launch, key, axis)


def extent(launch: Mapping[str, Any], key: str, axis: str) -> str:
    """Find the plan's extent of a launch's block or grid along an axis."""
    value, position = launch.get(key), AXES.index(axis)
    return str(value[position]).strip() if isinstance(value, list) and len(value) > position else "1"


def forms(file: KernelFile) -> Iterator[WorkItems]:
    """Every kernel of the file that has this form."""
    for kernel in file.kernels:
        form = form_of(file, kernel)
        if isinstance(form, WorkItems):
            yield form


def form_of(file: KernelFile, kernel: KernelText) -> WorkItems | str:
    """One kernel taken apart, or why it cannot be."""
    try:
        return _form(file, kernel)
    except NotUnderstood as reason:
        return str(reason)


def assigned(statements: Sequence[BodyStatement]) -> frozenset[str]:
    """List the names that get another value after their declaration, elements of arrays and buffers left out."""
    names = set()
    for statement in statements:
        for node in statement.nodes():
            changes = node.kind == "assign" or (node.kind in ("unary", "postfix") and node.value in _CHANGES)
            if changes and node.parts[0].kind == "name":
                names.add(node.parts[0].value)
            if node.kind == "unary" and node.value == "&" and node.parts[0].kind == "name":
                names.add(node.parts[0].value)  # whoever gets the address may write
    return frozenset(names)


def _form(file: KernelFile, kernel: KernelText) -> WorkItems:
    launches = file.launches(kernel.name)
    body = file.code[slice(*kernel.body)]
    outside, offset = "", file.plan_span[1]
    for other in (*file.kernels,):
        outside, offset = outside + file.code[offset : other.body[0]], other.body[1]
    outside += file.code[offset:]
    if len(launches) != 1:
        raise NotUnderstood(f"the plan launches it {len(launches)} times")
    if any(words(outside, coordinate) for coordinate in _COORDINATES):
        raise NotUnderstood("a macro or a helper knows which work-item it is")
    if match := next(
        (m for text in (body, outside) for m in (LANES.search(text) or _TOGETHER.search(text),) if m), None
    ):
        raise NotUnderstood(f"work-items meet, or lanes are counted: {match.group().strip()}")
    if str(launches[0].get("lds", "0")) != "0" or "amdgpu_" in outside:
        raise NotUnderstood("it has dynamic LDS, or attributes that count waves")
    if not hides_nothing(file, kernel):
        raise NotUnderstood("a macro is more than an expression of its arguments")
    statements = parse_body(file.code, *kernel.body)
    first = _numbers(file, statements[:-1], launches[0], _NONE)[0]
    items = as_one_item(file, kernel, statements, launches[0], first)
    statements = items or statements
    integers, indices = _numbers(file, statements, launches[0], items[-2].declared[0] if items else None)
    inner = {name for s in statements for part in s.walk() if part is not s for name in part.makes()}
    if not indices:
        raise NotUnderstood("no variable is `blockIdx * blockDim + threadIdx` with the plan's block")
    if inner & {i.name for i in indices} or not _only_in_indices(statements, indices):
        raise NotUnderstood("more than such variables knows which work-item it is")
    lead, guard, work = _parted(statements, {i.name for i in indices}, integers)
    if _shadows(kernel, lead, work):
        raise NotUnderstood("one name stands for two things")
    bounds, conditions = _bounds(file, guard, {i.name for i in indices})
    bounded = tuple(replace(i, bound=bounds.get(i.name, "")) for i in indices)
    return WorkItems(file, kernel, launches[0], bounded, lead, conditions, work, integers, bool(items))


def _shadows(kernel: KernelText, lead: Sequence[tuple[str, Declared]], work: Sequence[BodyStatement]) -> bool:
    """Tell whether a name stands for two things, one of them within the other's scope."""
    outer = {p.name for p in kernel.parameters} | {declared.name for _, declared in lead}
    top = {d.name for s in work for d in s.declared}
    inner = {name for s in work for part in s.walk() if part is not s for name in part.makes()}
    return bool(outer & (top | inner) or top & inner)


def _numbers(
    file: KernelFile, statements: Sequence[BodyStatement], launch: Mapping[str, Any], only: Declared | None = None
) -> tuple[dict[str, Polynomial], list[Coordinate]]:
    """Polynomials of the integers that keep their value, and the indices among them; at most `only`, if given."""
    constants = {name: Polynomial({(): value} if value else {}) for name, value in integer_constants(file).items()}
    blocks = {axis: _plan_number(extent(launch, "block", axis), constants) for axis in AXES}
    integers = {**constants, **{f"blockDim.{axis}": size for axis, size in blocks.items()}}
    flat_index = {axis: atom(f"blockIdx.{axis}") * size + atom(f"threadIdx.{axis}") for axis, size in blocks.items()}
    changed, indices = assigned(statements), list[Coordinate]()
    for statement in statements:
        for declared in statement.declared:
            keeps = declared.value and not (declared.value.names() | {declared.name}) & changed
            if declared.is_pointer or not declared.value or not keeps or "float" in statement.type:
                integers.pop(declared.name, None)
                continue
            value = polynomial(declared.value, file.code, integers)
            axis = next((a for a, p in flat_index.items() if p == value and not only), "x" if declared is only else "")
            plain = blocks[axis] == ONE if axis else False
            if axis and not plain and all(i.axis != axis for i in indices):
                text = _FLAT if declared is only else file.source[declared.value.start : declared.value.end]
                kind = " ".join(w for w in statement.type.split() if w not in ("const", "constexpr"))
                kind = "unsigned" if kind == "auto" else kind
                indices.append(Coordinate(axis, declared.name, kind, text, declared.value.start, ""))
                integers[declared.name] = atom(declared.name)
            else:
                integers[declared.name] = value
    inner = {name for s in statements for part in s.walk() if part is not s for name in part.makes()}
    return {n: p for n, p in integers.items() if n not in inner}, indices


def _plan_number(text: str, constants: Mapping[str, Polynomial]) -> Polynomial:
    try:
        return polynomial(parse_expression(text, 0, len(text)), text, constants)
    except NotUnderstood:
        return atom(text)


def _only_in_indices(statements: Sequence[BodyStatement], indices: Sequence[Coordinate]) -> bool:
    """Tell whether nothing but the indices knows which work-item this is, along their axes."""
    hidden = {f"{coordinate}.{i.axis}" for i in indices for coordinate in _COORDINATES}
    names, aliases = {i.name for i in indices}, set[str]()
    for statement in statements:
        initial_values = {declared.name: declared.value for declared in statement.declared}
        for name, value in initial_values.items():
            if value and name not in names and any(_knows(n, hidden, aliases) for n in value.walk()):
                aliases.add(name)
        inner = (p.value for part in statement.walk() if part is not statement for p in part.declared)
        steps = (v for part in statement.walk() for v in (part.value, part.step))
        if any(_knows(n, hidden, aliases) for v in (*inner, *steps) if v for n in v.walk()):
            return False
    nodes = [n for s in statements for n in s.nodes()]
    coordinates = [_coordinate(n) for n in nodes if _coordinate(n)]
    bare = sum(n.kind == "name" and n.value in _COORDINATES for n in nodes) - len(coordinates)
    return bare == 0 and not any(p.startswith(("gridDim", "threadIdx")) and p not in hidden for p in coordinates)


def _knows(node: Expression, hidden: set[str], aliases: set[str]) -> bool:
    return _coordinate(node) in hidden or (node.kind == "name" and node.value in aliases)


def _coordinate(node: Expression) -> str:
    is_coordinate = node.kind == "member" and node.parts[0].kind == "name" and node.parts[0].value in _COORDINATES
    return f"{node.parts[0].value}.{node.value}" if is_coordinate else ""


def _parted(
    statements: Sequence[BodyStatement], indices: set[str], integers: Mapping[str, Polynomial]
) -> tuple[tuple[tuple[str, Declared], ...], list[tuple[Expression, bool]], tuple[BodyStatement, ...]]:
    """Names declared first, the guard's conditions with the sense in which they let a work-item on, and the work."""
    lead, guard = list[tuple[str, Declared]](), list[tuple[Expression, bool]]()
    for position, statement in enumerate(statements):
        returns = statement.form == "if" and not statement.other and [s.form for s in statement.body] == ["return"]
        if statement.form == "declare" and not (guard and any(map(_touches, statement.nodes()))):
            lead += [(statement.type, declared) for declared in statement.declared]
        elif returns and statement.value and statement.value.names() & indices:
            guard.append((statement.value, False))
        elif statement.form == "if" and not statement.other and statement is statements[-1] and statement.value:
            if not statement.value.names() & indices:
                return tuple(lead), guard, tuple(statements[position:])
            return tuple(lead), [*guard, (statement.value, True)], statement.body
        elif statement.form != "empty":
            return tuple(lead), guard, tuple(statements[position:])
    return tuple(lead), guard, ()


def _touches(node: Expression) -> bool:
    """Tell whether an expression is what a guard may protect."""
    return node.kind in ("index", "call", "assign") or (node.kind == "unary" and node.value == "*")


def _bounds(
    file: KernelFile, guard: Sequence[tuple[Expression, bool]], indices: set[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Find the upper bound of each index, and the other conditions as text."""
    bounds, conditions = dict[str, str](), list[str]()
    for condition, sense in guard:
        for node in joined(condition, "&&" if sense else "||"):
            below = _below(node, sense)
            if below and below[0] in indices and below[0] not in bounds and not below[1].names() & indices:
                bounds[below[0]] = file.source[below[1].start : below[1].end]
            else:
                text = file.source[node.start : node.end]
                conditions.append(f"({text})" if sense else f"!({text})")
    return bounds, tuple(conditions)


def _below(node: Expression, sense: bool) -> tuple[str, Expression] | None:
    """Find the name that a comparison bounds from above, and the bound."""
    if node.kind != "binary":
        return None
    left, right = node.parts
    for name, bound, operator in ((left, right, "<" if sense else ">="), (right, left, ">" if sense else "<=")):
        inner = name.parts[0] if name.kind == "cast" else name
        if inner.kind == "name" and node.value == operator:
            return inner.value, bound
    return None

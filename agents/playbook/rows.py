"""Kernels that take one row a work-item, in loops whose passes may come in any order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agents.cpp.expression import Expression
from agents.cpp.polynomial import ONE, Polynomial, atom, polynomial
from agents.cpp.statement import BodyStatement
from agents.playbook.reductions import PLAIN, Counted, counted, has_effects, reductions
from agents.playbook.work_items import WorkItems, assigned, extent, forms
from agents.source import KernelFile

_ATOMIC = re.compile(r"atomic[A-Z]\w*$")
_NAME = re.compile(r"[A-Za-z_]\w*")
Places = dict[str, set[tuple[str, str, str]]]  # of what is stored: pointer, start of the loop, place in it; by root


@dataclass(frozen=True)
class Rows:
    """A kernel that takes one row a work-item: its loops and the stores beside them."""

    work: WorkItems
    loops: tuple[Counted, ...]
    stores: tuple[BodyStatement, ...]  # outside of loops

    def type_of(self, name: str) -> str:
        """Find the type that a variable of the kernel is declared with."""
        types = {declared.name: kind for kind, declared in self.work.lead}
        types |= {d.name: s.type for s in self.work.work for d in s.declared}
        return plain(types.get(name, ""))


def plain(kind: str) -> str:
    """Return a type without `const`."""
    return " ".join(w for w in kind.split() if w != "const")


def rows_of(file: KernelFile) -> Iterator[Rows]:
    """Every kernel of the file that is one, reads neighbouring elements in neighbouring passes, and has a guard."""
    for work in forms(file):
        index = work.indices[0]
        flat = all(extent(work.launch, "block", axis) == "1" for axis in "yz")
        if (
            work.strides
            or len(work.indices) != 1
            or index.axis != "x"
            or not index.bound
            or not flat
            or not work.is_apart
        ):
            continue
        rows = _rows(work)
        if rows and any(_is_contiguous(work, loop) for loop in rows.loops):
            yield rows


def _rows(work: WorkItems) -> Rows | None:
    loops, stores = list[Counted](), list[BodyStatement]()
    for statement in work.work:
        if statement.form == "for":
            loop = counted(work, statement)
            loop_reductions = reductions(loop) if loop else None
            if not loop or loop_reductions is None or not _is_closed(statement, work.pointers):
                return None
            loops.append(replace(loop, reductions=loop_reductions))
        elif not _outside(statement, work.pointers, stores) or (loops and assigned([statement]) & work.pointers):
            return None
    rows = Rows(work, tuple(loops), tuple(stores))
    kinds = {rows.type_of(n) for loop in loops for r in loop.reductions for n in (r.name, r.position) if n}
    return rows if loops and kinds <= PLAIN and not _changes(loops) & work.pointers and _is_apart(rows) else None


def _changes(loops: Sequence[Counted]) -> frozenset[str]:
    return frozenset(r.name for loop in loops for r in loop.reductions)


def _outside(statement: BodyStatement, pointers: frozenset[str], stores: list[BodyStatement]) -> bool:
    """Tell whether every lane may execute a statement, or the first one alone; the latter join `stores`."""
    node = statement.value
    if statement.form in ("if", "block"):
        values = [node] if node else []
        inside = (*statement.body, *statement.other)
        return not has_effects(values, pointers) and all(_outside(s, pointers, stores) for s in inside)
    if statement.form == "declare":
        return not has_effects([d.value for d in statement.declared if d.value], pointers)
    if statement.form != "expression" or not node:
        return statement.form in ("return", "empty")
    inner = [n for n in node.walk() if n is not node and (n.kind == "assign" or n.value in ("++", "--"))]
    is_store = node.kind == "assign" and node.parts[0].kind == "index" and not has_effects(node.parts[1:], pointers)
    if inner:
        return False
    if is_store or (node.kind == "call" and _ATOMIC.match(node.value)):
        stores.append(statement)
        return True
    is_set = node.kind in ("assign", "unary", "postfix") and node.parts[0].kind == "name"
    return is_set and not has_effects([node], pointers)


def _is_closed(loop: BodyStatement, pointers: frozenset[str]) -> bool:
    """Tell whether a pass neither leaves the loop nor writes but by plain stores and assignments."""
    for part in loop.walk():
        values = [v for v in (part.value, part.step, *(d.value for d in part.declared)) if v]
        if part.form in ("return", "break") or has_effects(values, pointers):
            return False
        if part.form == "expression" and part.value and part.value.kind not in ("assign", "unary", "postfix"):
            return False
        for value in values:
            inner = [n for n in value.walk() if n.kind == "assign" or n.value in ("++", "--")]
            if any(n.parts[0].kind not in ("name", "index") for n in inner):
                return False
            if value is not part.step and len(inner) > (part.form == "expression"):
                return False
    return True


def _is_apart(rows: Rows) -> bool:
    """Tell whether no lane reads or overwrites what another one stored."""
    work, roots, stored = rows.work, rows.work.roots(), Places()
    targets = set[int]()
    for loop in rows.loops:
        for node in (n for s in loop.loop.body for n in s.nodes() if n.kind == "assign" and n.parts[0].kind == "index"):
            target = node.parts[0]
            subscript = _subscript(work, loop, target.parts[1])
            if not subscript or target.parts[0].kind != "name" or roots.get(target.parts[0].value, "?") == "?":
                return False
            targets.add(id(target))
            base = target.parts[0].value
            stored.setdefault(roots[base], set()).add((base, loop.start, subscript))
    if any(len(subscripts) > 1 for subscripts in stored.values()):
        return False
    store_names = [
        n for s in rows.stores if s.value for n in s.value.parts[0].walk() if n.kind == "name" and n.value in roots
    ]
    beside = {roots[n.value] for n in store_names}
    uses = sum(n.kind == "name" and roots.get(n.value, "") in beside for s in work.work for n in s.nodes())
    if beside & (set(stored) | {"?"}) or uses != len(store_names):
        return False
    return _reads_own(rows, roots, stored, targets)


def _reads_own(rows: Rows, roots: Mapping[str, str], stored: Places, targets: set[int]) -> bool:
    """Tell whether what the loops store is read only by the pass of the same number, if at all."""
    work, bases = rows.work, set[int]()
    for loop in rows.loops:
        for node in (n for s in loop.loop.body for n in s.nodes() if n.kind == "index"):
            base = node.parts[0].value
            subscripts = stored.get(roots.get(base, ""), set())
            if (
                subscripts
                and id(node) not in targets
                and (base, loop.start, _subscript(work, loop, node.parts[1])) not in subscripts
            ):
                return False
            bases.add(id(node.parts[0]))
    moved = {id(n.parts[0]) for s in work.work for n in s.nodes() if n.kind == "assign"}
    top = {id(n) for s in work.work for d in s.declared if d.is_pointer and d.value for n in d.value.walk()}
    used = (n for s in work.work for n in s.nodes() if n.kind == "name" and roots.get(n.value) in stored)
    return all(id(n) in bases | moved | top for n in used)


def _subscript(work: WorkItems, loop: Counted, node: Expression) -> str:
    """Write a canonical text of an index that is different in every pass; empty where that is not certain."""
    subscript = _polynomial(work, loop, node)
    step = subscript.along("@")
    inner = {loop.name} | {name for s in loop.loop.body for name in s.makes()}
    hidden = any(set(_NAME.findall(a)) & inner for a in subscript.atoms if a != "@")
    return "" if step is None or set(step.terms) != {()} or hidden else str(sorted(subscript.terms.items()))


def _polynomial(work: WorkItems, loop: Counted, node: Expression) -> Polynomial:
    changed = assigned(loop.loop.body)
    inner = {name for s in loop.loop.body for name in s.makes()}
    integers = {n: p for n, p in work.integers.items() if n not in inner} | {loop.name: atom("@")}
    for declared in (d for s in loop.loop.body for d in s.declared if not d.is_pointer and d.name not in changed):
        if declared.value:
            integers[declared.name] = polynomial(declared.value, work.file.code, integers)
    return polynomial(node, work.file.code, integers)


def _is_contiguous(work: WorkItems, loop: Counted) -> bool:
    subscripts = [n.parts[1] for s in loop.loop.body for n in s.nodes() if n.kind == "index"]
    return any(_polynomial(work, loop, subscript).along("@") == ONE for subscript in subscripts)

"""Accesses through moving pointers and `*(p + i)` as accesses by an index."""

from __future__ import annotations

from agents.cpp.expression import Expression
from agents.cpp.statement import BodyStatement
from agents.playbook.statement_view import Edit, StatementView, moved_within, step_of, terms_of
from agents.playbook.work_items import assigned
from agents.source import closing, words


def indexed(view: StatementView) -> list[Edit]:
    """`*(p + i)` as `p[i]`, and `*p` as `p[0]`."""
    for node in (n for n in view.it.nodes() if n.kind == "unary" and n.value == "*"):
        terms = list(terms_of(node.parts[0]))
        bases = [t for t in terms if t.kind == "name" and t.value in view.pointers]
        others = [t for t in terms if t not in bases]
        if len(bases) != 1 or any(n.kind == "assign" or n.value in ("++", "--") for t in terms for n in t.walk()):
            continue
        if any(n.kind == "name" and n.value in view.pointers and not _is_read(t, n) for t in others for n in t.walk()):
            continue
        parts = [f"({view.text(t)})" if t.kind in ("ternary", "binary") else view.text(t) for t in others]
        index = " + ".join([f"(long){parts[0]}", *parts[1:]]) if len(parts) > 1 else (parts or ["0"])[0]
        return [(node.start, node.end, f"{bases[0].value}[{index}]")]
    return []


def _is_read(term: Expression, name: Expression) -> bool:
    """Tell whether a pointer's name in a term is the base of an access: what counts is then a number."""
    return any(n.kind == "index" and n.parts[0] is name for n in term.walk())


def moving_pointer(view: StatementView) -> list[Edit]:
    """Write a pointer that a counted loop moves by the same in each pass as an index of the loop's counter."""
    it = view.it
    counter = _counter(it)
    if not counter:
        return []
    name, start = counter
    for pointer in sorted(assigned(it.body) & view.pointers):
        made = view.declared(pointer)
        if not made or not made[2].is_pointer or view.uses(pointer, it.end, view.kernel.body[1]):
            continue
        if pointer in assigned(view.around[made[0] + 1 : view.place]):
            continue
        if edits := _as_index(view, pointer, name, start):
            return edits
    return []


def _counter(it: BodyStatement) -> tuple[str, Expression] | None:
    """Name and first value of the counter of a loop that goes up by one."""
    if it.form != "for" or not it.first or not it.step or len(it.first.declared) != 1:
        return None
    made, step = it.first.declared[0], it.step
    is_one = step.kind in ("unary", "postfix") and step.value == "++"
    is_one |= step.kind == "assign" and step.value == "+=" and step.parts[1].value == "1"
    if made.is_pointer or not made.value or not is_one or step.parts[0].value != made.name:
        return None
    if made.name in assigned(it.body) or made.value.names() & assigned(it.body):
        return None
    return made.name, made.value


def _as_index(view: StatementView, pointer: str, name: str, start: Expression) -> list[Edit]:
    it, edits, by, at, last = view.it, list[Edit](), "", -1, -1
    for statement in it.body:
        node = statement.value
        step = step_of(view, statement, pointer)
        if step and statement.form == "expression" and node:
            by = "1" if step.startswith("++") else step.partition("+= ")[2]
            if at >= 0 or (node.kind == "assign" and node.parts[1].names() & assigned(it.body)):
                return []
            at = statement.start
            edits.append((statement.start, statement.end, "" if len(it.body) > 1 else ";"))
        elif (inner := moved_within(statement, pointer)) is not None:
            if at >= 0:
                return []
            by, at = "1", statement.end
            edits.append((inner.start, inner.end, pointer))
    if at < 0:
        return []
    changed = (pointer,)
    count = sum(
        n.kind in ("assign", "unary", "postfix")
        and n.value in ("++", "--", "=", "+=", "-=")
        and bool(n.parts)
        and n.parts[0].value in changed
        for s in it.body
        for n in s.nodes()
    )
    offset = name if start.value == "0" else f"({name} - ({view.text(start)}))"
    offset = offset if by == "1" else f"(long){offset} * ({by})"
    places = [n for s in it.body for n in s.nodes() if n.kind == "index" and n.parts[0].value == pointer]
    places += [n for s in it.body for n in s.nodes() if n.kind == "unary" and n.value == "*" and _target(n) == pointer]
    last = max((n.end for n in places), default=-1)
    named = sum(n.kind == "name" and n.value == pointer for s in it.body for n in s.nodes())
    if count != 1 or last > at or named != len(places) + (0 if edits[0][2] == pointer else 1):
        return []
    for node in places:
        if node.kind == "index":
            inside = node.parts[1]
            edits.append((inside.start, inside.start, f"{offset} + "))
        else:
            edits = [e for e in edits if not (node.start <= e[0] and e[1] <= node.end and e[2] == pointer)]
            edits.append((node.start, node.end, f"{pointer}[{offset}]"))
    return edits


def _target(node: Expression) -> str:
    """Read the pointer of `*p` and `*p++`."""
    inner = node.parts[0]
    inner = inner.parts[0] if inner.kind == "postfix" else inner
    return inner.value if inner.kind == "name" else ""


def pointer_range(view: StatementView) -> list[Edit]:
    """`for (p = row; p < row + n; ++p)` as a loop over numbers."""
    it, code = view.it, view.file.code
    if it.form != "for" or not it.first or not it.step or not it.value or len(it.first.declared) != 1:
        return []
    made, test = it.first.declared[0], it.value
    ups = it.step.kind in ("unary", "postfix") and it.step.value == "++" and it.step.parts[0].value == made.name
    if not made.is_pointer or not made.value or made.value.kind != "name" or not ups or test.value not in ("<", "!="):
        return []
    base = made.value.value
    if test.parts[0].value != made.name or made.name in assigned(it.body) or base in assigned(view.body):
        return []
    count = _length(view, test.parts[1], base)
    uses = [n for s in it.body for n in s.nodes() if n.kind == "name" and n.value == made.name]
    reads = [n for s in it.body for n in s.nodes() if n.kind == "unary" and n.value == "*" and _target(n) == made.name]
    reads = [n for n in reads if n.parts[0].kind == "name"]
    names = [f"{made.name}_at{n}" for n in ("", *range(2, 9))]
    number = next((each for each in names if not words(code, each)), "")
    if not count or len(uses) != len(reads) or not reads or not number:
        return []
    head = f"long {number} = 0; {number} < {count}; ++{number}"
    opening = code.index("(", code.index("for", it.start))
    return [(opening + 1, closing(code, opening), head), *((n.start, n.end, f"{base}[{number}]") for n in reads)]


def _length(view: StatementView, end: Expression, base: str) -> str:
    """Write the number of elements between a pointer and an end of the form `base + n`, or the name of such a one."""
    if end.kind == "name":
        found = view.declared(end.value)
        if not found or not found[2].value or end.value in assigned(view.body):
            return ""
        changed = found[2].value.names() & assigned(view.body)
        return "" if changed else _length(view, found[2].value, base) if found[2].value.kind != "name" else ""
    terms = list(terms_of(end))
    others = [t for t in terms if not (t.kind == "name" and t.value == base)]
    if len(others) != len(terms) - 1 or any(t.names() & view.pointers for t in others):
        return ""
    return " + ".join(f"({view.text(t)})" if t.kind != "name" else t.value for t in others)

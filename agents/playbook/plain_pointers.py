"""Accesses through moving pointers and `*(p + i)` as accesses by an index."""

from __future__ import annotations

from agents.cpp.expression import Expression
from agents.cpp.statement import BodyStatement
from agents.playbook.statement_view import Edit, StatementView, moved_within, step_of, terms_of
from agents.playbook.work_items import assigned
from agents.source import closing, words


def indexed(view: StatementView) -> list[Edit]:
    """`*(p + i)` as `p[i]`, and `*p` as `p[0]`."""
    for node in (n for n in view.statement.nodes() if n.kind == "unary" and n.value == "*"):
        terms = list(terms_of(node.parts[0]))
        bases = [t for t in terms if t.kind == "name" and t.value in view.pointers]
        offsets = [t for t in terms if t not in bases]
        if len(bases) != 1 or any(n.kind == "assign" or n.value in ("++", "--") for t in terms for n in t.walk()):
            continue
        if any(n.kind == "name" and n.value in view.pointers and not _is_read(t, n) for t in offsets for n in t.walk()):
            continue
        parts = [f"({view.text(t)})" if t.kind in ("ternary", "binary") else view.text(t) for t in offsets]
        index = " + ".join([f"(long){parts[0]}", *parts[1:]]) if len(parts) > 1 else (parts or ["0"])[0]
        return [(node.start, node.end, f"{bases[0].value}[{index}]")]
    return []


def _is_read(term: Expression, name: Expression) -> bool:
    """Tell whether a pointer's name in a term is the base of an access: what counts is then a number."""
    return any(n.kind == "index" and n.parts[0] is name for n in term.walk())


def moving_pointer(view: StatementView) -> list[Edit]:
    """Write a pointer that a counted loop moves by the same in each pass as an index of the loop's counter."""
    loop = view.statement
    counter = _counter(loop)
    if not counter:
        return []
    name, start = counter
    for pointer in sorted(assigned(loop.body) & view.pointers):
        declaration = view.declared(pointer)
        if not declaration or not declaration[2].is_pointer or view.uses(pointer, loop.end, view.kernel.body[1]):
            continue
        if pointer in assigned(view.around[declaration[0] + 1 : view.position]):
            continue
        if edits := _as_index(view, pointer, name, start):
            return edits
    return []


def _counter(loop: BodyStatement) -> tuple[str, Expression] | None:
    """Name and first value of the counter of a loop that goes up by one."""
    if loop.form != "for" or not loop.first or not loop.step or len(loop.first.declared) != 1:
        return None
    declared, step = loop.first.declared[0], loop.step
    is_one = step.kind in ("unary", "postfix") and step.value == "++"
    is_one |= step.kind == "assign" and step.value == "+=" and step.parts[1].value == "1"
    if declared.is_pointer or not declared.value or not is_one or step.parts[0].value != declared.name:
        return None
    if declared.name in assigned(loop.body) or declared.value.names() & assigned(loop.body):
        return None
    return declared.name, declared.value


def _as_index(view: StatementView, pointer: str, name: str, start: Expression) -> list[Edit]:
    loop, edits, by, moved_at, last = view.statement, list[Edit](), "", -1, -1
    for statement in loop.body:
        node = statement.value
        step = step_of(view, statement, pointer)
        if step and statement.form == "expression" and node:
            by = "1" if step.startswith("++") else step.partition("+= ")[2]
            if moved_at >= 0 or (node.kind == "assign" and node.parts[1].names() & assigned(loop.body)):
                return []
            moved_at = statement.start
            edits.append((statement.start, statement.end, "" if len(loop.body) > 1 else ";"))
        elif (inner := moved_within(statement, pointer)) is not None:
            if moved_at >= 0:
                return []
            by, moved_at = "1", statement.end
            edits.append((inner.start, inner.end, pointer))
    if moved_at < 0:
        return []
    changed = (pointer,)
    count = sum(
        n.kind in ("assign", "unary", "postfix")
        and n.value in ("++", "--", "=", "+=", "-=")
        and bool(n.parts)
        and n.parts[0].value in changed
        for s in loop.body
        for n in s.nodes()
    )
    offset = name if start.value == "0" else f"({name} - ({view.text(start)}))"
    offset = offset if by == "1" else f"(long){offset} * ({by})"
    accesses = [n for s in loop.body for n in s.nodes() if n.kind == "index" and n.parts[0].value == pointer]
    accesses += [
        n for s in loop.body for n in s.nodes() if n.kind == "unary" and n.value == "*" and _target(n) == pointer
    ]
    last = max((n.end for n in accesses), default=-1)
    mentions = sum(n.kind == "name" and n.value == pointer for s in loop.body for n in s.nodes())
    if count != 1 or last > moved_at or mentions != len(accesses) + (0 if edits[0][2] == pointer else 1):
        return []
    for node in accesses:
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
    loop, code = view.statement, view.file.code
    if loop.form != "for" or not loop.first or not loop.step or not loop.value or len(loop.first.declared) != 1:
        return []
    declared, test = loop.first.declared[0], loop.value
    ups = (
        loop.step.kind in ("unary", "postfix") and loop.step.value == "++" and loop.step.parts[0].value == declared.name
    )
    if (
        not declared.is_pointer
        or not declared.value
        or declared.value.kind != "name"
        or not ups
        or test.value not in ("<", "!=")
    ):
        return []
    base = declared.value.value
    if test.parts[0].value != declared.name or declared.name in assigned(loop.body) or base in assigned(view.body):
        return []
    count = _length(view, test.parts[1], base)
    uses = [n for s in loop.body for n in s.nodes() if n.kind == "name" and n.value == declared.name]
    reads = [
        n for s in loop.body for n in s.nodes() if n.kind == "unary" and n.value == "*" and _target(n) == declared.name
    ]
    reads = [n for n in reads if n.parts[0].kind == "name"]
    names = [f"{declared.name}_at{n}" for n in ("", *range(2, 9))]
    number = next((name for name in names if not words(code, name)), "")
    if not count or len(uses) != len(reads) or not reads or not number:
        return []
    head = f"long {number} = 0; {number} < {count}; ++{number}"
    opening = code.index("(", code.index("for", loop.start))
    return [(opening + 1, closing(code, opening), head), *((n.start, n.end, f"{base}[{number}]") for n in reads)]


def _length(view: StatementView, end: Expression, base: str) -> str:
    """Write the number of elements between a pointer and an end of the form `base + n`, or the name of such a one."""
    if end.kind == "name":
        declaration = view.declared(end.value)
        if not declaration or not declaration[2].value or end.value in assigned(view.body):
            return ""
        changed = declaration[2].value.names() & assigned(view.body)
        return (
            "" if changed else _length(view, declaration[2].value, base) if declaration[2].value.kind != "name" else ""
        )
    terms = list(terms_of(end))
    counts = [t for t in terms if not (t.kind == "name" and t.value == base)]
    if len(counts) != len(terms) - 1 or any(t.names() & view.pointers for t in counts):
        return ""
    return " + ".join(f"({view.text(t)})" if t.kind != "name" else t.value for t in counts)

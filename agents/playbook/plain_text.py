"""A kernel's text in the forms that the changes read: the same loops and accesses, written another way.

A counting `while` and a `for` with parts elsewhere become `for (type i = start; i < end; i += step)`; `*(p + i)`
becomes `p[i]`; a pointer that moves with a loop's counter becomes an index. Each rule asks for all that it rests on;
what it does not meet stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from agents.cpp.expression import NotUnderstood
from agents.cpp.statement import BodyStatement, parse_body
from agents.playbook.plain_guards import early_return, plain_guard, spelled_out
from agents.playbook.plain_pointers import indexed, moving_pointer, pointer_range
from agents.playbook.statement_view import Edit, StatementView, moved_within, step_of, sum_step
from agents.playbook.work_items import assigned
from agents.source import KernelFile, KernelText, SourceError, closing, read, substitute, words

MOST_STEPS = 64  # rewritings of one file


@lru_cache(maxsize=128)
def plain(source: str) -> str:
    """Return the text with every rule applied as often as it can be; a text that cannot be read stays as it is."""
    for _ in range(MOST_STEPS):
        try:
            file = read(source)
        except SourceError:
            return source
        edits = next((found for kernel in file.kernels for found in _found(file, kernel)), None)
        if edits is None:
            return source
        source = substitute(source, edits)
    return source


def _found(file: KernelFile, kernel: KernelText) -> Iterator[list[Edit]]:
    try:
        body = parse_body(file.code, *kernel.body, is_lenient=True)
    except NotUnderstood:
        return
    if edits := spelled_out(file, kernel):
        yield edits
    pointers = {p.name for p in kernel.parameters if p.is_pointer}
    pointers |= {d.name for s in body for part in s.walk() for d in part.declared if d.is_pointer}
    for rule in _RULES:
        for around in _lists(body):
            for place in range(len(around)):
                if edits := rule(StatementView(file, kernel, body, around, place, frozenset(pointers))):
                    yield edits


def _lists(statements: Sequence[BodyStatement]) -> Iterator[Sequence[BodyStatement]]:
    """Yield the list and every one within it."""
    yield statements
    for statement in statements:
        for part in (statement.body, statement.other):
            if part:
                yield from _lists(part)


def _split(view: StatementView) -> list[Edit]:
    """`int i = 0, n = 5;` as two declarations."""
    it = view.it
    if it.form != "declare" or len(it.declared) < 2:
        return []
    made = []
    for each in it.declared:
        value = f" = {view.text(each.value)}" if each.value else ""
        made.append(f"{it.type}{'*' if each.is_pointer else ''} {each.name}{value};")
    return [(it.start, it.end, " ".join(made))]


def _counting_while(view: StatementView) -> list[Edit]:
    """`int i = a; while (i < n) { ...; ++i; }` as a `for`, and the same with `x[i++]` in its last statement."""
    it = view.it
    if it.form != "while" or not it.value or not it.body or it.value.kind != "binary":
        return []
    last, name = it.body[-1], it.value.parts[0].value
    step, edit = step_of(view, last, name), (last.start, last.end, "")
    if not step:
        node = moved_within(last, name)
        if not node:
            return []
        step, edit = f"++{name}", (node.start, node.end, name)
    made = _movable(view, name)
    rest = [*it.body[:-1], *([] if edit[2] == "" else [last])]
    skips = any(part.form == "continue" for s in it.body for part in s.walk())
    if not made or skips or name in assigned(rest[:-1] if edit[2] else rest):
        return []
    keyword = view.file.code.index("while", it.start)  # behind a pragma
    end = closing(view.file.code, view.file.code.index("(", keyword)) + 1
    head = f"for ({made[1]}; {view.text(it.value)}; {step})"
    body = [edit] if len(it.body) > 1 or edit[2] else [(edit[0], edit[1], ";")]
    return [made[0], (keyword, end, head), *body]


def _fresh_pointer(view: StatementView) -> list[Edit]:
    """Give the loop a copy of a pointer that a `while` moves and that others read before it."""
    it = view.it
    if it.form != "while" or not it.value or it.value.kind != "binary":
        return []
    name = it.value.parts[0].value
    found = view.declared(name)
    if not found or not found[2].is_pointer or view.uses(name, it.end, view.kernel.body[1]):
        return []
    before = view.around[found[0] + 1 : view.place]
    if not any(name in s.names() for s in before) or words(view.file.code, f"{name}_now"):
        return []
    made = f"{found[1].type}* {name}_now = {name}; "
    renamed = [(m.start(), m.end(), f"{name}_now") for m in words(view.file.code, name, it.start, it.end)]
    return [(it.start, it.start, made), *renamed]


def _movable(view: StatementView, name: str) -> tuple[Edit, str] | None:
    """Find the edit that takes a declaration away and its text, where only this loop uses the name."""
    found = view.declared(name)
    if not found or not found[2].value or ("const" in found[1].type.split() and not found[2].is_pointer):
        return None
    place, statement, made = found
    between = view.around[place + 1 : view.place]
    assert made.value
    touches = any(
        n.kind in ("index", "call", "assign") or (n.value in ("*", "++") and n.kind == "unary")
        for n in made.value.walk()
    )
    if any(name in s.names() for s in between) or (touches and between) or made.value.names() & assigned(between):
        return None
    if view.uses(name, view.it.end, view.kernel.body[1]):
        return None
    kind = f"{statement.type}{'*' if made.is_pointer else ''}"
    return (statement.start, statement.end, ""), f"{kind} {name} = {view.text(made.value)}"


def _one_by_one(view: StatementView) -> list[Edit]:
    """Write `a = 1, b = 2;` as two statements, and what a `for` does beside its step at the end of its body."""
    it, code = view.it, view.file.code
    if it.form == "expression" and it.value and it.value.value == ",":
        return [(it.start, it.end, "{ " + " ".join(f"{view.text(p)};" for p in it.value.parts) + " }")]
    if it.form != "for" or not it.step or it.step.value != "," or not it.value or it.value.kind != "binary":
        return []
    name = it.value.parts[0].value
    steps = [p for p in it.step.parts if p.parts and p.parts[0].value == name]
    if len(steps) != 1 or not it.body or any(part.form == "continue" for s in it.body for part in s.walk()):
        return []
    rest = " ".join(f"{view.text(p)};" for p in it.step.parts if p is not steps[0])
    head = closing(code, code.index("(", code.index("for", it.start)))
    is_block = code[head + 1 : it.body[0].start].strip() == "{"
    inside = [(it.body[-1].end, it.body[-1].end, f" {rest}")]
    braces = [(it.body[0].start, it.body[0].start, "{ "), (it.body[-1].end, it.body[-1].end, f" {rest} }}")]
    return [(it.step.start, it.step.end, view.text(steps[0])), *(inside if is_block else braces)]


def _whole_for(view: StatementView) -> list[Edit]:
    """Make a whole `for` of one whose first value, step or counter's type stands elsewhere."""
    it, code = view.it, view.file.code
    if it.form != "for" or not it.value or it.value.kind != "binary":
        return []
    name, opening = it.value.parts[0].value, code.index("(", code.index("for", it.start))
    if it.step and (text := sum_step(view, it.step, name)):
        return [(it.step.start, it.step.end, text)]
    if it.step is None and it.body and (step := step_of(view, it.body[-1], name)):
        skips = any(part.form == "continue" for s in it.body for part in s.walk())
        if not skips and name not in assigned(it.body[:-1]):
            end = closing(code, opening)
            rest = "" if len(it.body) > 1 else ";"
            return [(end, end, f" {step}"), (it.body[-1].start, it.body[-1].end, rest)]
    if it.first is None and (made := _movable(view, name)):
        return [made[0], (opening + 1, code.index(";", opening), made[1])]
    return _upward(view, name) or _own_counter(view, name)


def _upward(view: StatementView, name: str) -> list[Edit]:
    """`i != n` as `i < n` where i goes up by one: else the loop would not end."""
    it = view.it
    if not it.first or not it.step or not it.value or it.value.value != "!=" or len(it.first.declared) != 1:
        return []
    ups = it.step.kind in ("unary", "postfix") and it.step.value == "++" and it.step.parts[0].value == name
    if not ups or it.first.declared[0].is_pointer or name in assigned(it.body):
        return []
    left, right = it.value.parts
    return [(left.start, right.end, f"{view.text(left)} < {view.text(right)}")]


def _own_counter(view: StatementView, name: str) -> list[Edit]:
    """`int i; for (i = 0; ...)`: where loops alone use the name and each sets it first, each declares its own."""
    found = view.declared(name)
    if not found or found[2].is_pointer or "const" in found[1].type.split():
        return []
    loops = [s for s in view.around if s.form == "for" and s.first and s.first.form == "expression"]
    mine = [
        s
        for s in loops
        if s.first
        and s.first.value
        and s.first.value.kind == "assign"
        and s.first.value.value == "="
        and s.first.value.parts[0].value == name
    ]
    inside = sum(view.uses(name, s.start, s.end) for s in mine)
    every = view.uses(name, *view.kernel.body) - 1
    if not mine or inside != every:
        return []
    firsts = [s.first for s in mine if s.first]
    return [(found[1].start, found[1].end, ""), *((f.start, f.start, f"{found[1].type} ") for f in firsts)]


_RULES: tuple[Callable[[StatementView], list[Edit]], ...] = (
    _split,
    _one_by_one,
    plain_guard,
    early_return,
    _fresh_pointer,
    _counting_while,
    _whole_for,
    moving_pointer,
    pointer_range,
    indexed,
)

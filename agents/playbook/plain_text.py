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
        edits = next((applicable for kernel in file.kernels for applicable in _applicable(file, kernel)), None)
        if edits is None:
            return source
        source = substitute(source, edits)
    return source


def _applicable(file: KernelFile, kernel: KernelText) -> Iterator[list[Edit]]:
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
            for position in range(len(around)):
                if edits := rule(StatementView(file, kernel, body, around, position, frozenset(pointers))):
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
    statement = view.statement
    if statement.form != "declare" or len(statement.declared) < 2:
        return []
    declarations = []
    for declared in statement.declared:
        value = f" = {view.text(declared.value)}" if declared.value else ""
        declarations.append(f"{statement.type}{'*' if declared.is_pointer else ''} {declared.name}{value};")
    return [(statement.start, statement.end, " ".join(declarations))]


def _counting_while(view: StatementView) -> list[Edit]:
    """`int i = a; while (i < n) { ...; ++i; }` as a `for`, and the same with `x[i++]` in its last statement."""
    loop = view.statement
    if loop.form != "while" or not loop.value or not loop.body or loop.value.kind != "binary":
        return []
    last, name = loop.body[-1], loop.value.parts[0].value
    step, edit = step_of(view, last, name), (last.start, last.end, "")
    if not step:
        node = moved_within(last, name)
        if not node:
            return []
        step, edit = f"++{name}", (node.start, node.end, name)
    moved = _movable(view, name)
    remaining = [*loop.body[:-1], *([] if edit[2] == "" else [last])]
    skips = any(part.form == "continue" for s in loop.body for part in s.walk())
    if not moved or skips or name in assigned(remaining[:-1] if edit[2] else remaining):
        return []
    keyword = view.file.code.index("while", loop.start)  # behind a pragma
    end = closing(view.file.code, view.file.code.index("(", keyword)) + 1
    head = f"for ({moved[1]}; {view.text(loop.value)}; {step})"
    body = [edit] if len(loop.body) > 1 or edit[2] else [(edit[0], edit[1], ";")]
    return [moved[0], (keyword, end, head), *body]


def _fresh_pointer(view: StatementView) -> list[Edit]:
    """Give the loop a copy of a pointer that a `while` moves and that others read before it."""
    loop = view.statement
    if loop.form != "while" or not loop.value or loop.value.kind != "binary":
        return []
    name = loop.value.parts[0].value
    declaration = view.declared(name)
    if not declaration or not declaration[2].is_pointer or view.uses(name, loop.end, view.kernel.body[1]):
        return []
    before = view.around[declaration[0] + 1 : view.position]
    if not any(name in s.names() for s in before) or words(view.file.code, f"{name}_now"):
        return []
    copied = f"{declaration[1].type}* {name}_now = {name}; "
    renamed = [(m.start(), m.end(), f"{name}_now") for m in words(view.file.code, name, loop.start, loop.end)]
    return [(loop.start, loop.start, copied), *renamed]


def _movable(view: StatementView, name: str) -> tuple[Edit, str] | None:
    """Find the edit that takes a declaration away and its text, where only this loop uses the name."""
    declaration = view.declared(name)
    if (
        not declaration
        or not declaration[2].value
        or ("const" in declaration[1].type.split() and not declaration[2].is_pointer)
    ):
        return None
    position, statement, declared = declaration
    between = view.around[position + 1 : view.position]
    assert declared.value
    touches = any(
        n.kind in ("index", "call", "assign") or (n.value in ("*", "++") and n.kind == "unary")
        for n in declared.value.walk()
    )
    if any(name in s.names() for s in between) or (touches and between) or declared.value.names() & assigned(between):
        return None
    if view.uses(name, view.statement.end, view.kernel.body[1]):
        return None
    kind = f"{statement.type}{'*' if declared.is_pointer else ''}"
    return (statement.start, statement.end, ""), f"{kind} {name} = {view.text(declared.value)}"


def _one_by_one(view: StatementView) -> list[Edit]:
    """Write `a = 1, b = 2;` as two statements, and what a `for` does beside its step at the end of its body."""
    statement, code = view.statement, view.file.code
    if statement.form == "expression" and statement.value and statement.value.value == ",":
        return [
            (statement.start, statement.end, "{ " + " ".join(f"{view.text(p)};" for p in statement.value.parts) + " }")
        ]
    if (
        statement.form != "for"
        or not statement.step
        or statement.step.value != ","
        or not statement.value
        or statement.value.kind != "binary"
    ):
        return []
    name = statement.value.parts[0].value
    steps = [p for p in statement.step.parts if p.parts and p.parts[0].value == name]
    if (
        len(steps) != 1
        or not statement.body
        or any(part.form == "continue" for s in statement.body for part in s.walk())
    ):
        return []
    other_steps = " ".join(f"{view.text(p)};" for p in statement.step.parts if p is not steps[0])
    head = closing(code, code.index("(", code.index("for", statement.start)))
    is_block = code[head + 1 : statement.body[0].start].strip() == "{"
    inside = [(statement.body[-1].end, statement.body[-1].end, f" {other_steps}")]
    braces = [
        (statement.body[0].start, statement.body[0].start, "{ "),
        (statement.body[-1].end, statement.body[-1].end, f" {other_steps} }}"),
    ]
    return [(statement.step.start, statement.step.end, view.text(steps[0])), *(inside if is_block else braces)]


def _whole_for(view: StatementView) -> list[Edit]:
    """Make a whole `for` of one whose first value, step or counter's type stands elsewhere."""
    loop, code = view.statement, view.file.code
    if loop.form != "for" or not loop.value or loop.value.kind != "binary":
        return []
    name, opening = loop.value.parts[0].value, code.index("(", code.index("for", loop.start))
    if loop.step and (text := sum_step(view, loop.step, name)):
        return [(loop.step.start, loop.step.end, text)]
    if loop.step is None and loop.body and (step := step_of(view, loop.body[-1], name)):
        skips = any(part.form == "continue" for s in loop.body for part in s.walk())
        if not skips and name not in assigned(loop.body[:-1]):
            end = closing(code, opening)
            filler = "" if len(loop.body) > 1 else ";"
            return [(end, end, f" {step}"), (loop.body[-1].start, loop.body[-1].end, filler)]
    if loop.first is None and (moved := _movable(view, name)):
        return [moved[0], (opening + 1, code.index(";", opening), moved[1])]
    return _upward(view, name) or _own_counter(view, name)


def _upward(view: StatementView, name: str) -> list[Edit]:
    """`i != n` as `i < n` where i goes up by one: else the loop would not end."""
    loop = view.statement
    if not loop.first or not loop.step or not loop.value or loop.value.value != "!=" or len(loop.first.declared) != 1:
        return []
    ups = loop.step.kind in ("unary", "postfix") and loop.step.value == "++" and loop.step.parts[0].value == name
    if not ups or loop.first.declared[0].is_pointer or name in assigned(loop.body):
        return []
    left, right = loop.value.parts
    return [(left.start, right.end, f"{view.text(left)} < {view.text(right)}")]


def _own_counter(view: StatementView, name: str) -> list[Edit]:
    """`int i; for (i = 0; ...)`: where loops alone use the name and each sets it first, each declares its own."""
    declaration = view.declared(name)
    if not declaration or declaration[2].is_pointer or "const" in declaration[1].type.split():
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
    total_uses = view.uses(name, *view.kernel.body) - 1
    if not mine or inside != total_uses:
        return []
    firsts = [s.first for s in mine if s.first]
    return [
        (declaration[1].start, declaration[1].end, ""),
        *((f.start, f.start, f"{declaration[1].type} ") for f in firsts),
    ]


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

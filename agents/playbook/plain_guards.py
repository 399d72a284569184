"""Guards and the numbers of work-items in the form that the changes read."""

from __future__ import annotations

import re

from agents.cpp.expression import Expression, joined
from agents.playbook.statement_view import Edit, StatementView
from agents.source import KernelFile, KernelText, closing, words

_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n\\]+)$", re.M)
_PLACE = re.compile(r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\b")
_TURNED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_WHOLE = frozenset(["int", "unsigned", "long", "short", "size_t", "int32_t", "int64_t", "uint32_t", "uint64_t"])


def spelled_out(file: KernelFile, kernel: KernelText) -> list[Edit]:
    """Macros without arguments that stand for the number of a work-item, by what they stand for."""
    edits = list[Edit]()
    for macro in _DEFINE.finditer(file.code):
        if _PLACE.search(macro[2]) and not re.search(r"[;{}#]", macro[2]):
            uses = words(file.code, macro[1], *kernel.body)
            edits += [(m.start(), m.end(), f"({macro[2].strip()})") for m in uses]
            if len(words(file.code, macro[1])) == len(uses) + 1:  # nobody else's
                edits.append((macro.start(), macro.end(), ""))
    return edits


def early_return(view: StatementView) -> list[Edit]:
    """Write a guard around the rest of a kernel that declares numbers as one that ends the others' work first."""
    statement, code = view.statement, view.file.code
    if (
        statement.form != "if"
        or statement.other
        or not statement.value
        or view.around is not view.body
        or statement is not view.body[-1]
    ):
        return []
    tests = list(joined(statement.value, "&&"))
    inner = {d.name for s in statement.body for d in s.declared}
    outer = {d.name for s in view.body for d in s.declared} | {p.name for p in view.kernel.parameters}
    numbers = any(_is_whole(s.type) and not d.is_pointer for s in statement.body for d in s.declared)
    if not numbers or inner & outer or not all(t.value in _TURNED and _are_whole(view, t) for t in tests):
        return []
    turned = [f"{view.text(t.parts[0])} {_TURNED[t.value]} {view.text(t.parts[1])}" for t in tests]
    opening = code.index("(", statement.start)
    head = closing(code, opening) + 1
    brace = code.index("{", head)
    return [
        (statement.start, brace + 1, f"if ({' || '.join(turned)}) return;"),
        (closing(code, brace), closing(code, brace) + 1, ""),
    ]


def plain_guard(view: StatementView) -> list[Edit]:
    """`!(i < n)`, `i > n - 1`, and an `if` in an `if`, as comparisons of a number with its bound."""
    statement = view.statement
    if statement.form != "if" or not statement.value:
        return []
    only = statement.body[0] if len(statement.body) == 1 and not statement.other else None
    if only and only.form == "if" and not only.other and only.value and not _has_effects(only.value):
        combined = f"({view.text(statement.value)}) && ({view.text(only.value)})"
        start, end = view.file.code.index("(", statement.start), only.value.end
        close = view.file.code.index(")", end)
        return [(start, close + 1, f"({combined})")]
    for node in statement.value.walk():
        if text := _plain(view, node):
            return [(node.start, node.end, text)]
    return []


def _plain(view: StatementView, node: Expression) -> str:
    if (
        node.kind == "unary"
        and node.value == "!"
        and node.parts[0].value in _TURNED
        and _are_whole(view, node.parts[0])
    ):
        left, right = node.parts[0].parts
        return f"{view.text(left)} {_TURNED[node.parts[0].value]} {view.text(right)}"
    if node.kind != "binary" or node.value not in ("<=", ">") or not _are_whole(view, node):
        return ""
    left, right = node.parts
    if right.kind == "binary" and right.value == "-" and right.parts[1].value == "1":
        return f"{view.text(left)} {'<' if node.value == '<=' else '>='} {view.text(right.parts[0])}"
    return ""


def _are_whole(view: StatementView, node: Expression) -> bool:
    """Tell whether both sides of a comparison are sums and products of integers."""
    kinds = {p.name: p.text for p in view.kernel.parameters if not p.is_pointer}
    kinds |= {d.name: s.type for part in view.body for s in part.walk() for d in s.declared if not d.is_pointer}
    plain = all(
        n.kind in ("number", "cast")
        or n.value in ("+", "-", "*")
        or (n.kind == "name" and _is_whole(kinds.get(n.value, "")))
        for part in node.parts
        for n in part.walk()
    )
    return plain and not any("." in n.value for n in node.walk() if n.kind == "number")


def _is_whole(kind: str) -> bool:
    return bool(set(re.findall(r"\w+", kind)) & _WHOLE)


def _has_effects(node: Expression) -> bool:
    return any(n.kind in ("assign", "call", "postfix") or n.value in ("++", "--") for n in node.walk())

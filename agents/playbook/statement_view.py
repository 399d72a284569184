"""A statement of a kernel with what stands around it, for rules that rewrite it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.cpp.expression import Expression, joined
from agents.cpp.statement import BodyStatement, Declared
from agents.source import KernelFile, KernelText, words

Edit = tuple[int, int, str]  # start, end and the text in its place


@dataclass(frozen=True)
class StatementView:
    """A statement where it stands."""

    file: KernelFile
    kernel: KernelText
    body: Sequence[BodyStatement]
    around: Sequence[BodyStatement]  # the list that it stands in
    position: int
    pointers: frozenset[str]

    @property
    def statement(self) -> BodyStatement:
        """The statement itself."""
        return self.around[self.position]

    def text(self, part: Expression | BodyStatement) -> str:
        """Read the source of a part."""
        return self.file.source[part.start : part.end]

    def declared(self, name: str) -> tuple[int, BodyStatement, Declared] | None:
        """Find the declaration of a name in this list; it must be alone in its statement and its only one."""
        declarations = [
            (n, s, d) for n, s in enumerate(self.around[: self.position]) for d in s.declared if d.name == name
        ]
        count = sum(d.name == name for s in self.body for part in s.walk() for d in part.declared)
        return (
            declarations[0] if len(declarations) == 1 and count == 1 and len(declarations[0][1].declared) == 1 else None
        )

    def uses(self, name: str, start: int, end: int) -> int:
        """Count the times that a name stands in a span."""
        return len(words(self.file.code, name, start, end))


def step_of(view: StatementView, last: BodyStatement, name: str) -> str:
    """Return the text of a statement that moves the name on; empty where it does not."""
    node = last.value
    if last.form != "expression" or not node or not node.parts or node.parts[0].value != name:
        return ""
    if node.kind in ("unary", "postfix") and node.value == "++":
        return f"++{name}"
    if node.kind == "assign" and node.value == "+=" and name not in node.parts[1].names():
        return f"{name} += {view.text(node.parts[1])}"
    return sum_step(view, node, name)


def sum_step(view: StatementView, node: Expression, name: str) -> str:
    """`i = i + c` as `i += c`."""
    if node.kind != "assign" or node.value != "=" or node.parts[0].value != name:
        return ""
    terms = list(terms_of(node.parts[1]))
    addends = [t for t in terms if not (t.kind == "name" and t.value == name)]
    if len(terms) != 2 or len(addends) != 1 or name in addends[0].names():
        return ""
    return f"{name} += {view.text(addends[0])}"


def terms_of(node: Expression) -> Iterator[Expression]:
    """Yield the parts of a sum."""
    return joined(node, "+")


def moved_within(last: BodyStatement, name: str) -> Expression | None:
    """Return the `name++` of an expression that is evaluated whole, where it is the name's only use there."""
    node = last.value
    if last.form != "expression" or not node or sum(n.kind == "name" and n.value == name for n in node.walk()) != 1:
        return None
    if any(n.kind == "ternary" or n.value in ("&&", "||") for n in node.walk()):
        return None
    return next((n for n in node.walk() if n.kind == "postfix" and n.value == "++" and n.parts[0].value == name), None)

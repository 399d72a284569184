"""Loops whose passes can be taken in any order: sums, largest and smallest values, where those are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.cpp.expression import Expression
from agents.cpp.statement import BodyStatement
from agents.playbook.work_items import WorkItems, assigned

PLAIN = frozenset(
    ("float", "double", "int", "unsigned", "unsigned int", "long", "long long", "size_t", "int32_t", "uint32_t")
)
_PICKS = frozenset(("fmaxf", "fminf", "fmax", "fmin", "max", "min"))
_FUSED = frozenset(("fmaf", "fma", "__fmaf_rn", "__builtin_fmaf"))


@dataclass(frozen=True)
class Reduction:
    """One variable that every pass of a loop adds to, or replaces by what is better."""

    name: str
    rule: str  # "+", the name of a function of two values, or the sign by which another value is better
    position: str = ""  # the variable that holds where the best value was found

    def joined(self, other: str, position: str = "") -> str:
        """Write a statement that takes in another work-item's value."""
        if self.rule == "+":
            return f"{self.name} += {other};"
        if self.rule.isidentifier():
            return f"{self.name} = {self.rule}({self.name}, {other});"
        if not self.position:
            return f"if ({other} {self.rule} {self.name}) {self.name} = {other};"
        return (
            f"if ({other} {self.rule} {self.name} || ({other} == {self.name} && {position} < {self.position})) "
            f"{{ {self.name} = {other}; {self.position} = {position}; }}"
        )


@dataclass(frozen=True)
class Counted:
    """`for (type name = start; name < end; ++name)`."""

    loop: BodyStatement
    name: str
    type: str
    start: str
    end: str
    reductions: tuple[Reduction, ...] = ()

    def body(self, work: WorkItems) -> str:
        """Return the text of one pass."""
        inside = self.loop.body
        return work.file.source[inside[0].start : inside[-1].end] if inside else ""


def counted(work: WorkItems, loop: BodyStatement) -> Counted | None:
    """Read the loop's variable and bounds; None where it counts in another way."""
    first, step, test = loop.first, loop.step, loop.value
    if not first or not step or not test or len(first.declared) != 1 or not loop.body:
        return None
    declared, name = first.declared[0], first.declared[0].name
    by_one = (step.kind in ("unary", "postfix") and step.value == "++" and step.parts[0].value == name) or (
        step.kind == "assign" and step.value == "+=" and step.parts[0].value == name and step.parts[1].value == "1"
    )
    if not by_one or declared.is_pointer or not declared.value or test.kind != "binary":
        return None
    ends = {"<": test.parts, "<=": test.parts, ">": test.parts[::-1], ">=": test.parts[::-1]}.get(test.value)
    changed = assigned(loop.body)
    if not ends or ends[0].kind != "name" or ends[0].value != name or name in changed:
        return None
    if (ends[1].names() | declared.value.names()) & (changed | {name}) or _touching(ends[1]):
        return None
    end = f"({work.text(ends[1])})" + (" + 1" if "=" in test.value else "")
    kind = " ".join(w for w in first.type.split() if w != "const")
    return None if kind == "auto" else Counted(loop, name, kind, work.text(declared.value), end)


def reductions(loop: Counted) -> tuple[Reduction, ...] | None:
    """List the reductions of a loop; None where a pass needs what an earlier one computed."""
    inside = frozenset(name for s in loop.loop.body for name in s.makes())
    outer = assigned(loop.loop.body) - inside
    if assigned(loop.loop.body) & inside & {loop.name}:
        return None
    by_name, accounted = dict[str, Reduction](), dict[str, int]()
    for statement in loop.loop.body:
        for reduction, names in _updates(statement, outer, loop.name):
            if by_name.setdefault(reduction.name, reduction) != reduction:
                return None
            for name in names:
                accounted[name] = accounted.get(name, 0) + 1
    positions = {r.position for r in by_name.values() if r.position}
    if outer - set(by_name) - positions or positions & set(by_name):
        return None
    for name in outer:
        uses = sum(n.kind == "name" and n.value == name for s in loop.loop.body for n in s.nodes())
        if uses != accounted.get(name, 0):
            return None
    return tuple(by_name.values())


def _updates(statement: BodyStatement, outer: frozenset[str], variable: str) -> Iterator[tuple[Reduction, list[str]]]:
    """Each reduction step within a statement, with the uses of outer variables that it explains."""
    if statement.form == "if" and (best := _best(statement, outer, variable)):
        yield best
        return
    for part in (*statement.body, *statement.other):
        yield from _updates(part, outer, variable)
    node = statement.value
    if statement.form != "expression" or node is None or not node.parts or node.parts[0].kind != "name":
        return
    name = node.parts[0].value
    if name not in outer:
        return
    if node.value in ("++", "+=", "-="):
        yield Reduction(name, "+"), [name]
    elif node.kind == "assign" and node.value == "=" and (rule := _rule(node.parts[1], name)):
        uses = sum(n.kind == "name" and n.value == name for n in node.walk())
        yield Reduction(name, rule), [name] * uses


def _rule(value: Expression, name: str) -> str:
    """Return the rule by which `name = value` takes something in; empty where it is none."""
    times = sum(n.kind == "name" and n.value == name for n in value.walk())
    if times == 1 and any(n.kind == "name" and n.value == name for n in _terms(value)):
        return "+"
    if value.kind == "call" and times == 1:
        is_plain = [p.kind == "name" and p.value == name for p in value.parts]
        if value.value in _FUSED and is_plain[-1:] == [True]:
            return "+"
        return value.value if value.value in _PICKS and len(is_plain) == 2 and any(is_plain) else ""
    if value.kind == "ternary" and times == 2:
        return _chosen(value, name)
    return ""


def _terms(node: Expression) -> Iterator[Expression]:
    if node.kind == "binary" and node.value == "+":
        for part in node.parts:
            yield from _terms(part)
    else:
        yield node


def _chosen(value: Expression, name: str) -> str:
    """Read `a > b ? a : b` and its like, where one of the two is the variable."""
    test, if_true, if_false = value.parts
    if test.kind != "binary" or test.value not in ("<", ">", "<=", ">="):
        return ""
    left, right = test.parts
    sign = test.value[0]
    if same(if_true, right) and same(if_false, left):
        sign = {"<": ">", ">": "<"}[sign]
    elif not (same(if_true, left) and same(if_false, right)):
        return ""
    return sign if any(p.kind == "name" and p.value == name for p in (left, right)) else ""


def _best(statement: BodyStatement, outer: frozenset[str], variable: str) -> tuple[Reduction, list[str]] | None:
    """`if (v > best) { best = v; where = j; }`."""
    test = statement.value
    if statement.other or not test or test.kind != "binary" or test.value not in ("<", ">"):
        return None
    sets = [s.value for s in statement.body]
    if not all(n and n.kind == "assign" and n.value == "=" and n.parts[0].kind == "name" for n in sets):
        return None
    assignments = {n.parts[0].value: n.parts[1] for n in sets if n}
    left, right = test.parts
    for best, new, sign in ((right, left, test.value), (left, right, _turned(test.value))):
        name = best.value
        if best.kind != "name" or name not in outer or name not in assignments or not same(assignments[name], new):
            continue
        positions = [n for n in assignments if n != name]
        is_place = all(
            _bare(assignments[p]).kind == "name" and _bare(assignments[p]).value == variable for p in positions
        )
        if len(sets) == len(assignments) and len(positions) <= 1 and is_place and name not in new.names():
            return Reduction(name, sign, *positions), [name, name, *positions]
    return None


def _turned(sign: str) -> str:
    return {"<": ">", ">": "<"}[sign]


def _bare(node: Expression) -> Expression:
    return node.parts[0] if node.kind == "cast" else node


def same(left: Expression, right: Expression) -> bool:
    """Tell whether two expressions read the same."""
    return (left.kind, left.value, len(left.parts)) == (right.kind, right.value, len(right.parts)) and all(
        same(a, b) for a, b in zip(left.parts, right.parts, strict=True)
    )


def _touching(node: Expression) -> bool:
    return any(n.kind in ("index", "call", "assign", "postfix") or n.value == "++" for n in node.walk())


def has_effects(nodes: Sequence[Expression], pointers: frozenset[str]) -> bool:
    """Tell whether an expression may write through a pointer: a call that gets one, an assignment inside another."""
    for node in nodes:
        for part in node.walk():
            arguments = part.parts if part.kind == "call" and part.value not in ("__ldg",) else ()
            for argument in arguments:
                target = _bare(argument)
                if target.value == "&" and target.kind == "unary":
                    return True
                if target.kind in ("name", "binary") and target.names() & pointers and not _reads(target, pointers):
                    return True
    return False


def _reads(node: Expression, pointers: frozenset[str]) -> bool:
    """Tell whether each pointer in it stands before a bracket."""
    bare = sum(n.kind == "name" and n.value in pointers for n in node.walk())
    return bare == sum(n.kind == "index" and n.parts[0].value in pointers for n in node.walk())

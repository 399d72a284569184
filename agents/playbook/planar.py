"""One number of a work-item that is divided into row and column, written as two numbers over two axes."""

from __future__ import annotations

from agents.cpp.expression import Expression, NotUnderstood
from agents.cpp.polynomial import atom, polynomial
from agents.cpp.statement import BodyStatement, Declared, parse_body
from agents.playbook.work_items import WorkItems, forms
from agents.source import KernelFile, SourceError, read, substitute, with_plan

SIDE = 16  # work-items of a block along both axes


def as_planar(file: KernelFile) -> KernelFile:
    """Return the file with such kernels over two axes; the file itself where there are none."""
    for work in forms(file):
        try:
            if source := _planar(work):
                return as_planar(read(source))
        except (NotUnderstood, SourceError):
            continue
    return file


def _planar(work: WorkItems) -> str:
    bounded = [i for i in work.indices if i.bound]
    if len(work.indices) != 1 or len(bounded) != 1 or work.strides or len(work.launch["grid"]) > 1 or work.conditions:
        return ""
    [index] = bounded
    statements = parse_body(work.file.code, *work.kernel.body)
    divided = _divided(work, statements, index.name)
    if not divided:
        return ""
    row, column, width = divided
    rows = _rows(work, index.bound, width)
    guard = next((s for s in statements if s.form == "if" and s.value and index.name in s.value.names()), None)
    if not rows or not guard or not guard.value:
        return ""
    is_exit = [s.form for s in guard.body] == ["return"]
    test = f"{row} >= {rows} || {column} >= {width}" if is_exit else f"{row} < {rows} && {column} < {width}"
    lines = [
        f"const {index.type} {column} = blockIdx.x * {SIDE} + threadIdx.x;",
        f"const {index.type} {row} = blockIdx.y * {SIDE} + threadIdx.y;",
    ]
    rest = [s for s in statements if {d.name for d in s.declared} & {index.name, row, column}]
    if any(len(s.declared) > 1 and not {d.name for d in s.declared} <= {index.name, row, column} for s in rest):
        return ""
    used = [n for s in statements if s not in rest for n in s.nodes() if n.kind == "name" and n.value == index.name]
    inside = {id(n) for n in guard.value.walk()}
    again = [n for n in used if id(n) not in inside]
    lines += [f"const {index.type} {index.name} = {row} * ({width}) + {column};"] if again else []
    first, *others = rest
    edits = [(first.start, first.end, "\n    ".join(lines)), *((s.start, s.end, "") for s in others)]
    edits.append((guard.value.start, guard.value.end, test))
    arguments = {p.name: str(a).split(":")[0] for p, a in zip(work.kernel.parameters, work.launch["args"], strict=True)}
    grid = [f"ceil_div({arguments.get(width, width)}, {SIDE})", f"ceil_div({arguments.get(rows, rows)}, {SIDE})"]
    launch = {**work.launch, "grid": grid, "block": [SIDE, SIDE]}
    launches = [launch if x is work.launch else x for x in work.file.plan["launch"]]
    plan = {**work.file.plan, "launch": launches}
    return with_plan(work.file, plan, substitute(work.file.source, edits))


def _divided(work: WorkItems, statements: tuple[BodyStatement, ...], name: str) -> tuple[str, str, str] | None:
    """Find the names of quotient and remainder of the index, and the text of the divisor: a name."""
    quotients, remainders = dict[str, str](), dict[str, str]()
    for declared in (d for s in statements for d in s.declared if d.value):
        operator, divisor = _division(declared, name)
        if operator == "/":
            quotients[divisor] = declared.name
        elif operator == "%":
            remainders[divisor] = declared.name
    both = [d for d in quotients if d in remainders]
    parameters = {p.name for p in work.kernel.parameters}
    if len(quotients) != 1 or len(remainders) != 1 or len(both) != 1 or both[0] not in parameters:
        return None
    return quotients[both[0]], remainders[both[0]], both[0]


def _division(declared: Declared, name: str) -> tuple[str, str]:
    node = declared.value
    while node and node.kind == "cast":
        node = node.parts[0]
    if not node or node.kind != "binary" or node.value not in ("/", "%"):
        return "", ""
    left, right = node.parts
    is_plain = left.kind == "name" and left.value == name and right.kind == "name"
    return (node.value, right.value) if is_plain else ("", "")


def _rows(work: WorkItems, bound: str, width: str) -> str:
    """Find the number of rows where the bound is rows times width: a parameter's name."""
    for parameter in work.kernel.parameters:
        expected = atom(parameter.name) * atom(width)
        if not parameter.is_pointer and _value(work, bound) == expected.terms:
            return parameter.name
    return ""


def _value(work: WorkItems, bound: str) -> object:
    from agents.cpp.expression import parse_expression

    node: Expression = parse_expression(bound, 0, len(bound))
    return polynomial(node, bound, work.integers).terms

"""The loads of a loop's next pass, begun before this one's values are used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.cpp.expression import Expression, NotUnderstood
from agents.cpp.statement import BodyStatement, parse_body
from agents.playbook.emitted import indented, unindented
from agents.playbook.layout_moves import ELEMENT_BYTES
from agents.playbook.tile_moves import certain
from agents.playbook.work_items import assigned
from agents.source import KernelFile, KernelText, substitute, words

MOST = 4  # loads that wait in registers


@dataclass(frozen=True)
class Ahead:
    """A loop, its counter, and the loads that every pass makes at places that the counter decides."""

    kernel: KernelText
    loop: BodyStatement
    name: str
    type: str
    start: str
    test: str
    step: str  # what the counter grows by
    loads: tuple[tuple[Expression, str], ...]  # with the element's type


def prefetch_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the kernels with such loops, by name."""
    return tuple(dict.fromkeys(ahead.kernel.name for ahead in _candidates(file)))


def prefetch(file: KernelFile, variant: str) -> str:
    """Each such loop of the kernel with its loads one pass ahead."""
    loops = [ahead for ahead in _candidates(file) if ahead.kernel.name == variant]
    return substitute(
        file.source, [(ahead.loop.start, ahead.loop.end, _text(file, ahead, n)) for n, ahead in enumerate(loops)]
    )


def _text(file: KernelFile, ahead: Ahead, number: int) -> str:
    source, loop = file.source, ahead.loop
    names = [f"ahead_{number}_{index}" for index in range(len(ahead.loads))]
    loads = [f"{name} = {source[n.start : n.end]};" for name, (n, _) in zip(names, ahead.loads, strict=True)]
    start, end = loop.body[0].start, loop.body[-1].end
    edits = [(n.start - start, n.end - start, f"now_{name}") for name, (n, _) in zip(names, ahead.loads, strict=True)]
    opening = source[loop.start : file.code.index("(", file.code.index("for", loop.start))]
    inside = [
        *(f"const {kind} now_{name} = {name};" for name, (_, kind) in zip(names, ahead.loads, strict=True)),
        f"const {ahead.type} next_{number} = {ahead.name} + {ahead.step};",
        f"{{ const {ahead.type} {ahead.name} = next_{number}; if ({ahead.test}) {{ {' '.join(loads)} }} }}",
        *unindented(substitute(source[start:end], edits)),
    ]
    counter = f"{ahead.type} {ahead.name} = {ahead.start}"
    head = f"{opening}({counter}; {ahead.test}; {ahead.name} += {ahead.step}) {{"
    lines = [
        "{",
        *(f"    {kind} {name} = 0;" for name, (_, kind) in zip(names, ahead.loads, strict=True)),
        f"    {{ const {counter}; if ({ahead.test}) {{ {' '.join(loads)} }} }}",
        *indented(unindented(head), 4),
        *indented(inside, 8),
        "    }",
        "}",
    ]
    return "\n".join(lines)


def _candidates(file: KernelFile) -> Iterator[Ahead]:
    if words(file.code, r"(?:ahead|next|now_ahead)_\d\w*"):
        return
    for kernel in file.kernels:
        try:
            body = parse_body(file.code, *kernel.body)
        except NotUnderstood:
            continue
        read_only = _read_only(file, kernel, body)
        for statement in (part for s in body for part in s.walk() if part.form == "for"):
            if ahead := _ahead(file, kernel, statement, read_only):
                yield ahead


def _read_only(file: KernelFile, kernel: KernelText, body: Sequence[BodyStatement]) -> dict[str, str]:
    """Find the pointers into buffers that the kernel only reads, with the type of an element."""
    for launch in file.launches(kernel.name):
        buffers = [a for a, p in zip(launch.get("args", []), kernel.parameters, strict=False) if p.is_pointer]
        if len(set(buffers)) != len(buffers):
            return {}
    element_types = {
        p.name: p.pointee for p in kernel.parameters if p.is_pointer and "const" in p.text.split("*")[0].split()
    }
    excluded = {p.name for p in kernel.parameters if p.is_pointer} - element_types.keys()
    for declared in (d for s in body for part in s.walk() for d in part.declared if d.is_pointer):
        names = declared.value.names() if declared.value else frozenset[str]()
        roots = [name for name in names if name in element_types]
        if len(roots) == 1 and not names & excluded:
            element_types[declared.name] = element_types[roots[0]]
        else:
            excluded.add(declared.name)
    return {name: kind for name, kind in element_types.items() if kind in ELEMENT_BYTES and name not in excluded}


def _ahead(file: KernelFile, kernel: KernelText, loop: BodyStatement, read_only: dict[str, str]) -> Ahead | None:
    first, step, test = loop.first, loop.step, loop.value
    if not first or not step or not test or len(first.declared) != 1 or not loop.body or not step.parts:
        return None
    declared, changed = first.declared[0], assigned(loop.body)
    inner = {n for s in loop.body for n in s.makes()} | changed
    ups = step.kind in ("unary", "postfix") and step.value == "++"
    adds = step.kind == "assign" and step.value == "+=" and not step.parts[1].names() & (inner | {declared.name})
    forms = {part.form for s in loop.body for part in s.walk()} - {"declare", "expression", "if", "block", "empty"}
    calls = any(
        n.kind == "call" and (n.value.startswith("__sync") or "barrier" in n.value)
        for s in loop.body
        for n in s.nodes()
    )
    if declared.is_pointer or not declared.value or declared.name in inner or not (ups or adds) or forms or calls:
        return None
    if (
        step.parts[0].value != declared.name
        or test.names() & inner
        or first.type == "auto"
        or _acts(test)
        or _acts(declared.value)
    ):
        return None
    loads = dict[str, tuple[Expression, str]]()
    for node in certain(tuple(loop.body)):
        base = node.parts[0].value if node.kind == "index" and node.parts[0].kind == "name" else ""
        fixed = base in read_only and not node.names() & inner and declared.name in node.parts[1].names()
        if fixed and not _acts(node.parts[1]):
            loads.setdefault(f"{node.start}", (node, read_only[base]))
    kind = " ".join(w for w in first.type.split() if w != "const")
    by = "1" if ups else f"({file.source[step.parts[1].start : step.parts[1].end]})"
    start, until = (file.source[n.start : n.end] for n in (declared.value, test))
    ordered_loads = tuple(loads.values())
    return (
        Ahead(kernel, loop, declared.name, kind, start, until, by, ordered_loads)
        if 0 < len(ordered_loads) <= MOST
        else None
    )


def _acts(node: Expression) -> bool:
    """Tell whether an expression reads memory, calls or changes something."""
    return any(n.kind in ("index", "call", "assign", "postfix") or n.value in ("++", "--") for n in node.walk())

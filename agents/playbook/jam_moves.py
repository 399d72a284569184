"""Register blocking: a work-item takes a small tile of items and goes through their loop together.

Each step of the loop is taken for every item of the tile before the next one, so that what neighbours share is loaded
once and what lies side by side is loaded at once. Items are independent, so any order of their steps is right; those of
one item keep theirs, and no bit changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.cpp.expression import Expression
from agents.cpp.polynomial import ONE, ZERO
from agents.cpp.statement import BodyStatement
from agents.playbook.emitted import (
    are_free,
    fresh_name,
    grid_of,
    indented,
    restored,
    text_of,
    unindented,
    with_restrict,
)
from agents.playbook.work_items import AXES, Coordinate, WorkItems, assigned, forms
from agents.source import KernelFile, closing, substitute, with_plan, words

STEPS = [4, 1, 2, 8]
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Jam:
    """A kernel whose work is declarations, one loop, and what follows it."""

    work: WorkItems
    before: tuple[BodyStatement, ...]
    loop: BodyStatement
    after: tuple[BodyStatement, ...]
    item_variables: Mapping[str, str]  # variables that each item has for itself across the loop, with their types

    @property
    def indices(self) -> tuple[Coordinate, ...]:
        """The axes that are blocked."""
        return tuple(i for i in self.work.indices if i.bound)

    def plain(self) -> list[str]:
        """List the declarations before the loop that are the same at every step."""
        declarations = [(s.type, d) for s in self.before for d in s.declared]
        return [
            restored(self.work, kind, declared)
            for kind, declared in declarations
            if declared.name not in self.item_variables
        ]

    def first_values(self) -> list[str]:
        """List the first values of an item's own variables."""
        declarations = [d for _, d in self.work.lead] + [d for s in self.before for d in s.declared]
        assignments = [
            f"{_element(self, d.name)} = {_renamed(self, [d.value], d.value.start, d.value.end)};"
            for d in declarations
            if d.name in self.item_variables and d.value
        ]
        return assignments + [_renamed(self, [s], s.start, s.end) for s in self.before if s.form == "expression"]

    def following(self) -> list[str]:
        """List the statements after the loop, for one item."""
        after = self.after
        return unindented(_renamed(self, after, after[0].start, after[-1].end)) if after else []


def jam_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the kernels with one loop for each item, by name."""
    return tuple(
        j.work.kernel.name for j in jams(file) if are_free(file, reserved, "STEPS", *(_count(i) for i in j.indices))
    )


def register_tile(file: KernelFile, variant: str) -> str:
    """Write the loop taken by whole tiles, and item by item where a tile is not full."""
    jam = next(j for j in jams(file) if j.work.kernel.name == variant)
    work, counts = jam.work, {i.name: fresh_name(file, _count(i)) for i in jam.indices}
    dependent = frozenset(n for i in jam.indices for n in work.depends(i.name))
    shared = [restored(work, k, d) for k, d in work.lead if d.name not in dependent | set(jam.item_variables)]
    starts = [f"const {i.type} {i.name}_first = ({i.value}) * {counts[i.name]};" for i in jam.indices]
    item_lines = [
        restored(work, k, d) for k, d in work.lead if d.name in dependent - set(jam.item_variables) - set(counts)
    ]
    full_test = " && ".join(f"(long){i.name}_first + {counts[i.name]} <= (long)({i.bound})" for i in jam.indices)
    tests = [f"{i.name} < {i.bound}" for i in jam.indices] + list(work.conditions)
    started = [restored(work, k, d) for k, d in work.lead if d.name in jam.item_variables]
    single = [*item_lines, f"if ({' && '.join(tests)}) {{", *indented([*started, *unindented(text_of(work))], 4), "}"]
    body = [*shared, *starts, f"if ({full_test}) {{", *indented(_tile(jam, counts, item_lines), 4), "} else {"]
    body += [*indented(loops_over_items(jam, counts, single), 4), "}"]
    edit = (*work.kernel.body, "\n" + "\n".join(indented(body, 4)) + "\n")
    axes = {i.axis: f"{work.extent('block', i.axis)} * {counts[i.name]}" for i in jam.indices}
    grids = {axis: grid_of(work, axis, share) for axis, share in axes.items()}
    old = enumerate(work.launch["grid"])
    grid = [grids[AXES[number]][number] if AXES[number] in grids else str(extent) for number, extent in old]
    launches = [{**x, "grid": grid} if x is work.launch else x for x in file.plan["launch"]]
    size = [4, 2, 1, 8] if len(jam.indices) == 1 else [2, 1, 4, 8]
    new_tunables = {**{counts[i.name]: size for i in jam.indices}, fresh_name(file, "STEPS"): STEPS}
    plan = {**file.plan, "launch": launches, "tunables": {**file.tunables, **new_tunables}}
    return with_restrict(with_plan(file, plan, substitute(file.source, [edit])))


def _tile(jam: Jam, counts: Mapping[str, str], item_lines: list[str]) -> list[str]:
    """Write the code for a full tile.

    It has arrays, their first values, the loop with all items inside, what follows for each.
    """
    work, dims = jam.work, "".join(f"[{counts[i.name]}]" for i in jam.indices)
    arrays = [f"{kind} {name}_each{dims};" for name, kind in jam.item_variables.items()]
    loop, code = jam.loop, work.file.code
    keyword = re.compile(r"\bfor\b").search(code, loop.start)
    assert keyword
    end = closing(code, code.index("(", keyword.end())) + 1
    inside = unindented(_renamed(jam, [loop], loop.body[0].start, loop.body[-1].end))
    return [
        *arrays,
        *loops_over_items(jam, counts, [*item_lines, *jam.plain(), *jam.first_values()]),
        f"#pragma unroll {fresh_name(work.file, 'STEPS')}",
        f"{work.file.source[keyword.start() : end]} {{",
        *indented(loops_over_items(jam, counts, [*item_lines, *jam.plain(), *inside]), 4),
        "}",
        *loops_over_items(jam, counts, [*item_lines, *jam.plain(), *jam.following()]),
    ]


def loops_over_items(jam: Jam, counts: Mapping[str, str], inner: list[str]) -> list[str]:
    """Loops over the items of a tile, unrolled."""
    lines = inner
    for index in jam.indices:
        lines = [f"const {index.type} {index.name} = {index.name}_first + {index.name}_item;", *lines]
    for index in reversed(jam.indices):
        item, count = f"{index.name}_item", counts[index.name]
        lines = ["#pragma unroll", f"for (int {item} = 0; {item} < {count}; ++{item}) {{", *indented(lines, 4), "}"]
    return lines


def _element(jam: Jam, name: str) -> str:
    return f"{name}_each" + "".join(f"[{i.name}_item]" for i in jam.indices)


def _renamed(jam: Jam, parts: Sequence[Expression | BodyStatement], start: int, end: int) -> str:
    """Write the text of some parts in which each item's own variables are elements of arrays."""
    return substitute(jam.work.file.source[start:end], element_edits(jam, parts, start, end))


def element_edits(
    jam: Jam, parts: Sequence[Expression | BodyStatement], start: int, end: int
) -> list[tuple[int, int, str]]:
    """List the edits that make elements of arrays of each item's own variables, from the start of the text."""
    nodes = [n for part in parts for n in (part.walk() if isinstance(part, Expression) else part.nodes())]
    spans = {(n.start, n.end, n.value) for n in nodes if n.kind == "name" and n.value in jam.item_variables}
    source = jam.work.file.source
    return [
        (a - start, b - start, source[a:b].replace(name, _element(jam, name)))
        for a, b, name in spans
        if start <= a and b <= end
    ]


def _count(index: Coordinate) -> str:
    return f"ITEMS_{index.axis.upper()}"


def jams(file: KernelFile) -> Iterator[Jam]:
    """Every kernel of the file that is one."""
    for work in forms(file):
        positions = [position for position, s in enumerate(work.work) if s.form == "for"]
        if len(positions) != 1 or not work.is_apart or not any(i.bound for i in work.indices):
            continue
        before, loop, after = work.work[: positions[0]], work.work[positions[0]], work.work[positions[0] + 1 :]
        jam = Jam(work, before, loop, after, _item_variables(work, before))
        if loop.body and _is_jammable(jam) and _has_common(jam):
            yield jam


def _has_common(jam: Jam) -> bool:
    """Tell whether items of a tile load the same elements, or elements side by side."""
    subscripts = [jam.work.poly(n.parts[1]) for s in jam.loop.body for n in s.nodes() if n.kind == "index"]
    steps = [[subscript.along(i.name) for i in jam.indices] for subscript in subscripts]
    return any(ONE in step or (len(step) > 1 and ZERO in step) for step in steps)


def _item_variables(work: WorkItems, before: Sequence[BodyStatement]) -> dict[str, str]:
    changed = assigned(work.work)
    declarations = [*work.lead, *((s.type, d) for s in before for d in s.declared)]
    return {d.name: " ".join(w for w in kind.split() if w != "const") for kind, d in declarations if d.name in changed}


def _is_jammable(jam: Jam) -> bool:
    work, loop = jam.work, jam.loop
    names = {declared.name for _, declared in work.lead} | {d.name for s in jam.before for d in s.declared}
    leaves = {s.form for part in work.work for s in part.walk()} & {"return", "break"}
    head = [n for v in (loop.value, loop.step) if v for n in v.walk()]
    head += [n for d in (loop.first.declared if loop.first else ()) if d.value for n in d.value.walk()]
    dependent = {n for i in jam.indices for n in work.depends(i.name)}
    for statement in jam.before:
        for declaration in statement.declared:
            if declaration.value and declaration.value.names() & dependent:
                dependent.add(declaration.name)
    counter = {d.name for d in loop.first.declared} if loop.first else set()
    inner = {n for s in (*loop.body, *jam.after) for n in s.makes()}
    changed = assigned(work.work) - counter
    declared = [d for _, d in work.lead] + [d for s in jam.before for d in s.declared]
    pointers = {d.name for d in declared if d.is_pointer}
    fixed = all(not (dependent | changed) & set(_WORD.findall(i.bound)) for i in jam.indices)
    calm = all(s.form in ("declare", "expression") for s in jam.before)
    sets = [s.value for s in jam.before if s.form == "expression"]
    return (
        fixed
        and not work.conditions
        and calm
        and not leaves
        and bool(counter)
        and not counter & assigned(loop.body)
        and not {n.value for n in head if n.kind == "name"} & (dependent | (changed - counter))
        and changed <= names | inner
        and not changed & names & (pointers | inner | dependent & {i.name for i in work.indices})
        and all(
            v and v.kind == "assign" and v.parts[0].kind == "name" and v.parts[0].value in jam.item_variables
            for v in sets
        )
        and not any(kind == "auto" for kind in jam.item_variables.values())
        and not any(n.kind == "index" or n.kind == "call" for n in head)
        and not any(words(work.file.code, f"{n}_each") for n in jam.item_variables)
        and not any(words(work.file.code, f"{i.name}_{end}") for i in jam.indices for end in ("first", "item"))
        and not _repeats(jam)
    )


def _repeats(jam: Jam) -> bool:
    """Tell whether a declaration before the loop that is made again for each step may come out differently then."""
    for statement in jam.before:
        for declared in statement.declared:
            if declared.name in jam.item_variables or not declared.value:
                continue
            if declared.value.names() & set(jam.item_variables) or any(
                n.kind in ("call", "assign") for n in declared.value.walk()
            ):
                return True
    sets = [n.parts[0] for s in jam.loop.body for n in s.nodes() if n.kind == "assign"]
    stored = {n.parts[0].value for n in sets if n.kind == "index"}
    return bool(stored & {n for s in jam.before for n in s.names()})

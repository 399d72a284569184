"""Several neighbouring items for each work-item, so that their loads and stores join into wide ones.

The work of one item stays as it is written and is done for each item in turn. Where all items of a work-item lie below
the guard's bound no guard is left between them, and the compiler merges their accesses; the last ones are guarded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.cpp.polynomial import ONE
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
from agents.playbook.layout_moves import ELEMENT_BYTES
from agents.playbook.work_items import Coordinate, WorkItems, assigned, forms
from agents.source import KernelFile, substitute, with_plan, words

VECTOR_BYTES = 16  # the widest access of a lane
COUNTS = (1, 2, 4, 8, 16)
_WORD = re.compile(r"[A-Za-z_]\w*")


def item_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the kernels with independent items, by name."""
    return tuple(work.kernel.name for work, _ in _candidates(file)) if are_free(file, reserved, "ITEMS") else ()


def several_items(file: KernelFile, variant: str) -> str:
    """Write the loop over the items of a work-item, whole and guarded."""
    work, index = next((w, i) for w, i in _candidates(file) if w.kernel.name == variant)
    items, first = fresh_name(file, "ITEMS"), f"{index.name}_first"
    dependent, changed = work.depends(index.name), assigned(work.work)
    shared = [restored(work, k, d) for k, d in work.lead if d.name not in dependent | changed]
    beside = tuple(f"{i.name} < {i.bound}" for i in work.indices if i is not index and i.bound)
    tests = (*beside, *work.conditions)
    unguarded = _items(work, index, items, dependent | changed, tests)
    guarded = _items(work, index, items, dependent | changed, (f"{index.name} < {index.bound}", *tests))
    lines = [
        *shared,
        f"const {index.type} {first} = ({index.value}) * {items};",
        f"if ((long){first} + {items} <= (long)({index.bound})) {{",
        *indented(unguarded, 4),
        "} else {",
        *indented(guarded, 4),
        "}",
    ]
    source = substitute(file.source, [(*work.kernel.body, "\n" + "\n".join(indented(lines, 4)) + "\n")])
    grid = grid_of(work, index.axis, f"{work.extent('block', index.axis)} * {items}")
    launches = [{**x, "grid": grid} if x is work.launch else x for x in file.plan["launch"]]
    default = max(2, VECTOR_BYTES // _widest(work))
    tunables = {**file.tunables, items: [default, *(c for c in COUNTS if c != default)]}
    return with_restrict(with_plan(file, {**file.plan, "launch": launches, "tunables": tunables}, source))


def _items(
    work: WorkItems, index: Coordinate, items: str, per_item: frozenset[str], tests: tuple[str, ...]
) -> list[str]:
    """Write the loop over items; its tests let an item through."""
    item, body = f"{index.name}_item", unindented(text_of(work))
    inner = [f"if ({' && '.join(tests)}) {{", *indented(body, 4), "}"] if tests else body
    declarations = [
        restored(work, kind, declared) for kind, declared in work.lead if declared.name in per_item - {index.name}
    ]
    lines = [f"const {index.type} {index.name} = {index.name}_first + {item};", *declarations, *inner]
    return ["#pragma unroll", f"for (int {item} = 0; {item} < {items}; ++{item}) {{", *indented(lines, 4), "}"]


def _candidates(file: KernelFile) -> Iterator[tuple[WorkItems, Coordinate]]:
    for work in forms(file):
        index = _best(work)
        leaves = {s.form for part in work.work for s in part.walk()} & {"for", "return", "continue", "break"}
        if not index or leaves or not work.is_apart:
            continue
        changed = assigned(work.work)
        local = {declared.name for _, declared in work.lead} | {name for s in work.work for name in s.makes()}
        fixed = not (work.depends(index.name) | changed) & set(_WORD.findall(index.bound))
        new_names = (f"{index.name}_first", f"{index.name}_item")
        if changed <= local and fixed and not any(words(file.code, name) for name in new_names):
            yield work, index


def _best(work: WorkItems) -> Coordinate | None:
    """Find the index along which most accesses are to neighbouring elements; None where there is none."""
    subscripts = [n.parts[1] for s in work.work for n in s.nodes() if n.kind == "index"]
    counts = {i: sum(work.poly(p).along(i.name) == ONE for p in subscripts) for i in work.indices if i.bound}
    best = max(counts, key=lambda i: (counts[i], i.axis == "x"), default=None)
    return best if best and subscripts else None


def _widest(work: WorkItems) -> int:
    """Bytes of the largest element that the work touches."""
    used = {n.parts[0].value for s in work.work for n in s.nodes() if n.kind == "index"}
    roots = work.roots()
    touched = {roots.get(name, "") for name in used}
    return max((ELEMENT_BYTES.get(p.pointee, 4) for p in work.kernel.parameters if p.name in touched), default=4)

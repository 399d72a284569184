"""Fewer blocks than items: each block goes on through the grid's items until none is left."""

from __future__ import annotations

from collections.abc import Iterator

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
from agents.playbook.work_items import Coordinate, WorkItems, assigned, forms
from agents.source import KernelFile, substitute, with_plan, words

BLOCKS = [2432, 1216, 4864, 608]


def stride_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the kernels with an item a work-item along x, by name."""
    return tuple(w.kernel.name for w, _ in _candidates(file)) if are_free(file, reserved, "BLOCKS") else ()


def grid_stride(file: KernelFile, variant: str) -> str:
    """Write the loop over the items of a work-item, as far apart as the grid is wide."""
    work, index = next((w, i) for w, i in _candidates(file) if w.kernel.name == variant)
    blocks, counter = fresh_name(file, "BLOCKS"), f"{index.name}_at"
    dependent = work.depends(index.name) | assigned(work.work)
    shared = [restored(work, k, d) for k, d in work.lead if d.name not in dependent]
    item_declarations = [restored(work, k, d) for k, d in work.lead if d.name in dependent - {index.name}]
    tests = [*(f"{i.name} < {i.bound}" for i in work.indices if i is not index and i.bound), *work.conditions]
    body = unindented(text_of(work))
    inside = [f"if ({' && '.join(tests)}) {{", *indented(body, 4), "}"] if tests else body
    lines = [
        *shared,
        f"for (long {counter} = {index.value}; {counter} < (long)({index.bound}); "
        f"{counter} += (long)gridDim.x * blockDim.x) {{",
        *indented([f"const {index.type} {index.name} = {counter};", *item_declarations, *inside], 4),
        "}",
    ]
    source = substitute(file.source, [(*work.kernel.body, "\n" + "\n".join(indented(lines, 4)) + "\n")])
    grid = grid_of(work, "x", work.extent("block", "x"))
    launches = [
        {**x, "grid": [f"min({grid[0]}, {blocks})", *grid[1:]]} if x is work.launch else x for x in file.plan["launch"]
    ]
    plan = {**file.plan, "launch": launches, "tunables": {**file.tunables, blocks: BLOCKS}}
    return with_restrict(with_plan(file, plan, source))


def _candidates(file: KernelFile) -> Iterator[tuple[WorkItems, Coordinate]]:
    for work in forms(file):
        index = work.index("x")
        leaves = {s.form for part in work.work for s in part.walk()} & {"for", "return", "break", "continue"}
        local = {declared.name for _, declared in work.lead} | {name for s in work.work for name in s.makes()}
        if not index or not index.bound or leaves or work.strides or not work.is_apart or not work.work:
            continue
        dependent = work.depends(index.name) | assigned(work.work)
        fixed = not any(words(index.bound, name) for name in dependent)
        moved = {d.name for _, d in work.lead if d.is_pointer} & assigned(work.work)
        if assigned(work.work) <= local and fixed and not moved and not words(work.file.code, f"{index.name}_at"):
            yield work, index

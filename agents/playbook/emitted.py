"""Pieces of text that several moves write: names that are free, grids for fewer blocks, loops of several items."""

from __future__ import annotations

import re

from agents.playbook.plan_moves import add_restrict, restrict_variants
from agents.playbook.work_items import AXES, WorkItems, extent
from agents.source import KernelFile, read, words

_CEILING = re.compile(r"ceil_div\((?P<items>.+),\s*(?P<size>[\w ]+)\)$")


def fresh_name(file: KernelFile, taken: frozenset[str], name: str) -> str:
    """A name for a tunable that nothing in the file has, beginning with this one; empty where several are taken."""
    for candidate in (name, f"{name}_B", f"{name}_C"):
        if candidate not in taken and not words(file.source, candidate):
            return candidate
    return ""


def wave_of(arch: str) -> int:
    """Lanes of a wave."""
    return 64 if arch.startswith("gfx9") else 32


def items_of(work: WorkItems, axis: str) -> str:
    """The work-items of the grid along an axis, in the plan's terms: those behind the guard's bound may be left out."""
    grid, block = extent(work.launch, "grid", axis), extent(work.launch, "block", axis)
    index = work.index(axis)
    match = _CEILING.fullmatch(grid)
    if match and index and match["size"].strip() == block and _is_whole(match["items"]):
        named = {n: str(a).split(":")[0] for n, a in _given(work).items()}
        bound = re.sub(r"[A-Za-z_]\w*", lambda m: named.get(m.group(), m.group()), index.bound)
        if "".join(bound.split()) == "".join(match["items"].split()):
            return match["items"]
    return f"({grid}) * ({block})"


def grid_of(work: WorkItems, axis: str, share: str) -> list[str]:
    """The grid's extents when a block takes `share` work-items of the axis; one where `share` is empty."""
    axes = AXES[: max(len(work.launch["grid"]), AXES.index(axis) + 1)]
    own = items_of(work, axis)
    return [
        (f"ceil_div({own}, {share})" if share else own) if a == axis else extent(work.launch, "grid", a) for a in axes
    ]


def passes(name: str, kind: str, start: str, end: str, body: str, stride: str, wide: str) -> list[str]:
    """A loop that takes `wide` neighbouring passes at a time, and single ones where fewer are left."""
    return [
        f"for ({kind} {name}_first = {start}; {name}_first < {end}; {name}_first += {stride}) {{",
        f"    if ((long){name}_first + {wide} <= (long){end}) {{",
        "#pragma unroll",
        f"        for (int {name}_item = 0; {name}_item < {wide}; ++{name}_item) {{",
        f"            const {kind} {name} = {name}_first + {name}_item;",
        *_deeper(body, 12),
        "        }",
        "    } else {",
        f"        for ({kind} {name} = {name}_first; {name} < {end}; ++{name}) {{",
        *_deeper(body, 12),
        "        }",
        "    }",
        "}",
    ]


def ahead(first: str, *lines: str) -> str:
    """Lines of a block, indented as within a kernel."""
    if not first:
        return "\n".join(("" if x.startswith("#") else "        ") + x for x in lines)
    return "\n".join((first, *lines[:-1], "    " + lines[-1]))


def with_restrict(source: str) -> str:
    """The text with the promise that buffers do not overlap, where the plan keeps it: loads of several items join."""
    file = read(source)
    return add_restrict(file, "all") if restrict_variants(file, "", frozenset()) else source


def _deeper(text: str, spaces: int) -> list[str]:
    return [(" " * spaces + line.strip()) if not line.lstrip().startswith("#") else line for line in text.splitlines()]


def _given(work: WorkItems) -> dict[str, object]:
    return {p.name: a for a, p in zip(work.launch.get("args", []), work.kernel.parameters, strict=False)}


def _is_whole(text: str) -> bool:
    """True where the text closes every bracket that it opens, and has no comma outside of them."""
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0 or (char == "," and not depth):
            return False
    return depth == 0

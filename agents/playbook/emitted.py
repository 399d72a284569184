"""Pieces of text that several moves write: names that are free, grids for fewer blocks, loops of several items."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agents.cpp.expression import NotUnderstood, parse_expression
from agents.cpp.polynomial import Polynomial, atom, polynomial
from agents.cpp.statement import Declared
from agents.playbook.grid_loops import in_plan
from agents.playbook.plan_moves import add_restrict, restrict_variants
from agents.playbook.work_items import AXES, WorkItems, extent
from agents.source import KernelFile, read, words

_CEILING = re.compile(r"ceil_div\((?P<items>.+),\s*(?P<size>[\w ]+)\)$")


def fresh_name(file: KernelFile, name: str) -> str:
    """Make a name for a tunable that nothing in the file has, beginning with this one.

    It is empty where several are in use.
    """
    return next((c for c in (name, f"{name}_B", f"{name}_C") if not words(file.source, c)), "")


def are_free(file: KernelFile, reserved: frozenset[str], *names: str) -> bool:
    """Tell whether tunables of these names can be made in a file of a task that reserves some."""
    fresh = [fresh_name(file, name) for name in names]
    return all(fresh) and not reserved & set(fresh)


def restored(work: WorkItems, kind: str, declaration: Declared) -> str:
    """Write a declaration as the kernel has it."""
    value = f" = {work.text(declaration.value)}" if declaration.value else ""
    return f"{kind}{'*' if declaration.is_pointer else ''} {declaration.name}{value};"


def text_of(work: WorkItems) -> str:
    """Write the work of one work-item."""
    return work.file.source[work.work[0].start : work.work[-1].end] if work.work else ""


def indented(lines: list[str], spaces: int) -> list[str]:
    """Lines further to the right; directives and blank lines stay."""
    return [" " * spaces + line if line.strip() and not line.startswith("#") else line for line in lines]


def unindented(text: str) -> list[str]:
    """Lines of a text whose first line begins at its first word, brought to the left as a whole."""
    first, *following = text.splitlines() or [""]
    margin = min((len(x) - len(x.lstrip()) for x in following if x.strip() and not x.startswith("#")), default=0)
    deep = [line[margin:] if not line.startswith("#") else line for line in following]
    return [first, *deep]


def wave_of(arch: str) -> int:
    """Lanes of a wave."""
    return 64 if arch.startswith("gfx9") else 32


def items_of(work: WorkItems, axis: str) -> str:
    """Count the work-items of the grid along an axis, in the plan's terms.

    Those behind the guard's bound may be left out.
    """
    grid, block = extent(work.launch, "grid", axis), extent(work.launch, "block", axis)
    index = work.index(axis)
    if work.strides and index:
        return in_plan(index.bound, {n: str(a).split(":")[0] for n, a in _arguments(work).items()})
    match = _CEILING.fullmatch(grid)
    if match and index and match["size"].strip() == block and _is_whole(match["items"]):
        arguments = {name: atom(str(argument).split(":")[0]) for name, argument in _arguments(work).items()}
        bound = _sum(index.bound, {n: _in_plan_names(p, arguments) for n, p in work.integers.items()} | arguments)
        if bound is not None and bound == _sum(match["items"], {}):
            return match["items"]
    return f"({grid}) * ({block})"


def grid_of(work: WorkItems, axis: str, share: str) -> list[str]:
    """Compute the grid's extents when a block takes `share` work-items of the axis; one where `share` is empty."""
    axes = AXES[: max(len(work.launch["grid"]), AXES.index(axis) + 1)]
    items = items_of(work, axis)
    return [
        (f"ceil_div({items}, {share})" if share else items) if a == axis else extent(work.launch, "grid", a)
        for a in axes
    ]


def passes(name: str, kind: str, start: str, end: str, body: str, stride: str, wide: str) -> list[str]:
    """Write a loop that takes `wide` neighbouring passes at a time, and single ones where fewer are left."""
    return [
        f"for ({kind} {name}_first = {start}; {name}_first < {end}; {name}_first += {stride}) {{",
        f"    if ((long){name}_first + {wide} <= (long){end}) {{",
        "#pragma unroll",
        f"        for (int {name}_item = 0; {name}_item < {wide}; ++{name}_item) {{",
        f"            const {kind} {name} = {name}_first + {name}_item;",
        *indented(unindented(body), 12),
        "        }",
        "    } else {",
        f"        for ({kind} {name} = {name}_first; {name} < {end}; ++{name}) {{",
        *indented(unindented(body), 12),
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
    """Return the text with the promise that buffers do not overlap, where the plan keeps it.

    Loads of several items join.
    """
    file = read(source)
    return add_restrict(file, "all") if restrict_variants(file, "", frozenset()) else source


def _arguments(work: WorkItems) -> dict[str, object]:
    return {p.name: a for a, p in zip(work.launch.get("args", []), work.kernel.parameters, strict=False)}


def _sum(text: str, values: Mapping[str, Polynomial]) -> Polynomial | None:
    try:
        return polynomial(parse_expression(text, 0, len(text)), text, values)
    except NotUnderstood:
        return None


def _in_plan_names(value: Polynomial, arguments: Mapping[str, Polynomial]) -> Polynomial:
    """Write a polynomial of parameters in the plan's names."""
    total = Polynomial({})
    for factors, count in value.terms.items():
        product = Polynomial({(): count})
        for factor in factors:
            product = product * arguments.get(factor, atom(factor))
        total += product
    return total


def _is_whole(text: str) -> bool:
    """Tell whether the text closes every bracket that it opens, and has no comma outside of them."""
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0 or (char == "," and not depth):
            return False
    return depth == 0

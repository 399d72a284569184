"""A long sum shared by several blocks: parts of the loop side by side, and a second launch that adds them up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agents.cpp.statement import BodyStatement
from agents.playbook.emitted import are_free, fresh_name, indented, items_of
from agents.playbook.reductions import Counted, counted, has_effects, reductions
from agents.playbook.rows import plain
from agents.playbook.work_items import AXES, WorkItems, assigned, forms
from agents.source import KernelFile, KernelText, substitute, with_plan, words

SPLITS = [4, 2, 8, 16, 32]
_TYPES: Mapping[str, str] = {"float": "f32", "double": "f64", "int": "i32"}
_NEW = ("split_size", "split_from", "split_to", "split_at")
_TEMPLATE = re.compile(r"\btemplate\s*<[^;{}]*>\s*\Z")
_EXTERN = re.compile(r"extern\s*\"C\"\s*\Z")


@dataclass(frozen=True)
class Split:
    """A kernel whose work is a sum, and what is done with it afterwards."""

    work: WorkItems
    loop: Counted
    types: Mapping[str, str]  # of the sums
    end: int  # of the kernel's last statement

    @property
    def names(self) -> tuple[str, ...]:
        """The workspaces, one for each sum."""
        return tuple(f"partial_{number}" for number in range(len(self.types)))


def split_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the kernels whose items are sums, by name."""
    if not are_free(file, reserved, "SPLIT") or file.plan.get("workspace") or {"partial_0", "partial_1"} & reserved:
        return ()
    return tuple(s.work.kernel.name for s in _candidates(file))


def split_sum(file: KernelFile, variant: str) -> str:
    """Write the kernel for a part of the loop each, and its copy that adds the parts and does the rest."""
    split = next(s for s in _candidates(file) if s.work.kernel.name == variant)
    work, kernel, count = split.work, split.work.kernel, fresh_name(file, "SPLIT")
    join = f"{kernel.name}_join"
    first = substitute(file.source, [(split.loop.loop.start, split.end, _part(split, count)), *_parameters(split)])
    second = substitute(
        file.source, [(split.loop.loop.start, split.loop.loop.end, _sums(split, count)), *_parameters(split)]
    )
    # the copy stands behind the first one: both texts are the file up to there
    start, end = _span(file, kernel)
    grown = len(first) - len(file.source)
    copied = second[start : end + len(second) - len(file.source)]
    offset = kernel.head[1] - start
    copied = copied[:offset] + copied[offset:].replace(kernel.name, join, 1)
    source = f"{first[: end + grown]}\n\n{copied}{first[end + grown :]}"
    launches = list(file.plan["launch"])
    position = next(n for n, x in enumerate(launches) if x is work.launch)
    launch = {**work.launch, "args": [*work.launch["args"], *split.names]}
    extents = [work.extent("grid", axis) for axis in AXES]
    launches[position : position + 1] = [{**launch, "grid": [*extents[:2], count]}, {**launch, "kernel": join}]
    shape = [count, *(extent for _, _, extent in _axes(work))]
    workspace = {n: [_TYPES[t], *shape] for n, t in zip(split.names, split.types.values(), strict=True)}
    tunables = {**file.tunables, count: SPLITS}
    return with_plan(file, {**file.plan, "launch": launches, "tunables": tunables, "workspace": workspace}, source)


def _part(split: Split, count: str) -> str:
    """Write the loop over one block's part, and what it comes to."""
    loop = split.loop
    body, end = loop.body(split.work), f"(long)({loop.end})"
    lines = [
        f"const long split_size = ({end} - (long)({loop.start}) + {count} - 1) / {count};",
        f"const long split_from = (long)({loop.start}) + (long)blockIdx.z * split_size;",
        f"const long split_to = split_from + split_size < {end} ? split_from + split_size : {end};",
        *(f"{name} = 0;" for name in split.types),
        f"for ({loop.type} {loop.name} = split_from; {loop.name} < split_to; ++{loop.name}) {{",
        f"    {body}",
        "}",
        *(f"{w}[{_slot(split, 'blockIdx.z')}] = {n};" for w, n in zip(split.names, split.types, strict=True)),
    ]
    return "\n".join([lines[0], *indented(lines[1:], 4)])


def _sums(split: Split, count: str) -> str:
    """Write the loop over the parts."""
    lines = [f"for (int split_at = 0; split_at < {count}; ++split_at) {{"]
    lines += [f"    {n} += {w}[{_slot(split, 'split_at')}];" for w, n in zip(split.names, split.types, strict=True)]
    return "\n".join([lines[0], *indented([*lines[1:], "}"], 4)])


def _slot(split: Split, part: str) -> str:
    """Write the place of an item's part in a workspace."""
    text = f"(long){part}"
    for count, number, _ in _axes(split.work):
        text = f"({text} * (long)({count}) + {number})"
    return text


def _axes(work: WorkItems) -> list[tuple[str, str, str]]:
    """Count and number along each axis in the kernel's terms, and the count in the plan's."""
    indexed = [(i.bound, i.name, items_of(work, i.axis)) for i in reversed(work.indices)]
    unindexed = [axis for axis in "xy" if not work.index(axis) and work.extent("grid", axis) != "1"]
    return [(f"gridDim.{axis}", f"blockIdx.{axis}", f"({work.extent('grid', axis)})") for axis in unindexed] + indexed


def _parameters(split: Split) -> list[tuple[int, int, str]]:
    kernel = split.work.kernel
    last = kernel.parameters[-1]
    offset = last.name_at + len(last.name)
    kinds = zip(split.types.values(), split.names, strict=True)
    return [(offset, offset, "".join(f", {kind}* __restrict__ {name}" for kind, name in kinds))]


def _span(file: KernelFile, kernel: KernelText) -> tuple[int, int]:
    """Return the text of a function, `extern "C"` included."""
    match = _EXTERN.search(file.source, 0, kernel.head[0])
    return (match.start() if match else kernel.head[0]), kernel.body[1] + 1


def _candidates(file: KernelFile) -> Iterator[Split]:
    for work in forms(file):
        split = _split(work)
        if split:
            yield split


def _split(work: WorkItems) -> Split | None:
    """Return the sum of a kernel; None where its items are none, or where a part could not be told from another's."""
    loops = [s for s in work.work if s.form == "for"]
    code, kernel = work.file.code, work.kernel
    new = (*_NEW, f"{kernel.name}_join", "partial_0", "partial_1")
    axes = any(work.extent(key, "z") != "1" for key in ("grid", "block"))
    axes |= any(not work.index(axis) and work.extent("block", axis) != "1" for axis in "xy")
    axes |= bool(words(code, r"(?:blockIdx|gridDim)\s*\.\s*z"))
    if len(loops) != 1 or work.strides or not work.is_apart or axes or any(words(code, name) for name in new):
        return None
    template = _TEMPLATE.search(code, 0, _span(work.file, kernel)[0])
    loop = counted(work, loops[0])
    sums = reductions(loop) if loop else None
    if not loop or not sums or len(sums) > 2 or any(r.rule != "+" for r in sums) or template:
        return None
    position = work.work.index(loops[0])
    before, types = work.work[:position], _types(work, [r.name for r in sums])
    bounded = all(i.bound for i in work.indices) and not {
        n for i in work.indices for n in work.depends(i.name)
    } & assigned(work.work)
    stores = [n for s in loops[0].body for n in s.nodes() if n.kind == "assign" and n.parts[0].kind != "name"]
    values = [v for s in loops[0].walk() for v in (s.value, *(d.value for d in s.declared)) if v]
    leaves = {s.form for part in work.work for s in part.walk()} & {"return", "break", "continue"}
    if (
        types is None
        or not bounded
        or stores
        or leaves
        or has_effects(values, work.pointers)
        or not _is_calm(work, before)
    ):
        return None
    return Split(work, loop, types, work.work[-1].end)


def _types(work: WorkItems, names: list[str]) -> dict[str, str] | None:
    declarations = [*work.lead, *((s.type, d) for s in work.work for d in s.declared)]
    kinds = {d.name: plain(kind) for kind, d in declarations if not d.is_pointer}
    types = {name: kinds.get(name, "") for name in names}
    return types if all(kind in _TYPES for kind in types.values()) else None


def _is_calm(work: WorkItems, before: tuple[BodyStatement, ...]) -> bool:
    """Tell whether both kernels may do what stands before the loop."""
    values = [d.value for s in before for d in s.declared if d.value]
    sets = [s for s in before if s.form != "declare"]
    return not sets and not has_effects(values, work.pointers)

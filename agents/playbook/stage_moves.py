"""Tiles in LDS of what the items of a block share in a loop, and a small tile of items in the registers of each lane.

The loop is cut into stretches. For each stretch the block loads what its items will need, every element once, and the
steps of the loop read it from LDS. Each item's steps keep their order, so no bit changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agents.cpp.expression import Expression
from agents.cpp.polynomial import ONE, atom, polynomial
from agents.cpp.statement import Declared
from agents.playbook.emitted import are_free, fresh_name, grid_of, indented, restored, unindented, with_restrict
from agents.playbook.jam_moves import Jam, element_edits, jams, loops_over_items
from agents.playbook.layout_moves import ELEMENT_BYTES
from agents.playbook.reductions import Counted, counted, has_effects
from agents.playbook.work_items import Coordinate
from agents.source import KernelFile, substitute, with_plan, words

DEPTHS = [16, 8, 32]
ITEMS = [4, 2, 8]
_NEW = (
    "tile_lane",
    "tile_all",
    "tile_pass",
    "tile_at",
    "tile_step",
    "tile_item",
    "tile_0",
    "tile_1",
    "tile_2",
    "tile_3",
)
_PADDING = 4  # elements: rows stay aligned to what a lane reads at once
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Shared:
    """One load of the loop that depends on one axis of the block only."""

    load: Expression
    index: Coordinate
    type: str
    declarations: tuple[str, ...]  # that its place is computed from
    is_along: bool  # the loop's direction is the one of neighbouring elements


@dataclass(frozen=True)
class Stage:
    """A loop over two axes whose loads can be shared."""

    jam: Jam
    counted: Counted
    loads: tuple[Shared, ...]


def stage_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the kernels over two axes with such a loop, by name."""
    is_free = are_free(file, reserved, "DEPTH", "ITEMS_X", "ITEMS_Y")
    return tuple(s.jam.work.kernel.name for s in _candidates(file)) if is_free else ()


def loop_tile(file: KernelFile, variant: str) -> str:
    """Write the tiles, the loop over stretches, and what follows for each item within the bounds."""
    stage = next(s for s in _candidates(file) if s.jam.work.kernel.name == variant)
    jam, work, loop = stage.jam, stage.jam.work, stage.counted
    depth = fresh_name(file, "DEPTH")
    counts = {i.name: fresh_name(file, f"ITEMS_{i.axis.upper()}") for i in jam.indices}
    sizes = {i.name: f"{_in_c(work.extent('block', i.axis))} * {counts[i.name]}" for i in jam.indices}
    dependent = frozenset(n for i in jam.indices for n in work.depends(i.name))
    lines = [restored(work, k, d) for k, d in work.lead if d.name not in dependent | set(jam.item_variables)]
    lines += [f"const {i.type} {i.name}_first = ({i.value}) * {counts[i.name]};" for i in jam.indices]
    width, height = (_in_c(work.extent("block", axis)) for axis in "xy")
    lines.append(f"const int tile_lane = threadIdx.y * {width} + threadIdx.x;")
    for number, shared_load in enumerate(stage.loads):
        lines.append(
            f"__shared__ {shared_load.type} tile_{number}[{depth}][{sizes[shared_load.index.name]} + {_PADDING}];"
        )
    dims = "".join(f"[{counts[i.name]}]" for i in jam.indices)
    lines += [f"{kind} {name}_each{dims};" for name, kind in jam.item_variables.items()]
    item_declarations = [
        restored(work, k, d) for k, d in work.lead if d.name in dependent - set(jam.item_variables) - set(counts)
    ]
    lines += loops_over_items(jam, counts, [*item_declarations, *jam.plain(), *jam.first_values()])
    lines.append(f"for ({loop.type} tile_at = {loop.start}; tile_at < {loop.end}; tile_at += {depth}) {{")
    lines += indented(_loading(stage, depth, sizes, f"{width} * {height}"), 4)
    inside = _step(stage, counts, item_declarations)
    lines += indented(["__syncthreads();", *_stretch(loop, depth, inside), "__syncthreads();"], 4)
    tests = " && ".join(f"{i.name} < {i.bound}" for i in jam.indices)
    after = [f"if ({tests}) {{", *indented(jam.following(), 4), "}"]
    lines += ["}", *loops_over_items(jam, counts, [*item_declarations, *jam.plain(), *after])]
    source = substitute(file.source, [(*work.kernel.body, "\n" + "\n".join(indented(lines, 4)) + "\n")])
    shares = {i.axis: f"{work.extent('block', i.axis)} * {counts[i.name]}" for i in jam.indices}
    grid = [grid_of(work, axis, shares[axis])["xy".index(axis)] for axis in "xy"]
    launches = [{**x, "grid": grid} if x is work.launch else x for x in file.plan["launch"]]
    tunables = {**file.tunables, **{counts[i.name]: ITEMS for i in jam.indices}, depth: DEPTHS}
    return with_restrict(with_plan(file, {**file.plan, "launch": launches, "tunables": tunables}, source))


def _in_c(extent: str) -> str:
    return extent if re.fullmatch(r"\w+", extent) else f"({extent.replace('//', '/')})"


def _loading(stage: Stage, depth: str, sizes: dict[str, str], lanes: str) -> list[str]:
    """Write the loads of all lanes of a block.

    Those of whole tiles go together, and one by one where a tile is not full.
    """
    ends = [f"(long)tile_at + {depth} <= (long){stage.counted.end}"]
    for index in dict.fromkeys(shared_load.index for shared_load in stage.loads):
        size = sizes[index.name]
        ends.append(f"(long)(blockIdx.{index.axis} * ({size})) + {size} <= (long)({index.bound})")
    full, guarded = list[str](), list[str]()
    for number, shared_load in enumerate(stage.loads):
        total = f"{depth} * {sizes[shared_load.index.name]}"
        count = f"({total} + {lanes} - 1) / ({lanes})"
        declaration = f"const int tile_all = tile_lane + tile_pass * {lanes};"
        load = _load(stage, number, shared_load, depth, sizes[shared_load.index.name])
        full += [
            "#pragma unroll",
            f"for (int tile_pass = 0; tile_pass < {count}; ++tile_pass) {{",
            f"    {declaration}",
        ]
        full += [f"    if ({total} % ({lanes}) == 0 || tile_all < {total}) {{", *indented(load(""), 8), "    }", "}"]
        guard = f"{stage.counted.name} < {stage.counted.end} && {shared_load.index.name} < {shared_load.index.bound}"
        guarded += [f"for (int tile_all = tile_lane; tile_all < {total}; tile_all += {lanes}) {{"]
        guarded += [*indented(load(guard), 4), "}"]
    return [f"if ({' && '.join(ends)}) {{", *indented(full, 4), "} else {", *indented(guarded, 4), "}"]


def _load(stage: Stage, number: int, shared_load: Shared, depth: str, size: str) -> Callable[[str], list[str]]:
    work, loop, index = stage.jam.work, stage.counted, shared_load.index
    step, item = ("%", "/") if shared_load.is_along else ("/", "%")
    by = depth if shared_load.is_along else f"({size})"
    target = f"tile_{number}[tile_step][tile_item]"
    value = [*shared_load.declarations, f"{target} = {work.text(shared_load.load)};"]

    def assignment(guard: str) -> list[str]:
        test = [f"{target} = 0;", f"if ({guard}) {{", *indented(value, 4), "}"] if guard else value
        return [
            f"const int tile_step = tile_all {step} {by}, tile_item = tile_all {item} {by};",
            f"const {loop.type} {loop.name} = tile_at + tile_step;",
            f"const {index.type} {index.name} = blockIdx.{index.axis} * ({size}) + tile_item;",
            *test,
        ]

    return assignment


def _step(stage: Stage, counts: dict[str, str], item_declarations: list[str]) -> list[str]:
    """One step of the loop for a tile of items: each value is read once, then the body runs for every item."""
    jam, body, reads = stage.jam, stage.jam.loop.body, list[str]()
    start, end = body[0].start, body[-1].end
    edits = element_edits(jam, body, start, end)
    for number, shared_load in enumerate(stage.loads):
        index, load, item = shared_load.index, shared_load.load, f"{shared_load.index.name}_item"
        count = counts[index.name]
        value = f"tile_{number}[tile_step][threadIdx.{index.axis} * {count} + {item}]"
        reads += [f"{shared_load.type} tile_{number}_part[{count}];", "#pragma unroll"]
        reads.append(f"for (int {item} = 0; {item} < {count}; ++{item}) tile_{number}_part[{item}] = {value};")
        edits = [e for e in edits if not (load.start - start <= e[0] and e[1] <= load.end - start)]
        edits.append((load.start - start, load.end - start, f"tile_{number}_part[{item}]"))
    inside = unindented(substitute(jam.work.file.source[start:end], edits))
    return [*reads, *loops_over_items(jam, counts, [*item_declarations, *jam.plain(), *inside])]


def _stretch(loop: Counted, depth: str, inside: list[str]) -> list[str]:
    count = f"for (int tile_step = 0; tile_step < {depth}; ++tile_step) {{"
    number = f"const {loop.type} {loop.name} = tile_at + tile_step;"
    last = f"for (int tile_step = 0; tile_at + tile_step < {loop.end}; ++tile_step) {{"
    return [
        f"if ((long)tile_at + {depth} <= (long){loop.end}) {{",
        "#pragma unroll",
        *indented([count, *indented([number, *inside], 4), "}"], 4),
        "} else {",
        *indented([last, *indented([number, *inside], 4), "}"], 4),
        "}",
    ]


def _candidates(file: KernelFile) -> Iterator[Stage]:
    for jam in jams(file):
        work = jam.work
        loop = counted(work, jam.loop)
        two = {i.axis for i in jam.indices} == {"x", "y"} and work.extent("block", "z") == "1"
        if not loop or not two or work.conditions or any(words(work.file.code, f"tile_{name}") for name in _NEW):
            continue
        values = [v for s in jam.loop.walk() for v in (s.value, *(d.value for d in s.declared)) if v]
        stored = [n for v in values for n in v.walk() if n.kind == "assign" and n.parts[0].kind != "name"]
        initial_values = [d.value for _, d in work.lead] + [d.value for s in jam.before for d in s.declared]
        before = [n for v in initial_values if v for n in v.walk()] + [n for s in jam.before for n in s.nodes()]
        if stored or has_effects(values, work.pointers) or any(n.kind in ("index", "call") for n in before):
            continue
        if any(s.form == "for" for part in jam.loop.body for s in part.walk()):
            continue
        if loads := _shared(jam, loop):
            yield Stage(jam, loop, loads)


def _shared(jam: Jam, loop: Counted) -> tuple[Shared, ...]:
    """Every load of the loop that differs between items; none where one of them cannot be shared."""
    shared_loads, work, roots = list[Shared](), jam.work, jam.work.roots()
    types = {p.name: p.pointee for p in work.kernel.parameters}
    declarations = [*work.lead, *((s.type, d) for s in jam.before for d in s.declared)]
    for node in (n for s in jam.loop.body for n in s.nodes() if n.kind == "index"):
        needed = _needed(declarations, node.names())
        names = node.names() | {n for _, d in needed if d.value for n in d.value.names()}
        axes = [i for i in jam.indices if i.name in names]
        inner = names & ({n for s in jam.loop.body for n in s.makes()} | set(jam.item_variables))
        kind = types.get(roots.get(node.parts[0].value, ""), "")
        if inner or len(axes) > 1 or kind not in ELEMENT_BYTES:
            return ()
        if not axes:
            continue
        integers = {**work.integers, loop.name: atom("@")}
        is_along = polynomial(node.parts[1], work.file.code, integers).along("@") == ONE
        indices = {i.name for i in jam.indices}
        text = tuple(restored(work, k, d) for k, d in needed if d.name not in indices)
        shared_loads.append(Shared(node, axes[0], kind, text, is_along))
    return tuple(shared_loads) if 0 < len(shared_loads) <= 4 else ()


def _needed(declarations: Sequence[tuple[str, Declared]], names: frozenset[str]) -> list[tuple[str, Declared]]:
    """List the declarations behind some names, in their order."""
    missing, needed = set(names), list[tuple[str, Declared]]()
    for kind, declared in reversed(declarations):
        if declared.name in missing:
            needed.insert(0, (kind, declared))
            missing |= declared.value.names() if declared.value else set()
    return needed

"""A row of one work-item given to a wave or a block, whose lanes read neighbouring elements and join what they found.

Everything beside the loops over the row is computed by every lane alike, and stored by the first.
"""

from __future__ import annotations

from agents.playbook.emitted import ahead, are_free, fresh_name, grid_of, passes, wave_of, with_restrict
from agents.playbook.plan_moves import bounds_of
from agents.playbook.reductions import Counted, Reduction
from agents.playbook.rows import Rows, rows_of
from agents.source import KernelFile, substitute, with_plan, words

ROWS = [4, 1, 2, 8, 16]
THREADS = [256, 64, 128, 512, 1024]
WIDE = [4, 1, 2, 8]


def row_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the kernels whose rows can be shared, by name, with the lanes of a wave."""
    if not are_free(file, reserved, "ROWS", "WIDE", "THREADS"):
        return ()
    return tuple(f"{r.work.kernel.name}.{wave_of(arch)}" for r in rows_of(file) if not _collides(file, r))


def wave_rows(file: KernelFile, variant: str) -> str:
    """One wave a row, several rows a block."""
    return _shared(file, variant, is_block=False)


def block_rows(file: KernelFile, variant: str) -> str:
    """One block a row."""
    return _shared(file, variant, is_block=True)


def _collides(file: KernelFile, rows: Rows) -> bool:
    """Tell whether the file has a name that the change would make."""
    new_names = {"lane_step", "lane_other", "wave_part"}
    for loop in rows.loops:
        new_names |= {f"{loop.name}_first", f"{loop.name}_item"}
        for reduction in loop.reductions:
            new_names |= {
                f"{reduction.name}_before",
                f"{reduction.name}_parts",
                f"{reduction.position}_parts",
                f"lane_{reduction.position}",
            }
    return any(words(file.code, name) for name in new_names)


def _shared(file: KernelFile, variant: str, is_block: bool) -> str:
    name, wave = variant.rsplit(".", 1)
    rows = next(r for r in rows_of(file) if r.work.kernel.name == name)
    work, index = rows.work, rows.work.indices[0]
    lanes, wide = (fresh_name(file, "THREADS" if is_block else "ROWS"), fresh_name(file, "WIDE"))
    row = "blockIdx.x" if is_block else f"blockIdx.x * {lanes} + threadIdx.y"
    edits = [(store.start, store.end, f"{{ if (threadIdx.x == 0) {{ {work.text(store)} }} }}") for store in rows.stores]
    edits.append((index.offset, index.offset + len(index.value), row))
    width = lanes if is_block else wave
    edits += [(c.loop.start, c.loop.end, _loop(rows, c, wide, width, int(wave) if is_block else 0)) for c in rows.loops]
    bounds = bounds_of(file, work.kernel)
    if bounds:
        edits.append((*bounds, lanes if is_block else f"{wave} * {lanes}"))
    changed = {
        "block": [lanes] if is_block else [int(wave), lanes],
        "grid": grid_of(work, "x", "" if is_block else lanes),
    }
    tunables = {**file.tunables, lanes: THREADS if is_block else ROWS, wide: WIDE}
    launches = [{**x, **changed} if x is work.launch else x for x in file.plan["launch"]]
    plan = {**file.plan, "launch": launches, "tunables": tunables}
    return with_restrict(with_plan(file, plan, substitute(file.source, edits)))


def _loop(rows: Rows, loop: Counted, wide: str, width: str, wave: int) -> str:
    """Write the loop for the lanes, and what joins their results; `wave` is 0 where one wave has the row."""
    before, after = list[str](), list[str]()
    for reduction in loop.reductions:
        kind = rows.type_of(reduction.name)
        if reduction.rule == "+":
            before += [f"const {kind} {reduction.name}_before = {reduction.name};", f"{reduction.name} = 0;"]
        after += _joined(reduction, kind, rows.type_of(reduction.position), width, wave)
        if reduction.rule == "+":
            after.append(f"{reduction.name} += {reduction.name}_before;")
    start = f"({loop.start}) + ({loop.type})threadIdx.x * {wide}"
    body = loop.body(rows.work)
    stride = passes(loop.name, loop.type, start, loop.end, body, f"{width} * {wide}", wide)
    return ahead("{", ahead("", *before, *stride, *after), "}")


def _joined(reduction: Reduction, kind: str, place_kind: str, width: str, wave: int) -> list[str]:
    name, position = reduction.name, reduction.position
    other = [f"const {kind} lane_other = __shfl_xor({name}, lane_step);"]
    lane_position = [f"const {place_kind} lane_{position} = __shfl_xor({position}, lane_step);"] if position else []
    inside = [*other, *lane_position, reduction.joined("lane_other", f"lane_{position}")]
    first = wave // 2 if wave else int(width) // 2
    lines = [f"for (int lane_step = {first}; lane_step > 0; lane_step /= 2) {{", *("    " + x for x in inside), "}"]
    if not wave:
        return lines
    parts = [(name, kind), *([(position, place_kind)] if position else [])]
    lines += [f"__shared__ {t} {n}_parts[{width} / {wave}];" for n, t in parts]
    lines += ["__syncthreads();", f"if (threadIdx.x % {wave} == 0) {{"]
    lines += [f"    {n}_parts[threadIdx.x / {wave}] = {n};" for n, _ in parts]
    lines += ["}", "__syncthreads();", *(f"{n} = {n}_parts[0];" for n, _ in parts)]
    lines += [f"for (int wave_part = 1; wave_part < {width} / {wave}; ++wave_part) {{"]
    lines += ["    " + reduction.joined(f"{name}_parts[wave_part]", f"{position}_parts[wave_part]"), "}"]
    return [*lines, "__syncthreads();"]

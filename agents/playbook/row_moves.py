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


def row_variants(file: KernelFile, arch: str, taken: frozenset[str]) -> tuple[str, ...]:
    """List the kernels whose rows can be shared, by name, with the lanes of a wave."""
    if not are_free(file, taken, "ROWS", "WIDE", "THREADS"):
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
    made = {"lane_step", "lane_other", "wave_part"}
    for loop in rows.loops:
        made |= {f"{loop.name}_first", f"{loop.name}_item"}
        for found in loop.reductions:
            made |= {f"{found.name}_before", f"{found.name}_parts", f"{found.place}_parts", f"lane_{found.place}"}
    return any(words(file.code, name) for name in made)


def _shared(file: KernelFile, variant: str, is_block: bool) -> str:
    name, wave = variant.rsplit(".", 1)
    rows = next(r for r in rows_of(file) if r.work.kernel.name == name)
    work, index = rows.work, rows.work.indices[0]
    lanes, wide = (fresh_name(file, "THREADS" if is_block else "ROWS"), fresh_name(file, "WIDE"))
    row = "blockIdx.x" if is_block else f"blockIdx.x * {lanes} + threadIdx.y"
    edits = [(at.start, at.end, f"{{ if (threadIdx.x == 0) {{ {work.text(at)} }} }}") for at in rows.stores]
    edits.append((index.at, index.at + len(index.value), row))
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
    for found in loop.reductions:
        kind = rows.type_of(found.name)
        if found.rule == "+":
            before += [f"const {kind} {found.name}_before = {found.name};", f"{found.name} = 0;"]
        after += _joined(found, kind, rows.type_of(found.place), width, wave)
        if found.rule == "+":
            after.append(f"{found.name} += {found.name}_before;")
    start = f"({loop.start}) + ({loop.type})threadIdx.x * {wide}"
    body = loop.body(rows.work)
    stride = passes(loop.name, loop.type, start, loop.end, body, f"{width} * {wide}", wide)
    return ahead("{", ahead("", *before, *stride, *after), "}")


def _joined(found: Reduction, kind: str, place_kind: str, width: str, wave: int) -> list[str]:
    name, where = found.name, found.place
    other = [f"const {kind} lane_other = __shfl_xor({name}, lane_step);"]
    place = [f"const {place_kind} lane_{where} = __shfl_xor({where}, lane_step);"] if where else []
    inside = [*other, *place, found.joined("lane_other", f"lane_{where}")]
    first = wave // 2 if wave else int(width) // 2
    lines = [f"for (int lane_step = {first}; lane_step > 0; lane_step /= 2) {{", *("    " + x for x in inside), "}"]
    if not wave:
        return lines
    parts = [(name, kind), *([(where, place_kind)] if where else [])]
    lines += [f"__shared__ {t} {n}_parts[{width} / {wave}];" for n, t in parts]
    lines += ["__syncthreads();", f"if (threadIdx.x % {wave} == 0) {{"]
    lines += [f"    {n}_parts[threadIdx.x / {wave}] = {n};" for n, _ in parts]
    lines += ["}", "__syncthreads();", *(f"{n} = {n}_parts[0];" for n, _ in parts)]
    lines += [f"for (int wave_part = 1; wave_part < {width} / {wave}; ++wave_part) {{"]
    lines += ["    " + found.joined(f"{name}_parts[wave_part]", f"{where}_parts[wave_part]"), "}"]
    return [*lines, "__syncthreads();"]

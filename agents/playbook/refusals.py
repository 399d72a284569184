"""Reasons why the changes that matter do not apply to a kernel, one sentence each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agents.playbook.plain_text import plain
from agents.playbook.reductions import counted, reductions
from agents.playbook.work_items import WorkItems, form_of
from agents.source import read

_LEAVES = frozenset(("for", "return", "continue", "break"))


def refusals(source: str, offered: Sequence[str]) -> tuple[str, ...]:
    """For each kernel the changes that were not offered for it, with the first thing that is against each."""
    file, sentences = read(plain(source)), list[str]()
    for kernel in file.kernels:
        work = form_of(file, kernel)
        if isinstance(work, str):
            sentences.append(f"{kernel.name}: only its plan and single lines are changed: {work}")
            continue
        mine = {h.split(":")[0] for h in offered if h.split(":")[1].split(".")[0] == kernel.name}
        sentences += [
            f"{move} not for {kernel.name}: {why(work)}" for move, why in _REASONS.items() if move not in mine
        ]
    return tuple(sentences)


def _rows(work: WorkItems) -> str:
    index = work.indices[0]
    flat = all(work.extent("block", axis) == "1" for axis in "yz")
    if work.strides or len(work.indices) != 1 or index.axis != "x" or not index.bound or not flat:
        return "it does not take one row a work-item of a flat block, behind a guard"
    loops = [s for s in work.work if s.form == "for"]
    if not loops:
        return "it has no loop over a row"
    for loop in loops:
        counted_loop = counted(work, loop)
        if not counted_loop:
            return f"{_line(work, loop.start)}: the loop does not count up by one to a fixed end"
        if reductions(counted_loop) is None:
            return f"{_line(work, loop.start)}: a pass of the loop needs what an earlier one computed"
    return _apart(work) or "no loop reads neighbouring elements, or passes may store to one place"


def _items(work: WorkItems) -> str:
    if not any(i.bound for i in work.indices):
        return "no guard bounds the number of a work-item"
    return _apart(work) or _leaves(work) or "what it changes outlives an item, or nothing is accessed by its number"


def _tile(work: WorkItems) -> str:
    if {i.axis for i in work.indices if i.bound} != {"x", "y"}:
        return "its work-items do not lie in two guarded axes"
    return _apart(work) or _leaves(work) or "no load runs across the direction of its stores"


def _stage(work: WorkItems) -> str:
    if {i.axis for i in work.indices if i.bound} != {"x", "y"}:
        return "its work-items do not lie in two guarded axes"
    return (
        _jam(work) if sum(s.form == "for" for s in work.work) != 1 else "its loop's loads are not shared along an axis"
    )


def _product(work: WorkItems) -> str:
    loops = sum(s.form == "for" for s in work.work)
    return _jam(work) if loops != 1 else "no item adds up products of what its row has with what its column has"


def _jam(work: WorkItems) -> str:
    loops = sum(s.form == "for" for s in work.work)
    return _apart(work) or (f"it has {loops} loops, not one" if loops != 1 else "neighbours share no load of its loop")


def _private(work: WorkItems) -> str:
    return "it adds to no buffer of integers that an earlier launch clears"


def _apart(work: WorkItems) -> str:
    return "" if work.is_apart else "the plan gives one buffer to two of its parameters"


def _leaves(work: WorkItems) -> str:
    leaves = sorted({s.form for part in work.work for s in part.walk()} & _LEAVES)
    return f"its work holds a {leaves[0]}" if leaves else ""


def _line(work: WorkItems, offset: int) -> str:
    return f"line {work.file.source.count(chr(10), 0, offset) + 1}"


_REASONS: Mapping[str, Callable[[WorkItems], str]] = {
    "wave_rows": _rows,
    "items": _items,
    "tile_in_lds": _tile,
    "fused_tiles": _product,
    "loop_tile": _stage,
    "register_tile": _jam,
    "privatise": _private,
}

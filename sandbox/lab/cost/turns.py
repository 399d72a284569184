"""Turns of loops that barriers and matrix instructions make certain.

Neither is ever left out for some waves, merged with another or kept in a register, so where all of one kind in loops
stand in one loop, their count gives its turns. Loads give no such certainty: the lab executes the source's loads one
by one, and a compiler keeps in registers what it has loaded before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sandbox.amdgcn.blocks import BasicBlock
from sandbox.lab.cost.counters import LaunchCounters


def certain_runs(counted: LaunchCounters, blocks: Sequence[BasicBlock]) -> list[float | None]:
    """The most executions of each block by a wave, where they are certain; outside of loops one."""
    loops: dict[int, float] = {}
    own: dict[int, float] = {}
    for kind, seen in _seen(counted).items():
        places = {i: count for i, block in enumerate(blocks) if (count := _standing(block, kind))}
        inside = [i for i in places if blocks[i].region >= 0]
        if len({blocks[i].loop for i in inside}) != 1:
            continue
        turns = (seen - sum(places[i] for i in places if i not in inside)) / sum(places[i] for i in inside)
        if turns <= 0:
            continue
        for i in inside:
            own[i] = min(turns, own.get(i, turns))
            if blocks[i].loop == i:  # what stands in a loop runs as often as its first block, or less often
                loops[i] = own[i]
    return [
        1.0 if block.region < 0 else own.get(i, loops.get(block.loop)) if block.loop >= 0 else None
        for i, block in enumerate(blocks)
    ]


def _seen(counted: LaunchCounters) -> Counter[str]:
    """Barriers and matrix instructions, by line, of one wave."""
    found: Counter[str] = Counter()
    if counted.barriers:
        found["barrier"] = counted.barriers / max(1, counted.blocks)  # type: ignore[assignment]
    for site in counted.sites:
        if site.kind.startswith("matrix "):
            found[f"{site.line}:mfma"] += site.instructions / (counted.waves or 1.0)  # type: ignore[assignment]
    return found


def _standing(block: BasicBlock, kind: str) -> int:
    return block.barriers if kind == "barrier" else block.anchors.get(kind, 0)

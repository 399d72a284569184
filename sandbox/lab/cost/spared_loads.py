"""Loads that the GPU's compiler has spared: the lab counts the source's loads, the listing has fewer.

A compiler keeps in registers what was loaded before, from memory or from LDS. What stands outside of loops runs at most
once; what stands in a loop as often as it turns, where that is certain (`turns.py`). Any more that the lab has counted
are spared. Optimisers move instructions to the lines of their neighbours, so in loops the lines that share a block are
compared together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sandbox.amdgcn.blocks import BasicBlock
from sandbox.lab.cost.counters import LaunchCounters, SiteCounters
from sandbox.lab.cost.turns import certain_runs

Key = tuple[int | None, str]  # line and kind
_SLACK = 1.02  # of what is certain: counts are averages


def without_spared(counted: LaunchCounters, blocks: Sequence[BasicBlock]) -> LaunchCounters:
    """The counters without the loads that the compiler has spared."""
    excess = {} if counted.runs else _excess(counted, blocks)
    if not excess:
        return counted
    return replace(counted, sites=tuple(_fewer(s, excess.get((s.line, s.kind), 1.0)) for s in counted.sites))


def _excess(counted: LaunchCounters, blocks: Sequence[BasicBlock]) -> dict[Key, float]:
    """Loads counted at a line over those that the compiler has left there."""
    seen: Counter[Key] = Counter()
    for site in counted.sites:
        if _is_load(site.kind):
            seen[site.line, site.kind] += site.instructions * site.size / (counted.waves or 1.0)  # type: ignore[assignment]
    left: dict[Key, float | None] = {}
    loads = [_loads(block) for block in blocks]
    looped = {key for block, keys in zip(blocks, loads, strict=True) if block.region >= 0 for key in keys}
    for block, keys, run in zip(blocks, loads, certain_runs(counted, blocks), strict=True):
        for key in keys:
            known = left.get(key, 0.0)
            left[key] = None if run is None or known is None else known + run * block.anchors[f"{key[0]}:{key[1]}"]
    found: dict[Key, float] = {}
    for group in [{key} for key in left if key not in looped] + _together(loads, seen, looped, left):
        total, most = sum(seen[key] for key in group), sum(left.get(key) or 0.0 for key in group)
        if most and total > _SLACK * most:
            found.update(dict.fromkeys(group, total / most))
    return found


def _together(
    loads: Iterable[Sequence[Key]], seen: Iterable[Key], looped: set[Key], left: Mapping[Key, float | None]
) -> list[set[Key]]:
    """Lines of one kind that share a block of a loop; one that the listing lacks belongs to those nobody counted."""
    groups: list[set[Key]] = []
    known = {key for key in looped if left[key] is not None}
    for kind in ("load", "lds load"):
        strays = {key for key in set(left).symmetric_difference(seen) if key[1] == kind}
        shared = [{key for key in keys if key[1] == kind} & known for keys in loads]
        for keys in filter(None, (strays if strays & known and strays & set(left) <= known else set(), *shared)):
            meeting = [group for group in groups if group & keys]
            groups = [group for group in groups if not group & keys] + [keys.union(*meeting)]
    return groups


def _loads(block: BasicBlock) -> list[Key]:
    pairs = [key.partition(":") for key in block.anchors]
    return [(int(line), kind) for line, _, kind in pairs if _is_load(kind)]


def _is_load(kind: str) -> bool:
    return kind in ("load", "lds load")


def _fewer(site: SiteCounters, excess: float) -> SiteCounters:
    """A site with one of so many instructions left; its misses were the first to touch their lines."""
    if excess == 1.0:
        return site
    return replace(
        site,
        instructions=site.instructions / excess,
        lanes=site.lanes / excess,
        bytes=site.bytes / excess,
        lines=max(site.lines / excess, min(site.lines, site.misses)),
        segments=max(site.segments / excess, min(site.segments, site.misses)),
        unit_clocks=site.unit_clocks / excess,
        conflicts=site.conflicts / excess,
        port_clocks=site.port_clocks / excess,
        accesses=site.accesses / excess,
    )

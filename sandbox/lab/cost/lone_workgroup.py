"""Time of one workgroup that has its unit to itself: what it waits for in a row and what it then has to issue.

Residents hide each other's waits: a unit that holds R workgroups needs at least an R-th of this time for each. Inside
a workgroup barriers decide what overlaps: waits for loads that lie between two barriers come at the same time for all
waves, who have nothing else to do; any further ones hide behind the issue of the other waves, or the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.lab.cost.counters import ATOMIC, LDS_ATOMIC, LDS_LOAD, LDS_STORE, LOAD, STORE, LaunchCounters
from sandbox.lab.cost.issue import ExecutedCode
from sandbox.lab.cost.occupancy import Occupancy
from sandbox.target import Target

LOADS_IN_FLIGHT = 4.0  # independent loads a wave has under way where no listing says it
LDS_IN_FLIGHT = 4.0
UNROLLED = 4.0  # turns of a loop that a compiler puts side by side
BARRIER_CLOCKS = 32.0


def alone_clocks(c: LaunchCounters, o: Occupancy, code: ExecutedCode, target: Target, read_bytes: float) -> float:
    """Clocks; `read_bytes` is what the launch must fetch from memory at least once."""
    memory, waves, workgroups = target.memory, c.waves or 1.0, max(1, c.blocks)
    groups, late = _groups(c, code, target)
    waits = sum(count for count, _ in groups)
    load_clocks = _load_clocks(c, groups, target, read_bytes) / waits if waits else 0.0
    barriers = c.barriers / workgroups
    together = min(max(0.0, waits - late), barriers + 1)  # waits that all waves have at the same time
    lds = _batches(c.total("instructions", LDS_LOAD) / waves, LDS_IN_FLIGHT)
    shuffles = sum(s.instructions for s in c.sites if s.kind == "wave operation") / waves
    crossing = (min(lds, barriers) + (shuffles if barriers else 0.0)) * memory["lds_latency_clocks"]
    meetings = together * load_clocks + crossing + barriers * BARRIER_CLOCKS
    own = (waits - together) * load_clocks + (lds + shuffles) * memory["lds_latency_clocks"] - crossing
    simds = min(target.limits["simd_per_unit"], o.waves_per_block)
    turns = code.issue_clocks(o.waves_per_block / simds) / workgroups / simds
    l1 = c.total("unit_clocks", LOAD, STORE, ATOMIC) / workgroups
    banks = c.total("unit_clocks", LDS_LOAD, LDS_STORE, LDS_ATOMIC) / workgroups
    matrix = sum(s.unit_clocks for s in c.sites if s.kind.startswith("matrix ")) / workgroups / simds
    wave = own + code.issue_clocks(1.0) / waves
    return meetings + max(turns, l1, banks, matrix, wave)


def _groups(c: LaunchCounters, code: ExecutedCode, target: Target) -> tuple[list[tuple[float, float]], float]:
    """Number of waits of a wave and of loads in each, by loop; and the number of waits behind a barrier."""
    loads = c.total("instructions", LOAD) / (c.waves or 1.0)
    late = sum(run * b.late for run, b in zip(code.runs, code.blocks, strict=True))
    in_flight = target.memory.get("loads_in_flight", LOADS_IN_FLIGHT)
    foreign = bool(target.memory.get("foreign_listing"))
    found = [_loop(code, loop, in_flight if foreign else 0.0) for loop in sorted({b.region for b in code.blocks})]
    found = [(waits, size) for waits, size in found if waits and size]
    if not loads or not found:
        return [(_batches(loads, in_flight), loads)] if loads else [], 0.0
    scale = loads / sum(size for _, size in found)  # the listing joins loads that the lab counts apart
    return [(waits, size * scale) for waits, size in found], late


def _loop(code: ExecutedCode, loop: int, in_flight: float) -> tuple[float, float]:
    """Waits and loads in one loop, or outside of all (-1).

    With `in_flight` as another compiler would place the waits: it keeps the branches out of straight code, so that its
    loads go out together, and unrolls loops that turn often enough; over a barrier it moves nothing.
    """
    runs = code.runs
    own = [(run, b) for run, b in zip(runs, code.blocks, strict=True) if b.region == loop]
    waits, loads = sum(run * b.stalls for run, b in own), sum(run * b.loads for run, b in own)
    if not in_flight:
        return waits, loads
    if loop < 0:
        return min(waits, _batches(loads, in_flight)), loads
    turns = max(run for run, _ in own) / (runs[loop - 1] if loop and runs[loop - 1] else 1.0)
    if turns < UNROLLED or any(b.barriers for _, b in own):
        return waits, loads
    return min(waits, _batches(loads, UNROLLED)), loads


def _load_clocks(c: LaunchCounters, groups: Sequence[tuple[float, float]], target: Target, read_bytes: float) -> float:
    """Clocks of all waits of a wave, each as long as its slowest load; misses fall into as few of them as they can."""
    memory = target.memory
    lines, misses = c.total("lines", LOAD), c.total("misses", LOAD)
    asked = c.total("segments", LOAD) if "sector_bytes" in memory else lines
    miss = min(1.0, misses / asked) if asked else 0.0
    cold = min(1.0, read_bytes / (misses * memory.get("sector_bytes", memory["line_bytes"]))) if misses else 0.0
    beyond_l1, beyond_l2 = _fewest(groups, miss), _fewest(groups, miss * cold)
    return (
        beyond_l2 * memory["hbm_latency_clocks"]
        + (beyond_l1 - beyond_l2) * memory["l2_latency_clocks"]
        + (sum(waits for waits, _ in groups) - beyond_l1) * memory["l1_latency_clocks"]
    )


def _fewest(groups: Sequence[tuple[float, float]], share: float) -> float:
    """The fewest waits that this share of the loads fits in; one at least."""
    left, found = share * sum(loads for _, loads in groups), 0.0
    if not left:
        return 0.0
    for waits, loads in sorted(groups, key=lambda group: group[0] / group[1]):
        taken = min(left, loads)
        found, left = found + waits * taken / loads, left - taken
    return max(found, min(1.0, sum(waits for waits, _ in groups)))


def _batches(count: float, in_flight: float) -> float:
    return max(count / in_flight, 1.0) if count else 0.0

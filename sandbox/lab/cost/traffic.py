"""Chip-wide traffic of a launch: what the L2, the Infinity Cache and the memory must move, and at which rate.

A workgroup that reads its data again finds it in a cache only as far as the cache holds what all resident workgroups
have under way; the rest is fetched again. That is the best any cache can do, so the times stay bounds.
"""

from __future__ import annotations

from sandbox.lab.cost.counters import ATOMIC, LOAD, LaunchCounters
from sandbox.lab.cost.occupancy import Occupancy
from sandbox.target import Target

UNITS_PER_HBM_SHARE = 0.015  # a seed: one unit's share of the memory bandwidth, 67 units saturate it
ATOMIC_CLOCKS = 4.0  # of an L2 channel for one line


def traffic_us(c: LaunchCounters, o: Occupancy, target: Target, compulsory: float) -> dict[str, float]:
    """Microseconds by resource; a megabyte at one TB/s takes one."""
    memory = target.memory
    reach = min(1.0, UNITS_PER_HBM_SHARE * o.active_units)
    beyond_l2, beyond_mall = _again(c, o, target, compulsory)
    return {
        "hbm": (compulsory + beyond_mall) / (memory["hbm_tb_s"] * reach) / 1e6,
        "mall": (compulsory + beyond_l2) / (memory["mall_tb_s"] * reach) / 1e6,
        "l2": _l2_bytes_us(c, target) / (o.active_units / target.units),
    }


def _l2_bytes_us(c: LaunchCounters, target: Target) -> float:
    memory = target.memory
    fill = memory.get("sector_bytes", memory["line_bytes"])
    stores = _written(c, fill) + ATOMIC_CLOCKS * c.total("misses", ATOMIC)
    return (
        max(
            (c.total("misses", LOAD) + stores) / memory["l2_tb_s"],
            stores / memory.get("l2_store_tb_s", memory["l2_tb_s"]),
        )
        * fill
        / 1e6
    )


def _written(c: LaunchCounters, fill: float) -> float:
    """Pieces of lines written, where a wave's stores at one place to the same piece all meet before the L2.

    Some do on the way through the L1 and some do not, so this is the least there can be.
    """
    found = 0.0
    for site in c.sites:
        if site.kind == "store" and site.instructions:
            apart = site.misses / max(1.0, site.instructions / (c.waves or 1.0))  # as many as one instruction touches
            found += max(apart, min(site.misses, site.bytes / fill))
    return found


def _again(c: LaunchCounters, o: Occupancy, target: Target, compulsory: float) -> tuple[float, float]:
    """Bytes that workgroups read a second time and find neither in their L1 nor in their L2; nor in the next cache."""
    memory = target.memory
    line = memory["line_bytes"]
    again = c.total("misses", LOAD) * memory.get("sector_bytes", line) - c.read_lines * line
    if again <= 0 or not c.blocks:
        return 0.0, 0.0
    resident = o.active_units * min(o.resident_blocks, o.blocks_on_busiest)
    working_set = (c.read_lines + c.written_lines) * line / c.blocks * resident
    in_l2 = min(working_set / memory["l2_count"], compulsory) or 1.0
    in_mall = min(working_set, compulsory) or 1.0
    return (
        again * max(0.0, 1 - memory["l2_bytes"] / in_l2),
        again * max(0.0, 1 - max(memory["mall_bytes"], memory["l2_bytes"]) / in_mall),
    )

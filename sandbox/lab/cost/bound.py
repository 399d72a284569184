"""The time that no kernel of this code can beat: its own work at peak rates, with warm caches, and nothing estimated.

Each launch needs at least what its busiest unit must issue, multiply and move, and what the chip must move where the
buffers do not fit in the Infinity Cache. No launch overhead, no latency, no clock under load: below this no measurement
may ever lie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sandbox.lab.cost.counters import ATOMIC, LDS_LOAD, LDS_STORE, LOAD, STORE, LaunchCounters
from sandbox.lab.cost.occupancy import Occupancy
from sandbox.target import Target

DUAL_ISSUE = 2.0  # vector instructions that a SIMD may begin in the time of one: single precision peaks at that rate


def bound_us(launches: Sequence[tuple[LaunchCounters, Occupancy]], footprint_bytes: float, target: Target) -> float:
    """Give the bound of a plan in microseconds; `footprint_bytes` are of all buffers that it touches."""
    beyond = max(0.0, footprint_bytes - max(target.memory["mall_bytes"], target.memory["l2_bytes"]))
    memory_us = beyond / target.memory["hbm_tb_s"] / 1e6
    return max(memory_us, sum(max(_launch(counted, o, target).values()) for counted, o in launches))


def _launch(c: LaunchCounters, o: Occupancy, target: Target) -> Mapping[str, float]:
    memory, simds = target.memory, target.limits["simd_per_unit"]
    busiest = o.blocks_on_busiest / max(1, o.blocks) / target.clock_mhz
    work = c.timelines.warm.work if c.timelines else {}
    matrix = sum(s.unit_clocks for s in c.sites if s.kind.startswith("matrix "))
    lines = (c.read_lines + c.written_lines) * memory["line_bytes"]
    return {
        "valu": work.get("valu", 0.0) * o.blocks_on_busiest / simds / DUAL_ISSUE / target.clock_mhz,
        "mfma": matrix / simds * busiest,
        "lds": c.total("bytes", LDS_LOAD, LDS_STORE) / memory["lds_bytes_per_clock"] * busiest,
        "l1": c.total("bytes", LOAD, STORE, ATOMIC) / memory["l1_bytes_per_clock"] * busiest,
        "l2": lines / memory["l2_tb_s"] / 1e6,
    }

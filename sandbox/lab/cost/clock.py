"""The figures of a device that the timeline of a compute unit needs, from a target's `[clock]`."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from records.errors import UsageError
from sandbox.target import Target

STALLS = ("issue", "valu", "mfma", "dependency", "vmcnt", "lgkmcnt", "lds", "barrier", "memory")  # as in timeline.h
WORK = ("valu", "mfma", "banks", "port", "address", "instructions")
MOST_STEPS = 300_000.0  # wave instructions of one timeline


@dataclass(frozen=True)
class Clock:
    """Clocks, bytes, and bytes a clock, in the order of machine/interpreter/clock.h."""

    issue: float
    matrix_issue: float
    scalar_issue: float
    lds_issue: float
    memory_issue: float
    slot: float
    vector_latency: float
    matrix_latency: float
    scalar_latency: float
    branch: float
    barrier: float
    lds_latency: float
    lds_ports: float
    lds_queue: float
    address_queue: float
    l1_bytes: float
    l1_latency: float
    l2_latency: float
    mall_latency: float
    hbm_latency: float
    unit_l2: float
    unit_mall: float
    unit_hbm: float
    chip_l2: float
    chip_mall: float
    chip_hbm: float
    burst: float
    l2_bytes: float
    mall_bytes: float
    chiplets: float
    partial_write: float
    start: float
    dispatch: float
    most_steps: float = MOST_STEPS

    def words(self) -> tuple[int, ...]:
        """Give the figures as the request holds them: doubles, in words of 64 bits."""
        values = [float(getattr(self, figure.name)) for figure in fields(self)]
        return struct.unpack(f"<{len(values)}Q", struct.pack(f"<{len(values)}d", *values))


def clock_of(target: Target, changed: Mapping[str, float] | None = None) -> Clock | None:
    """Give a target's clock; None where its file has none. UsageError names a figure that is missing.

    Sizes are those of `[memory]`; rates are shares of its peaks, so that the same shares serve another device.
    """
    if not target.clock:
        return None
    table, memory = {**target.clock, **(changed or {})}, target.memory
    stated = {
        "l1_bytes": memory["l1_bytes"],
        "l2_bytes": memory["l2_bytes"],
        "mall_bytes": memory["mall_bytes"],
        "chiplets": memory["l2_count"],
    }
    rates = {
        f"chip_{level}": table.get(f"{level}_share", 0.0) * memory[f"{level}_tb_s"] * 1e6 / target.clock_mhz
        for level in ("l2", "mall", "hbm")
    }
    if stated["mall_bytes"] <= memory["l2_bytes"] * memory["l2_count"]:  # there is none: nothing passes through it
        rates["chip_mall"] = rates["chip_l2"]
    figures = {**stated, **rates, **table}
    names = [figure.name for figure in fields(Clock) if figure.name != "most_steps"]
    if missing := [name for name in names if name not in figures]:
        raise UsageError(f"the clock of target {target.name} lacks {', '.join(missing)}; add it to [clock]")
    return Clock(**{name: float(figures[name]) for name in names})


def needed_clock(target: Target) -> Clock:
    """Give a target's clock; UsageError where it has none."""
    clock = clock_of(target)
    if clock is None:
        raise UsageError(f"no time can be predicted for target {target.name}: its file has no [clock]")
    return clock


@dataclass(frozen=True)
class Residency:
    """Workgroups that one launch gives a unit at once, the busiest one in all, and the grid; units at work."""

    resident: float
    workgroups: float
    blocks: float
    units: float

    def words(self) -> tuple[int, ...]:
        """Give the numbers as the request holds them."""
        values = (self.resident, self.workgroups, self.blocks, self.units)
        return struct.unpack("<4Q", struct.pack("<4d", *map(float, values)))


@dataclass(frozen=True)
class TimelineRequest:
    """Figures that a counting execution needs for timelines: a clock, and of each launch residency and neighbours."""

    clock: Clock
    residencies: tuple[Residency, ...]
    neighbours: tuple[tuple[int, ...], ...]  # workgroups of one chiplet that run at the same time
    steps: int = 300_000  # instructions of a recorded workgroup that are kept
    neighbour_steps: int = 1500  # of each wave of a neighbour
    keep: Path | None = None  # where the streams go, for timelines by other clocks

    def words(self) -> tuple[int, ...]:
        """Give the clock and the residencies as the request holds them."""
        return (*self.clock.words(), *(word for residency in self.residencies for word in residency.words()))

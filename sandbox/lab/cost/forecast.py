"""The expected time of a plan: what the target would show, cold and warm, by the timelines of its launches.

A launch takes its overhead, then as long as its busiest unit. Matrix cores at work lower the clock. Atomic operations
on one line follow one another, whatever the units do. `resources_us` says what each resource alone would need at its
practical rate; where none comes near the expected time, latency binds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.lab.cost.clock import STALLS, Clock
from sandbox.lab.cost.counters import LaunchCounters
from sandbox.lab.cost.occupancy import Occupancy
from sandbox.lab.cost.timeline import Timeline, Timelines
from sandbox.target import Target

_CAUSES = {"valu": "valu", "mfma": "mfma", "lds": "lds"}  # of waits, by the resource that causes them
BINDS = 0.7  # of the expected time: a resource that needs so much alone is what binds


@dataclass(frozen=True)
class LaunchForecast:
    """One launch: its expected times without overhead, what each resource needs, and its waves' waits."""

    counters: LaunchCounters
    occupancy: Occupancy
    cold_us: float
    warm_us: float
    resources_us: Mapping[str, float]
    waits_us: Mapping[str, float]  # parts of `cold_us` by cause

    @property
    def resource(self) -> str:
        """Name what binds: the slowest resource, or latency."""
        slowest = max(self.resources_us, key=lambda name: self.resources_us[name])
        return slowest if self.resources_us[slowest] >= BINDS * self.cold_us else "latency"

    def stalls_of_lines(self) -> list[tuple[int, Mapping[str, float]]]:
        """Give the source lines with the parts of `cold_us` that waves spend there by cause, the worst first."""
        us_by_line: dict[int, dict[str, float]] = {}
        lines = self.counters.timelines.cold if self.counters.timelines else None
        total_clocks = sum(lines.waits.values()) if lines else 0.0
        for line, causes in self.counters.stalls if lines and total_clocks else ():
            us_by_cause = us_by_line.setdefault(line, {})
            for cause, clocks in causes.items():
                us_by_cause[cause] = us_by_cause.get(cause, 0.0) + clocks * self.cold_us / total_clocks
        return sorted(us_by_line.items(), key=lambda item: (-sum(item[1].values()), item[0]))


@dataclass(frozen=True)
class PlanForecast:
    """The expected time of a plan, cold and warm, and what it consists of."""

    launches: tuple[LaunchForecast, ...]
    overhead_us: float  # of a call on an idle stream
    repeated_us: float  # overhead of a call right behind another
    error: float  # relative, one standard error by calibration; 0: unknown
    resources_us: Mapping[str, float] = field(default_factory=dict)

    @property
    def cold_us(self) -> float:
        """Expected time on an idle stream, with nothing of the buffers in the caches."""
        return self.overhead_us + sum(launch.cold_us for launch in self.launches)

    @property
    def warm_us(self) -> float:
        """Expected time of a call behind others: the buffers were used a moment ago, the stream is busy."""
        return self.repeated_us + sum(launch.warm_us for launch in self.launches)

    @property
    def slowest(self) -> LaunchForecast:
        """The launch that takes longest."""
        return max(self.launches, key=lambda launch: launch.cold_us)

    @property
    def resource(self) -> str:
        """Name what binds the slowest launch, or the launches themselves."""
        return self.slowest.resource if self.slowest.cold_us > self.overhead_us else "launch"

    @property
    def stalls_us(self) -> Mapping[str, float]:
        """Parts of the expected time by what waves wait for, and the launches."""
        parts = {"launch": self.overhead_us}
        for launch in self.launches:
            for cause, value in launch.waits_us.items():
                parts[cause] = parts.get(cause, 0.0) + value
        return {name: value for name, value in parts.items() if value > 0}


def forecast(launches: Sequence[tuple[LaunchCounters, Occupancy]], clock: Clock, target: Target) -> PlanForecast:
    """Give the expected time of a plan from its counted launches, in order."""
    parts = tuple(_launch(counted, o, clock, target) for counted, o in launches)
    table = target.clock
    overhead = table["launch_us"] + table["next_launch_us"] * (len(parts) - 1)
    resources: dict[str, float] = {"launch": overhead}
    for part in parts:
        for name, value in part.resources_us.items():
            resources[name] = resources.get(name, 0.0) + value
    rounded = {name: round(value, 4) for name, value in resources.items()}
    repeated = table["next_launch_us"] * len(parts)
    return PlanForecast(parts, overhead, repeated, table.get("error", 0.0), rounded)


def _launch(c: LaunchCounters, o: Occupancy, clock: Clock, target: Target) -> LaunchForecast:
    if c.timelines is None:
        return LaunchForecast(c, o, 0.0, 0.0, {"latency": 0.0}, {})
    cold_walk_us, warm_walk_us = (_us(line, o, target) for line in (c.timelines.cold, c.timelines.warm))
    atomics = _atomic_clocks(c.timelines, target) / target.clock_mhz
    resources = {**_resources(c.timelines.cold, o, clock, target), "atomics": atomics}
    # Stores that no wave waits for, and the work of residents that are not walked through, take their time as well.
    cold = max(cold_walk_us, *resources.values())
    warm = max(warm_walk_us, atomics, *_resources(c.timelines.warm, o, clock, target).values())
    waits, total = c.timelines.cold.waits, sum(c.timelines.cold.waits.values()) or 1.0
    parts = {cause: cold_walk_us * waits[cause] / total for cause in STALLS}
    slowest = max(resources, key=lambda name: resources[name])
    parts[_CAUSES.get(slowest, "memory")] += cold - cold_walk_us
    return LaunchForecast(c, o, cold, min(cold, warm), resources, parts)


def _atomic_clocks(lines: Timelines, target: Target) -> float:
    """Clocks of the atomic operations on one line: those that fail where another came between wait for the memory."""
    table = target.clock
    return max(lines.hottest * table["atomic_clocks"], lines.exchanges * table["mall_latency"])


def _us(line: Timeline, o: Occupancy, target: Target) -> float:
    """Microseconds of the busiest unit; of the heaviest workgroup where that takes longer."""
    clocks = line.clocks(o.blocks_on_busiest, o.resident_blocks)
    if line.ends:
        clocks = max(clocks, line.ends[0] * o.heaviest)
    simds = target.limits["simd_per_unit"]
    busy = min(1.0, line.work["mfma"] * o.blocks_on_busiest / simds / clocks) if clocks else 0.0
    busy *= o.blocks / (o.blocks_on_busiest * target.units)  # of all units of the chip, which share its power
    # Under a cap of power the clock falls as the cube root of what switches, since voltage follows it.
    power = 1 + (1 / target.clock["matrix_clock"] ** 3 - 1) * busy
    return clocks / target.clock_mhz * math.cbrt(power)


def _resources(line: Timeline, o: Occupancy, clock: Clock, target: Target) -> dict[str, float]:
    """Microseconds that each resource alone needs, by practical rates."""
    simds, count, mhz = target.limits["simd_per_unit"], o.blocks_on_busiest, target.clock_mhz
    work = {name: value * count / mhz for name, value in line.work.items()}
    levels = zip(("l2", "mall", "hbm"), line.bytes, (clock.chip_l2, clock.chip_mall, clock.chip_hbm), strict=True)
    return {
        "valu": work["valu"] / simds,
        "mfma": work["mfma"] / simds,
        "lds": max(work["banks"], work["port"] / clock.lds_ports),
        "l1": work["address"],
        **{name: moved * o.blocks / rate / mhz for name, moved, rate in levels},
    }

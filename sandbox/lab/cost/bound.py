"""A bound on the time of a plan: the largest of the per-resource times, and which resource that is.

Each launch takes the launch overhead plus its slowest resource plus a hundredth of what the others need. Throughput
inside a compute unit is charged to the busiest unit, so a grid that does not divide evenly costs what it costs. What
this is for: to rank variants and to say what limits them. What it leaves out: reuse in the L2 between workgroups, how
resources disturb one another, the compiler's own instruction order, the clock under load. Vector ALUs, issue and
latency are estimates and can be too high.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from records.evaluation import Resources
from sandbox.amdgcn.blocks import BasicBlock
from sandbox.candidate.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.lab.cost.counters import ATOMIC, LDS_ATOMIC, LDS_LOAD, LDS_STORE, LOAD, STORE, LaunchCounters
from sandbox.lab.cost.explanation import explain
from sandbox.lab.cost.issue import ExecutedCode
from sandbox.lab.cost.lone_workgroup import alone_clocks
from sandbox.lab.cost.occupancy import Occupancy, occupancy
from sandbox.lab.cost.traffic import traffic_us
from sandbox.target import Target

LDS_PORTS = 2  # SIMDs share the LDS in pairs
DISTURBANCE = 0.01  # of what the other resources need: decides between variants that one resource binds equally


@dataclass(frozen=True)
class TimeBound:
    """The bound, the resource that sets it, what each alone would need, and a paragraph for the author."""

    time_us: float
    resource: str
    resources_us: Mapping[str, float]
    explanation: str


@dataclass(frozen=True)
class LaunchBound:
    """One launch's part."""

    counters: LaunchCounters
    occupancy: Occupancy
    times_us: Mapping[str, float] = field(default_factory=dict)

    @property
    def resource(self) -> str:
        """The slowest resource, the launch itself apart."""
        return max(self.times_us, key=lambda name: self.times_us[name])

    @property
    def time_us(self) -> float:
        """The slowest resource, and a little for what the others do meanwhile; without the launch overhead."""
        slowest = self.times_us[self.resource]
        return slowest + DISTURBANCE * (sum(self.times_us.values()) - slowest)


def bound(
    launches: Sequence[LaunchCounters],
    resources: Sequence[Resources],
    plan: ResolvedPlan,
    target: Target,
    compulsory_bytes: float,
    flops: float,
    peak: str,
    code: Mapping[str, Sequence[BasicBlock]] | None = None,
) -> TimeBound:
    """Bound the time of a plan from the counters of its launches.

    `compulsory_bytes` and `flops` are the task's own formulas; `peak` names the rate of `target.peaks_tflops` that
    the task is measured against. `code` holds the basic blocks of each kernel: without them vector instructions
    count only as far as the task's formula demands them.
    """
    by_kernel = {r.kernel: r for r in resources}
    requests = sum(c.total("misses", LOAD, STORE, ATOMIC) for c in launches) or 1.0
    matrix_flops = sum(s.flops for c in launches for s in c.sites)
    busy = sum(c.waves for c in launches) or 1.0
    parts = []
    for counters, launch in zip(launches, plan.launches, strict=True):
        own = by_kernel.get(counters.kernel)
        share = counters.total("misses", LOAD, STORE, ATOMIC) / requests
        left = max(0.0, flops - matrix_flops) * counters.waves / busy
        blocks = (code or {}).get(counters.kernel, ())
        parts.append(_launch(counters, launch, own, target, compulsory_bytes * share, left, blocks))
    overhead = target.memory["launch_us"]
    times: dict[str, float] = {"launch": overhead * len(parts)}
    for part in parts:
        for name, value in part.times_us.items():
            times[name] = times.get(name, 0.0) + value
    total = sum(overhead + part.time_us for part in parts)
    slowest = max(parts, key=lambda p: p.times_us[p.resource])
    resource = slowest.resource if slowest.times_us[slowest.resource] > overhead else "launch"
    return TimeBound(
        total,
        resource,
        {n: round(t, 4) for n, t in times.items()},
        explain(resource, total, times, slowest.counters, slowest.occupancy, target),
    )


def _launch(
    c: LaunchCounters,
    launch: ResolvedLaunch,
    own: Resources | None,
    target: Target,
    compulsory: float,
    vector_flops: float,
    blocks: Sequence[BasicBlock],
) -> LaunchBound:
    lds_bytes = (own.lds_bytes if own else 0) + launch.lds_bytes
    o = occupancy(c.blocks, c.threads, lds_bytes, own, target, c.heaviest)
    executed = ExecutedCode.of(c, blocks, target)
    alone = alone_clocks(c, o, executed, target, max(0.0, compulsory - c.total("bytes", STORE)))
    return LaunchBound(
        c,
        o,
        {
            **traffic_us(c, o, target, compulsory),
            **_unit_us(c, o, target),
            **_arithmetic_us(c, o, executed, target, vector_flops),
            "latency": max(o.heaviest, o.blocks_on_busiest / o.resident_blocks) * alone / target.clock_mhz,
        },
    )


def _per_unit(total: float, o: Occupancy, target: Target) -> float:
    """Microseconds of the busiest unit for clocks summed over the grid."""
    return total / o.blocks * o.blocks_on_busiest / target.clock_mhz


def _unit_us(c: LaunchCounters, o: Occupancy, target: Target) -> dict[str, float]:
    lds = (LDS_LOAD, LDS_STORE, LDS_ATOMIC)
    crossbar = [s for s in c.sites if s.kind == "wave operation"]
    banks = c.total("unit_clocks", *lds) + sum(s.unit_clocks for s in crossbar)
    port = c.total("port_clocks", *lds) + sum(s.port_clocks for s in crossbar)
    ports = min(
        target.memory.get("lds_ports", LDS_PORTS), o.waves_per_block * min(o.resident_blocks, o.blocks_on_busiest)
    )
    return {
        "l1": _per_unit(c.total("unit_clocks", LOAD, STORE, ATOMIC), o, target),
        **({"lds port": _per_unit(port / ports, o, target)} if ports else {}),  # 0: no limit but the banks
        "lds banks": _per_unit(banks, o, target),
    }


def _arithmetic_us(
    c: LaunchCounters, o: Occupancy, code: ExecutedCode, target: Target, vector_flops: float
) -> dict[str, float]:
    simds = min(target.limits["simd_per_unit"], o.waves_per_block * min(o.resident_blocks, o.blocks_on_busiest))
    matrix = sum(s.unit_clocks for s in c.sites if s.kind.startswith("matrix "))
    found = {"mfma": _per_unit(matrix / simds, o, target)} if matrix else {}
    spread = o.active_units / target.units / o.imbalance
    floor = vector_flops / (target.peaks_tflops["fp32_vector"] * spread) / 1e6
    return {
        **found,
        "valu": max(floor, _per_unit(code.vector_clocks() / simds, o, target)),
        "issue": _per_unit(code.issue_clocks(o.waves_per_simd) / simds, o, target),
    }

"""The paragraph an author gets: what binds, by how much, what waves wait for and where, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.lab.cost.counters import LaunchCounters, SiteCounters, segment_bytes
from sandbox.lab.cost.forecast import LaunchForecast, PlanForecast
from sandbox.lab.cost.occupancy import Occupancy
from sandbox.target import Target

_TITLES = {
    "launch": "the launch overhead",
    "hbm": "the memory bandwidth (HBM)",
    "mall": "the Infinity Cache",
    "l2": "the L2 cache",
    "l1": "the L1 and its address unit",
    "lds": "the LDS, its ports and banks",
    "mfma": "the matrix cores",
    "valu": "the vector ALUs",
    "atomics": "atomic operations on one line, which follow one another",
    "latency": "latency that the waves in flight do not hide",
}
WAITS = {
    "issue": "issue of instructions",
    "valu": "the vector ALU",
    "mfma": "the matrix core",
    "dependency": "results of earlier instructions",
    "vmcnt": "latency of global memory",
    "lgkmcnt": "latency of LDS and scalar loads",
    "lds": "the LDS, busy with others",
    "barrier": "other waves at a barrier",
    "memory": "bandwidth of L1, L2 or memory",
    "launch": "the launch",
}
LINES, LEAST = 3, 0.1  # lines that are named, and the share of all waits that one must have


def explain(forecast: PlanForecast, bound_us: float, target: Target) -> str:
    """Give one paragraph in plain English; all figures are of the model, for the whole grid."""
    slowest, resource, total = forecast.slowest, forecast.resource, forecast.cold_us
    c, alone = slowest.counters, {"latency": slowest.cold_us, **forecast.resources_us}[resource]
    sentences = [
        f"{c.kernel} is bound by {_TITLES[resource]}: {alone:.1f} of {total:.1f} us expected (predicted from "
        f"{c.recorded} of {c.blocks} workgroups; no kernel of this code can beat {bound_us:.1f} us)."
    ]
    sentences += [*_waits(forecast.stalls_us), *_lines(slowest), *_accesses(c, target)]
    remaining_us = {n: t for n, t in forecast.resources_us.items() if n not in (resource, "launch") and t > 0}
    if remaining_us:
        following = max(remaining_us, key=lambda name: remaining_us[name])
        sentences.append(f"Next would be {_TITLES[following]} with {remaining_us[following]:.1f} us.")
    return " ".join([*sentences, *_residency(slowest.occupancy, target)])


def _waits(stalls_us: Mapping[str, float]) -> list[str]:
    total_us = sum(stalls_us.values()) or 1.0
    ranked = sorted(((t, n) for n, t in stalls_us.items() if t >= LEAST * total_us), reverse=True)
    parts = ", ".join(f"{100 * t / total_us:.0f} % for {WAITS[n]}" for t, n in ranked)
    return [f"Its waves wait {parts}."] if parts else []


def _lines(launch: LaunchForecast) -> list[str]:
    total_us = sum(launch.waits_us.values()) or 1.0
    phrases = []
    for line, causes in launch.stalls_of_lines()[:LINES]:
        share, cause = sum(causes.values()) / total_us, max(causes, key=lambda name: causes[name])
        if share >= LEAST:
            phrases.append(f"line {line} {100 * share:.0f} % ({WAITS[cause]})")
    return [f"Most of it at {', '.join(phrases)}."] if phrases else []


def _accesses(c: LaunchCounters, target: Target) -> list[str]:
    """Name the accesses that cost more than they need to: parts of segments, and bank conflicts."""
    wasteful = [s for s in c.sites if s.line and s.kind in ("load", "store", "atomic") and s.efficiency < 1 - LEAST]
    wasteful = sorted(wasteful, key=lambda s: s.bytes - s.touched_bytes)[:LINES]
    phrases = [
        f"line {s.line} ({s.kind} of {s.size} bytes a lane) uses {100 * s.efficiency:.0f} % of each "
        f"{segment_bytes(target)}-byte segment"
        for s in wasteful
    ]
    phrases += [f"line {s.line} ({s.kind}) {_conflicts(s)}" for s in c.sites if s.line and s.conflicts > s.instructions]
    return [f"{phrases[0][0].upper()}{'; '.join(phrases[:LINES])[1:]}."] if phrases else []


def _conflicts(s: SiteCounters) -> str:
    return f"has {s.conflicts / s.instructions:.1f} extra clocks of bank conflicts each"


def _residency(o: Occupancy, target: Target) -> list[str]:
    per_simd = o.waves_per_simd
    shared = "1 wave has a SIMD to itself" if per_simd == 1 else f"{per_simd:g} waves share a SIMD"
    more = f"{o.limit} allow no more workgroups on a unit"
    why = more if o.blocks_on_busiest > o.resident_blocks else "the grid gives no more"
    sentences = [f"{shared} ({why})."]
    if o.active_units < target.units:
        sentences.append(f"Only {o.active_units} of {target.units} compute units get a workgroup.")
    elif o.imbalance > 1 + LEAST:
        sentences.append(
            f"Wave quantisation: {o.blocks} workgroups on {target.units} units cost "
            f"{100 * (o.imbalance - 1):.0f} % more than an even spread."
        )
    return sentences

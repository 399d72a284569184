"""The paragraph an author gets: what binds, by how much, which lines cause it, and what would bind next."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sandbox.lab.cost.counters import LaunchCounters, SiteCounters, segment_bytes
from sandbox.lab.cost.occupancy import Occupancy
from sandbox.target import Target

_TITLES = {
    "launch": "the launch overhead",
    "hbm": "the memory bandwidth (HBM)",
    "mall": "the Infinity Cache",
    "l2": "the L2 cache",
    "l1": "the L1 and its address unit",
    "lds port": "the LDS ports",
    "lds banks": "the LDS banks",
    "mfma": "the matrix cores",
    "valu": "the vector ALUs (an estimate from the machine code)",
    "issue": "the issue of instructions of all kinds (an estimate from the machine code)",
    "latency": "latency that the waves in flight do not hide",
}
_GLOBAL = ("load", "store", "atomic")
_LDS = ("lds load", "lds store", "lds atomic", "wave operation")
_CAUSE: Mapping[str, Callable[[SiteCounters], float]] = {
    "l2": lambda s: s.misses if s.kind in _GLOBAL else 0.0,
    "hbm": lambda s: s.misses if s.kind in _GLOBAL else 0.0,
    "mall": lambda s: s.misses if s.kind in _GLOBAL else 0.0,
    "l1": lambda s: s.unit_clocks if s.kind in _GLOBAL else 0.0,
    "lds port": lambda s: s.port_clocks if s.kind in _LDS else 0.0,
    "lds banks": lambda s: s.unit_clocks if s.kind in _LDS else 0.0,
    "mfma": lambda s: s.unit_clocks if s.kind.startswith("matrix ") else 0.0,
    "latency": lambda s: s.instructions if s.kind in ("load", "lds load", "wave operation") else 0.0,
}


def explain(
    resource: str, total_us: float, times_us: Mapping[str, float], c: LaunchCounters, o: Occupancy, target: Target
) -> str:
    """One paragraph in plain English; all figures are of the model, for the whole grid."""
    parts = [f"{c.kernel} is bound by {_TITLES[resource]}: {times_us[resource]:.1f} of {total_us:.1f} us"]
    parts[0] += f" (predicted from {c.recorded} of {c.blocks} workgroups)."
    parts += _lines(resource, c, target)
    others = sorted((n for n in times_us if n not in (resource, "launch")), key=lambda n: -times_us[n])
    if others:
        parts.append(f"Next would be {_TITLES[others[0]]} with {times_us[others[0]]:.1f} us.")
    per_simd = o.waves_per_simd
    parts.append(
        ("1 wave has a SIMD to itself" if per_simd == 1 else f"{per_simd:g} waves share a SIMD")
        + (
            f" ({o.limit} allow no more workgroups on a unit)."
            if o.blocks_on_busiest > o.resident_blocks
            else " (the grid gives no more)."
        )
    )
    if o.active_units < target.units:
        parts.append(f"Only {o.active_units} of {target.units} compute units get a workgroup.")
    elif o.imbalance > 1.1:
        parts.append(
            f"Wave quantisation: {o.blocks} workgroups on {target.units} units cost "
            f"{100 * (o.imbalance - 1):.0f} % more than an even spread."
        )
    return " ".join(parts)


def _lines(resource: str, c: LaunchCounters, target: Target) -> list[str]:
    cause = _CAUSE.get(resource)
    if cause is None:
        return []
    weights = sorted(((cause(s), s) for s in c.sites if cause(s) > 0), key=lambda w: -w[0])
    whole = sum(w for w, _ in weights)
    said = [
        f"line {s.line} ({_describe(resource, s, target)}) {100 * w / whole:.0f} %"
        for w, s in weights[:3]
        if s.line and w >= 0.1 * whole
    ]
    return [f"Its causes: {', '.join(said)}."] if said else []


def _describe(resource: str, s: SiteCounters, target: Target) -> str:
    if s.kind in _GLOBAL:
        text, part = f"{s.kind} of {s.size} bytes a lane", f"{segment_bytes(target)}-byte segment"
        return text if s.efficiency > 0.9 else f"{text}, {100 * s.efficiency:.0f} % of each {part} used"
    if s.kind in _LDS and s.conflicts > 0 and resource == "lds banks":
        return f"{s.kind}, {s.conflicts / s.instructions:.1f} extra clocks of bank conflicts each"
    return s.kind

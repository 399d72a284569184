"""The source lines that cause a kernel's cost: sums of the counters of each line, and their share of the kernel's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from records.evaluation import HotLine
from sandbox.lab.cost.counters import SiteCounters
from sandbox.lab.cost.forecast import LaunchForecast

MOST = 12  # lines that are reported
_MEMORY = ("load", "store", "atomic")


def hot_lines(launches: Sequence[LaunchForecast], most: int = MOST) -> tuple[HotLine, ...]:
    """Rank the costliest lines first: by the largest share that a line has of anything."""
    lines: dict[tuple[str, int], defaultdict[str, float]] = {}
    totals: dict[str, defaultdict[str, float]] = {}
    waits: dict[tuple[str, int], defaultdict[str, float]] = {}
    for launch in launches:
        kernel = launch.counters.kernel
        total = totals.setdefault(kernel, defaultdict(float))
        for site in launch.counters.sites:
            costs = _costs(site)
            _add(total, costs)
            if site.line:
                _add(lines.setdefault((kernel, site.line), defaultdict(float)), costs)
        stalls = launch.stalls_of_lines()
        if stalls:
            total["stall_us"] += launch.cold_us
        for line, causes in stalls:
            lines.setdefault((kernel, line), defaultdict(float))["stall_us"] += sum(causes.values())
            _add(waits.setdefault((kernel, line), defaultdict(float)), causes)
    rows = [
        HotLine(line, kernel, dict(costs), {n: v / totals[kernel][n] for n, v in costs.items()}, _worst(waits, key))
        for key, costs in lines.items()
        for kernel, line in (key,)
    ]
    return tuple(sorted(rows, key=lambda h: (-sum(h.shares.values()), h.kernel, h.line))[:most])


def _worst(waits: Mapping[tuple[str, int], Mapping[str, float]], key: tuple[str, int]) -> str:
    causes = waits.get(key, {})
    return max(causes, key=lambda name: causes[name], default="")


def _add(sums: defaultdict[str, float], costs: Mapping[str, float]) -> None:
    for name, value in costs.items():
        sums[name] += value


def _costs(site: SiteCounters) -> dict[str, float]:
    """Cost of one place, without counters that are zero."""
    if site.kind in _MEMORY:
        costs = {
            "vmem_instructions": site.instructions,
            "l2_requests": site.misses,
            "l1_clocks": site.unit_clocks,
            "wasted_bytes": max(0.0, site.touched_bytes - site.bytes),
        }
    elif site.kind.startswith("matrix "):
        costs = {"mfma_instructions": site.instructions, "mfma_clocks": site.unit_clocks}
    elif site.kind == "wave vote":
        costs = {"wave_votes": site.instructions}
    else:
        costs = {
            "lds_instructions": site.instructions,
            "bank_clocks": site.unit_clocks,
            "bank_conflicts": site.conflicts,
            "lds_port_clocks": site.port_clocks,
        }
    return {name: value for name, value in costs.items() if value > 0}

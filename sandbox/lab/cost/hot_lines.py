"""The source lines that cause a kernel's cost: sums of the counters of each line, and their share of the kernel's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from records.evaluation import HotLine
from sandbox.lab.cost.counters import LaunchCounters, SiteCounters

MOST = 12  # lines that are reported
_MEMORY = ("load", "store", "atomic")


def hot_lines(launches: Sequence[LaunchCounters], most: int = MOST) -> tuple[HotLine, ...]:
    """The costliest lines first: by the largest share that a line has of anything."""
    lines: dict[tuple[str, int], Counter[str]] = {}
    totals: dict[str, Counter[str]] = {}
    for launch in launches:
        total = totals.setdefault(launch.kernel, Counter())
        for site in launch.sites:
            costs = _costs(site)
            total.update(costs)
            if site.line:
                lines.setdefault((launch.kernel, site.line), Counter()).update(costs)
    found = [
        HotLine(line, kernel, dict(costs), {n: v / totals[kernel][n] for n, v in costs.items()})
        for (kernel, line), costs in lines.items()
    ]
    return tuple(sorted(found, key=lambda h: (-sum(h.shares.values()), h.kernel, h.line))[:most])


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

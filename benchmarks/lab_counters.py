"""The lab's counters for the H200 beside those of NVIDIA's profiler; no GPU is needed to print them.

    python -m benchmarks.lab_counters

Measured once with `benchmarks/hardware.py` and stored in `data/lab_counters_h200.json` with device, driver and date:
ncu's counts of instrumented instructions. The lab runs every workgroup of the same kernel on the same inputs. Compared
are the 32-byte sectors of global loads and of global stores (within 2 %) and the bank conflicts of shared memory:
wavefronts beyond what the same accesses need without any conflict (within 5 %).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from app.screen import say, table
from benchmarks.emulated import ALL_BLOCKS, count, h200_lab, origin, stored
from benchmarks.figure import Figure, report
from benchmarks.specimens import counter_specimens
from sandbox.lab.cost.counters import LDS_ATOMIC, LDS_LOAD, LDS_STORE, LOAD, STORE

FILE = "lab_counters_h200.json"
SECTORS, CONFLICTS = 0.02, 0.05
WHY = {  # each miss, explained
    "block sum, way 0": "the step of the loop is known at run time only, so nvcc loads part[at] and part[at + 1] "
    "apart; the lab sees neighbours and joins them into one access without conflicts",
    "stencil through LDS": "lanes 0 and 1 run the inner loop twice, the others once; the lab takes each lane's n-th "
    "access for the wave's n-th instruction and so joins lanes from two rows of the tile",
}


@dataclass(frozen=True)
class Row:
    """One kernel: emulated and measured."""

    name: str
    loads: tuple[float, float]
    stores: tuple[float, float]
    conflicts: tuple[float, float]

    @property
    def agrees(self) -> bool:
        """All three within their limits."""
        return _off(self.loads) <= SECTORS and _off(self.stores) <= SECTORS and _off(self.conflicts) <= CONFLICTS


def _off(pair: tuple[float, float]) -> float:
    emulated, measured = pair
    return abs(emulated - measured) / measured if measured else float(emulated != 0)


def rows() -> list[Row]:
    """Every stored kernel beside its emulation."""
    kernels, lab, found = stored(FILE)["kernels"], h200_lab(), []
    for specimen in counter_specimens():
        measured = kernels[specimen.name]["source_counters"]
        seen = count(lab, specimen, specimen.inputs(), None, ALL_BLOCKS)
        sectors = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_"
        found.append(
            Row(
                specimen.name,
                (seen.total("segments", LOAD), measured[f"{sectors}ld.sum"]),
                (seen.total("segments", STORE), measured[f"{sectors}st.sum"]),
                (
                    seen.total("conflicts", LDS_LOAD, LDS_STORE, LDS_ATOMIC),
                    measured["memory_l1_wavefronts_shared"] - measured["memory_l1_wavefronts_shared_ideal"],
                ),
            )
        )
    return found


def _pair(pair: tuple[float, float]) -> str:
    return f"{pair[0]:,.0f}" if pair[0] == pair[1] else f"{pair[0]:,.0f} / {pair[1]:,.0f}"


def main() -> int:
    """Emulate, print the table, report."""
    found = rows()
    say(f"Measured: {origin(stored(FILE)['about'])}. One number: both are equal; else emulated / measured.")
    table(
        ["kernel", "load sectors", "store sectors", "bank conflicts", "agrees"],
        [[r.name, _pair(r.loads), _pair(r.stores), _pair(r.conflicts), "yes" if r.agrees else "NO"] for r in found],
        right=[1, 2, 3],
    )
    missed = [r.name for r in found if not r.agrees]
    for name in missed:
        say(f"{name}: {WHY.get(name, 'not explained')}")
    unexplained = [name for name in missed if name not in WHY]
    total = float(len(found))
    worst = max(max(_off(r.loads), _off(r.stores)) for r in found)
    least = 22 / 24
    return report(
        "Counters against the H200",
        [
            Figure("lab_counters.kernels", total, "kernels", "asked for", 24.0, ">= 24", FILE),
            Figure(
                "lab_counters.agreeing_share",
                (total - len(missed)) / total,
                "of kernels",
                "22 of 24",
                least,
                f">= {least:.4f}",
                FILE,
            ),
            Figure("lab_counters.worst_sectors", 100 * worst, "%", "limit", 100 * SECTORS, "<= 2", FILE),
            Figure(
                "lab_counters.unexplained",
                float(len(unexplained)),
                "kernels",
                "misses",
                float(len(missed)),
                "<= 0",
                FILE,
            ),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())

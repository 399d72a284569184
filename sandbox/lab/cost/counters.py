"""From the executor's records to counters under the profiler's names, scaled from the recorded workgroups to the grid.

What is a model here: one workgroup alone in its L1 (LRU) or its share of it, no L2; stores and atomics go through to
the L2. `TCP_TOTAL_ACCESSES` counts the 64-byte segments of each four lanes, so 16 for a coalesced wave and 64 for a
scattered one.
The names are those of the vendor's profiler, rocprof's or ncu's; what neither counts has a name of ours: `SQ_BARRIERS`,
and for NVIDIA those without `__`. ncu separates atomics that return a value (`atom`) from others (`red`), we do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from sandbox.lab.cost.matrix_cores import matrix_named
from sandbox.lab.cost.spread import NOTHING, Spread
from sandbox.lab.cost.timeline import Timelines, timelines
from sandbox.lab.scene import Scene
from sandbox.target import Target

LOAD, STORE, ATOMIC, LDS_LOAD, LDS_STORE, LDS_ATOMIC, MATRIX, COLLECTIVE = range(8)
_KINDS = ("load", "store", "atomic", "lds load", "lds store", "lds atomic", "matrix", "wave operation")
FEW = 4  # workgroups recorded at most, whose differences say nothing about the grid
_MOPS = 512  # flops in one unit of the profiler's MOPS counters
_CROSSBAR_CLOCKS = 2  # of the banks, for 64 lanes of 4 bytes
_CROSSBAR_PORT_CLOCKS = 8


@dataclass(frozen=True)
class SiteCounters:
    """Sums over the wave instructions of one place in the source, for the whole grid."""

    line: int | None
    kind: str
    size: int  # bytes per lane
    instructions: float
    lanes: float
    bytes: float = 0.0  # distinct bytes asked for
    lines: float = 0.0  # distinct cache lines, summed over the instructions
    segments: float = 0.0
    misses: float = 0.0  # of the L1, hence requests to the L2
    unit_clocks: float = 0.0  # of the address unit, or of the LDS banks, or of the matrix core
    conflicts: float = 0.0
    port_clocks: float = 0.0
    accesses: float = 0.0
    flops: float = 0.0
    touched_bytes: float = 0.0  # of all segments

    @property
    def efficiency(self) -> float:
        """Useful share of the segments that were touched."""
        return min(1.0, self.bytes / self.touched_bytes) if self.touched_bytes else 1.0

    def times(self, factor: float) -> SiteCounters:
        """So many times as much."""
        sums = [getattr(self, counter.name) * factor for counter in fields(self)[3:]]
        return SiteCounters(self.line, self.kind, self.size, *sums)


@dataclass(frozen=True)
class LaunchCounters:
    """Counters of one launch. Everything is scaled to the whole grid; `recorded` says from how much."""

    kernel: str
    blocks: int
    threads: int  # per workgroup
    recorded: int  # workgroups whose accesses were recorded
    waves: float
    barriers: float  # of all workgroups
    read_lines: float  # distinct lines per workgroup, summed
    written_lines: float
    sites: tuple[SiteCounters, ...]
    counters: Mapping[str, float] = field(default_factory=dict)
    reads_intermediate: bool = False  # reads a workspace or an output
    heaviest: float = 1.0  # work of the heaviest workgroup over that of the mean
    spread: Spread = NOTHING
    timelines: Timelines | None = None  # of one compute unit; None where none were asked for
    stalls: tuple[tuple[int, Mapping[str, float]], ...] = ()  # lines, and clocks that waves wait there by cause

    def total(self, name: str, *kinds: int) -> float:
        """Sum of one field of the sites of these kinds."""
        kind_names = {_KINDS[k] for k in kinds}
        return float(sum(getattr(s, name) for s in self.sites if s.kind in kind_names))

    def times(self, factor: float) -> LaunchCounters:
        """So many times as much work, by as many times the workgroups where each does its own."""
        scaled = ["barriers", "read_lines", "written_lines", *([] if self.spread.is_atomic else ["waves"])]
        return replace(
            self,
            blocks=self.blocks if self.spread.is_atomic else max(1, round(self.blocks * factor)),
            sites=tuple(site.times(factor) for site in self.sites),
            counters={name: value * factor for name, value in self.counters.items()},
            timelines=self.timelines.shared(factor) if self.timelines and self.spread.is_atomic else self.timelines,
            **{name: getattr(self, name) * factor for name in scaled},
        )


def launch_counters(index: int, row: Mapping[str, Any], scene: Scene, target: Target) -> LaunchCounters:
    """Counters of one launch from its record in result.json."""
    launch, record = scene.plan.launches[index], row["recorded"]
    walked = timelines(record["timeline"])
    blocks = launch.grid[0] * launch.grid[1] * launch.grid[2]
    scale = blocks / max(1, int(record["blocks"]))
    spread = Spread.of(row, [region.buffer.name for region in scene.regions], scale)
    many = spread.recorded > FEW or spread.recorded == blocks
    counted_sites = [_site(v, scene, scale, segment_bytes(target)) for v in _by_place(record["sites"])]
    sites = tuple(_merge([*counted_sites, *_executed(record, scene, scale)]))
    counted = LaunchCounters(
        kernel=launch.kernel,
        blocks=spread.busy_of(blocks) if many else blocks,  # idle ones are none
        threads=launch.threads,
        recorded=spread.recorded,
        waves=record["waves"] * scale,
        barriers=record["barriers"] * scale,
        read_lines=record["read_lines"] * scale,
        written_lines=record["written_lines"] * scale,
        sites=sites,
        reads_intermediate=bool(row["reads_intermediate"]),
        heaviest=spread.heaviest if many else 1.0,
        spread=spread,
        timelines=walked,
        stalls=_stalls(walked, scene),
    )
    names = _ncu if target.vendor == "nvidia" else _rocprof
    return LaunchCounters(**{**counted.__dict__, "counters": names(counted)})


_CROSSING = ("ds_bpermute_b32", "ds_permute_b32", "ds_swizzle_b32")
_VOTES = ("v_readlane_b32", "v_readfirstlane_b32")


def _executed(record: Mapping[str, Any], scene: Scene, scale: float) -> Iterable[SiteCounters]:
    """Count matrix instructions and exchanges between lanes by what the recorded waves executed."""
    for index, waves in record["executed"]:
        mnemonic, line = scene.lines.mnemonic(index + 1), scene.lines.line(index + 1)
        counts = waves * scale, 64 * waves * scale
        if mnemonic in _CROSSING:
            clocks, port = waves * _CROSSBAR_CLOCKS * scale, waves * _CROSSBAR_PORT_CLOCKS * scale
            yield SiteCounters(line, "wave operation", 4, *counts, unit_clocks=clocks, port_clocks=port)
        elif mnemonic in _VOTES:
            yield SiteCounters(line, "wave vote", 4, *counts)
        elif "mfma" in mnemonic and (matrix := matrix_named(mnemonic)):
            flops = float(waves * matrix.flops) * scale
            clocks = waves * matrix.clocks * scale
            yield SiteCounters(line, f"matrix {matrix.counter}", 0, *counts, unit_clocks=clocks, flops=flops)


def _stalls(walked: Timelines | None, scene: Scene) -> tuple[tuple[int, Mapping[str, float]], ...]:
    stalls = walked.cold.stalls if walked else ()
    lines = ((scene.lines.line(pc) or scene.lines.line_before(pc), causes) for pc, causes in stalls)
    return tuple((line, causes) for line, causes in lines if line)


def segment_bytes(target: Target) -> int:
    """Bytes that the L1 fetches or delivers in one piece: NVIDIA's sector, half a line of CDNA3."""
    return int(target.memory.get("sector_bytes", 64))


def _by_place(rows: Iterable[Sequence[int]]) -> list[list[int]]:
    """One row for each place and kind: the sums of what the threads counted, in whole numbers.

    The rows come as the threads met them; sums of scaled numbers would depend on that in their last bits.
    """
    sums: dict[tuple[int, int], list[int]] = {}
    for pc, kind, size, *counts in rows:
        total = sums.setdefault((pc, kind), [pc, kind, size, *[0] * len(counts)])
        total[2] = max(total[2], size)  # the widest that accesses were joined to
        total[3:] = [a + b for a, b in zip(total[3:], counts, strict=True)]
    return [sums[key] for key in sorted(sums)]


def _site(values: Sequence[int], scene: Scene, scale: float, segment: int) -> SiteCounters:
    (pc, kind, size, instructions, lanes, nbytes, lines, segments, misses, clocks, accesses, conflicts, port) = values
    line = scene.lines.line(pc)
    counts = instructions * scale, lanes * scale
    return SiteCounters(
        line,
        _KINDS[kind],
        size,
        *counts,
        nbytes * scale,
        lines * scale,
        segments * scale,
        misses * scale,
        clocks * scale,
        conflicts * scale,
        port * scale,
        accesses * scale,
        0.0,
        segments * segment * scale,
    )


def _merge(sites: Iterable[SiteCounters]) -> list[SiteCounters]:
    """One row for each line, kind and width."""
    merged: dict[tuple[int | None, str, int], SiteCounters] = {}
    for site in sites:
        if not site.instructions:
            continue  # all of them were joined into wider ones
        key = site.line, site.kind, site.size
        earlier = merged.get(key)
        merged[key] = (
            site
            if earlier is None
            else SiteCounters(
                *key,
                *(
                    a + b
                    for a, b in zip(list(earlier.__dict__.values())[3:], list(site.__dict__.values())[3:], strict=True)
                ),
            )
        )
    return sorted(merged.values(), key=lambda s: (s.line or 0, s.kind, s.size))


def _ncu(c: LaunchCounters) -> dict[str, float]:
    counters = {"smsp__warps_launched.sum": c.waves}
    for operation, kind, shared in (("ld", LOAD, LDS_LOAD), ("st", STORE, LDS_STORE), ("atom", ATOMIC, LDS_ATOMIC)):
        counters |= {
            f"smsp__inst_executed_op_global_{operation}.sum": c.total("instructions", kind),
            f"l1tex__t_requests_pipe_lsu_mem_global_op_{operation}.sum": c.total("instructions", kind),
            f"l1tex__t_sectors_pipe_lsu_mem_global_op_{operation}.sum": c.total("segments", kind),
            f"smsp__inst_executed_op_shared_{operation}.sum": c.total("instructions", shared),
            f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{operation}.sum": c.total("unit_clocks", shared),
            f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{operation}.sum": c.total("conflicts", shared),
        }
    for operation, kind in (("read", LOAD), ("write", STORE), ("atom", ATOMIC)):
        counters[f"lts__t_sectors_op_{operation}.sum"] = c.total("misses", kind)
    counters["barriers"] = c.barriers
    counters["shuffles"] = sum(s.instructions for s in c.sites if s.kind == "wave operation")
    return counters


def _rocprof(c: LaunchCounters) -> dict[str, float]:
    loads, stores = c.total("instructions", LOAD), c.total("instructions", STORE)
    atomics = c.total("instructions", ATOMIC)
    crossbar = [s for s in c.sites if s.kind == "wave operation"]
    shuffles = sum(s.instructions for s in crossbar)
    lds = (LDS_LOAD, LDS_STORE, LDS_ATOMIC)
    reads, writes, updates = (c.total("misses", kind) for kind in (LOAD, STORE, ATOMIC))
    counters = {
        "SQ_WAVES": c.waves,
        "SQ_INSTS_VMEM_RD": loads,
        "SQ_INSTS_VMEM_WR": stores + atomics,
        "SQ_INSTS_LDS": c.total("instructions", *lds) + shuffles,
        "SQ_LDS_IDX_ACTIVE": c.total("unit_clocks", *lds) + sum(s.unit_clocks for s in crossbar),
        "SQ_LDS_BANK_CONFLICT": c.total("conflicts", *lds),
        "SQ_LDS_ATOMIC_RETURN": c.total("instructions", LDS_ATOMIC),
        "SQ_BARRIERS": c.barriers,  # ours: the profiler has no such counter
        "TA_TOTAL_WAVEFRONTS": loads + stores + atomics,
        "TCP_TOTAL_ACCESSES": c.total("accesses", LOAD, STORE, ATOMIC),
        "TCP_TCC_READ_REQ": reads,
        "TCP_TCC_WRITE_REQ": writes,
        "TCP_TCC_ATOMIC_REQ": updates,
        "TCC_REQ": reads + writes + updates,
        "TCC_READ": reads,
        "TCC_WRITE": writes,
        "TCC_ATOMIC": updates,
    }
    matrix = [s for s in c.sites if s.kind.startswith("matrix ")]
    for site in matrix:
        suffix = site.kind.split()[1]
        for name, value in (
            (f"SQ_INSTS_VALU_MFMA_{suffix}", site.instructions),
            (f"SQ_INSTS_VALU_MFMA_MOPS_{suffix}", site.flops / _MOPS),
        ):
            counters[name] = counters.get(name, 0.0) + value
    if matrix:
        counters["SQ_INSTS_MFMA"] = sum(s.instructions for s in matrix)
        counters["SQ_VALU_MFMA_BUSY_CYCLES"] = sum(s.unit_clocks for s in matrix)
    return counters

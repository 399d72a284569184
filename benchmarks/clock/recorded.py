"""Points with what the lab has recorded of their kernels, so that other clocks predict them without executing again."""

from __future__ import annotations

import json
import struct
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.clock.devices import figures_of, target_of
from benchmarks.clock.judged import PointLab
from benchmarks.clock.points import Point
from records.errors import MachineError
from sandbox.lab.cost.bound import bound_us
from sandbox.lab.cost.clock import needed_clock
from sandbox.lab.cost.counters import LaunchCounters
from sandbox.lab.cost.forecast import PlanForecast, forecast
from sandbox.lab.cost.occupancy import Occupancy, occupancies
from sandbox.lab.cost.timeline import timelines
from sandbox.lab.predict import counted_case, footprint_bytes
from tasks.loader import load_task


@dataclass(frozen=True)
class Recorded:
    """One point: the occupancies of its launches, its bound, and where its program and its streams lie."""

    point: Point
    program: Path
    streams: Path
    occupancies: tuple[Occupancy, ...]
    bound_us: float

    def retimed(self, executor: Path, changed: Mapping[str, float]) -> PlanForecast:
        """Predict by a clock with these figures changed. MachineError where the streams cannot be read."""
        target = target_of(self.point.device)
        target = replace(target, clock={**target.clock, **changed, **figures_of(self.point.device)})
        clock = needed_clock(target)
        words = clock.words()
        with tempfile.NamedTemporaryFile() as file:
            file.write(struct.pack(f"<{len(words)}Q", *words))
            file.flush()
            argv = [str(executor), "timeline", str(self.program), str(self.streams), file.name]
            process = subprocess.run(argv, capture_output=True, text=True, check=False)
        if process.returncode:
            raise MachineError(f"the streams of {self.point.label} cannot be read: {process.stderr.strip()[:200]}")
        rows = zip(json.loads(process.stdout), self.occupancies, strict=True)
        return forecast([(_counted(row, o), o) for row, o in rows], clock, target)

    def predicted_us(self, expected: PlanForecast) -> float:
        """Give the expected time that is comparable with how the point was measured."""
        return {
            "cold": expected.cold_us,
            "repeated": expected.warm_us,
            "warm": expected.warm_us - expected.repeated_us + expected.overhead_us,
        }[self.point.caches]


def _counted(row: Mapping[str, Any] | None, o: Occupancy) -> LaunchCounters:
    return LaunchCounters("k", o.blocks, 64, 1, 1.0, 0.0, 0.0, 0.0, (), timelines=timelines(row))


def record(lab: PointLab, point: Point, folder: Path) -> Recorded | str:
    """Execute a few workgroups of the point's kernel and keep their streams in the folder, or say why it cannot be."""
    stem = folder / point.digest
    streams, table = stem.with_suffix(".bin"), stem.with_suffix(".json")
    if table.is_file():
        stored = json.loads(table.read_text(encoding="utf-8"))
        occupied = tuple(Occupancy(**occupancy) for occupancy in stored["held"])
        return Recorded(point, Path(stored["program"]), streams, occupied, stored["bound_us"])
    if isinstance(built := lab.built(point.kernel.read_text(encoding="utf-8"), point.task), str):
        return built
    case, target = load_task(point.task).benchmarks[0], lab.target
    counted = counted_case(lab.lab, built, case, target, built.compilation.resources)
    launches, findings = replace(counted, keep=streams).run()
    if findings:
        return findings[0].message
    occupied = tuple(occupancies(launches, counted.plan, built.compilation.resources, target))
    footprint = footprint_bytes(built.prepared.task.work(case)[1], counted.plan)
    bound = bound_us(list(zip(launches, occupied, strict=True)), footprint, target)
    stored = {
        "program": str(built.program.path),
        "held": [asdict(occupancy) for occupancy in occupied],
        "bound_us": bound,
    }
    table.write_text(json.dumps(stored), encoding="utf-8")
    return Recorded(point, Path(built.program.path), streams, occupied, bound)

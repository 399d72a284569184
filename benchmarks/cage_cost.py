"""The cost of the cage: what a start takes longer on each level, and what that is of an execution in the lab.

Starts with and without the cage come in turns, so that a busy moment falls on both; each figure is a median of the
differences. The program is the launcher's own probe, which ends at once. The executions are those of lab_speed.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from app.settings import load_settings
from benchmarks.figure import Figure, report
from benchmarks.lab_speed import ALGORITHMS, lab_seconds
from sandbox.amdgcn.toolchain import build_launcher, find_toolchain
from sandbox.cage.confinement import Cage, candidates
from sandbox.cage.meter import ProcessLimits
from sandbox.cage.view import View
from sandbox.isolation import failure
from sandbox.lab.machine_lab import MachineLab
from sandbox.process import run
from sandbox.target import load_target

STARTS = 101
GOAL_MS = 15.0
GOAL_SHARE = 10.0  # per cent of an execution


def start_ms(program: Path, cage: Cage | None, work: Path) -> float:
    """Measure the wall time of one start to its end, in milliseconds."""
    argv = [str(program), "probe", "/nowhere", str(os.getpid())]
    view = View(executable=(program,), writable=(work,)) if cage else None
    begun = time.perf_counter()
    run(argv, cwd=work, env={}, limits=ProcessLimits(cpu_s=10), cage=cage, view=view)
    return 1e3 * (time.perf_counter() - begun)


def added_ms(program: Path, cage: Cage) -> float:
    """Return the median of what a start takes longer in the cage."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        pairs = [(start_ms(program, None, work), start_ms(program, cage, work)) for _ in range(STARTS)]
    return statistics.median(caged - bare for bare, caged in pairs[1:])


def main() -> int:
    """Print the table."""
    settings = load_settings()
    toolchain = find_toolchain(settings.cache_folder / "toolchain")
    launcher = build_launcher(toolchain)
    holding = [cage for cage in candidates(launcher) if cage.is_strict and not failure(cage, launcher)]
    costs = {cage.level: added_ms(launcher, cage) for cage in holding}
    figures = [
        Figure(f"cage_cost.{level}", ms, "ms", "the most a start may cost", GOAL_MS, f"<= {GOAL_MS:g}")
        for level, ms in costs.items()
    ]
    lab = MachineLab(toolchain, settings.cache_folder / "kernels", load_target("mi300x"), settings.cores)
    seconds = {work.name: lab_seconds(lab, work, instrumented=True) for work in ALGORITHMS}
    cost_ms = costs.get(toolchain.cage.level, 0.0)
    for name, spent in seconds.items():
        share = 100 * cost_ms / (1e3 * spent + cost_ms)
        figures.append(
            Figure(f"cage_cost.share.{name}", share, "%", "the most of an execution", GOAL_SHARE, f"<= {GOAL_SHARE:g}")
        )
    return report("The cage", figures)


if __name__ == "__main__":
    sys.exit(main())

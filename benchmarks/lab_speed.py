"""The lab beside Oclgrind, the OpenCL interpreter: the same four algorithms, the same sizes, the same machine.

Both run with all their checks (Oclgrind: `--data-races --uninitialized` on top of its memory checks), then the lab
without instrumentation beside Oclgrind's default, which still checks memory because it cannot do otherwise. Times are
of the launch alone: the lab's executor says its own; of Oclgrind's process the same process with `--quick`, which runs
only two workgroups, is subtracted. The sources are in `benchmarks/kernels/`. Without Oclgrind (Debian: `oclgrind`) the
comparison is left out and said to be. The last figures verify two seeds of fp8_block_gemm on its largest test: every
workgroup executed, every element compared. The naive one makes some sixty times as many memory accesses, so it has no
goal.
"""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from app.settings import load_settings
from benchmarks.figure import Figure, report
from benchmarks.folders import KERNELS
from sandbox.amdgcn.compiler import Compilation
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.prepare import prepare
from sandbox.candidate.resolve import BufferArg, ResolvedLaunch, ResolvedPlan, ScalarArg
from sandbox.lab.lab import Buffer, ExecutionRequest, Lab, LabProgram
from sandbox.lab.lab_verify import Built, Judge, Patience
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Case

ALL_CHECKS = ("--data-races", "--uninitialized")
SAMPLES = 5
DEADLINE_S = 120.0
WHOLE = Patience(deadline_s=10 * DEADLINE_S)


@dataclass(frozen=True)
class Algorithm:
    """One kernel in both languages, on the same grid and the same buffers of 32-bit floats."""

    name: str
    grid: tuple[int, int]
    block: tuple[int, int]
    inputs: tuple[int, ...]  # elements
    output: int  # elements
    scalar: int | None


ALGORITHMS = (
    Algorithm("vector_add", (4096, 1), (256, 1), (1 << 20, 1 << 20), 1 << 20, 1 << 20),
    Algorithm("tiled_transpose", (32, 32), (32, 8), (1 << 20,), 1 << 20, 1024),
    Algorithm("lds_reduction", (1024, 1), (256, 1), (1 << 18,), 1024, None),
    Algorithm("tiled_gemm", (8, 8), (16, 16), (1 << 14, 1 << 14), 1 << 14, 128),
)


def simulation(work: Algorithm) -> str:
    """Write the text of Oclgrind's file for one launch; every input is filled with ones."""
    extent = [work.grid[i] * work.block[i] for i in range(2)]
    lines = [f"{work.name}.cl", work.name, f"{extent[0]} {extent[1]} 1", f"{work.block[0]} {work.block[1]} 1"]
    lines += [f"<size={4 * count} float fill=1>" for count in work.inputs]
    lines.append(f"<size={4 * work.output} float fill=0>")
    if work.scalar is not None:
        lines += ["<size=4 int>", str(work.scalar)]
    return "\n".join(lines) + "\n"


def interpreter_seconds(command: str, work: Algorithm, options: Sequence[str]) -> float:
    """Measure the wall time that Oclgrind needs for the workgroups between the first and the last."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(KERNELS / f"{work.name}.cl", folder)
        (folder / "launch.sim").write_text(simulation(work), encoding="utf-8")

        def wall(*more: str) -> float:
            start = time.perf_counter()
            process = subprocess.run(
                [command, *options, *more, "launch.sim"],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=20 * DEADLINE_S,
            )
            if process.returncode != 0 or "rror" in process.stderr:
                sys.exit(f"oclgrind-kernel failed on {work.name}: {process.stderr.strip()[:300]}")
            return time.perf_counter() - start

        return wall() - wall("--quick")


def expected(work: Algorithm) -> float:
    """Return the value of every output element for inputs of ones."""
    return {"vector_add": 2.0, "tiled_transpose": 1.0, "lds_reduction": 256.0, "tiled_gemm": 128.0}[work.name]


def lab_seconds(lab: Lab, work: Algorithm, instrumented: bool) -> float:
    """Measure the median wall time of the launch in the lab; a wrong output ends the benchmark."""
    source = (KERNELS / f"{work.name}.hip").read_text(encoding="utf-8")
    names = [f"in{i}" for i in range(len(work.inputs))]
    count = len(names) + 1 + (work.scalar is not None)
    plan = Plan((Launch(work.name, ("1",), ("1",), "0", ("a",) * count, 1),))
    candidate = Candidate(hashlib.sha256(source.encode()).hexdigest(), source, plan)
    program = lab.build(candidate, {})
    if not isinstance(program, LabProgram):
        sys.exit(f"{work.name} does not build: {program[0].message}")
    program = replace(program, is_checked=instrumented)
    arguments: list[BufferArg | ScalarArg] = [BufferArg(n) for n in (*names, "out")]
    if work.scalar is not None:
        arguments.append(ScalarArg("i32", work.scalar))
    launch = ResolvedLaunch(work.name, (*work.grid, 1), (*work.block, 1), 0, tuple(arguments))
    buffers = [Buffer(n, np.ones(size, np.float32), "input") for n, size in zip(names, work.inputs, strict=True)]
    buffers.append(Buffer("out", np.zeros(work.output, np.float32), "output"))
    seconds = []
    for _ in range(SAMPLES):
        execution = lab.execute(
            ExecutionRequest(
                program,
                ResolvedPlan((launch,), {}),
                buffers,
                deadline_s=DEADLINE_S,
                checks="all" if instrumented else "bounds",
            )
        )
        if execution.findings or not (execution.outputs["out"] == expected(work)).all():
            sys.exit(f"{work.name} went wrong in the lab: {execution.findings[:1] or 'another result than expected'}")
        seconds.append(sum(execution.launch_seconds))
    return statistics.median(seconds)


def compare(lab: Lab, command: str) -> list[Figure]:
    """Give the lab's speed in multiples of Oclgrind's; the anchor is Oclgrind itself, so it is 1."""
    figures = []
    for label, options, instrumented, goal in (("checked", ALL_CHECKS, True, ">= 20"), ("plain", (), False, ">= 200")):
        ratios = []
        for work in ALGORITHMS:
            theirs = interpreter_seconds(command, work, options)
            ours = lab_seconds(lab, work, instrumented)
            ratios.append(theirs / ours)
            how = " ".join(options) or "its default checks"
            figures.append(Figure(f"lab_speed.{label}.{work.name}", ours, "s", f"oclgrind, {how}", theirs))
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        figures.append(Figure(f"lab_speed.{label}", mean, "x", "oclgrind, geometric mean", 1.0, goal))
        figures.append(Figure(f"lab_speed.{label}.worst", min(ratios), "x", "oclgrind, worst of four", 1.0, goal))
    return figures


def largest(cases: Sequence[Case]) -> Case:
    """Return the case with the most multiplications."""
    return max(cases, key=lambda case: math.prod(case.dims.values()))


def verification(lab: Lab, target: str, seed: str, goal: str) -> Figure:
    """Measure the wall time to execute, compare and mask one seed of fp8_block_gemm on all of its largest test case."""
    task = load_task("fp8_block_gemm", target)
    path = next(path for path in task.seeds if path.name.split(".")[0] == seed)
    prepared = prepare(path.read_text(encoding="utf-8"), task)
    program = lab.build(prepared.candidate, prepared.tunables)
    if not isinstance(program, LabProgram):
        sys.exit(f"{path.name} does not build: {program[0].message}")
    case = largest(task.tests)
    start = time.perf_counter()
    row, findings = Judge(lab, Built(prepared, Compilation(True), program), WHOLE).run(case)
    spent = time.perf_counter() - start
    if findings or not row.correct:
        sys.exit(f"{path.name} was rejected on {case.name}: {findings[:1]}")
    share = f"{path.name} of fp8_block_gemm, {case.name}, {row.executed:.0%} executed, {row.compared:.0%} compared"
    return Figure(f"lab_speed.verify.{seed}", spent, "s", f"{share}; the goal" if goal else share, 10.0, goal)


def main() -> int:
    """Measure and report."""
    settings = load_settings()
    cache = settings.cache_folder
    target = load_target("mi300x")
    lab = MachineLab(find_toolchain(cache / "toolchain"), cache / "kernels", target, settings.cores)
    sys.stdout.write(f"{settings.cores or len(os.sched_getaffinity(0))} cores\n")
    command = shutil.which("oclgrind-kernel")
    figures = compare(lab, command) if command else []
    if not command:
        sys.stdout.write("oclgrind-kernel is not installed (Debian: apt install oclgrind): no comparison\n")
    figures += [verification(lab, target.name, seed, goal) for seed, goal in (("seed_mfma", "< 10"), ("seed", ""))]
    return report(f"The lab's speed, median of {SAMPLES}", figures)


if __name__ == "__main__":
    sys.exit(main())

"""The way of one candidate from a node of the graph to the compiler, in the lab and on a GPU, counted.

    python -m benchmarks.one_way

A run of one experiment on `transpose` with nine listed cases: compile, verify, tune, benchmark. Its kernel is counted
wherever it is parsed, wherever its plan is put into numbers for a case and a choice of tunables, and through which
frames of ours the call goes from the node to the compiler, the compiler's own among them. The GPU is the stub of HIP's
runtime that the tests use; what is counted is the same on a real one. The anchor is the count before candidates were
prepared: one source was parsed 11 times and resolved 38 times for 9 cases. It stood 10 frames before the compiler.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from agents.author import Idea, Specimen, Step
from benchmarks.figure import Figure, report
from graph import subgraph
from graph.context import Limits
from graph.doubles import ScriptedAuthor, table_context
from graph.drive import drive
from kernel_scientist.own_packages import NAMES
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate import parse as parsing
from sandbox.candidate import resolve as resolving
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.gpu_evaluator import GpuEvaluator, Rules
from sandbox.gpu.timing.contrast import Rule
from sandbox.gpu.timing.windows import LevelRule
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.protocol import Sandbox
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Task
from tests.support.hip_stub import hip_stub

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "tests"
NODES = subgraph.__file__
MARK = "counted_on_its_way"
SOURCE = f"""/*+++
[[launch]]
kernel = "{MARK}"
grid = ["ceil_div(rows, 64)", "cols"]
block = [64]
args = ["x", "y", "rows", "cols"]
[tunables]
STEP = [1, 2]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void {MARK}(const float* x, float* y, int rows, int cols) {{
    int row = blockIdx.x * 64 + threadIdx.x, column = blockIdx.y;
    for (int step = 0; step < STEP; ++step)
        if (row < rows) y[(long)column * rows + row] = x[(long)row * cols + column];
}}
"""
QUICK = Rules(
    LevelRule(least=3, most=3, warm=0, alpha=0.9), clock_tries=1, contrast=Rule(alpha=0.4, least=12, most=12, warm=0)
)


@dataclass
class Count:
    """The calls that concern the candidate, from all threads."""

    parsed: int = 0
    resolved: Counter[tuple[object, ...]] = field(default_factory=Counter)
    frames: list[str] = field(default_factory=list)  # behind the node, to the first compilation
    starts: tuple[CodeType, ...] = (Compiler.compile.__code__, GpuCompiler.compile.__code__)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Count one call, as the interpreter reports it."""
        if event != "call":
            return
        code, values = frame.f_code, frame.f_locals
        if code is parsing.parse.__code__ and MARK in values["source"]:
            self.parsed += 1
        elif code is resolving.resolve.__code__ and MARK in values["candidate"].source:
            case, chosen = values["case"], values["tunables"] or {}
            self.resolved[case.name, *sorted(case.dims.items()), *sorted(chosen.items())] += 1
        elif code in self.starts and not self.frames:
            self.frames = _way(frame)


def _way(frame: FrameType) -> list[str]:
    """List the frames of ours from behind a node to this call; empty where no node is behind it, as for a seed."""
    frames: list[str] = []
    caller: FrameType | None = frame
    while caller is not None:
        path = Path(caller.f_code.co_filename)
        if str(path) == NODES:
            return frames[::-1]
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in NAMES:
            frames.append(caller.f_code.co_qualname)
        caller = caller.f_back
    return []


@contextmanager
def counting() -> Iterator[Count]:
    """Count in this thread and in those that start meanwhile."""
    count = Count()
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        yield count
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def walk(sandbox: Sandbox, task: Task, folder: Path) -> Count:
    """Take one experiment with the candidate through the graph."""

    def ideas(generation: int) -> Sequence[Idea]:
        return [Idea("count", "count its way", ("count",), 1, 2, 50)]

    def write(step: Step, base: Specimen) -> str:
        return SOURCE

    limits = Limits(generations=1, picks=1, tunings=4, explorations=1, dispatch=False)
    context = replace(table_context(folder, task, ScriptedAuthor(ideas, write), limits), sandbox=sandbox)
    with counting() as count:
        run = drive(context, folder / "checkpoint.db")
    last = context.ledger.attempts(run.id)[-1]
    context.ledger.close()
    if last.status != "accepted":
        sys.exit(f"the counted kernel ended as {last.status}: {last.reason}")
    return count


def small() -> Task:
    """Return the task with one seed and small benchmark cases: what is counted depends on their number alone."""
    plain = load_task("transpose")
    cases = tuple(replace(c, dims={"rows": 64 + i, "cols": 32}) for i, c in enumerate(plain.benchmarks))
    return replace(plain, seeds=plain.seeds[:1], benchmarks=cases)


def in_the_lab(folder: Path) -> Count:
    """Count the walk with the lab as the sandbox."""
    judge = LabEvaluator(find_toolchain(CACHE / "toolchain"), folder / "kernels", load_target("mi300x"), 0)
    return walk(judge, small(), folder)


def on_the_stub(folder: Path) -> Count:
    """Count the walk with the judge on the stub GPU."""
    task, target = replace(small(), bytes_moved="320000000"), load_target("mi300x")
    caches = replace(target, memory={**target.memory, "mall_bytes": 4096, "l2_bytes": 4096})
    with hip_stub(find_toolchain(CACHE / "toolchain"), CACHE / "stub") as stub:
        stub.world.skipped |= {"trusted_sweep", "trusted_scrub"}
        stub.world.launch_us.update({MARK: 1e5, "transpose": 2e5})
        judge = GpuEvaluator(caches, folder / "kernels", 0, library=stub.library, spares=0, rules=QUICK)
        try:
            return walk(judge, task, folder)
        finally:
            judge.close()


def figures(name: str, count: Count) -> list[Figure]:
    """Give the counts of one place as figures."""
    cases = len(count.resolved)
    print(f"{name}: {' -> '.join(count.frames)}")
    return [
        Figure(f"one_way.{name}.parses", count.parsed, "parses", "before", 11, "<= 1"),
        Figure(
            f"one_way.{name}.resolves",
            max(count.resolved.values()),
            "resolves a case and choice",
            f"resolves of {cases} cases and choices",
            sum(count.resolved.values()),
            "<= 1",
        ),
        Figure(f"one_way.{name}.frames", len(count.frames), "frames to the compiler", "before", 10, "<= 4"),
    ]


PLACES: dict[str, Callable[[Path], Count]] = {"lab": in_the_lab, "gpu": on_the_stub}


def main() -> int:
    """Count in both places and report."""
    rows: list[Figure] = []
    for name, count_in in PLACES.items():
        with tempfile.TemporaryDirectory() as folder:
            rows += figures(name, count_in(Path(folder)))
    return report("One candidate's way through the house", rows)


if __name__ == "__main__":
    sys.exit(main())

"""The kernel that an author with tools made of `fp8_block_gemm` in the lab: its largest cases, and whole.

    python -m benchmarks.author_lab

The kernel is the one with which the campaign ends that tests/integration/test_bench_replay.py replays. Its times are
predicted. Each of the four cases with the most work is executed and compared with the reference to the last element.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from app.settings import load_settings
from benchmarks.figure import Figure, report
from benchmarks.kept_rows import KeptRows
from benchmarks.whole_cases import Whole, executed
from records.errors import LabError
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tasks.loader import load_task

TASK, TARGET, LARGEST = "fp8_block_gemm", "mi300x", 4
ANSWERS = Path(__file__).parents[1] / "tests" / "data" / "fp8_block_gemm_bench.jsonl"
CLOSE = 1.5  # times the roofline


def winner() -> str:
    """Return the last kernel that the author had checked, which the campaign ends with."""
    rows = map(json.loads, ANSWERS.read_text(encoding="utf-8").splitlines())
    sources = [arguments["source"] for row in rows for name, arguments in row["calls"] if name == "check"]
    return str(sources[-1])


def figures(times: Mapping[str, tuple[float, float]], executions: Sequence[Whole]) -> list[Figure]:
    """Give each case's predicted time beside the roofline, both in microseconds; and how many were executed whole."""
    rows = [
        Figure(
            f"author_lab.{TASK}.{case}", time_us, "us, predicted", "the roofline", roof_us, f"<= {CLOSE * roof_us:.4g}"
        )
        for case, (time_us, roof_us) in times.items()
    ]
    executed_whole = [execution for execution in executions if not execution.is_estimate]
    name, unit = f"author_lab.{TASK}.whole", "cases executed and compared whole"
    rows.append(Figure(name, len(executed_whole), unit, "the largest", len(times), f">= {len(times)}"))
    spent_s, workgroups = (
        sum(execution.seconds for execution in executed_whole),
        sum(execution.workgroups for execution in executed_whole),
    )
    return [*rows, Figure(f"{name}_seconds", spent_s, "s of one thread", "their workgroups", workgroups)]


def main() -> int:
    """Predict, execute, report."""
    settings, target, task = load_settings(), load_target(TARGET), load_task(TASK, TARGET)
    toolchain, cache = find_toolchain(settings.cache_folder / "toolchain"), settings.cache_folder / "kernels"
    evaluator = LabEvaluator(toolchain, cache, target, 0, settings.cores)
    predicted = evaluator.estimate(evaluator.prepare(winner(), task))
    if not predicted.verdict.accepted:
        raise LabError(f"the recorded kernel is refused: {predicted.verdict.findings[0].message}")
    largest = sorted(predicted.measurements, key=lambda m: -m.roofline_us)[:LARGEST]
    cases = [case for case in task.benchmarks if case.name in {m.case for m in largest}]
    lab = MachineLab(toolchain, cache, target, settings.cores)
    kept_rows = KeptRows("author_lab", [winner()], 0.0)
    rows = kept_rows.collect([(case.name, partial(executed, lab, cache, TASK, case, 0.0, winner())) for case in cases])
    executions = [Whole(**row) for row in rows]
    for execution in executions:
        print(f"{execution.case}: {execution.workgroups} workgroups in {execution.seconds:.1f} s", flush=True)
    times = {m.case: (m.time_us, m.roofline_us) for m in largest}
    return kept_rows.code(report("A kernel by an author with tools, in the lab", figures(times, executions)))


if __name__ == "__main__":
    sys.exit(main())

"""Recovery of the judge from faulty kernels: 200 faults in a row, each followed by a kernel that is right.

    python -m benchmarks.faults                                    a run stored from an H200
    python3 -m benchmarks.faults OUT [--faults N] [--seconds N]    collects: Python, numpy, NVRTC, driver

Fourteen ways to break (`fault_kernels.py`), in random order. Each verdict must blame the right thing, and the next one
must be right. Recovery is the time from a faulty kernel's verdict to the next right one, less the median time of
such a verdict with no fault before it. Quarantined GPUs and errors that call for a person are counted: none may be.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.collection import Collection, number, quantile
from benchmarks.collection import stored as measured
from benchmarks.fault_kernels import FAULTS, RIGHT, Fault
from records.errors import ScientistError
from sandbox.gpu.gpu_evaluator import GpuEvaluator, Rules
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Task

if TYPE_CHECKING:
    from benchmarks.figure import Figure

FILE = "faults_h200.json"
TASK = Path(__file__).parents[1] / "tests" / "kernels" / "exploits" / "tasks" / "scale"
SEED, COUNT, CALM = 7, 200, 12
DEADLINE_S = 1.0


class Bench:
    """An evaluator, and how many verdicts it was asked for."""

    def __init__(self, evaluator: GpuEvaluator, task: Task) -> None:
        self.evaluator, self.task, self.asked = evaluator, task, 0

    def ask(self, fault: Fault) -> dict[str, Any]:
        """Ask for the verdict on a text that was never seen before, and tell how long it took."""
        self.asked += 1
        before = time.perf_counter()
        try:
            evaluation = self.evaluator.verify(self.evaluator.prepare(fault.source(self.asked), self.task))
        except ScientistError as error:
            return {"seconds": time.perf_counter() - before, "accepted": False, "kinds": [], "error": str(error)}
        verdict = evaluation.verdict
        return {
            "seconds": time.perf_counter() - before,
            "accepted": verdict.accepted,
            "error": "",
            "kinds": sorted({f.kind for f in verdict.findings}),
            "message": verdict.findings[0].message[:160] if verdict.findings else "",
        }


def order(count: int) -> list[Fault]:
    """Draw so many faults, every way about as often, the same order each time."""
    faults = [FAULTS[i % len(FAULTS)] for i in range(count)]
    random.Random(SEED).shuffle(faults)
    return faults


def collect(out: Path, count: int, seconds: float) -> int:
    """Judge right ones in peace, then fault and right one in turn."""
    c = Collection(out, FILE, seconds)
    rows, results = list[dict[str, Any]](), dict[str, Any]()
    with tempfile.TemporaryDirectory() as folder:
        evaluator = GpuEvaluator(load_target("h200"), Path(folder), 0, rules=Rules(deadline_s=DEADLINE_S))
        c.about |= {"fingerprint": evaluator.device, "version": evaluator.version}
        bench = Bench(evaluator, load_task(TASK))
        bench.ask(RIGHT)  # the first one also works out the references
        results |= {"calm": [bench.ask(RIGHT) for _ in range(CALM)], "rows": rows, "planned": count}
        c.say(
            f"{sum(r['accepted'] for r in results['calm'])} of {CALM} right without a fault, median "
            f"{statistics.median(r['seconds'] for r in results['calm']):.2f} s"
        )
        for fault in order(count):
            if c.left_s() < 10:
                break
            answer, after = bench.ask(fault), bench.ask(RIGHT)
            blamed = not answer["accepted"] and bool(answer["kinds"]) and set(answer["kinds"]) <= fault.kinds
            rows.append({"fault": fault.name, "blamed_right": blamed, "said": answer, "after": after})
            if not blamed or not after["accepted"]:
                c.say(f"not as it must be: {rows[-1]}")
            if len(rows) % 20 == 0:
                c.say(f"{len(rows)} faults")
            c.save(results | {"quarantined": len(evaluator.gpus.quarantined())})
        evaluator.close()
    c.say(
        f"{len(rows)} faults, {sum(r['blamed_right'] for r in rows)} blamed right, "
        f"{sum(r['after']['accepted'] for r in rows)} right verdicts after them"
    )
    return int(not all(r["blamed_right"] and r["after"]["accepted"] for r in rows))


def recoveries(stored: Mapping[str, Any]) -> list[float]:
    """List the seconds that each right verdict took longer than one in peace."""
    calm_s = statistics.median(r["seconds"] for r in stored["calm"])
    return [max(0.0, row["after"]["seconds"] - calm_s) for row in stored["rows"]]


def figures(stored: Mapping[str, Any]) -> list[Figure]:
    """Give the blame, the verdict after it, recovery, and what needed a person."""
    from benchmarks.figure import Figure

    rows, late = stored["rows"], recoveries(stored)
    calm_s = statistics.median(r["seconds"] for r in stored["calm"])
    errors = sum(bool(r["said"]["error"]) + bool(r["after"]["error"]) for r in rows)
    return [
        Figure(
            "faults.blamed_right",
            sum(r["blamed_right"] for r in rows),
            "faults",
            "injected",
            len(rows),
            f">= {len(rows)}",
            FILE,
        ),
        Figure(
            "faults.next_verdict_right",
            sum(r["after"]["accepted"] for r in rows),
            "verdicts",
            "faults before them",
            len(rows),
            f">= {len(rows)}",
            FILE,
        ),
        Figure(
            "faults.recovery_p95",
            quantile(late, 0.95),
            "s",
            "a right verdict without a fault before it",
            calm_s,
            "< 15",
            FILE,
        ),
        Figure("faults.quarantines", stored["quarantined"], "GPUs", "faults", len(rows), "<= 0", FILE),
        Figure("faults.needing_a_person", errors, "errors", "faults", len(rows), "<= 0", FILE),
    ]


def main(words: Sequence[str]) -> int:
    """Collect, or print what was collected."""
    if words and not words[0].startswith("-"):
        return collect(Path(words[0]), int(number(words, "--faults", COUNT)), number(words, "--seconds", 420.0))
    from app.screen import say, table
    from benchmarks.figure import report

    stored = measured(FILE, "python3 -m benchmarks.faults OUT")
    about, rows = stored["about"], stored["rows"]
    say(
        f"Measured: {about['fingerprint']}, {about['date']}; {about['version']}; {len(rows)} of {stored['planned']} "
        "faults."
    )
    by = {name: [r for r in rows if r["fault"] == name] for name in dict.fromkeys(r["fault"] for r in rows)}
    table(
        ["fault", "times", "blamed right", "as", "next verdict right", "verdict, s", "next verdict, s"],
        [
            [
                name,
                str(len(same_fault)),
                str(sum(r["blamed_right"] for r in same_fault)),
                ", ".join(sorted({k for r in same_fault for k in r["said"]["kinds"]})),
                str(sum(r["after"]["accepted"] for r in same_fault)),
                f"{statistics.median(r['said']['seconds'] for r in same_fault):.2f}",
                f"{statistics.median(r['after']['seconds'] for r in same_fault):.2f}",
            ]
            for name, same_fault in by.items()
        ],
        right=[1, 2, 4, 5, 6],
    )
    return report("Faults on one GPU", figures(stored))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

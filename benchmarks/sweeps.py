"""Wrong kernels for warps of 32 lanes under several secrets, right ones, and the time of a verdict, on an NVIDIA GPU.

    python3 -m benchmarks.sweeps wrong OUT [--secrets N] [--seconds N] [--tasks NAME,...]
    python3 -m benchmarks.sweeps right OUT [--verdicts N] [--seconds N]
    python3 -m benchmarks.sweeps alone OUT [--secrets N] [--seconds N] [--tasks NAME,...]
    python3 -m benchmarks.sweeps time OUT [--turns N] [--tasks NAME,...]

`wrong` asks for each kernel several times, under a secret of its own each time; none may be accepted. Run again, the
judge's other secret is another, too. `right` takes the right kernels of `tests/kernels/warps` and the seeds of all
tasks; none may be refused. `alone` gives both a sweep and nothing else of a verdict. `time` prints seconds of a verdict
and of a benchmark of right kernels: run it in a checkout of an earlier commit, too, on the same machine in the same
hour, and compare the figures task by task.
"""

from __future__ import annotations

import argparse
import json
import secrets as secrets_of
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sandbox.gpu.child_process import ChildProcess
from sandbox.gpu.gpu_evaluator import GpuEvaluator, Rules
from sandbox.gpu.sweep_verify import SWEEP, SweepVerification
from sandbox.target import load_target
from tasks.loader import load_task, task_names
from tasks.task import Task

KERNELS = Path(__file__).parents[1] / "tests" / "kernels" / "warps"
TARGET = "h200"
DEADLINE_S = 3.0

Row = dict[str, Any]


def kernel_task(name: str) -> Task:
    """Load a shipped task, or one of those beside the kernels."""
    folder = KERNELS / "tasks" / name
    return load_task(folder if folder.is_dir() else name, TARGET)


def kernels(chosen: Sequence[str], *, is_right: bool) -> Iterator[tuple[str, str, str]]:
    """Yield task, name and source."""
    for folder in sorted(KERNELS.iterdir()):
        if folder.is_dir() and folder.name != "tasks" and (not chosen or folder.name in chosen):
            for file in sorted(folder.glob("*.hip")):
                if file.stem.startswith("right") == is_right:
                    yield folder.name, file.stem, file.read_text(encoding="utf-8")


def judged(judge: GpuEvaluator, task: Task, name: str, source: str) -> Row:
    """Return one verdict and its time."""
    began = time.monotonic()
    evaluation = judge.verify(judge.prepare(source, task))
    finding = evaluation.verdict.findings[0] if evaluation.verdict.findings else None
    return {
        "task": task.name,
        "name": name,
        "accepted": evaluation.verdict.accepted,
        "stage": evaluation.verdict.stage,
        "kind": finding.kind if finding else "",
        "case": finding.case if finding else "",
        "message": finding.message[:200] if finding else "",
        "seconds": round(time.monotonic() - began, 3),
        "swept": next((int(c.name.split()[0]) for c in evaluation.cases if c.name.endswith("shapes and values")), 0),
    }


def wrong(secrets: int, ends: float, chosen: Sequence[str]) -> Iterator[Row]:
    """Judge each wrong kernel so many times, each time as another candidate, whose sweep has a secret of its own."""
    with tempfile.TemporaryDirectory() as cache:
        judge = GpuEvaluator(load_target(TARGET), Path(cache), 0, rules=Rules(deadline_s=DEADLINE_S))
        tasks: dict[str, Task] = {}
        for task, name, source in kernels(chosen, is_right=False):
            for number in range(secrets if time.monotonic() < ends else 0):
                loaded = tasks.get(task) or tasks.setdefault(task, kernel_task(task))
                yield {**judged(judge, loaded, name, f"{source}// {number}\n"), "secret": number}
        judge.close()


def right(verdicts: int, ends: float, chosen: Sequence[str]) -> Iterator[Row]:
    """Judge right kernels in turn, each with a comment of its own, so that each has a sweep of its own."""
    sources = [(kernel_task(task), name, source) for task, name, source in kernels(chosen, is_right=True)]
    for name in task_names():
        task = load_task(name)
        if TARGET in task.targets and (not chosen or name in chosen):
            task = load_task(name, TARGET)
            sources += [(task, file.name, file.read_text(encoding="utf-8")) for file in task.seeds]
    sources.sort(key=lambda row: row[0].name)
    turns = -(-verdicts // max(1, len(sources)))
    with tempfile.TemporaryDirectory() as cache:
        judge = GpuEvaluator(load_target(TARGET), Path(cache), 0, rules=Rules(deadline_s=DEADLINE_S))
        for task, name, source in sources:
            for turn in range(turns):
                if time.monotonic() > ends:
                    break
                yield {**judged(judge, task, name, f"{source}// {turn}\n"), "turn": turn}
        judge.close()


def alone(secrets: int, ends: float, chosen: Sequence[str]) -> Iterator[Row]:
    """Sweep every kernel with nothing else of a verdict, under so many secrets, each in one process."""
    with tempfile.TemporaryDirectory() as cache:
        judge = GpuEvaluator(load_target(TARGET), Path(cache), 0, rules=Rules(deadline_s=DEADLINE_S))
        for name in chosen or sorted({task for task, _, _ in kernels((), is_right=True)}):
            task = kernel_task(name)
            sources = [(file, source, False) for _, file, source in kernels((name,), is_right=False)]
            sources += [(file, source, True) for _, file, source in kernels((name,), is_right=True)]
            sources += [(seed.name, seed.read_text(encoding="utf-8"), True) for seed in task.seeds]
            for file, source, is_right in sources:
                if time.monotonic() > ends:
                    break
                yield from _swept(judge, task, file, source, is_right, secrets)
        judge.close()


def _swept(judge: GpuEvaluator, task: Task, name: str, source: str, is_right: bool, secrets: int) -> Iterator[Row]:
    """Yield the rows of one kernel; a fault of its process is its last one."""
    evaluation, compiled = judge._build(judge.prepare(source, task))
    row: Row = {"task": task.name, "name": name, "is_right": is_right, "accepted": False}
    if compiled is None:
        yield {**row, "stage": "compile", "message": str(evaluation.verdict)[:300]}
        return
    references, rows, ready = judge._references_of(task), list[Row](), compiled
    judge._makers.start(task)
    _ = references.families.names, references.families.ranges

    def work(child: ChildProcess) -> None:
        loaded = ready.load(child, "B", DEADLINE_S)
        for number in range(secrets):
            references._secret = secrets_of.randbits(62)
            began = time.monotonic()
            with SweepVerification(loaded, references, judge.target, SWEEP, judge._makers) as sweep:
                findings = sweep.run(lambda: False)
            verdict: Row = {"accepted": not findings, "secret": number, "swept": sweep.count}
            if findings:
                verdict |= {"case": findings[0].case, "message": findings[0].message[:160]}
            rows.append({**row, **verdict, "seconds": round(time.monotonic() - began, 3)})

    fault = judge._on_child(work)
    yield from rows
    if fault is not None:
        yield {**row, "message": fault.message, "case": fault.case}


def timed(turns: int, chosen: Sequence[str]) -> Iterator[Row]:
    """Time verdicts and benchmarks of right kernels; the first of a task computes references that the others share."""
    with tempfile.TemporaryDirectory() as cache:
        judge = GpuEvaluator(load_target(TARGET), Path(cache), 0, rules=Rules(deadline_s=DEADLINE_S))
        for name, kernel, source in kernels(chosen, is_right=True):
            task = kernel_task(name)
            for turn in range(turns if kernel == "right" else 0):
                row, began = judged(judge, task, kernel, f"{source}// {turn}\n"), time.monotonic()
                judge.benchmark(judge.prepare(f"{source}// {turn}\n", task))
                yield {**row, "turn": turn, "benchmark_s": round(time.monotonic() - began, 3)}
        judge.close()


def main(words: Sequence[str]) -> int:
    """Collect, print a line for each verdict, and write all of them to a file."""
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.sweeps")
    parser.add_argument("what", choices=("wrong", "right", "alone", "time"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--secrets", type=int, default=5)
    parser.add_argument("--verdicts", type=int, default=200)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--tasks", default="")
    options = parser.parse_args(words)
    chosen, ends, rows = [n for n in options.tasks.split(",") if n], time.monotonic() + options.seconds, list[Row]()
    runs = {
        "wrong": lambda: wrong(options.secrets, ends, chosen),
        "right": lambda: right(options.verdicts, ends, chosen),
        "alone": lambda: alone(options.secrets, ends, chosen),
        "time": lambda: timed(options.turns, chosen),
    }
    bad = 0
    for row in runs[options.what]():
        rows.append(row)
        is_bad = row["accepted"] != row.get("is_right", options.what != "wrong")
        bad += is_bad
        sys.stdout.write(f"{'!!' if is_bad else '  '} {json.dumps(row)}\n")
        sys.stdout.flush()
        options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{options.what}: {len(rows)} verdicts, {bad} not as they must be\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

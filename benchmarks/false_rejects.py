"""Rate of false rejections: independent right kernels of every task, judged repeatedly on new inputs.

    python -m benchmarks.false_rejects [--repeats N] [--seconds N]     in the lab, now, on small copies of the tasks
    python -m benchmarks.false_rejects --on h200              verdicts stored from an H200, on the whole tasks
    python3 -m benchmarks.false_rejects OUT [--repeats N] [--seconds N]      collects those: Python, numpy and CUDA

Every repeat has its own inputs, held-out shapes and input families: on a GPU a judge with a secret of its own, several
of which are at work at the same time. With no rejection in n trials the true rate is below 3/n with a confidence of
95 %, which is printed as the upper bound. In the lab an interrupted run, or one whose seconds are over, goes on when
it is started again.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.collection import Collection, number
from benchmarks.collection import stored as measured
from benchmarks.kept_rows import KeptRows, Row, say
from records.errors import ScientistError
from records.evaluation import Evaluation
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.prepare import Prepared
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.gpu_evaluator import GpuEvaluator
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Task
from tests.kernels.mutants.mutants import SMALL, right_kernels, small

if TYPE_CHECKING:
    from benchmarks.figure import Figure

FILE = "false_rejects_h200.json"
CACHE = Path(".cache") / "benchmarks"
OWN = {("fp8_block_gemm", "h200"): "seed*.h200.hip"}  # the others there are written for gfx942's fp8
JUDGES, COMPILERS = 6, 4


class Judge(Protocol):
    """The part of a sandbox that these figures need."""

    def prepare(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Prepared:
        """Return the candidate as `verify` takes it."""

    def verify(self, prepared: Prepared) -> Evaluation:
        """Execute and compare all cases."""

    def benchmark(self, prepared: Prepared) -> Evaluation:
        """Verify, then time."""


@contextlib.contextmanager
def judge_on(place: str, seed: int = 7) -> Iterator[Judge]:
    """Open the lab, or this machine's GPU of that target."""
    if place == "lab":
        yield LabEvaluator(find_toolchain(CACHE.resolve()), CACHE.resolve(), load_target("mi300x"), seed)
        return
    with TemporaryDirectory() as cache:
        evaluator = GpuEvaluator(load_target(place), Path(cache), seed)
        try:
            yield evaluator
        finally:
            evaluator.close()


def upper_bound(rejected: int, trials: int) -> float:
    """Return the largest rate that leaves so few rejections a chance of 5 % (Clopper and Pearson, one-sided)."""
    if rejected >= trials:
        return 1.0
    low, high = rejected / trials, 1.0
    for _ in range(60):
        rate = (low + high) / 2
        chance, term = 0.0, (1 - rate) ** trials
        for count in range(rejected + 1):
            chance += term
            term *= (trials - count) / (count + 1) * rate / (1 - rate) if rate < 1 else 0.0
        low, high = (rate, high) if chance > 0.05 else (low, rate)
    return high


def kernels(name: str, place: str) -> list[Path]:
    """List the independent right kernels of a task for a target."""
    own = OWN.get((name, place))
    return sorted(load_task(name, place).folder.glob(own)) if own else right_kernels(name)


class Trials:
    """All kernels of all tasks, judged by one judge after another; the judges share a compiler and a GPU."""

    def __init__(self, c: Collection, place: str, folder: Path) -> None:
        """Raise DeviceError when this machine's GPU is of another kind."""
        self.c, self.target, self.folder, self.rows = c, load_target(place), folder, list[dict[str, Any]]()
        self.compiler = GpuCompiler(self.target, folder, COMPILERS)
        self.tasks = {name: load_task(name, place) for name in SMALL}
        self._lock = threading.Lock()

    def repeat(self, salt: int) -> None:
        """Judge every kernel once, by a judge with a new secret; nothing when the time is up."""
        if self.c.left_s() < 10:
            return
        evaluator = GpuEvaluator(self.target, self.folder, 0, compiler=self.compiler, spares=1)
        try:
            self.c.about |= {"fingerprint": evaluator.device, "version": evaluator.version}
            for name, task in self.tasks.items():
                for path in kernels(name, self.target.name):
                    self._judge(evaluator, salt, task, path)
        finally:
            evaluator.gpus.close()  # and not the compiler

    def _judge(self, evaluator: GpuEvaluator, salt: int, task: Task, path: Path) -> None:
        verdict = evaluator.verify(evaluator.prepare(path.read_text(encoding="utf-8"), task)).verdict
        said = "" if verdict.accepted else f"{verdict.findings[0].kind}: {verdict.findings[0].message}"
        with self._lock:
            self.rows.append({"repeat": salt, "task": task.name, "kernel": path.stem, "rejected": said})
            if said:
                self.c.say(f"rejected: {self.rows[-1]}")
            if len(self.rows) % 50 == 0:
                self.c.say(f"{len(self.rows)} verdicts")
                self.save()

    def save(self) -> None:
        """Save all rows so far."""
        self.c.save({"rows": self.rows})


def collect(out: Path, repeats: int, seconds: float, place: str = "h200") -> int:
    """Judge all right kernels so often, or as often as the time allows."""
    c = Collection(out, FILE, seconds)
    with TemporaryDirectory() as folder:
        trials = Trials(c, place, Path(folder))
        try:
            with ThreadPoolExecutor(JUDGES) as pool:
                for _ in pool.map(trials.repeat, range(repeats)):
                    pass
        except ScientistError as error:
            c.say(f"ended early: {error}")
            return 1
        finally:
            trials.save()
            trials.compiler.close()
    c.say(f"{len(trials.rows)} verdicts, {sum(bool(r['rejected']) for r in trials.rows)} rejected")
    return 0


def in_the_lab(kept: KeptRows, repeats: int) -> list[Row]:
    """Judge the same rows, from small copies of the tasks; every kernel once, then every kernel again."""
    with judge_on("lab") as judge:

        def made(salt: int, name: str, path: Path) -> Row:
            verdict = judge.verify(judge.prepare(path.read_text(encoding="utf-8"), small(name, salt))).verdict
            said = "" if verdict.accepted else verdict.findings[0].message
            if said:
                say(f"rejected: {name} {path.stem}, repeat {salt}: {said}")
            return {"repeat": salt, "task": name, "kernel": path.stem, "rejected": said}

        return kept.collect(
            [
                (f"{name} {path.stem}, repeat {salt}", partial(made, salt, name, path))
                for salt in range(repeats)
                for name in SMALL
                for path in right_kernels(name)
            ]
        )


def figures(rows: Sequence[Mapping[str, Any]], file: str = "") -> list[Figure]:
    """Count the rejections, and how many there may be in truth."""
    from benchmarks.figure import Figure

    trials, rejected = len(rows), sum(bool(r["rejected"]) for r in rows)
    return [
        Figure(
            "false_rejects.rejected",
            rejected,
            "verdicts",
            "verdicts on right kernels",
            trials,
            "<= 1" if trials >= 1000 else "<= 0",
            file,
        ),
        Figure(
            "false_rejects.upper_bound",
            upper_bound(rejected, trials),
            "of verdicts",
            "one in a thousand",
            0.001,
            "<= 0.005" if trials >= 1000 else "",
            file,
        ),
    ]


def main(words: Sequence[str]) -> int:
    """Collect, or print what was rejected and why, and two figures."""
    if words and not words[0].startswith("-"):
        return collect(Path(words[0]), int(number(words, "--repeats", 90)), number(words, "--seconds", 280.0))
    place = words[words.index("--on") + 1] if "--on" in words[:-1] else "lab"
    if place not in ("lab", "h200"):
        sys.exit(f"--on is lab or h200, not {place}")
    if place == "lab":
        repeats = int(number(words, "--repeats", 3))
        kept = KeptRows("false_rejects", [], number(words, "--seconds", 0.0))
        return kept.code(_report(place, in_the_lab(kept, repeats)))
    from app.screen import say as tell

    stored = measured(FILE, "python3 -m benchmarks.false_rejects OUT")
    about = stored["about"]
    tell(f"Measured: {about['fingerprint']}, {about['date']}; {about['version']}.")
    return _report(place, stored["rows"], FILE)


def _report(place: str, rows: Sequence[Mapping[str, Any]], file: str = "") -> int:
    from app.screen import say as tell
    from app.screen import table
    from benchmarks.figure import report

    for row in rows:
        if row["rejected"]:
            tell(f"rejected: {row['task']} {row['kernel']}, repeat {row['repeat']}: {row['rejected']}")
    verdicts = Counter((r["task"], r["kernel"]) for r in rows)
    table(
        ["task", "kernel", "verdicts", "rejected"],
        [
            [*name, str(count), str(sum(bool(r["rejected"]) for r in rows if (r["task"], r["kernel"]) == name))]
            for name, count in sorted(verdicts.items())
        ],
        right=[2, 3],
    )
    return report(f"Right kernels rejected by {place}", figures(rows, file))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

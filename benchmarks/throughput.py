"""Candidates an hour that one GPU verifies and times, and the share of time it is busy.

    python -m benchmarks.throughput                                                a run stored from an H200
    python3 -m benchmarks.throughput OUT [--limit N] [--seconds N] [--clients N]   collects: Python, numpy and CUDA

A fixed mix of 500 candidates (`mix.py`) as a search makes them. All are compiled in the background, ahead of the GPU;
a few threads ask for verdicts, the GPU serves one candidate at a time. The clock runs from the first compilation to
the last verdict, references for the comparisons included. Utilisation is given three times: the share of that time in
which a candidate has the GPU; in which its process is also at work (uploads, launches and downloads; not while the
judge compares); and as NVML samples it (a kernel runs at this moment).
Every verdict is compared with what its candidate is: one misjudged candidate makes the run fail.
"""

from __future__ import annotations

import ctypes
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.collection import Collection, number, quantile
from benchmarks.collection import stored as measured
from benchmarks.mix import Member, mix
from records.errors import PlanError, ScientistError
from records.evaluation import Evaluation
from sandbox.candidate.parse import parse
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.gpu_evaluator import GpuEvaluator, Rules
from sandbox.target import load_target

if TYPE_CHECKING:
    from benchmarks.figure import Figure

FILE = "throughput_h200.json"
CLIENTS, COMPILERS = 3, 4
LAST_S = 5.0  # before the end no other candidate is begun
DEADLINE_S = 3.0  # for one call of an endless kernel


class Busy(threading.Thread):
    """Samples the GPU's utilisation by NVML until it is stopped; no samples where there is no NVML."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.samples: list[int] = []
        self._done = threading.Event()

    def run(self) -> None:
        """Sample once each 0.2 s; a sample covers the driver's own last period, about as long."""
        try:
            library, handle = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
            if library.nvmlInit_v2() or library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)):
                return
        except (OSError, AttributeError):
            return
        rates = (ctypes.c_uint * 2)()
        while not self._done.wait(0.2):
            if library.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(rates)) == 0:
                self.samples.append(int(rates[0]))

    def stop(self) -> None:
        """Take no more samples."""
        self._done.set()
        self.join(5)


def compile_ahead(compiler: GpuCompiler, members: Sequence[Member]) -> None:
    """Have all that can be read compiled in the background, in the order of the mix."""
    for member in members:
        try:
            candidate = parse(member.source)
        except PlanError:
            continue  # its verdict needs no compiler
        compiler.submit(candidate, {**candidate.defaults(), **member.tunables})


def row_of(member: Member, evaluation: Evaluation, began_s: float, ended_s: float) -> dict[str, Any]:
    """Return the stored part of one verdict."""
    verdict = evaluation.verdict
    timed = bool(evaluation.measurements)
    right = verdict.accepted and timed if member.is_right else not verdict.accepted
    return {
        "class": member.kind,
        "task": member.task.name,
        "what": member.edit,
        "tunables": member.tunables,
        "stage": verdict.stage,
        "accepted": verdict.accepted,
        "timed": timed,
        "judged_right": right,
        "kinds": sorted({f.kind for f in verdict.findings}),
        "began_s": round(began_s, 3),
        "ended_s": round(ended_s, 3),
        "geomean_us": evaluation.geomean_us,
        "message": verdict.findings[0].message[:160] if verdict.findings else "",
    }


class Shift:
    """The members of a mix on their way past one evaluator; the threads that ask for verdicts share it."""

    def __init__(self, c: Collection, evaluator: GpuEvaluator, members: Sequence[Member], clients: int) -> None:
        self.rows: list[dict[str, Any]] = []
        self.errors: list[str] = []
        self._c, self._evaluator, self._members, self._clients = c, evaluator, members, clients
        self._waiting, self._lock, self._busy = iter(members), threading.Lock(), Busy()
        self._gpus, self._started = evaluator.gpus, time.monotonic()
        self._held_s, self._asked_s = self._gpus.held_s, self._gpus.asked_s

    def work(self, compiler: GpuCompiler) -> None:
        """Judge until all are, the time is up or the machine fails."""
        self._busy.start()
        compile_ahead(compiler, self._members)
        threads = [threading.Thread(target=self._serve) for _ in range(self._clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._busy.stop()
        self._save()

    def _serve(self) -> None:
        while self._c.left_s() > LAST_S and not self.errors:
            with self._lock:
                member = next(self._waiting, None)
            if member is None:
                return
            began = self._passed_s()
            try:
                evaluation = self._evaluator.benchmark(
                    self._evaluator.prepare(member.source, member.task, member.tunables)
                )
            except ScientistError as error:
                self.errors.append(f"{member.kind}, {member.edit}: {error}")
                return
            with self._lock:
                self._add(row_of(member, evaluation, began, self._passed_s()))

    def _add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        if not row["judged_right"]:
            self._c.say(f"misjudged: {row}")
        if len(self.rows) % 20 == 0:
            self._save()
            self._c.say(f"{len(self.rows)} judged, {3600 * len(self.rows) / self._passed_s():.0f} an hour")

    def _passed_s(self) -> float:
        return time.monotonic() - self._started

    def _save(self) -> None:
        self._c.save(
            {
                "members": len(self._members),
                "clients": self._clients,
                "wall_s": round(self._passed_s(), 3),
                "rows": self.rows,
                "leased_s": round(self._gpus.held_s - self._held_s, 3),
                "at_work_s": round(self._gpus.asked_s - self._asked_s, 3),
                "utilisation": self._busy.samples,
                "errors": self.errors,
            }
        )


def collect(out: Path, limit: int, seconds: float, clients: int) -> int:
    """Judge the mix, or as much of it as the time allows."""
    c, members, target = Collection(out, FILE, seconds), mix()[:limit], load_target("h200")
    with tempfile.TemporaryDirectory() as folder:
        compiler = GpuCompiler(target, Path(folder), COMPILERS)
        evaluator = GpuEvaluator(target, Path(folder), 0, compiler=compiler, rules=Rules(deadline_s=DEADLINE_S))
        c.about |= {"fingerprint": evaluator.device, "version": evaluator.version}
        shift = Shift(c, evaluator, members, clients)
        shift.work(compiler)
        evaluator.close()
    rows, errors = shift.rows, shift.errors
    c.say(f"{len(rows)} of {len(members)} judged, {sum(not r['judged_right'] for r in rows)} misjudged {errors}")
    is_short = len(rows) < len(members) and c.left_s() > LAST_S  # a thread has failed
    return int(bool(errors) or is_short or not all(r["judged_right"] for r in rows))


def figures(stored: Mapping[str, Any]) -> list[Figure]:
    """Give rates, busy shares, and misjudged candidates."""
    from benchmarks.figure import Figure

    rows, wall_s = stored["rows"], stored["wall_s"]
    judged, timed = len(rows), sum(r["timed"] for r in rows)
    spent = [r["ended_s"] - r["began_s"] for r in rows]
    used, leased, at_work = stored["utilisation"], *(100 * stored[name] / wall_s for name in ("leased_s", "at_work_s"))
    return [
        Figure(
            "throughput.candidates",
            3600 * judged / wall_s,
            "an hour",
            "verified and timed to the end",
            3600 * timed / wall_s,
            ">= 1500",
            FILE,
        ),
        Figure("throughput.gpu_leased", leased, "%", "the whole time", 100.0, "", FILE),
        Figure("throughput.gpu_at_work", at_work, "%", "leased", leased, ">= 70", FILE),
        *(
            [Figure("throughput.gpu_in_a_kernel", statistics.mean(used), "%", "at work", at_work, "", FILE)]
            if used
            else []
        ),
        Figure("throughput.latency_p95", quantile(spent, 0.95), "s", "median", statistics.median(spent), "", FILE),
        Figure(
            "throughput.misjudged",
            sum(not r["judged_right"] for r in rows) + len(stored["errors"]),
            "candidates",
            "judged",
            judged,
            "<= 0",
            FILE,
        ),
    ]


def main(words: Sequence[str]) -> int:
    """Collect, or print what was collected."""
    if words and not words[0].startswith("-"):
        return collect(
            Path(words[0]),
            int(number(words, "--limit", 500)),
            number(words, "--seconds", 540.0),
            int(number(words, "--clients", CLIENTS)),
        )
    from app.screen import say, table
    from benchmarks.figure import report

    stored = measured(FILE, "python3 -m benchmarks.throughput OUT")
    about, rows = stored["about"], stored["rows"]
    say(
        f"Measured: {about['fingerprint']}, {about['date']}; {about['version']}; {len(rows)} of {stored['members']} "
        f"candidates in {stored['wall_s']:.0f} s, asked for by {stored['clients']} threads."
    )
    by = Counter(r["class"] for r in rows)
    table(
        ["class", "judged", "accepted and timed", "rejected", "misjudged", "findings"],
        [
            [
                name,
                str(count),
                str(sum(r["class"] == name and r["timed"] and r["accepted"] for r in rows)),
                str(sum(r["class"] == name and not r["accepted"] for r in rows)),
                str(sum(r["class"] == name and not r["judged_right"] for r in rows)),
                ", ".join(sorted({k for r in rows if r["class"] == name for k in r["kinds"]})),
            ]
            for name, count in by.items()
        ],
        right=[1, 2, 3, 4],
    )
    return report("Candidates an hour on one GPU", figures(stored))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

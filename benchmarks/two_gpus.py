"""Candidates an hour that the GPUs of one machine judge through Ray, and a planted 1 % that they must still find.

    python3 -m benchmarks.two_gpus OUT --gpus N [--limit N] [--seconds N]   collects: Python, numpy, ml_dtypes, Ray
    python -m benchmarks.two_gpus                                           what is stored from two H200

The fixed mix of 500 candidates (`mix.py`) goes to a cluster of this machine with one station a GPU, three threads a
GPU ask for verdicts, and every verdict is compared with what its candidate is. Then each GPU is asked again and again
which of two right kernels is faster, of which one does 1 % more work, in either order, and about pairs of equals: all
GPUs at the same time. Collect with `--gpus 1` and `--gpus 2`, one after the other, on one machine.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.collection import Collection, number
from benchmarks.collection import stored as measured
from benchmarks.mix import Member, mix
from benchmarks.throughput import row_of
from cluster.cluster_link import ClusterAddress, ClusterLink, spec_of
from cluster.cluster_sandbox import ClusterSandbox
from records.errors import ScientistError
from sandbox.candidate.prepare import Prepared
from sandbox.target import load_target
from tasks.loader import load_task

if TYPE_CHECKING:
    from benchmarks.figure import Figure

FILE = "two_gpus_h200_{}.json"
TARGET = "h200"
CLIENTS = 3  # threads for each GPU
PAIRS = 12  # comparisons for each GPU, of each sort
WORK = (1000, 1010)  # rounds of a chain that dominates the time
LAST_S = 5.0
BEGIN = "const int lane = threadIdx.x;"
# Never zero, because its steps map only zero to zero: x stays as it is, which the compiler cannot know.
CHAIN = BEGIN + (
    "\n    unsigned chain = lane + 1u;\n    for (int i = 0; i < {0}; ++i) {{"
    "\n        chain ^= chain << 13; chain ^= chain >> 17; chain ^= chain << 5;\n    }}\n    x += (chain == 0u);"
)


def connected(gpus: int, cache: Path) -> tuple[ClusterLink, ClusterSandbox]:
    """Start a cluster of this machine with so many GPUs."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("KERNEL_SCIENTIST_")}
    environment = {**inherited, "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    link = ClusterLink(ClusterAddress("", {TARGET: float(gpus)}, environment=environment, log=cache / "ray.log"))
    stations = link.open(spec_of(TARGET, str(cache), "limits", False))
    if len(stations) != 1 or stations[0][1] != gpus:
        link.close()
        sys.exit(f"asked for {gpus} GPUs of one kind, and there are {stations}")
    return link, ClusterSandbox(link, stations[0][0], load_target(TARGET), 0, "mix")


class Crowd:
    """Threads that ask a sandbox for what a list holds."""

    def __init__(self, c: Collection, threads: int) -> None:
        self._c, self._threads, self._lock = c, threads, threading.Lock()
        self.errors: list[str] = []

    def work_through(self, items: Sequence[Any], work_on: Any) -> float:
        """Call `work_on` with each item; the seconds it took. A fault of the machine ends it."""
        waiting, began = iter(items), time.monotonic()

        def work() -> None:
            while self._c.left_s() > LAST_S and not self.errors:
                with self._lock:
                    item = next(waiting, None)
                if item is None:
                    return
                try:
                    work_on(item)
                except ScientistError as error:
                    self.errors.append(f"{type(error).__name__}: {error}")

        threads = [threading.Thread(target=work) for _ in range(self._threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.monotonic() - began


def chained(sandbox: ClusterSandbox, work: int, number: int) -> Prepared:
    """Write a right kernel whose time is that of a chain of so many rounds; each `number` has a text of its own."""
    task = load_task("rms_norm", TARGET)
    source = (task.folder / "seed_tunable.hip").read_text(encoding="utf-8")
    assert BEGIN in source
    source = source.replace(BEGIN, CHAIN.format(work)) + f"\n__device__ int candidate() {{ return {9000 + number}; }}\n"
    return sandbox.prepare(source, task, {"BLOCK": 256, "VEC": 4, "KEEP": 4})


def judged(c: Collection, sandbox: ClusterSandbox, members: Sequence[Member], crowd: Crowd) -> dict[str, Any]:
    """Judge the mix, asked for by a crowd."""
    rows: list[dict[str, Any]] = []
    started = time.monotonic()

    def judge(member: Member) -> None:
        began = time.monotonic() - started
        evaluation = sandbox.benchmark(sandbox.prepare(member.source, member.task, member.tunables))
        row = row_of(member, evaluation, began, time.monotonic() - started)
        rows.append(row)
        if not row["judged_right"]:
            c.say(f"misjudged: {row}")
        if len(rows) % 50 == 0:
            c.say(f"{len(rows)} judged, {3600 * len(rows) / (time.monotonic() - started):.0f} an hour")

    wall_s = crowd.work_through(members, judge)
    return {"members": len(members), "wall_s": round(wall_s, 3), "rows": rows}


def planted(c: Collection, sandbox: ClusterSandbox, pairs: int, crowd: Crowd) -> list[dict[str, Any]]:
    """Collect verdicts on pairs of which one does 1 % more work, and on equal ones."""
    rows: list[dict[str, Any]] = []
    questions = [(sort, i) for i in range(pairs) for sort in ("slower", "faster", "same")]

    def compare(pair: tuple[str, int]) -> None:
        sort, i = pair
        new, old = {"slower": (1, 0), "faster": (0, 1), "same": (0, 0)}[sort]
        comparison = sandbox.compare(chained(sandbox, WORK[new], 2 * i), chained(sandbox, WORK[old], 2 * i + 1))
        row = {
            "asked": sort,
            "verdict": comparison.verdict,
            "ratio": comparison.ratio,
            "low": comparison.low,
            "high": comparison.high,
        }
        rows.append(row)
        c.say(str(row))

    crowd.work_through(questions, compare)
    return rows


def collect(out: Path, gpus: int, limit: int, seconds: float) -> int:
    """Judge the mix, or as much of it as the time allows, then the planted pairs."""
    c, members = Collection(out, FILE.format(gpus), seconds), mix()[:limit]
    with tempfile.TemporaryDirectory() as folder:
        link, sandbox = connected(gpus, Path(folder))
        c.about |= {"fingerprint": sandbox.device, "version": sandbox.version, "gpus": gpus}
        c.say(f"{gpus} stations are ready")
        crowd = Crowd(c, CLIENTS * gpus)
        try:
            mixed = judged(c, sandbox, members, crowd)
            c.save({**mixed, "pairs": [], "errors": crowd.errors})
            pairs = planted(c, sandbox, PAIRS * gpus, crowd)
            stations = link.state()["supervisor"]["stations"]
        finally:
            link.close()
    c.save({**mixed, "pairs": pairs, "errors": crowd.errors, "stations": stations})
    rows = mixed["rows"]
    wrong = sum(not row["judged_right"] for row in rows)
    missed = [pair for pair in pairs if pair["verdict"] != pair["asked"] and pair["asked"] != "same"]
    false = [pair for pair in pairs if pair["asked"] == "same" and pair["verdict"] in ("faster", "slower")]
    c.say(
        f"{gpus} GPUs: {len(rows)} of {len(members)} judged in {mixed['wall_s']:.1f} s, {wrong} misjudged; 1 % more: "
        f"{len(missed)} missed and {len(false)} claimed of none, of {len(pairs)}; {crowd.errors}"
    )
    return int(bool(crowd.errors or wrong or missed or false or len(rows) < len(members)))


def figures(single: Mapping[str, Any], double: Mapping[str, Any]) -> list[Figure]:
    """Give rates, their ratio, misjudged candidates, and the planted gain."""
    from benchmarks.figure import Figure

    rates = [3600 * len(run["rows"]) / run["wall_s"] for run in (single, double)]
    rows, pairs = [*single["rows"], *double["rows"]], double["pairs"]
    real = [p for p in pairs if p["asked"] != "same"]
    equal = [p for p in pairs if p["asked"] == "same"]
    size = [100 * abs(p["ratio"] - 1) for p in real]
    name = FILE.format(2)
    return [
        Figure("two_gpus.candidates", rates[1], "an hour", "one GPU", rates[0], "", name),
        Figure("two_gpus.speedup", rates[1] / rates[0], "times", "GPUs", 2.0, ">= 1.9", name),
        Figure(
            "two_gpus.misjudged",
            sum(not r["judged_right"] for r in rows),
            "candidates",
            "judged",
            len(rows),
            "<= 0",
            name,
        ),
        Figure(
            "two_gpus.found",
            sum(p["verdict"] == p["asked"] for p in real),
            "pairs",
            "planted",
            len(real),
            f">= {len(real)}",
            name,
        ),
        Figure(
            "two_gpus.false",
            sum(p["verdict"] in ("faster", "slower") for p in equal),
            "pairs",
            "equal",
            len(equal),
            "<= 0",
            name,
        ),
        Figure("two_gpus.size", statistics.median(size), "%", "planted work", 1.0, "", name),
    ]


def main(words: Sequence[str]) -> int:
    """Collect, or print what was collected."""
    if words and not words[0].startswith("-"):
        return collect(
            Path(words[0]),
            int(number(words, "--gpus", 2)),
            int(number(words, "--limit", 500)),
            number(words, "--seconds", 540.0),
        )
    from benchmarks.figure import report

    single, double = (measured(FILE.format(n), f"python3 -m benchmarks.two_gpus OUT --gpus {n}") for n in (1, 2))
    return report("Two GPUs through Ray", figures(single, double))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

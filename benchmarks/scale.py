"""The cost of a cluster: overhead of an evaluation, efficiency with many GPUs, fair shares, a driver's memory.

    python -m benchmarks.scale [--gpus 2,8,64] [--seconds 2.0] [--only NAME,NAME] [--out DIR]
    python -m benchmarks.scale --stored    what lies in benchmarks/data

GPUs are simulated (`benchmarks.simulated`): each is an actor of its own that sleeps. All runs on one machine, so Ray,
the supervisor, the driver and the stations share its cores. Overhead is the wall time of an evaluation that takes no
time, less that of the same one without a cluster. Efficiency is the seconds that stations were asked to work, over
their number times the wall time. Fairness is Jain's index of the answers that three runs with equal and unequal demands
had while all three were asking.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.collection import Collection, stored
from benchmarks.figure import Figure, report
from benchmarks.processes import described_machine
from benchmarks.simulated import TARGET, SimulatedEvaluator, counted, linked, opened, source_of, task
from cluster.cluster_sandbox import ClusterSandbox
from sandbox.target import load_target

FILE = "scale.json"
QUIET = "scale_quiet.json"  # overhead and fair shares, where nothing else ran beside; they stand for those in FILE
CALLS = 300  # without a sleep, for the overhead
ROUNDS = 8  # evaluations of each GPU, for the efficiency
SHARED_S = 12.0  # of three runs at once
DEMANDS = {"a": 2, "b": 8, "c": 8}  # questions that three runs ask at once, of 4 GPUs
COMMON = 6  # kernels that all three ask for


def evaluate(sandbox: ClusterSandbox, name: str, seconds: float) -> float:
    """Measure the wall time of one evaluation in seconds."""
    prepared = sandbox.prepare(source_of(name, seconds), task())
    began = time.perf_counter()
    sandbox.benchmark(prepared)
    return time.perf_counter() - began


def overhead(folder: Path) -> list[Figure]:
    """Ask one question after the other, beside the same evaluator in this process."""
    link = linked(folder, 1)
    try:
        sandbox = opened(link, folder, 1)
        for number in range(10):
            evaluate(sandbox, f"warm {number}", 0.0)
        far = [evaluate(sandbox, f"far {number}", 0.0) for number in range(CALLS)]
    finally:
        link.close()
    near, local = [], SimulatedEvaluator(load_target(TARGET))
    for number in range(CALLS):
        prepared = local.prepare(source_of(f"near {number}", 0.0), task())
        began = time.perf_counter()
        local.benchmark(prepared)
        near.append(time.perf_counter() - began)
    local_ms = 1e3 * statistics.median(near)
    added = [1e3 * seconds - local_ms for seconds in far]
    return [
        Figure("scale.overhead", statistics.median(added), "ms", "without a cluster", local_ms, "<= 10"),
        Figure("scale.overhead_p95", sorted(added)[int(0.95 * len(added))], "ms", "without a cluster", local_ms),
    ]


def efficiency(folder: Path, gpus: int, seconds: float) -> list[Figure]:
    """Keep twice as many questions open as there are GPUs, as in a generation of so many experiments."""
    link = linked(folder, gpus)
    try:
        began = time.monotonic()
        sandbox = opened(link, folder, gpus)
        ready_s = time.monotonic() - began
        names = [f"{gpus} {number}" for number in range(ROUNDS * gpus)]
        began = time.monotonic()
        with ThreadPoolExecutor(2 * gpus) as pool:
            list(pool.map(lambda name: evaluate(sandbox, name, seconds), names))
        wall_s = time.monotonic() - began
    finally:
        link.close()
    answers = Counter(counted(folder, "done"))
    assert len(answers) == len(names) and set(answers.values()) == {1}
    share = len(names) * seconds / (gpus * wall_s)
    goal = ">= 0.9" if gpus == 64 else ""
    return [
        Figure(f"scale.efficiency_{gpus}", share, "of 1", f"s of wall time for {len(names)}", wall_s, goal),
        Figure(f"scale.start_{gpus}", ready_s, "s", "GPUs", gpus),
    ]


def fairness(folder: Path) -> list[Figure]:
    """Drive three runs at once on four GPUs; one asks for less than its share at a time, all for some kernels."""
    link = linked(folder, 4)
    answers = Counter[str]()
    try:
        first = opened(link, folder, 4, "a")
        until = time.monotonic() + SHARED_S

        def ask(run: str, thread: int) -> None:
            mine = ClusterSandbox(link, first.place, load_target(TARGET), 0, run)
            for number in range(COMMON):
                evaluate(mine, f"common {number}", 0.1)
            number = 0
            while time.monotonic() < until:
                evaluate(mine, f"{run} {thread} {number}", 0.2)
                answers[run] += time.monotonic() < until
                number += 1

        threads = [threading.Thread(target=ask, args=(run, i)) for run, many in DEMANDS.items() for i in range(many)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        link.close()
    twice = sum(count - 1 for count in Counter(counted(folder, "done")).values())
    shares = list(answers.values())
    index = sum(shares) ** 2 / (len(shares) * sum(share * share for share in shares))
    return [
        Figure("scale.fairness", index, "of 1", "runs", len(shares), ">= 0.9"),
        Figure("scale.judged_twice", twice, "kernels", "asked for by all three", COMMON, "<= 0"),
    ]


def collect(options: argparse.Namespace, root: Path) -> list[Figure]:
    """Measure one after the other; what is known lies in the folder that was asked for after each."""
    c = Collection(options.out or root, FILE, 1200.0)
    c.about |= {"device": described_machine(), "python": sys.version.split()[0]}
    known_figures: list[Figure] = []

    def add(figures: list[Figure]) -> None:
        """Say and keep the figures as soon as they are known."""
        known_figures.extend(figures)
        for figure in figures:
            c.say(f"{figure.figure}: {figure.value:.4g} {figure.unit}")
        c.save({"figures": [asdict(figure) for figure in known_figures]})

    for job in (overhead, fairness):
        if job.__name__ in options.only:
            folder = root / job.__name__
            folder.mkdir()
            add(job(folder))
    for gpus in (int(text) for text in options.gpus.split(",") if "efficiency" in options.only):
        folder = root / f"gpus-{gpus}"
        folder.mkdir()
        add(efficiency(folder, gpus, options.seconds))
    return known_figures


def stored_figures() -> list[Figure]:
    """Read the stored figures, each with its file."""
    by_name: dict[str, Figure] = {}
    for file in (FILE, QUIET):
        data = stored(file, "python -m benchmarks.scale --out DIR")
        by_name |= {figure["figure"]: replace(Figure(**figure), stored=file) for figure in data["figures"]}
    return list(by_name.values())


def main(words: Sequence[str] | None = None) -> int:
    """Measure, or print what is stored."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("--out", type=Path, help="a folder for the data")
    parser.add_argument("--stored", action="store_true", help="what an earlier run has found")
    parser.add_argument("--gpus", default="2,8,64", help="numbers of simulated GPUs")
    parser.add_argument("--seconds", type=float, default=2.0, help="of one evaluation, for the efficiency")
    parser.add_argument("--only", default="overhead,fairness,efficiency", help="some of these")
    options = parser.parse_args(words)
    if options.stored:
        return report("A cluster's cost", stored_figures())
    with tempfile.TemporaryDirectory() as root:
        return report("A cluster's cost", collect(options, Path(root)))


if __name__ == "__main__":
    sys.exit(main())

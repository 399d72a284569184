"""The loop's own cost: what one candidate costs when author and sandbox cost next to nothing, early and late in a run.

The run is the shipped graph with its shipped stand-ins (`benchmarks.scripted_loop`), three experiments a generation and
sources of 3.5 kB. CPU and wall time at a number of candidates are those of the last tenth before it, at least fifty of
them. Memory is the growth of the resident set from a tenth of the run to its end. Waits for the disk are the `fsync`
and `fdatasync` calls that strace counts in a run of its own. Beside it stand OpenEvolve 0.4.0 with a model and an
evaluator that cost nothing either, where an interpreter that has it is given (`--openevolve PYTHON`), a graph of
LangGraph's of the same shape whose nodes do nothing, and a durable step with a source of 100 kB against LangGraph's
`SqliteSaver` alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.durable_step import measured
from benchmarks.figure import Figure, report
from benchmarks.scripted_loop import SOURCE_LINES, Mark

ROOT = Path(__file__).resolve().parent.parent
LENGTHS = (100, 1_000, 10_000)
SYNCED = 90  # candidates of the run that strace watches
PEER = (100, 300)  # candidates of the two runs of OpenEvolve whose difference counts
BARE = 300  # candidates of the graph without content
STEPS, ROUNDS = 200, 3  # durable steps
GOALS = {"cpu": "<= 10", "late": "<= 1.25", "memory": "<= 1", "step": "<="}


def scripted(candidates: int, folder: Path, wrapper: Sequence[str] = ()) -> list[Mark]:
    """Return the marks of one run in a process of its own; a run that fails ends the benchmark."""
    argv = [*wrapper, sys.executable, "-m", "benchmarks.scripted_loop", str(candidates), str(folder)]
    process = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        sys.exit(f"the run of {candidates} candidates ended with {process.returncode}: {process.stderr.strip()[-500:]}")
    return [Mark(**mark) for mark in json.loads(process.stdout)]


def at(marks: Sequence[Mark], candidates: int) -> tuple[float, float]:
    """Give CPU and wall time of a candidate in milliseconds, over the last tenth before this number."""
    end = next(m for m in reversed(marks) if m.candidates <= candidates)
    start = next(m for m in reversed(marks) if m.candidates <= end.candidates - max(50, candidates // 10))
    count = end.candidates - start.candidates
    return 1e3 * (end.cpu_s - start.cpu_s) / count, 1e3 * (end.wall_s - start.wall_s) / count


def memory_mb(marks: Sequence[Mark]) -> float:
    """Give the growth of the resident set in MB for 1,000 candidates."""
    end = marks[-1]
    start = next(m for m in marks if m.candidates >= end.candidates // 10)
    return (end.rss_bytes - start.rss_bytes) / 1e6 / ((end.candidates - start.candidates) / 1e3)


def stored_bytes(folder: Path, pattern: str) -> int:
    """Return the size of the files of this pattern."""
    return sum(path.stat().st_size for path in folder.glob(pattern))


def syncs(folder: Path) -> float | None:
    """Count the waits for the disk for each candidate; None without strace."""
    if shutil.which("strace") is None:
        return None
    log = folder / "syncs.log"
    scripted(SYNCED, folder / "synced", ("strace", "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", str(log)))
    return len(re.findall(r"f(?:data)?sync\(", log.read_text())) / SYNCED


def openevolve(python: str, candidates: int, folder: Path) -> tuple[float, float]:
    """Measure CPU and wall seconds of a whole run of the peer, its own processes included."""
    folder.mkdir()
    source = folder / "source"
    source.write_text("// padding of the size of a kernel\n" * SOURCE_LINES)
    argv = [python, str(ROOT / "benchmarks" / "openevolve_loop.py"), str(candidates), str(folder), str(source)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.run(argv, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        sys.exit(f"OpenEvolve ended with {process.returncode}: {process.stderr.strip()[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def peer(python: str, folder: Path) -> tuple[float, float]:
    """Measure CPU and wall time of one of its candidates in milliseconds: the difference of two runs."""
    (cpu, wall), (cpu_more, wall_more) = (openevolve(python, n, folder / f"peer-{n}") for n in PEER)
    count = PEER[1] - PEER[0]
    return 1e3 * (cpu_more - cpu) / count, 1e3 * (wall_more - wall) / count


def bare_ms(folder: Path) -> float:
    """Measure the CPU of a candidate in a graph without content, in milliseconds."""
    folder.mkdir()
    argv = [sys.executable, "-m", "benchmarks.bare_loop", str(BARE), str(folder)]
    process = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        sys.exit(f"the graph without content ended with {process.returncode}: {process.stderr.strip()[-500:]}")
    return float(process.stdout)


def loop_figures(lengths: Sequence[int], folder: Path, python: str) -> list[Figure]:
    """Measure the long run, the one that strace watches, and the peer."""
    bare = bare_ms(folder / "bare")
    marks = scripted(lengths[-1], folder / "run")
    early = at(marks, lengths[0])
    figures = list[Figure]()
    other = peer(python, folder) if python else None
    anchor = "OpenEvolve 0.4.0" if other else f"at {lengths[0]} candidates; OpenEvolve is not installed"
    for length in lengths:
        cpu, wall = at(marks, length)
        cpu_anchor, wall_anchor = other or early
        figures.append(Figure(f"loop_rate.cpu_at_{length}", cpu, "ms", anchor, cpu_anchor, GOALS["cpu"]))
        figures.append(Figure(f"loop_rate.wall_at_{length}", wall, "ms", anchor, wall_anchor))
    late = at(marks, lengths[-1])[0] / early[0]
    ledger, checkpoint = (stored_bytes(folder / "run", f"{name}.db*") for name in ("ledger", "checkpoint"))
    size = marks[-1].rss_bytes / 1e6
    source = len("// padding of the size of a kernel\n") * SOURCE_LINES / 1e3
    figures += [
        Figure("loop_rate.langgraph", bare, "ms", f"CPU at {lengths[0]} candidates", early[0]),
        Figure("loop_rate.late_over_early", late, "times", f"CPU at {lengths[0]} candidates", 1.0, GOALS["late"]),
        Figure("loop_rate.memory", memory_mb(marks), "MB for 1,000", "the process at its end", size, GOALS["memory"]),
        Figure("loop_rate.ledger", ledger / lengths[-1] / 1e3, "kB", "one source", source),
        Figure("loop_rate.checkpoint", checkpoint / lengths[-1] / 1e3, "kB", "one source", source),
    ]
    waits = syncs(folder)
    if waits is not None:
        figures.append(Figure("loop_rate.syncs", waits, "waits", "evaluations stored", 3.0))
    return figures


def step_figures(folder: Path) -> list[Figure]:
    """Compare a durable step in records with one in the checkpoint alone: the ratio, as the median of the rounds."""
    rounds = []
    for number in range(ROUNDS):
        steps_folder = folder / f"steps-{number}"
        steps_folder.mkdir()
        rounds.append(measured(STEPS, steps_folder))
    ours, theirs = sorted(rounds, key=lambda pair: pair[0].wall_s / pair[1].wall_s)[ROUNDS // 2]
    anchor = "SqliteSaver alone, 100 kB source"
    return [
        Figure(
            "loop_rate.step_wall",
            1e3 * ours.wall_s,
            "ms",
            anchor,
            1e3 * theirs.wall_s,
            f"{GOALS['step']} {1e3 * theirs.wall_s:.4g}",
        ),
        Figure("loop_rate.step_cpu", 1e3 * ours.cpu_s, "ms", anchor, 1e3 * theirs.cpu_s),
        Figure("loop_rate.step_stored", ours.stored_bytes / 1e3, "kB", anchor, theirs.stored_bytes / 1e3),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.loop_rate", description=__doc__)
    options.add_argument("--openevolve", default="", metavar="PYTHON", help="an interpreter with OpenEvolve 0.4.0")
    options.add_argument("--longest", type=int, default=LENGTHS[-1], metavar="N", help="candidates of the long run")
    chosen = options.parse_args(arguments)
    lengths = [n for n in LENGTHS if n < chosen.longest] + [chosen.longest]
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
    with tempfile.TemporaryDirectory() as name:
        figures = [*loop_figures(lengths, Path(name), chosen.openevolve), *step_figures(Path(name))]
    return report("The loop's own cost for one candidate", figures)


if __name__ == "__main__":
    sys.exit(main())

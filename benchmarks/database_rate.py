"""The ledger's cost on SQLite and on Postgres: for a candidate, and as commits a second of one driver and of several.

A candidate's cost is that of `benchmarks.scripted_loop`: the shipped graph with an author and a sandbox that cost next
to nothing, three experiments a generation, sources of 3.5 kB. Processor time is the driver's own and, beside it, that
of all the server's processes; both hold on a busy machine, while wall times hold on a quiet one only. A commit is what
ends an experiment: evaluation, attempt and event. The server is one of its own with `fsync` on, here, reached over TCP.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from benchmarks.figure import Figure, report
from benchmarks.processes import cpu_s
from postgres.shared_database import open_shared
from records.evaluation import Evaluation, Verdict
from records.experiment import Attempt, Run
from records.ledger import Ledger
from tests.support.postgres_server import PostgresServer, programs, serving

if TYPE_CHECKING:
    from benchmarks.scripted_loop import Mark

ROOT = Path(__file__).resolve().parent.parent
COMMITS = 300  # of each driver
DRIVERS = (1, 8)
LOOP = "-m benchmarks.scripted_loop"


def looped(candidates: int, folder: Path, *database: str) -> list[Mark]:
    """Return the marks of one run in a process of its own; a run that fails ends the benchmark."""
    folder.mkdir()
    argv = [sys.executable, *LOOP.split(), str(candidates), str(folder), *database]
    process = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        sys.exit(f"the run of {candidates} candidates ended with {process.returncode}: {process.stderr.strip()[-500:]}")
    from benchmarks.scripted_loop import Mark  # and the graph with it, which those that only write need not wait for

    return [Mark(**mark) for mark in json.loads(process.stdout)]


def server_cpu_s(server: PostgresServer) -> float:
    """Sum the processor time of the server's processes, those that have ended included."""
    return sum(cpu_s(pid, with_ended_children=True) for pid in server.processes())


def loop_figures(candidates: int, folder: Path, server: PostgresServer) -> list[Figure]:
    """Give the cost of a candidate on either database, over the whole run."""
    url = server.ledger()
    before = server_cpu_s(server), *_statistics(server, url)
    postgres = looped(candidates, folder / "postgres", url)
    after = server_cpu_s(server), *_statistics(server, url)
    sqlite = looped(candidates, folder / "sqlite")
    cpu, commits, size = ((b - a) / candidates for a, b in zip(before, after, strict=True))
    files = sum(path.stat().st_size for path in (folder / "sqlite").glob("*.db*")) / candidates
    figures = []
    for name, of in (("cpu", lambda m: m.cpu_s), ("wall", lambda m: m.wall_s)):
        ours, theirs = (1e3 * _spent(marks, of) for marks in (postgres, sqlite))
        figures.append(Figure(f"database_rate.{name}", ours, "ms", "SQLite", theirs))
    late, early = (1e3 * _spent(postgres, lambda m: m.cpu_s, part) for part in ((0.8, 1.0), (0.0, 0.2)))
    memory = (postgres[-1].rss_bytes - postgres[len(postgres) // 10].rss_bytes) / 1e6 / (0.9 * candidates / 1e3)
    memory_here = (sqlite[-1].rss_bytes - sqlite[len(sqlite) // 10].rss_bytes) / 1e6 / (0.9 * candidates / 1e3)
    return [
        *figures,
        Figure("database_rate.late", late, "ms", "CPU of the first fifth", early),
        Figure("database_rate.memory", memory, "MB for 1,000", "SQLite", memory_here),
        Figure("database_rate.server_cpu", 1e3 * cpu, "ms", "the driver's", figures[0].value),
        Figure("database_rate.commits", commits, "commits", "evaluations stored", 3.0),
        Figure("database_rate.size", size / 1e3, "kB", "SQLite", files / 1e3),
    ]


def _spent(marks: list[Mark], of: Callable[[Mark], float], part: tuple[float, float] = (0.0, 1.0)) -> float:
    """Return the seconds a candidate over a part of the run."""
    first, last = (marks[round(share * (len(marks) - 1))] for share in part)
    return (of(last) - of(first)) / (last.candidates - first.candidates)


def _statistics(server: PostgresServer, url: str) -> tuple[float, float]:
    """Return a database's commits so far, and its size in bytes."""
    name = url.rpartition("/")[2]
    server.execute("postgres", "SELECT pg_stat_force_next_flush()")
    time.sleep(1.0)  # until the driver that has just ended has told the server's statistics
    query = f"SELECT xact_commit, pg_database_size(datname) FROM pg_stat_database WHERE datname = '{name}'"
    ((commits, size),) = server.execute("postgres", query)
    return float(str(commits)), float(str(size))


def write(address: str, name: str) -> None:
    """Make commits as experiments do, once a line comes on standard input."""
    with open_shared(SecretStr(address)) if "://" in address else Ledger(Path(address)) as ledger:
        ledger.add_run(Run(name, "t", "mi300x", "lab", "playbook", 7))
        evaluation = Evaluation("k", "c", {}, Verdict("time", True, "OK"), explanation="x" * 3000)
        attempt = Attempt("a", name, "e", 1, 0, "c", "s", "accepted", "k")
        print(flush=True)
        sys.stdin.readline()
        for number in range(COMMITS):
            key = f"{name}-{number}"
            with ledger.together():
                ledger.add_evaluation(name, replace(evaluation, key=key))
                ledger.add_attempt(replace(attempt, id=f"a{number}", evaluation_key=key))
                ledger.event(name, "attempt", {"number": number}, f"attempt:{number}")


def rate(address: str, drivers: int) -> float:
    """Measure the commits a second of so many drivers at once."""
    argv = [sys.executable, "-m", "benchmarks.database_rate", "--write", address]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": ROOT}
    at_work = [subprocess.Popen([*argv, f"run-{drivers}-{n}"], **pipes) for n in range(drivers)]  # type: ignore[call-overload]
    for process in at_work:
        process.stdout.readline()
    start = time.perf_counter()
    for process in at_work:
        process.stdin.write(b"\n")
        process.stdin.flush()
    codes = [process.wait() for process in at_work]
    if any(codes):
        sys.exit("a driver that writes has failed")
    return drivers * COMMITS / (time.perf_counter() - start)


def main() -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=1_000)
    parser.add_argument("--write", nargs=2, metavar=("PLACE", "RUN"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write(*options.write)
        return 0
    if programs() is None:
        sys.exit("the programs of PostgreSQL are not installed; install the package of its server")
    with tempfile.TemporaryDirectory() as temporary, serving(is_durable=True) as server:
        folder, url, figures = Path(temporary), server.ledger(), list[Figure]()
        for drivers in DRIVERS:
            ours, theirs = rate(url, drivers), rate(str(folder / "ledger.db"), drivers)
            figures.append(Figure(f"database_rate.commits_of_{drivers}", ours, "a second", "SQLite", theirs))
        figures += loop_figures(options.candidates, folder, server)
        return report("The ledger on SQLite and on Postgres", figures)


if __name__ == "__main__":
    sys.exit(main())

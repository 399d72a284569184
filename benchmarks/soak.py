"""A run of a night's length in simulated time, with a fault a minute: what it takes of memory, descriptors and disk.

    python -m benchmarks.soak [--attempts 2000] [--seed 1] [--rows FILE]

The clock moves on with each answer of the model, each evaluation and each wait, and the limit of wall time goes by it.
The server on this machine never answers twice the same and fails once a minute of its work, in twelve ways that pass;
every 97th evaluation meets a machine at fault. Author, gateway, ledger and graph are real, and the sandbox believes
comments. After each generation the process looks at what it holds; the slopes are those of the second half.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import statistics
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from agents.model.endpoint import ROLES, Endpoint, Price
from agents.model.gateway import Gateway
from agents.scientist.scientist import Scientist
from benchmarks.figure import Figure, report
from benchmarks.night import NightSandbox, NightServer, SimulatedClock
from benchmarks.processes import cpu_s
from graph import Limits
from graph.context import Context
from graph.doubles import ScriptedAuthor, table_context, table_task
from graph.drive import drive
from records.allowance import Allowance
from records.run_meter import RunMeter

BUDGET_USD, NIGHT_S, PATIENCE_S = 100.0, 7 * 86_400.0, 3600.0
PICKS = 4
ATTEMPTS_A_PICK = 2.6  # with those that were tried at the bench; only to know how many generations to ask for
SEED = "// time_us = 100\n// roofline_us = 0.01\n"
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Look:
    """The process after one generation."""

    attempts: int
    simulated_s: float
    memory_mb: float
    descriptors: int
    threads: int
    disk_kb: float
    cpu_s: float


class Night:
    """One run and the looks at it."""

    def __init__(self, folder: Path, attempts: int, seed: int) -> None:
        self.folder, self.attempts, self.looks = folder, attempts, list[Look]()
        self.clock = SimulatedClock()
        self.server = NightServer(self.clock, seed)
        self.sandbox = NightSandbox(self.clock)

    def context(self) -> Context:
        """Set up the run."""
        generations = int(self.attempts / (PICKS * ATTEMPTS_A_PICK)) + 1
        limits = Limits(generations=generations, picks=PICKS, stagnation=10**6, roofline_fraction=2.0)
        nobody = ScriptedAuthor(lambda generation: (), lambda step, base: "")
        plain = table_context(self.folder, table_task(self.folder / "task", SEED), nobody, limits)
        models = {role: role for role in ROLES}
        end = Endpoint(self.server.url, "nobody", SecretStr("sk-of-nobody"), models, Price(1.0, 4.0), tools="calls",
                       patience_s=PATIENCE_S)  # fmt: skip
        run = replace(plain.run, author="llm")
        allowance = Allowance(budget_usd=BUDGET_USD, max_wall_seconds=NIGHT_S)
        meter = RunMeter(plain.ledger, run.id, allowance, False, self.clock.now)
        gateway = Gateway(end, plain.ledger, plain.artefacts, BUDGET_USD, self.clock.sleep, meter)
        return replace(plain, run=run, author=Scientist(gateway), sandbox=self.sandbox, given_meter=meter)

    def drive(self) -> Context:
        """Run it to its end."""
        with self.server:
            context = self.context()

            def look(event: Mapping[str, Any]) -> None:
                if event.get("event") == "generation":
                    self.look(context)

            drive(context, self.folder / "checkpoint.db", look)
        return context

    def look(self, context: Context) -> None:
        """Note what the process holds, without what the allocator keeps for later."""
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE
        disk = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        (count,) = context.ledger.engine.read("SELECT count(*) FROM attempts")[0]
        threads, descriptors = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
        seconds = self.clock.now()
        used = cpu_s(os.getpid())
        self.looks.append(Look(count, seconds, resident / 1e6, descriptors, threads, disk / 1e3, used))
        if len(self.looks) % 10 == 1:
            print(self.looks[-1], file=sys.stderr, flush=True)


def slope(looks: Sequence[Look], field: str) -> float:
    """Give the change of a field for an attempt over the second half, by least squares."""
    half = looks[len(looks) // 2 :]
    if len({look.attempts for look in half}) < 2:
        return 0.0
    values = [float(getattr(look, field)) for look in half]
    return statistics.linear_regression([look.attempts for look in half], values).slope


def growth(looks: Sequence[Look], field: str) -> int:
    """Give by how much the most of the second half is above the most of the first."""
    values = [int(getattr(look, field)) for look in looks]
    return max(values[len(values) // 2 :]) - max(values[: len(values) // 2], default=0)


def figures(night: Night, run_status: str, lost: int, failed: int) -> list[Figure]:
    """Give what the night took."""
    last, faults = night.looks[-1], night.server.faults
    minutes, worked = last.simulated_s / 60, night.server.worked_s / 60
    return [
        Figure("soak.attempts", last.attempts, "attempts", "simulated minutes", minutes, ">= 2000"),
        Figure("soak.done", run_status == "done", "runs", "runs", 1, ">= 1"),
        Figure("soak.faults", faults, "faults", "minutes that the server worked", worked),
        Figure("soak.machine_faults", night.sandbox.faults, "faults", "attempts", last.attempts),
        Figure("soak.failed", failed, "experiments", "faults of the machine", night.sandbox.faults),
        Figure("soak.lost", lost, "answers", "faults", faults),
        Figure("soak.memory", 1000 * slope(night.looks, "memory_mb"), "MB for 1,000 attempts", "MB held at the end",
               last.memory_mb, "< 1"),
        Figure("soak.descriptors", growth(night.looks, "descriptors"), "more in the second half", "descriptors",
               last.descriptors, "<= 2"),
        Figure("soak.threads", growth(night.looks, "threads"), "more in the second half", "threads", last.threads,
               "<= 2"),
        Figure("soak.disk", 1000 * slope(night.looks, "disk_kb") / 1000, "kB an attempt", "kB in all", last.disk_kb),
        Figure("soak.cpu", 1e3 * slope(night.looks, "cpu_s"), "ms an attempt", "ms, of all attempts",
               1e3 * (last.cpu_s - night.looks[0].cpu_s) / max(1, last.attempts)),
    ]  # fmt: skip


def main(words: Sequence[str] | None = None) -> int:
    """Run a night and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak")
    parser.add_argument("--attempts", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=Path, help="a file for one line of JSON a generation")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="ks-soak-") as folder:
        night = Night(Path(folder), options.attempts, options.seed)
        context = night.drive()
        ledger, run_id = context.ledger, context.run.id
        run, (lost, _) = ledger.run(run_id), ledger.lost(run_id)
        failed = sum(attempt.status == "failed" for attempt in ledger.attempts(run_id))
        ledger.close()
    print(run.stop_reason, file=sys.stderr)
    if options.rows:
        options.rows.write_text("".join(json.dumps(asdict(look)) + "\n" for look in night.looks), encoding="utf-8")
    return report("A night in simulated time", figures(night, run.status, lost, failed))


if __name__ == "__main__":
    sys.exit(main())

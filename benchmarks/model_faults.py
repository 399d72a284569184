"""Runs of the whole graph against an endpoint with one fault, for each fault and each role that asks a model.

    python -m benchmarks.model_faults [--only TEXT] [--roles coder,critic] [--rows FILE]

The endpoint is on this machine and answers rightly but for the fault (faulty_endpoint.py, model_fault_table.py).
Author, provider, ledger and graph are real, the sandbox believes comments. Waits are counted and not waited, so that
hours pass in seconds. Counted are runs that never end (a request limit and a watchdog), that end by an exception which
is no sentence of ours, that accept a kernel out of an answer that was cut off, that are charged more than their budget,
and the runs with one fault that passes which finish without a person.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import SecretStr

from agents.model.endpoint import ROLES, Endpoint, Price
from agents.model.gateway import Gateway
from agents.scientist.scientist import Scientist
from benchmarks.faulty_endpoint import CUT_MARK, MOST_REQUESTS, FaultyEndpoint
from benchmarks.figure import Figure, report
from benchmarks.model_fault_table import DEADLINE_S, ModelFault, table
from graph import Limits
from graph.context import Context
from graph.doubles import ScriptedAuthor, table_context, table_task
from graph.drive import drive
from records.errors import ScientistError
from records.spending_room import ROUNDING_USD

SEED = "// time_us = 100\n// roofline_us = 0.5\n// waves = 4\n// scratch = 0\n"
FIRST = "retriever"  # the role that asks first
BUDGET_USD, PRICE = 2.0, Price(1.0, 4.0)
WATCHDOG_S = 60.0
PATIENCE_S = 1800.0  # of hours there would be hundreds of requests, each with its minute


@dataclass(frozen=True)
class Outcome:
    """One run. `requests` are those of the role with the fault."""

    fault: str
    kind: str
    role: str
    status: str
    why: str
    requests: int
    total: int
    seconds: float
    usd: float
    is_endless: bool = False
    is_crash: bool = False
    cut_kernels: int = 0

    @property
    def is_finished(self) -> bool:
        """True where no person is needed."""
        return self.status == "done" and not self.is_endless


def short(seconds: float) -> None:
    """Wait for a moment: who waits counts the whole of it, and here it only lets other threads work."""
    time.sleep(min(seconds, 0.002))


def made(folder: Path, url: str) -> Context:
    """Set up a run of two generations with the real author."""
    nobody = ScriptedAuthor(lambda generation: (), lambda step, base: "")
    limits = Limits(generations=2, picks=2, tries=2)
    plain = table_context(folder, table_task(folder / "task", SEED), nobody, limits)
    models = {role: role for role in ROLES}
    end = Endpoint(
        url,
        "nobody",
        SecretStr("sk-of-nobody"),
        models,
        PRICE,
        timeout_s=DEADLINE_S,
        max_tokens=32_000,
        patience_s=PATIENCE_S,
    )
    gateway = Gateway(end, plain.ledger, plain.artefacts, BUDGET_USD, short)
    return replace(plain, run=replace(plain.run, author="llm"), author=Scientist(gateway))


def one(fault: ModelFault, role: str, folder: Path) -> Outcome:
    """Run with this fault at this role."""
    began, ended = time.monotonic(), threading.Event()
    with FaultyEndpoint(role, fault.act) as server:

        def watch() -> None:
            if not ended.wait(WATCHDOG_S):
                server.is_over = True

        threading.Thread(target=watch, daemon=True).start()
        context = made(folder, server.url)
        with ThreadPoolExecutor(1) as pool:
            error = pool.submit(drive, context, folder / "checkpoint.db").exception()
        crash = "" if error is None or isinstance(error, ScientistError) else f"{type(error).__name__}: {error}"
        ended.set()
        run, spend = context.ledger.run(context.run.id), context.ledger.spend(context.run.id)
        accepted = [a for a in context.ledger.attempts(run.id) if a.status == "accepted"]
        cut = sum(CUT_MARK in context.artefacts.text(a.source) for a in accepted)
        context.ledger.close()
        return Outcome(
            fault.name,
            fault.kind,
            role,
            run.status,
            crash or run.stop_reason,
            server.requests[role],
            server.total,
            round(time.monotonic() - began, 2),
            spend.usd,
            server.is_over,
            bool(crash),
            cut,
        )


def chosen(faults: Sequence[ModelFault], roles: Sequence[str], only: str) -> list[tuple[ModelFault, str]]:
    """List the runs; a contradiction is none at the first request of a run."""
    return [
        (fault, role)
        for fault in faults
        for role in roles
        if only in fault.name and not (fault.contradicts and role == FIRST)
    ]


def figures(rows: Sequence[Outcome]) -> list[Figure]:
    """Give the figures of all runs."""
    single = [row for row in rows if row.kind == "passing"]
    healthy = [row for row in rows if row.kind in ("quirk", "answer")]
    names = len({row.fault for row in rows})

    def share(some: Sequence[Outcome]) -> float:
        return 100.0 * sum(row.is_finished for row in some) / max(1, len(some))

    count = f"faults, {len(rows)} runs"
    return [
        Figure("model_faults.faults", names, "faults", "runs", len(rows), ">= 110"),
        Figure("model_faults.endless", sum(r.is_endless for r in rows), "runs", count, names, "<= 0"),
        Figure("model_faults.crashes", sum(r.is_crash for r in rows), "runs", count, names, "<= 0"),
        Figure("model_faults.cut_kernels", sum(r.cut_kernels for r in rows), "kernels", count, names, "<= 0"),
        Figure(
            "model_faults.over_budget",
            sum(r.usd > BUDGET_USD + ROUNDING_USD for r in rows),
            "runs",
            count,
            names,
            "<= 0",
        ),
        Figure("model_faults.passing", share(single), "%", "runs with one passing fault", len(single), ">= 99"),
        Figure("model_faults.quirks", share(healthy), "%", "runs with another server or answer", len(healthy), ">= 99"),
        Figure(
            "model_faults.most_requests",
            max((r.requests for r in rows if r.kind == "lasting" and not r.is_finished), default=0),
            "requests",
            "limit of a run",
            MOST_REQUESTS,
        ),
    ]


def main() -> int:
    """Run all and print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="", help="faults with this in their names")
    options.add_argument("--roles", default=",".join(ROLES))
    options.add_argument("--rows", type=Path, help="a file for one line of JSON a run")
    chosen_options = options.parse_args()
    rows = list[Outcome]()
    for fault, role in chosen(table(), chosen_options.roles.split(","), chosen_options.only):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(one(fault, role, Path(folder)))
        row = rows[-1]
        expected = row.is_finished or row.kind in ("lasting", "cut")
        if row.is_endless or row.is_crash or row.cut_kernels or not expected:
            print(
                f"{row.fault} at {row.role}: {row.status}, {row.why[:160]} ({row.requests} requests)", file=sys.stderr
            )
        if chosen_options.rows:
            with chosen_options.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(row)) + "\n")
    return report("Faults of a model's endpoint", figures(rows))


if __name__ == "__main__":
    raise SystemExit(main())

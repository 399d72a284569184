"""A candidate costs the ledger as much late in a run as early: counted, not timed."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from benchmarks.scripted_loop import ideas, write
from graph import Context, Limits
from graph.doubles import ScriptedAuthor, table_context, table_task
from graph.drive import drive
from records.artefacts import ArtefactStore
from records.ledger import Ledger

EARLY, LATE = (4, 12), (52, 60)  # generations
PICKS = 2


class CountingLedger(Ledger):
    """Counts the records it builds, its statements, and the hundreds of instructions that SQLite executes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.counts = {"records": 0, "statements": 0, "instructions": 0, "commits": 0}
        self._is_open = False  # a transaction of several statements
        self._last = ""
        self.engine.connection.set_trace_callback(self._trace)
        self.engine.connection.set_progress_handler(lambda: self._count("instructions"), 100)

    def _count(self, statement: str) -> int:
        self.counts[statement] += 1
        return 0

    def _trace(self, statement: str) -> None:
        was, self._last = self._last, statement
        if statement == was and statement.startswith("INSERT"):  # its trigger, which seals the row, is told like that
            return
        self._count("statements")
        self._is_open = (self._is_open or statement.startswith("BEGIN")) and statement != "COMMIT"
        if statement == "COMMIT" or (statement.startswith("INSERT") and not self._is_open):
            self._count("commits")

    def _decoded(self, kind: Any, body: str) -> Any:
        self._count("records")
        return super()._decoded(kind, body)


def counted(folder: Path) -> tuple[Context, CountingLedger]:
    limits = Limits(generations=LATE[1], picks=PICKS, stagnation=LATE[1], roofline_fraction=2.0)
    plain = table_context(
        folder, table_task(folder / "task", "// time_us = 1000\n"), ScriptedAuthor(ideas, write), limits
    )
    plain.ledger.close()
    ledger = CountingLedger(folder / "ledger.db")
    return replace(plain, ledger=ledger, artefacts=ArtefactStore(folder / "artefacts", ledger)), ledger


def test_a_candidate_costs_the_ledger_as_much_late_in_a_run_as_early(tmp_path: Path) -> None:
    context, ledger = counted(tmp_path)
    counts_at: dict[int, dict[str, int]] = {}

    def progress(event: Mapping[str, Any]) -> None:
        if event["event"] == "generation":
            counts_at[event["generation"]] = dict(ledger.counts)

    drive(context, tmp_path / "checkpoint.db", progress)
    attempts = ledger.attempts(context.run.id)
    ledger.close()
    assert sum(a.status == "accepted" for a in attempts) == 1 + PICKS * LATE[1], "every candidate joined the population"
    early, late = (
        {n: counts_at[last][n] - counts_at[first][n] for n in counts_at[first]} for first, last in (EARLY, LATE)
    )
    candidates = PICKS * (EARLY[1] - EARLY[0])
    for name, count in late.items():
        assert count <= 1.2 * early[name] + candidates, f"{name}: {early[name]} early, {count} late"
    assert late["records"] <= 10 * candidates
    # Stages begin and end; draft, compilation, verification, and a benchmark with its attempt are stored; the file
    # as tuned is the draft, and nothing is written. Verification and benchmark are claimed, and one claim is given up
    # by a commit of its own; none of these three waits for the disk.
    assert late["commits"] <= 13 * candidates + 9 * (LATE[1] - LATE[0])
    # A claim is two, and who paid is one; a leader's whole execution beside the next generation is six.
    assert late["statements"] <= 57 * candidates + 6 * (LATE[1] - LATE[0])

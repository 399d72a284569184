"""The ledger: every run, experiment, attempt, evaluation, comparison, paid call and event, keyed by content.

Everything is written once. One SQLite file in WAL mode with `synchronous=FULL`: a method returns after its commit is
on the disk. Threads share one connection behind a lock; processes share the file. Not for network file systems.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, get_args

from records.codec import dumps, loads
from records.errors import BudgetExhausted, LedgerError, UsageError
from records.evaluation import Comparison, Evaluation
from records.experiment import Attempt, Event, Experiment, ModelCall, Pause, Run, RunStatus, Spend, Usage
from records.schema import explain, open_database

Purpose = Literal["compile", "verify", "benchmark", "estimate"]
_FINAL_FIRST = ("benchmark", "verify", "compile")
_ROUNDING_USD = 1e-9


class Ledger:
    """The truth about all runs of one run folder. Every method raises LedgerError when the file is at fault."""

    def __init__(self, path: Path) -> None:
        """Open or create the file, checking it first."""
        self.path = path
        self._lock = threading.RLock()
        self._connection = open_database(path)

    def __enter__(self) -> Self:
        """Use the ledger in a `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        with self._lock:
            self._connection.close()

    # Runs

    def add_run(self, run: Run) -> None:
        """Write a run down before anything else happens; the same run again changes nothing."""
        with self._writing() as db:
            known = db.execute("SELECT body FROM runs WHERE id = ?", (run.id,)).fetchone()
            asked = replace(run, status="running", stop_reason="", pause="")
            if known is None:
                row = (run.id, dumps(asked), run.status, run.stop_reason, run.pause)
                db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", row)
            elif loads(Run, known[0]) != asked:
                raise LedgerError(f"the run {run.id} is already in the ledger with other settings; choose another id")

    def run(self, run_id: str) -> Run:
        """One run by its id or by a prefix that only one run has; UsageError when there is none or several."""
        with self._reading() as db:
            rows = (
                db.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchall()
                or db.execute(
                    "SELECT * FROM runs WHERE substr(id, 1, ?) = ? ORDER BY rowid", (len(run_id), run_id)
                ).fetchall()
            )
        if not rows:
            raise UsageError(f"there is no run {run_id!r}; `kernel-scientist runs` lists them")
        if len(rows) > 1:
            raise UsageError(f"{run_id!r} could be any of {', '.join(row[0] for row in rows[:5])}; give more of the id")
        return _run(rows[0])

    def runs(self) -> tuple[Run, ...]:
        """All runs, oldest first."""
        with self._reading() as db:
            return tuple(_run(row) for row in db.execute("SELECT * FROM runs ORDER BY rowid"))

    def finish(self, run_id: str, status: RunStatus, reason: str = "", pause: Pause = "") -> None:
        """Set a run's status, the reason in words and, of a paused run, its kind; a resumed run is `running` again."""
        if status not in get_args(RunStatus) or pause not in get_args(Pause):
            raise ValueError(f"{status!r} or {pause!r} is no status or no pause of a run")
        with self._writing() as db:
            values = (status, reason, pause, run_id)
            cursor = db.execute("UPDATE runs SET status = ?, stop_reason = ?, pause = ? WHERE id = ?", values)
            if not cursor.rowcount:
                raise UsageError(f"there is no run {run_id!r}; `kernel-scientist runs` lists them")

    @contextlib.contextmanager
    def driving(self, run_id: str) -> Iterator[None]:
        """Hold the run for this process; LedgerError when another one drives it. The kernel frees it on any death."""
        folder = self.path.parent / "locks"
        try:
            folder.mkdir(exist_ok=True)
            file = (folder / f"{run_id}.lock").open("w")
        except OSError as error:
            raise LedgerError(
                f"the run {run_id} cannot be locked in {folder} ({error.strerror}); choose another run folder"
            ) from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise LedgerError(
                    f"the run {run_id} is already running in another process; wait for it or stop it first"
                ) from None
            yield

    # Experiments and attempts

    def add_experiment(self, experiment: Experiment) -> None:
        """Write an experiment; the same one again changes nothing, another one of its id is refused."""
        self._add("experiments", experiment.run_id, experiment.id, dumps(experiment))

    def experiments(self, run_id: str) -> tuple[Experiment, ...]:
        """All experiments of a run by id: generation by generation."""
        return tuple(loads(Experiment, body) for body in self._bodies("experiments", run_id))

    def add_attempt(self, attempt: Attempt) -> None:
        """Append an attempt; the same one again changes nothing, another one of its id is refused."""
        self._add("attempts", attempt.run_id, attempt.id, dumps(attempt))

    def attempts(self, run_id: str) -> tuple[Attempt, ...]:
        """All attempts of a run by generation, experiment and number, whatever order they ended in."""
        attempts = (loads(Attempt, body) for body in self._bodies("attempts", run_id))
        return tuple(sorted(attempts, key=lambda a: (a.generation, a.experiment_id, a.number)))

    # Evaluations

    def evaluation(self, key: str, purpose: Purpose | None = None) -> Evaluation | None:
        """The stored result for a key, or None; without a purpose the one that got furthest (never an estimate)."""
        with self._reading() as db:
            found = dict(db.execute("SELECT purpose, body FROM evaluations WHERE key = ?", (key,)).fetchall())
        body = next((found[p] for p in ((purpose,) if purpose else _FINAL_FIRST) if p in found), None)
        return None if body is None else loads(Evaluation, body)

    def add_evaluation(self, run_id: str, evaluation: Evaluation, purpose: Purpose = "benchmark") -> Evaluation:
        """Store a result unless there is one for its key and purpose; return the stored one, which is the first."""
        with self._writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO evaluations VALUES (?, ?, ?, ?)",
                (evaluation.key, purpose, run_id, dumps(evaluation)),
            )
            row = db.execute(
                "SELECT body FROM evaluations WHERE key = ? AND purpose = ?", (evaluation.key, purpose)
            ).fetchone()
        return loads(Evaluation, row[0])

    # Comparisons

    def comparison(self, key: str) -> Comparison | None:
        """The stored comparison of a key, or None."""
        with self._reading() as db:
            row = db.execute("SELECT body FROM comparisons WHERE key = ?", (key,)).fetchone()
        return None if row is None else loads(Comparison, row[0])

    def comparisons(self, challenger: str) -> tuple[Comparison, ...]:
        """Every comparison in which the kernel of this evaluation key was the challenger, oldest first."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT body FROM comparisons WHERE challenger = ? ORDER BY rowid", (challenger,)
            ).fetchall()
        return tuple(loads(Comparison, row[0]) for row in rows)

    def add_comparison(self, run_id: str, made: Comparison) -> Comparison:
        """Store a comparison unless there is one for its key; return the stored one, which is the first."""
        with self._writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO comparisons VALUES (?, ?, ?, ?)",
                (made.key, made.challenger, run_id, dumps(made)),
            )
            row = db.execute("SELECT body FROM comparisons WHERE key = ?", (made.key,)).fetchone()
        return loads(Comparison, row[0])

    # Calls to the model

    def call(self, key: str) -> ModelCall | None:
        """One call by its key, reserved or done."""
        with self._reading() as db:
            row = db.execute("SELECT * FROM calls WHERE key = ?", (key,)).fetchone()
        return None if row is None else _call(row)

    def calls(self, run_id: str) -> tuple[ModelCall, ...]:
        """All calls of a run in the order they were first reserved."""
        with self._reading() as db:
            return tuple(_call(r) for r in db.execute("SELECT * FROM calls WHERE run_id = ? ORDER BY rowid", (run_id,)))

    def reserve(self, call: ModelCall, budget_usd: float | None) -> ModelCall:
        """Set money aside before a call; BudgetExhausted when spent plus reserved would exceed the budget.

        A reservation of the same key is replaced: a resumed run asks again what it was killed in. A call that is
        already done is returned as it is and nothing is reserved.
        """
        with self._writing() as db:
            row = db.execute("SELECT * FROM calls WHERE key = ?", (call.key,)).fetchone()
            if row is not None and _call(row).state == "done":
                return _call(row)
            (committed,) = db.execute(
                "SELECT coalesce(sum(CASE state WHEN 'done' THEN usd ELSE reserved_usd END), 0.0) "
                "FROM calls WHERE run_id = ? AND key <> ?",
                (call.run_id, call.key),
            ).fetchone()
            if budget_usd is not None and committed + call.reserved_usd > budget_usd + _ROUNDING_USD:
                raise BudgetExhausted(
                    f"the next {call.role} call could cost {call.reserved_usd:.4f} USD, but only "
                    f"{max(0.0, budget_usd - committed):.4f} of {budget_usd:.2f} USD are left; "
                    "resume the run with a larger budget"
                )
            db.execute(
                "INSERT INTO calls VALUES (?, ?, ?, ?, ?, 'reserved', ?, NULL, 0, 0, 0.0) ON CONFLICT (key) DO UPDATE "
                "SET role = excluded.role, model = excluded.model, prompt = excluded.prompt, "
                "reserved_usd = excluded.reserved_usd",
                (call.key, call.run_id, call.role, call.model, call.prompt, call.reserved_usd),
            )
        return replace(call, state="reserved", reply=None, usage=Usage())

    def settle(self, key: str, reply_digest: str, usage: Usage) -> None:
        """Store the answer's digest and what it cost; the first answer of a key stays."""
        with self._writing() as db:
            cursor = db.execute(
                "UPDATE calls SET state = 'done', reply = ?, prompt_tokens = ?, completion_tokens = ?, usd = ? "
                "WHERE key = ? AND state = 'reserved'",
                (reply_digest, usage.prompt_tokens, usage.completion_tokens, float(usage.usd), key),
            )
            if not cursor.rowcount and db.execute("SELECT 1 FROM calls WHERE key = ?", (key,)).fetchone() is None:
                raise LedgerError(f"the call {key[:16]} was answered without a reservation; please report this")

    def release(self, key: str) -> None:
        """Give a reservation back after a call that cost nothing; a call that is done stays."""
        with self._writing() as db:
            db.execute("DELETE FROM calls WHERE key = ? AND state = 'reserved'", (key,))

    def spend(self, run_id: str) -> Spend:
        """What the run's calls cost; `calls` counts the answered ones."""
        with self._reading() as db:
            row = db.execute(
                "SELECT coalesce(sum(state = 'done'), 0), coalesce(sum(prompt_tokens), 0), "
                "coalesce(sum(completion_tokens), 0), coalesce(sum(usd), 0.0), "
                "coalesce(sum(CASE state WHEN 'reserved' THEN reserved_usd END), 0.0) "
                "FROM calls WHERE run_id = ?",
                (run_id,),
            ).fetchone()
        return Spend(*row)

    # Events

    def event(self, run_id: str, kind: str, payload: Mapping[str, Any], key: str | None = None) -> bool:
        """Append to the run's diary; with a key, only the first time. Says whether it was written."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self._writing() as db:
            cursor = db.execute(
                "INSERT OR IGNORE INTO events (run_id, key, kind, body, at) VALUES (?, ?, ?, ?, ?)",
                (run_id, key, kind, dumps(payload), at),
            )
            return cursor.rowcount > 0

    def events(self, run_id: str, after: int = 0) -> tuple[Event, ...]:
        """The run's diary from after a number on."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT number, kind, body, at FROM events WHERE run_id = ? AND number > ? ORDER BY number",
                (run_id, after),
            ).fetchall()
        return tuple(Event(number, kind, json.loads(body), at) for number, kind, body, at in rows)

    # Transactions

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise LedgerError(explain(error, self.path)) from None

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def _add(self, table: str, run_id: str, record_id: str, body: str) -> None:
        with self._writing() as db:
            known = db.execute(f"SELECT body FROM {table} WHERE run_id = ? AND id = ?", (run_id, record_id)).fetchone()
            if known is None:
                db.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (run_id, record_id, body))
            elif known[0] != body:
                raise LedgerError(
                    f"{record_id} of run {run_id} is already in the ledger's {table} with other content; "
                    "records are never changed, start a new run"
                )

    def _bodies(self, table: str, run_id: str) -> list[str]:
        with self._reading() as db:
            rows = db.execute(f"SELECT body FROM {table} WHERE run_id = ? ORDER BY id", (run_id,)).fetchall()
        return [row[0] for row in rows]


def _run(row: tuple[str, str, RunStatus, str, Pause]) -> Run:
    return replace(loads(Run, row[1]), status=row[2], stop_reason=row[3], pause=row[4])


def _call(row: tuple[Any, ...]) -> ModelCall:
    key, run_id, role, model, prompt, state, reserved, reply, prompt_tokens, completion_tokens, usd = row
    return ModelCall(
        key, run_id, role, model, prompt, state, reserved, reply, Usage(prompt_tokens, completion_tokens, usd)
    )

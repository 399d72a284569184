"""Calls to the model in the ledger: money is set aside before a call, and the answer is stored before it is used.

What was sent stays spent until an answer says what it cost. A call that waits for its answer holds the most that it can
take of each limit; one whose answer was lost keeps it. A caller for whom too little is left waits for those in flight,
which give back most of what they hold.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from records.allowance import Allowance
from records.diary import Diary
from records.engine import Engine, Statements
from records.errors import LedgerError
from records.experiment import ModelCall, Spend, Usage
from records.quantity import given
from records.spending_room import SETTLED, SpendingRoom

LOOK_S = 0.5  # between two looks at calls of another process
PATIENCE_S = 1800.0  # with calls of another process, which may have died
_COLUMNS = (
    "key, run_id, role, model, prompt, state, reserved_usd, reply, prompt_tokens, completion_tokens, usd, "
    "generation, experiment_id, number, at"
)
# In flight only, a few rows whatever was paid before.
_RESERVED = "SELECT coalesce(sum(reserved_usd), 0.0) FROM calls WHERE state = 'reserved'"


class Payments(Diary):
    """The part of the ledger that knows calls and money. Its cost does not grow with the number of calls."""

    def __init__(self, file_or_engine: Path | Engine, account: str = "") -> None:
        """Open or create a file, checking it first, or take a database that is open."""
        super().__init__(file_or_engine, account)
        self._paid_usd: dict[str, float] = {}  # by run; read again after each payment
        self._in_flight: dict[str, int] = {}  # keys that a thread of this process waits for, with the thread
        self._given_back = threading.Condition()

    def call(self, key: str) -> ModelCall | None:
        """Return one call by its key."""
        row = self._row(f"SELECT {_COLUMNS} FROM calls WHERE key = ?", (key,))
        return None if row is None else _call(row)

    def calls(self, run_id: str) -> tuple[ModelCall, ...]:
        """List all calls of a run in the order they were first reserved."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM calls WHERE run_id = ? ORDER BY rowid", (run_id,))
        return tuple(_call(row) for row in rows)

    def reserve(
        self,
        call: ModelCall,
        most: Allowance = Allowance(),  # noqa: B008  # a frozen record
        least: ModelCall | None = None,
        patience_s: float = PATIENCE_S,
    ) -> ModelCall:
        """Set aside the most that a call can take before it is sent, and return what was set aside.

        Where a limit leaves too little and calls in flight may give some back, this waits for them. Where not even that
        would be enough, as much is taken as is left, though not less than `least`; BudgetExhausted below it.

        A call that is done is returned as it is. One of this key that is reserved was sent by a process that died, and
        is lost; so are those of other processes that neither end nor fail within the patience.
        """
        until, me = time.monotonic() + patience_s, threading.get_ident()
        while True:
            with self._writing() as db:
                row = db.execute(f"SELECT {_COLUMNS} FROM calls WHERE key = ?", (call.key,)).fetchone()
                if row is not None and _call(row).state == "done":
                    return _call(row)
                is_asked = self._in_flight.get(call.key, me) != me
                if row is not None and not is_asked:
                    self._lose(db, call.key)
                room = SpendingRoom(db, call, most)
                fitted = None if is_asked else room.fitted(call, given(least, call))
                if fitted is not None:
                    self._hold(db, fitted)
                    self._in_flight[call.key] = me
                    return fitted
                can_wait = is_asked or any(self._in_flight.get(key) != me for key in room.held)
            if not is_asked:
                room.refuse(given(least, call), can_wait)
            self._wait_for_others(call.run_id, until)

    def _wait_for_others(self, run_id: str, until: float) -> None:
        """Wait until a call of this process has ended, or a moment; gives up others' calls after the patience."""
        with self._given_back:
            self._given_back.wait(LOOK_S)
        if time.monotonic() > until:
            self.abandon(run_id)

    def abandon(self, run_id: str) -> float:
        """Book calls that no thread of this process waits for as lost; return the dollars that stay spent for them.

        For whoever takes a run over: a process that drove it before has died with them.
        """
        with self._writing() as db:
            rows = db.execute("SELECT key FROM calls WHERE run_id = ? AND state = 'reserved'", (run_id,)).fetchall()
            return sum(self._lose(db, key) for (key,) in rows if key not in self._in_flight)

    def _hold(self, db: Statements, call: ModelCall) -> None:
        request = call.key, call.run_id, call.role, call.model, call.prompt, call.reserved_usd
        tokens = call.usage.prompt_tokens, call.usage.completion_tokens
        db.execute(
            f"INSERT INTO calls ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, 'reserved', ?, NULL, ?, ?, 0.0, ?, ?, ?, '')",
            (*request, *tokens, call.generation, call.experiment_id, call.number),
        )

    def lose(self, key: str) -> float:
        """Book a reserved call as lost: it was sent, its cost unknown. Return the dollars that stay spent.

        The key is free again, for the next try.
        """
        with self._writing() as db:
            return self._lose(db, key)

    def _lose(self, db: Statements, key: str) -> float:
        row = db.execute(f"SELECT {_COLUMNS} FROM calls WHERE key = ? AND state = 'reserved'", (key,)).fetchone()
        if row is None:
            return 0.0
        call = _call(row)
        (number,) = db.execute("SELECT count(*) FROM calls WHERE key LIKE ?", (f"{key}:lost:%",)).fetchone()
        lost_at = _now()
        values = (f"{key}:lost:{number}", "lost", call.reserved_usd, lost_at, key)
        db.execute("UPDATE calls SET key = ?, state = ?, usd = ?, at = ? WHERE key = ?", values)
        self._book(db, call.run_id, call.usage.prompt_tokens, call.usage.completion_tokens, call.reserved_usd)
        payload = {"role": call.role, "usd": call.reserved_usd, "generation": call.generation}
        self.event(call.run_id, "lost_answer", payload, f"lost:{key}:{number}")
        self._let_go(key)
        return call.reserved_usd

    def _book(
        self, db: Statements, run_id: str, prompt_tokens: int, completion_tokens: int, usd: float, calls: int = 1
    ) -> None:
        self._paid_usd.clear()
        db.execute(
            "INSERT INTO spends (run_id, calls, prompt_tokens, completion_tokens, usd) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (run_id) DO UPDATE SET calls = spends.calls + excluded.calls, "
            "prompt_tokens = spends.prompt_tokens + excluded.prompt_tokens, "
            "completion_tokens = spends.completion_tokens + excluded.completion_tokens, "
            "usd = spends.usd + excluded.usd",
            (run_id, calls, prompt_tokens, completion_tokens, usd),
        )

    def _let_go(self, key: str) -> None:
        self._in_flight.pop(key, None)
        with self._given_back:
            self._given_back.notify_all()

    def settle(self, key: str, reply_digest: str, usage: Usage) -> None:
        """Store the answer's digest and what it cost; the first answer of a key stays."""
        paid = (usage.prompt_tokens, usage.completion_tokens, float(usage.usd))
        with self._writing() as db:
            row = db.execute("SELECT state, run_id FROM calls WHERE key = ?", (key,)).fetchone()
            row = self._disproved(db, key) if row is None else row
            if row is None:
                raise LedgerError(f"the call {key[:16]} was answered without a reservation; please report this")
            if row[0] == "done":
                return
            db.execute(
                "UPDATE calls SET state = 'done', reply = ?, prompt_tokens = ?, completion_tokens = ?, usd = ?, at = ? "
                "WHERE key = ?",
                (reply_digest, *paid, _now(), key),
            )
            self._book(db, row[1], *paid)
        self._let_go(key)

    def _disproved(self, db: Statements, key: str) -> tuple[str, str] | None:
        """Take back that a call was lost: its answer came after all. State and run, None where it was not lost."""
        query = (
            "SELECT key, run_id, prompt_tokens, completion_tokens, usd FROM calls WHERE key LIKE ? ORDER BY rowid DESC"
        )
        row = db.execute(query, (f"{key}:lost:%",)).fetchone()
        if row is None:
            return None
        db.execute("UPDATE calls SET key = ?, state = 'reserved' WHERE key = ?", (key, row[0]))
        self._book(db, row[1], -row[2], -row[3], -row[4], calls=-1)
        return "reserved", row[1]

    def release(self, key: str) -> None:
        """Give a reservation back after a call that cost nothing; a call that is done stays."""
        with self._writing() as db:
            db.execute("DELETE FROM calls WHERE key = ? AND state = 'reserved'", (key,))
        self._let_go(key)

    def lost(self, run_id: str) -> tuple[int, float]:
        """Count the calls of a run whose answer was lost, and the dollars that stay spent for them."""
        query = "SELECT count(*), coalesce(sum(usd), 0.0) FROM calls WHERE run_id = ? AND state = 'lost'"
        count_and_usd: tuple[int, float] = self._row(query, (run_id,))
        return count_and_usd

    def spend(self, run_id: str) -> Spend:
        """Sum the cost of the run's calls, answered and lost."""
        with self._lock:
            (reserved,) = self._row(f"{_RESERVED} AND run_id = ?", (run_id,))
            settled: tuple[int, int, int, float] = self._row(SETTLED, (run_id,)) or (0, 0, 0, 0.0)
            return Spend(*settled, reserved)

    def paid_usd(self, run_id: str) -> float:
        """Sum the USD of answered and lost calls, for the process that drives the run: it alone adds to them."""
        with self._lock:
            if run_id not in self._paid_usd:
                row = self._row("SELECT usd FROM spends WHERE run_id = ?", (run_id,))
                self._paid_usd[run_id] = 0.0 if row is None else float(row[0])
            return self._paid_usd[run_id]


def _call(row: tuple[Any, ...]) -> ModelCall:
    key, run_id, role, model, prompt, state, reserved, reply, prompt_tokens, completion_tokens, usd, *origin = row
    usage = Usage(prompt_tokens, completion_tokens, usd)
    return ModelCall(key, run_id, role, model, prompt, state, reserved, reply, usage, *origin)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

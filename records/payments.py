"""Calls to the model in the ledger: money is set aside before a call, and the answer is stored before it is used."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from records.diary import Diary
from records.engine import Engine
from records.errors import BudgetExhausted, LedgerError
from records.experiment import ModelCall, Spend, Usage

_ROUNDING_USD = 1e-9
_COLUMNS = (
    "key, run_id, role, model, prompt, state, reserved_usd, reply, prompt_tokens, completion_tokens, usd, "
    "generation, experiment_id, number, at"
)
# In flight only, a few rows whatever was paid before.
_RESERVED = "SELECT coalesce(sum(reserved_usd), 0.0) FROM calls WHERE state = 'reserved'"
_SETTLED = "SELECT calls, prompt_tokens, completion_tokens, usd FROM spends WHERE run_id = ?"


class Payments(Diary):
    """The part of the ledger that knows calls and money. Its cost does not grow with the number of calls."""

    def __init__(self, place: Path | Engine, who: str = "") -> None:
        """Open or create a file, checking it first, or take a database that is open."""
        super().__init__(place, who)
        self._paid_usd: dict[str, float] = {}  # by run; read again after each payment

    def call(self, key: str) -> ModelCall | None:
        """One call by its key, reserved or done."""
        row = self._row(f"SELECT {_COLUMNS} FROM calls WHERE key = ?", (key,))
        return None if row is None else _call(row)

    def calls(self, run_id: str) -> tuple[ModelCall, ...]:
        """All calls of a run in the order they were first reserved."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM calls WHERE run_id = ? ORDER BY rowid", (run_id,))
        return tuple(_call(row) for row in rows)

    def reserve(self, call: ModelCall, budget_usd: float | None) -> ModelCall:
        """Set money aside before a call; BudgetExhausted when spent plus reserved would exceed the budget.

        A reservation of the same key is replaced: a resumed run repeats the question it was killed in. A call that is
        already done is returned as it is and nothing is reserved.
        """
        place = call.key, call.run_id, call.role, call.model
        with self._writing() as db:
            row = db.execute(f"SELECT {_COLUMNS} FROM calls WHERE key = ?", (call.key,)).fetchone()
            if row is not None and _call(row).state == "done":
                return _call(row)
            (others,) = db.execute(f"{_RESERVED} AND run_id = ? AND key <> ?", (call.run_id, call.key)).fetchone()
            settled = db.execute(_SETTLED, (call.run_id,)).fetchone()
            committed = (settled[3] if settled else 0.0) + others
            if budget_usd is not None and committed + call.reserved_usd > budget_usd + _ROUNDING_USD:
                raise BudgetExhausted(
                    f"the next {call.role} call could cost {call.reserved_usd:.4f} USD, but only "
                    f"{max(0.0, budget_usd - committed):.4f} of {budget_usd:.2f} USD are left; "
                    "resume the run with a larger budget"
                )
            db.execute(
                f"INSERT INTO calls ({_COLUMNS}) "
                "VALUES (?, ?, ?, ?, ?, 'reserved', ?, NULL, 0, 0, 0.0, ?, ?, ?, '') "
                "ON CONFLICT (key) DO UPDATE SET role = excluded.role, model = excluded.model, "
                "prompt = excluded.prompt, reserved_usd = excluded.reserved_usd",
                (*place, call.prompt, call.reserved_usd, call.generation, call.experiment_id, call.number),
            )
        return replace(call, state="reserved", reply=None, usage=Usage())

    def settle(self, key: str, reply_digest: str, usage: Usage) -> None:
        """Store the answer's digest and what it cost; the first answer of a key stays."""
        paid = (usage.prompt_tokens, usage.completion_tokens, float(usage.usd))
        with self._writing() as db:
            self._paid_usd.clear()
            row = db.execute("SELECT state, run_id FROM calls WHERE key = ?", (key,)).fetchone()
            if row is None:
                raise LedgerError(f"the call {key[:16]} was answered without a reservation; please report this")
            if row[0] == "done":
                return
            db.execute(
                "UPDATE calls SET state = 'done', reply = ?, prompt_tokens = ?, completion_tokens = ?, usd = ?, at = ? "
                "WHERE key = ?",
                (reply_digest, *paid, datetime.now(UTC).isoformat(timespec="milliseconds"), key),
            )
            db.execute(
                "INSERT INTO spends (run_id, calls, prompt_tokens, completion_tokens, usd) VALUES (?, 1, ?, ?, ?) "
                "ON CONFLICT (run_id) DO UPDATE SET calls = spends.calls + 1, "
                "prompt_tokens = spends.prompt_tokens + excluded.prompt_tokens, "
                "completion_tokens = spends.completion_tokens + excluded.completion_tokens, "
                "usd = spends.usd + excluded.usd",
                (row[1], *paid),
            )

    def release(self, key: str) -> None:
        """Give a reservation back after a call that cost nothing; a call that is done stays."""
        with self._writing() as db:
            db.execute("DELETE FROM calls WHERE key = ? AND state = 'reserved'", (key,))

    def spend(self, run_id: str) -> Spend:
        """Cost of the run's calls; `calls` counts the answered ones."""
        with self._lock:
            (reserved,) = self._row(f"{_RESERVED} AND run_id = ?", (run_id,))
            settled: tuple[int, int, int, float] = self._row(_SETTLED, (run_id,)) or (0, 0, 0, 0.0)
            return Spend(*settled, reserved)

    def paid_usd(self, run_id: str) -> float:
        """USD of the answered calls, for the process that drives the run: it alone adds to them."""
        with self._lock:
            if run_id not in self._paid_usd:
                found = self._row("SELECT usd FROM spends WHERE run_id = ?", (run_id,))
                self._paid_usd[run_id] = 0.0 if found is None else float(found[0])
            return self._paid_usd[run_id]


def _call(row: tuple[Any, ...]) -> ModelCall:
    key, run_id, role, model, prompt, state, reserved, reply, prompt_tokens, completion_tokens, usd, *place = row
    usage = Usage(prompt_tokens, completion_tokens, usd)
    return ModelCall(key, run_id, role, model, prompt, state, reserved, reply, usage, *place)

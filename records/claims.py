"""Verdicts that are being made: one run of the database makes each, and the others wait for it or take it over."""

from __future__ import annotations

from dataclasses import dataclass

from records.lifecycle import Lifecycle

LEASE_S = 60.0  # a claim of a run that is at work holds for so long after it was last renewed


@dataclass(frozen=True)
class Payer:
    """The run that paid for a verdict, or is about to; `at` is empty until the verdict is stored."""

    run_id: str
    account: str  # user and machine, as far as they are known
    stored_at: str = ""  # ISO 8601, UTC


class Claims(Lifecycle):
    """The part of the ledger that knows who makes a verdict and who made it."""

    def claim(self, run_id: str, key: str, purpose: str) -> Payer | None:
        """Claim a verdict for a run; where another run at work has it, that run is returned and nothing is changed.

        A claim ends with `unclaim`, with its lease, or when the process that drives its run has ended. A run does not
        wait for itself. Claiming again renews the lease.
        """
        while not self._claimed(run_id, key, purpose):
            row = self._row("SELECT run_id, who FROM claims WHERE key = ? AND purpose = ?", (key, purpose))
            if row is not None and self.driver(row[0]) is not None:
                return Payer(*row)
            if row is not None:
                self.unclaim(row[0], key, purpose)
        return None

    def _claimed(self, run_id: str, key: str, purpose: str) -> bool:
        clock = self.engine.clock
        with self._writing(is_synced=False, is_single=True) as db:
            insertion = db.execute(
                f"INSERT INTO claims (key, purpose, run_id, who, until) VALUES (?, ?, ?, ?, {clock} + ?) "
                "ON CONFLICT (key, purpose) DO UPDATE SET run_id = excluded.run_id, who = excluded.who, "
                f"until = excluded.until WHERE claims.run_id = excluded.run_id OR claims.until < {clock}",
                (key, purpose, run_id, self.account, LEASE_S),
            )
            return insertion.rowcount > 0

    def unclaim(self, run_id: str, key: str, purpose: str) -> None:
        """Give up a run's claim, where it has it."""
        with self._writing(is_synced=False, is_single=True) as db:
            db.execute("DELETE FROM claims WHERE key = ? AND purpose = ? AND run_id = ?", (key, purpose, run_id))

    def paid_by_other(self, run_id: str, key: str, purpose: str) -> Payer | None:
        """Find the other run that paid for a stored verdict; None where it is this one, or was asked lately."""
        cache_key = ("payer", run_id, key, purpose)
        if self._recalled(cache_key):
            return None
        self._remember(cache_key, True)
        payer = self.payer(key, purpose)
        return None if payer is None or payer.run_id == run_id else payer

    def payer(self, key: str, purpose: str) -> Payer | None:
        """Find the run that paid for a stored verdict, who and when; None where there is none."""
        row = self._row("SELECT run_id, who, at FROM evaluations WHERE key = ? AND purpose = ?", (key, purpose))
        return None if row is None else Payer(*row)

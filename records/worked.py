"""The work that sandboxes did for a run, as the ledger has it."""

from __future__ import annotations

import math

from records.database import Database
from records.evaluation import Comparison, Evaluation


class Worked(Database):
    """The part of the ledger that counts evaluations."""

    def worked(self, run_id: str) -> tuple[int, float]:
        """Count the evaluations and comparisons made for a run, and the seconds of those that may have needed a GPU."""
        rows = self._rows("SELECT purpose, body FROM evaluations WHERE run_id = ?", (run_id,))
        seconds = [self._decoded(Evaluation, body).seconds for purpose, body in rows if purpose != "compile"]
        turns = self._rows("SELECT body FROM comparisons WHERE run_id = ?", (run_id,))
        seconds += [self._decoded(Comparison, body).seconds for (body,) in turns]
        return len(rows) + len(turns), math.fsum(seconds)

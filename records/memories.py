"""Memory over runs: which attempts of earlier runs a later one is told of, and which of these were withdrawn.

A recollection points to an attempt and holds no words of its own: what is told are the records of that attempt, so that
nobody is told anything that the ledger does not show.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from records.codec import dumps, loads
from records.database import Database
from records.errors import UsageError

MemoryKind = Literal["winner", "lesson", "refuted"]
MEMORY_KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)


@dataclass(frozen=True)
class Recollection:
    """A verified attempt that later runs are told of: a winner, a lesson that is shown, or one that is refuted."""

    key: str  # `recollection_key`: equal for equal findings of two runs
    kind: MemoryKind
    run_id: str
    attempt_id: str
    task: str
    task_digest: str
    target: str
    about: str  # title and description of the task, by which similar ones find it
    at: str  # ISO 8601, UTC: when its run began
    withdrawn: str = ""  # the reason, empty while it is told


def recollection_key(kind: MemoryKind, task_digest: str, target: str, time_kind: str, *candidates: str) -> str:
    """Compute the SHA-256 of a finding: its kind, where it holds, and the kernels that it is about."""
    return hashlib.sha256(dumps([kind, task_digest, target, time_kind, *candidates]).encode()).hexdigest()


class Memories(Database):
    """The part of the ledger that knows what is told to later runs."""

    def remember(self, recollections: Iterable[Recollection]) -> int:
        """Store those that are not known yet, withdrawn ones included; returns how many were new."""
        with self._writing() as db:
            return sum(
                self._insert(db, "memories", {"key": r.key, "run_id": r.run_id, "body": dumps(r)})
                for r in recollections
            )

    def recollections(self) -> tuple[Recollection, ...]:
        """List all of them, oldest first, withdrawn ones too; one that is not as it was written is told to nobody."""
        sound = self.engine.soundness("memories")
        rows = self._rows(f"SELECT body, withdrawn, {sound} FROM memories ORDER BY rowid")
        return tuple(
            replace(loads(Recollection, body), withdrawn=withdrawn) for body, withdrawn, is_sound in rows if is_sound
        )

    def recollection(self, key: str) -> Recollection:
        """Return one by its key or by a prefix that only one has; UsageError when there is none or several."""
        matches = [r for r in self.recollections() if key and r.key.startswith(key)]
        if len(matches) != 1:
            problem = (
                f"{key!r} could be {len(matches)} recollections" if matches else f"there is no recollection {key!r}"
            )
            raise UsageError(f"{problem}; `kernel-scientist memory list` lists them")
        return matches[0]

    def withdraw(self, key: str, reason: str) -> None:
        """Tell no later run of this one; an empty reason takes the withdrawal back."""
        with self._writing() as db:
            db.execute("UPDATE memories SET withdrawn = ? WHERE key = ?", (reason, key))

"""A sandbox that asks another one once and keeps the answers in a file, and a note of what was asked of it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from records.codec import dumps, loads, to_plain
from records.evaluation import Comparison, Evaluation
from sandbox.by_purpose import ByPurpose
from sandbox.candidate.prepare import Prepared
from sandbox.protocol import Sandbox
from sandbox.walk import Purpose, question
from tasks.task import Task

TIMED = ("estimate", "benchmark")


class Remembered(ByPurpose):
    """Answers are kept by evaluation key and purpose; `timed` is the order in which kernels were first timed."""

    def __init__(self, sandbox: Sandbox, path: Path | str = ":memory:") -> None:
        """`path` keeps the answers from one process to the next."""
        self._sandbox = sandbox
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._connection.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, body TEXT NOT NULL)")
        self.timed: dict[str, Evaluation] = {}
        self.compiled: set[str] = set()

    @property
    def device(self) -> str:
        """That of the sandbox behind it."""
        return self._sandbox.device

    def forget_order(self) -> None:
        """Begin another search: what was asked of it is counted again, the answers stay."""
        self.timed, self.compiled = {}, set()

    def prepare(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Prepared:
        """Prepare as the sandbox behind it does."""
        return self._sandbox.prepare(source, task, tunables)

    def key(self, prepared: Prepared) -> str:
        """Return the key that the sandbox behind it gives."""
        return self._sandbox.key(prepared)

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        """Compare in the sandbox behind it; nothing is kept."""
        return self._sandbox.compare(challenger, incumbent)

    def _evaluation(self, purpose: Purpose, prepared: Prepared) -> Evaluation:
        with self._lock:
            evaluation = self._answer(purpose, prepared)
            self.compiled.add(evaluation.key)
            if purpose in TIMED:
                self.timed.setdefault(self.kernel(prepared), evaluation)
            return evaluation

    def _answer(self, purpose: Purpose, prepared: Prepared) -> Evaluation:
        key = f"{purpose} {self.key(prepared)}"
        row = self._connection.execute("SELECT body FROM answers WHERE key = ?", (key,)).fetchone()
        if row is not None:
            return loads(Evaluation, row[0])
        evaluation = question(self._sandbox, purpose)(prepared)
        evaluation = replace(evaluation, hot_lines=(), kernel_counters={}, explanation="", seconds=0.0)
        self._connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, dumps(to_plain(evaluation))))
        self._connection.commit()
        return evaluation

    def kernel(self, prepared: Prepared) -> str:
        """Name a text and a choice, whatever value of a tunable the text has first."""
        plan = prepared.candidate.plan
        lists = {n: tuple(sorted(v)) for n, v in plan.tunables.items()}
        code = prepared.source.partition("+++*/")[2]
        return dumps(to_plain([replace(plan, tunables=lists), code, dict(prepared.tunables)]))

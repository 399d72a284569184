"""One run that a server's process works on: its collaborators, its lock while nodes are at work, and its listeners."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace

from app.open_telemetry import Spans
from graph.context import Context
from records.errors import LedgerError
from records.event_log import Listener, all_of, begun, ended

PATIENCE_S = 2.0  # with a lock that is held


class ServedRun:
    """Counts the nodes at work on a run. Its owner lets one thread at a time call it."""

    def __init__(self, context: Context, spans: Spans | None, scores: Listener | None = None) -> None:
        """`spans` and `scores` are told of the run's events, as its event log is."""
        self._tell = all_of(context.listener, spans, scores)
        self.context = replace(context, listener=self._tell)
        self._spans = spans
        self._nodes, self._held = 0, contextlib.ExitStack()
        self._has_begun, self._is_left = False, False

    @property
    def is_idle(self) -> bool:
        """True where no node is at work."""
        return not self._nodes

    def hold(self) -> None:
        """Count a node; the first one takes the run's lock, and its listeners hear that it is driven here."""
        if not self._nodes:
            self._held = self._take_locks()
        self._nodes += 1
        self.context.stop.begin()
        if not self._has_begun:
            self._has_begun, self._is_left = True, False
            try:
                self._tell(begun(self.context.run))
            except LedgerError:
                self._has_begun = False
                self.release(has_failed=True)
                raise

    def release(self, has_failed: bool) -> None:
        """Count a node less; the last one gives the lock back, and listeners hear of a run that one of them left."""
        self._nodes -= 1
        self.context.stop.end()
        self._is_left = self._is_left or has_failed
        if not self._nodes:
            self._held.close()
            if self._is_left:
                self.end()

    def end(self) -> None:
        """Tell the listeners that this process no longer drives the run."""
        if self._has_begun:
            self._has_begun = False
            self._tell(ended(self.context.ledger.run(self.context.run.id)))

    @contextlib.contextmanager
    def taking_calls(self) -> Iterator[None]:
        """Make spans of the calls to models in the block."""
        with self._spans.taking_calls() if self._spans is not None else contextlib.nullcontext():
            yield

    def _take_locks(self) -> contextlib.ExitStack:
        """Take the run's lock, again and again: a program that another run is just starting shares it for a moment."""
        locks, until = contextlib.ExitStack(), time.monotonic() + PATIENCE_S
        while True:
            try:
                locks.enter_context(self.context.ledger.driving(self.context.run.id))
                locks.enter_context(self.context.meter.driving())
                return locks
            except LedgerError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

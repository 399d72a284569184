"""The use that a run makes of its limits, and its leave to go on.

Dollars, tokens and calls are in the ledger, where they are set aside before a call. Evaluations, GPU time and wall time
are counted here, from what the ledger has of them on. A part of each of these three is kept to verify what was found:
the search ends before it, and benchmarks and confirmations of kernels in hand go on into it.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime

from records.allowance import WORDS, Allowance, option_of
from records.errors import LedgerError, LimitReached
from records.experiment import Event
from records.ledger import Ledger
from records.stopping import StopSignal

KEPT = 0.1  # share of a limit that is kept to verify
MOST_KEPT = {"max_evaluations": 32, "max_gpu_seconds": 600.0, "max_wall_seconds": 600.0}
VERIFYING = frozenset({"benchmark", "confirm", "compare"})
LISTEN_S = 0.25  # between two looks for a stop that another process asks for
DRIVING, DRIVEN = "driving", "driven"  # kinds of event: a process begins to drive the run, and has stopped


class RunMeter:
    """The meter of one run; threads share it."""

    def __init__(
        self,
        ledger: Ledger,
        run_id: str,
        initial: Allowance,
        has_gpu: bool,
        clock: Callable[[], float] = time.monotonic,
        stop: StopSignal | None = None,
    ) -> None:
        """Take the `initial` limits; what was allowed later is in the diary. Nothing is read yet.

        `stop` is what cancels the run, looked at wherever a limit is.
        """
        self.stop = stop or StopSignal()
        self._ledger, self._run_id, self._initial, self._has_gpu, self._clock = ledger, run_id, initial, has_gpu, clock
        self._lock = threading.Lock()
        self._allowance: Allowance | None = None
        self._evaluations = 0
        self._gpu_seconds = 0.0
        self._wall_seconds = 0.0  # of earlier drives
        self._since: float | None = None
        self._stops_seen: int | None = None  # requests to stop in the diary, of which it is told once each

    @property
    def allowance(self) -> Allowance:
        """The limits that are in force."""
        with self._lock:
            return self._read()

    def _read(self) -> Allowance:
        """Read from the ledger, the first time, what was allowed and used."""
        if self._allowance is None:
            events = self._ledger.events(self._run_id)
            self._wall_seconds = wall_seconds(events)
            self._evaluations, seconds = self._ledger.worked(self._run_id)
            self._gpu_seconds = seconds if self._has_gpu else 0.0
            self._allowance = self._initial.changed(events)
        return self._allowance

    def allow(self, **more: float) -> None:
        """Change limits of the whole run, which its diary was told of."""
        with self._lock:
            self._allowance = Allowance.of({**self._read().given(), **more})

    def used(self) -> dict[str, float]:
        """Return the amounts that the run has used, by the names of limits."""
        spend = self._ledger.spend(self._run_id)
        with self._lock:
            self._read()
            return {
                "budget_usd": spend.usd,
                "max_tokens": spend.prompt_tokens + spend.completion_tokens,
                "max_calls": spend.calls,
                "max_evaluations": self._evaluations,
                "max_gpu_seconds": self._gpu_seconds,
                "max_wall_seconds": self._wall(),
            }

    def check(self, is_verifying: bool = False) -> None:
        """Raise LimitReached where the run's time is used up: all of it for who verifies, else all but a kept part.

        RunStopped where the run was cancelled.
        """
        self.stop.check()
        with self._lock:
            self._refuse("max_wall_seconds", self._wall(), is_verifying)

    def seconds_left(self) -> float:
        """Return the seconds until questions end, of which a part is kept to verify; infinite without a limit."""
        with self._lock:
            most = self._read().max_wall_seconds
            return math.inf if most is None else max(0.0, most - kept_of("max_wall_seconds", most) - self._wall())

    @contextlib.contextmanager
    def judging(self, purpose: str) -> Iterator[Callable[[float], None]]:
        """Count an evaluation or comparison, which reports its seconds; LimitReached before where no room is left.

        RunStopped before where the run was cancelled.
        """
        self.stop.check()
        is_verifying, needs_gpu = purpose in VERIFYING, self._has_gpu and purpose != "compile"

        def worked(seconds: float) -> None:
            with self._lock:
                self._gpu_seconds += seconds if needs_gpu else 0.0

        with self._lock:
            self._refuse("max_wall_seconds", self._wall(), is_verifying)
            self._refuse("max_evaluations", self._evaluations, is_verifying)
            if needs_gpu:
                self._refuse("max_gpu_seconds", self._gpu_seconds, is_verifying)
            self._evaluations += 1
        try:
            yield worked
        except BaseException:
            with self._lock:
                self._evaluations -= 1
            raise

    @contextlib.contextmanager
    def driving(self) -> Iterator[None]:
        """Count the time in which a process drives the run. What an earlier one had sent when it died is lost."""
        with self._lock:
            self._read()
            self._ledger.event(self._run_id, DRIVING, {}, is_synced=False)
            self._since = began = self._clock()
        self._ledger.abandon(self._run_id)
        try:
            with self.heard():
                yield
        finally:
            with self._lock:
                elapsed = self._clock() - began
                self._wall_seconds, self._since = self._wall_seconds + elapsed, None
            self._ledger.event(self._run_id, DRIVEN, {"wall_seconds": elapsed}, is_synced=False)

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        """Ask the stop signal when another process asks the ledger for a stop of the run (`Ledger.ask_stop`)."""
        ended = threading.Event()
        if self._stops_seen is None:
            self._stops_seen = self._ledger.stops_asked(self._run_id)

        def listen() -> None:
            while not ended.wait(LISTEN_S):
                with contextlib.suppress(LedgerError):  # the next look is soon
                    asked = self._ledger.stops_asked(self._run_id)
                    if asked != self._stops_seen:
                        self._stops_seen = asked
                        self.stop.ask()

        threading.Thread(target=listen, name="stops", daemon=True).start()
        try:
            yield
        finally:
            ended.set()

    def limit_text(self, name: str) -> str:
        """Write a sentence on a limit that was met."""
        most = getattr(self.allowance, name, None)
        return f"the limit {name} was met" if most is None else _limit_met(name, most, self.used()[name])

    def _wall(self) -> float:
        return self._wall_seconds + (0.0 if self._since is None else self._clock() - self._since)

    def _refuse(self, name: str, used: float, is_verifying: bool) -> None:
        most = getattr(self._read(), name)
        if most is None:
            return
        reserve = 0.0 if is_verifying else kept_of(name, most)
        if used >= most - reserve:
            raise LimitReached(_limit_met(name, most, used), name)


def _limit_met(name: str, most: float, used: float) -> str:
    amount = ("${:,.2f} for the model" if name == "budget_usd" else "{:,.0f} " + WORDS[name]).format
    reserve = kept_of(name, most)
    note = f", of which the last {reserve:,.0f} are kept to verify what was found," if reserve else ""
    after = f"${used:,.4f}" if name == "budget_usd" else f"{used:,.0f}"
    short = "" if name in MOST_KEPT else ", which leaves too little for the next request"
    limit = f"the limit of {amount(most)}{note}"
    return f"{limit} is met after {after}{short}; resume the run with more {option_of(name)}"


def kept_of(name: str, most: float) -> float:
    """Return the part of a limit that is kept to verify what was found."""
    share = min(KEPT * most, MOST_KEPT.get(name, 0.0))
    return -(-share // 1) if name == "max_evaluations" else share


def wall_seconds(events: tuple[Event, ...]) -> float:
    """Sum the seconds that a run was driven, by its diary; a drive that was killed lasted until its last event."""
    total, began, last = 0.0, None, None
    for event in events:
        moment = datetime.fromisoformat(event.at)
        if event.kind in (DRIVING, DRIVEN) and began is not None:
            reported = event.payload.get("wall_seconds") if event.kind == DRIVEN else None
            apart = (began if last is None else last) - began
            total += float(reported) if reported is not None else max(0.0, apart.total_seconds())
            began = None
        if event.kind == DRIVING:
            began = moment
        last = moment
    if began is not None and last is not None:
        total += max(0.0, (last - began).total_seconds())
    return total

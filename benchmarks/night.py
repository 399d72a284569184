"""A night in simulated time: a clock that waits move on, a model's server and a sandbox that fail once in a while.

Callers that wait beside each other move the clock one after the other, so a night is longer by it than it would be. The
server fails by the time that it worked itself: waits for one fault do not lead to the next.
"""

from __future__ import annotations

import itertools
import random
import threading
import time

from benchmarks.fickle_model import FickleModel
from graph.table_sandbox import TableSandbox
from records.errors import LabError
from records.evaluation import Evaluation
from sandbox.candidate.prepare import Prepared
from tests.support.endpoint import Answer, Fault, Page, Recorded, ScriptedEndpoint, Step

ANSWER_S, JUDGED_S = (2.0, 8.0), 0.2  # simulated, of an answer and of an evaluation
FAULT_S = 60.0  # simulated, of the server's work between two of its faults
MACHINE_FAULT = 97  # evaluations between two faults of the machine that judges
YIELD_S = 0.001  # of real time, for which a wait lets other threads work
FAULTS: tuple[Step, ...] = (
    Fault(429, headers={"Retry-After": "20"}),
    Fault(500),
    Fault(0),
    Page("<html><h1>Bad gateway</h1></html>", 502),
    Fault(503, "The model is overloaded"),
    Page('{"choices": [', 200, "application/json"),
    Fault(429, "Rate limit reached. Please try again in 1m2.5s."),
    Fault(529),
    Answer(None),
    Fault(504),
    Answer("", "length"),
    Fault(408),
)


class SimulatedClock:
    """Seconds that pass when something says so; threads share it."""

    def __init__(self) -> None:
        self._seconds, self._lock = 0.0, threading.Lock()

    def now(self) -> float:
        """Seconds since the beginning."""
        with self._lock:
            return self._seconds

    def advance(self, seconds: float) -> float:
        """Let time pass; what it is then."""
        with self._lock:
            self._seconds += max(0.0, seconds)
            return self._seconds

    def sleep(self, seconds: float) -> None:
        """Wait in simulated time."""
        self.advance(seconds)
        time.sleep(max(0.0, min(seconds, YIELD_S)))


class NightServer(ScriptedEndpoint):
    """Answers each question in another way, and fails once a minute of its work, in all ways that pass in turn."""

    def __init__(self, clock: SimulatedClock, seed: int) -> None:
        self._clock, self._random, self.worked_s = clock, random.Random(seed), 0.0
        self._turns = threading.Lock()
        self._model = FickleModel(has_lab=False, draw=self._random, longest_s=0.0)
        self._faults, self.faults, self.answered = itertools.cycle(FAULTS), 0, 0
        super().__init__(self._model)

    def answer(self, request: Recorded) -> Step:
        """Fail where a minute is over, else answer; nothing of the request is kept."""
        with self._turns:
            took_s = self._random.uniform(*ANSWER_S)
            self._clock.advance(took_s)
            self.worked_s += took_s
            if self.worked_s >= (self.faults + 1) * FAULT_S:
                self.faults += 1
                return next(self._faults)
            self.answered += 1
        return self._model(request.body)


class NightSandbox(TableSandbox):
    """Believes comments, takes simulated time, and says now and then that its machine is at fault."""

    def __init__(self, clock: SimulatedClock) -> None:
        super().__init__()
        self._clock, self.faults, self._count = clock, 0, itertools.count(1)

    def _judge(self, purpose: str, prepared: Prepared, stages: tuple[str, ...]) -> Evaluation:
        self._clock.advance(JUDGED_S)
        self.calls.clear()
        if next(self._count) % MACHINE_FAULT == 0:
            self.faults += 1
            raise LabError("the executor ended with signal 9; run it again")
        return super()._judge(purpose, prepared, stages)

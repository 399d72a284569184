"""A process of the judge's own that makes batches of sweeps: references take a processor longer than the GPU its part.

It runs what the judge itself runs, the task's functions and no candidate's code, and ends when the judge has gone.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

from records.computed_once import computed_once
from records.errors import ScientistError
from sandbox.candidate.prepare import prepare
from sandbox.cases.derived import sweep_of
from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.sweep import Sweep, SweptCase
from sandbox.gpu.batch import Batch, BatchCandidate, make_batch
from sandbox.gpu.batch_messages import MAKER_REQUESTS, MadeReply, SweepReply, SweepRequest
from sandbox.gpu.child_channel import ChildChannel, Closed, Malformed
from sandbox.gpu.memory_file import filled_file
from tasks.loader import load_task
from tasks.task import Case, Task

REMEMBERED = 8  # tasks


class SweepBatches:
    """The batches of one candidate's sweep by their numbers; the first has every family on one case."""

    def __init__(self, candidate: BatchCandidate, families: InputFamilies, secret: int, first: Case) -> None:
        """Take the candidate's own secret, and the case that meets every family."""
        self._candidate, self._families, self._secret, self._first = candidate, families, secret, first

    @computed_once
    def _sweep(self) -> Sweep:
        return sweep_of(self._candidate.prepared, self._secret, self._families)

    def make(self, number: int, count: int) -> Batch | None:
        """Make the batch with this number, of so many cases at most; None when there are no more."""
        if number == 0:
            swept_cases = [SweptCase(self._first, name) for name in self._families.names]
        else:
            swept_cases = list(self._sweep.cases((number - 1) * count, number * count))
        return make_batch(swept_cases, self._candidate, self._families) if swept_cases or number == 0 else None


class BatchMaker:
    """Answers the judge's requests."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._tasks: dict[tuple[str, str], Task] = {}
        self._families: dict[str, InputFamilies] = {}
        self._batches: SweepBatches | None = None

    def begin(self, request: SweepRequest) -> bool:
        """Get ready for a candidate; False where it, or its task, is another here."""
        self._batches = None
        try:
            prepared = prepare(request.source, self._task(request.folder, request.target.name), request.tunables)
        except ScientistError:
            return False
        if prepared.refusal is not None or prepared.task.digest != request.digest:
            return False
        if request.digest not in self._families:
            self._families = dict([*self._families.items()][-REMEMBERED:])
            self._families[request.digest] = InputFamilies(
                prepared.task, Path(request.facts) if request.facts else None
            )
        candidate = BatchCandidate(prepared, request.kernels, request.target)
        families = self._families[request.digest]
        self._batches = SweepBatches(candidate, families, int(request.secret, 16), request.first)
        return True

    def make(self, number: int, count: int) -> Batch | None:
        """Make a batch of the candidate that was begun with."""
        return self._batches.make(number, count) if self._batches else None

    def _task(self, folder: str, target: str) -> Task:
        key = (folder, target)
        if key not in self._tasks:
            self._tasks = dict([*self._tasks.items()][-REMEMBERED:])
            self._tasks[key] = load_task(Path(folder), target)
        return self._tasks[key]


def main(number: int) -> int:
    """Serve on the socket with this number until the other side closes it."""
    channel, maker = ChildChannel(socket.socket(fileno=number)), BatchMaker()
    try:
        while True:
            request, _ = channel.receive(MAKER_REQUESTS)
            if isinstance(request, SweepRequest):
                channel.send(SweepReply(maker.begin(request)))
            else:
                _send(channel, maker.make(request.number, request.count))
    except (Closed, Malformed):
        return 0
    finally:
        channel.close()


def _send(channel: ChildChannel, batch: Batch | None) -> None:
    if batch is None:
        channel.send(MadeReply((), "", ()))
        return
    answers = filled_file("answers", batch.answers.tobytes())
    try:
        channel.send(MadeReply(batch.rows, batch.call, batch.elements, batch.refused), [batch.inputs, answers])
    finally:
        os.close(answers)
        batch.close()

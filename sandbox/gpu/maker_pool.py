"""The processes that make batches of sweeps, and their batches in order: each process makes every so-many-th one.

They begin while the GPU is still busy with a candidate's listed cases, so that its sweep finds batches ready.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sandbox.gpu.batch import Batch
from sandbox.gpu.batch_messages import MadeReply, MakeRequest, SweepReply, SweepRequest
from sandbox.gpu.child_channel import ChildChannel, Closed, Late, Malformed
from sandbox.gpu.memory_file import view
from tasks.task import Task

ROOT = Path(__file__).parents[2]
MOST = 6  # processes
AHEAD = 3  # batches of one process that wait
BEGIN_S, MAKE_S = 60.0, 60.0
LOOK_S = 0.05
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); from sandbox.gpu.batch_maker import main; "
    "sys.exit(main(int(sys.argv[2])))"
)
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
LOST = (Closed, Late, Malformed, OSError)


def usual_makers() -> int:
    """Count as many processes as leave this machine's other cores to the judge; none on a small one."""
    return max(0, min(MOST, (len(os.sched_getaffinity(0)) - 2) // 2))


def can_be_shared(task: Task) -> bool:
    """Tell whether a task's functions run in this process, from its folder: another process has the same."""
    code = getattr(task.reference, "__code__", None)
    return code is not None and code.co_filename == str(task.folder / "reference.py")


class MakerProcess:
    """One process; it is started when it is first asked."""

    def __init__(self) -> None:
        """Nothing is started yet."""
        self.in_use = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: ChildChannel | None = None

    def start(self) -> None:
        """Start it, if it is not there; nothing is waited for."""
        self._started()

    def begin(self, request: SweepRequest) -> bool:
        """Get it ready for a candidate; False where it knows the task or the candidate as another. One of `LOST`."""
        channel = self._started()
        channel.send(request)
        return channel.receive((SweepReply,), BEGIN_S)[0].is_known

    def make(self, number: int, count: int) -> Batch | None:
        """Make a batch there; None when there are no more. One of `LOST`."""
        channel = self._started()
        channel.send(MakeRequest(number, count))
        reply, files = channel.receive((MadeReply,), MAKE_S)
        if len(files) != 2:
            for handle in files:
                os.close(handle)
            return None
        answers = view(files[1])[: 16 * sum(map(sum, reply.elements))].view(np.float64)
        os.close(files[1])
        return Batch(reply.rows, reply.call, reply.elements, answers, files[0], reply.refused)

    def _started(self) -> ChildChannel:
        if self._channel is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-c", PROGRAM, str(ROOT), str(theirs.fileno())],
                    env=ONE_THREAD,
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            self._channel = ChildChannel(ours, takes_files=True)
        return self._channel

    def close(self) -> None:
        """End it; the next request starts another."""
        channel, process = self._channel, self._process
        self._channel = self._process = None
        if channel is not None:
            channel.close()
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class SharedSweep:
    """The batches of one sweep. Use it in a `with` block: they are made from its start to its end."""

    def __init__(self, makers: list[MakerProcess], request: SweepRequest, count: int) -> None:
        """Batches of so many cases."""
        self._ended, self._queues = threading.Event(), [queue.Queue[Batch | None](AHEAD) for _ in makers]
        for turn, maker in enumerate(makers):
            arguments = (maker, request, range(turn, 1 << 20, len(makers)), count, self._queues[turn])
            threading.Thread(target=self._serve, args=arguments, daemon=True).start()

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches in order, until there are no more or a process is lost. Whoever takes one closes it."""
        number = 0
        while (batch := self._queues[number % len(self._queues)].get()) is not None:
            yield batch
            number += 1

    def close(self) -> None:
        """Make nothing more; drop what is under way."""
        self._ended.set()
        for batches in self._queues:
            with contextlib.suppress(queue.Empty):
                while True:
                    if batch := batches.get_nowait():
                        batch.close()

    def _serve(
        self, maker: MakerProcess, request: SweepRequest, numbers: range, count: int, batches: queue.Queue[Batch | None]
    ) -> None:
        with maker.in_use:
            try:
                batch: Batch | None = None
                if not self._ended.is_set() and maker.begin(request):
                    for number in numbers:
                        batch = None if self._ended.is_set() else maker.make(number, count)
                        if batch is None or not self._put(batches, batch):
                            break
            except LOST:
                maker.close()
        self._put(batches, None)

    def _put(self, batches: queue.Queue[Batch | None], batch: Batch | None) -> bool:
        """Hand a batch over; False, and the batch is closed, when the sweep has ended."""
        while not self._ended.is_set():
            with contextlib.suppress(queue.Full):
                batches.put(batch, timeout=LOOK_S)
                return True
        if batch is not None:
            batch.close()
        return False


class MakerPool:
    """A fixed number of such processes, started when first needed."""

    def __init__(self, workers: int) -> None:
        """None at all with 0 workers."""
        self._makers = [MakerProcess() for _ in range(workers)]

    def start(self, task: Task) -> None:
        """Start those that are free, where the task can be theirs, before they are needed."""
        for maker in self._makers if can_be_shared(task) else ():
            if maker.in_use.acquire(blocking=False):
                try:
                    with contextlib.suppress(OSError):
                        maker.start()
                finally:
                    maker.in_use.release()

    def begin(self, task: Task, request: SweepRequest, count: int) -> SharedSweep | None:
        """Begin a sweep; None where no other process can make it."""
        return SharedSweep(self._makers, request, count) if self._makers and can_be_shared(task) else None

    def close(self) -> None:
        """End all of them, once they are not in use."""
        for maker in self._makers:
            with maker.in_use:
                maker.close()

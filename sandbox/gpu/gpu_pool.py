"""The GPUs of this machine: which are in use, which still compute, and which are given up.

One child process at a time works on a GPU. After a fault the next one first runs a kernel with a known result; a GPU
that fails this three times is put into quarantine. Candidates' faults never count towards that. Processes begin and end
in the background, which takes longer than most verdicts, but never while a candidate is being timed.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from records.errors import DeviceError, MachineError
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.child_link import GpuSlot
from sandbox.gpu.child_process import ChildProcess
from sandbox.gpu.driver.driver import open_driver
from sandbox.gpu.layout import noise
from sandbox.target import Target

MOST_FAULTS = 3
SENTINEL_WORDS = 4096


@dataclass
class PooledGpu:
    """A GPU and its child processes."""

    slot: GpuSlot
    faults: int = 0
    is_suspect: bool = True  # until a sentinel has run
    is_quarantined: bool = False
    last: str = ""
    started: deque[ChildProcess] = field(default_factory=deque)  # processes that have not touched the GPU yet
    spares: deque[Future[ChildProcess]] = field(default_factory=deque)  # that begin or have begun
    ending: list[Future[None]] = field(default_factory=list)


class GpuPool:
    """Lends child processes, each on a GPU of its own."""

    def __init__(
        self,
        slots: Sequence[GpuSlot],
        image: Callable[[], bytes],
        spares: int = 0,
        make: Callable[[GpuSlot], ChildProcess] = ChildProcess,
    ) -> None:
        """`image` compiles the judge's own kernels. So many `spares` wait ready for each GPU.

        With none, nothing is done in the background.
        """
        self._gpus = [PooledGpu(slot) for slot in slots]
        self._image, self._spares, self._make = image, spares, make
        self._spawners = ThreadPoolExecutor(max(1, 2 * spares * len(slots)), "spawner")
        self._spawning, self._is_closed = threading.Lock(), False
        self._free = threading.Condition()
        self._busy: set[int] = set()
        self.held_s = 0.0  # by all candidates so far
        self.asked_s = 0.0  # of that, with a request to the GPU's side that is not answered yet

    @contextlib.contextmanager
    def child(self, is_timed: bool = False) -> Iterator[ChildProcess]:
        """Lend a new process on a GPU that is free and computes; wait for one. DeviceError when all are in quarantine.

        With `is_timed` none begins or ends on this GPU from its first window on.
        """
        last, child = "", None
        while child is None:
            number = self._acquire(last)
            gpu, started = self._gpus[number], time.monotonic()
            try:
                child = self._healthy(gpu)
            finally:
                if child is None:
                    self._release(number, time.monotonic() - started)
            last = gpu.last
        asked_s = child.asked_s
        try:
            try:
                child.wait_idle = partial(self.wait_idle, gpu)
                if is_timed:
                    child.before_windows = child.wait_idle
                else:
                    self._spawn(gpu)
                yield child
            finally:
                self._end(gpu, child)
                self._spawn(gpu)
        finally:
            self._release(number, time.monotonic() - started, child.asked_s - asked_s)

    def blame_device(self, child: ChildProcess) -> None:
        """Record a fault that no candidate can have caused."""
        for gpu in self._gpus:
            if gpu.slot == child.slot:
                self._blame(gpu, 1)

    def quarantined(self) -> tuple[GpuSlot, ...]:
        """List the GPUs that get no more work."""
        return tuple(g.slot for g in self._gpus if g.is_quarantined)

    def close(self) -> None:
        """End the spare processes; a child that is in use ends when it is given back, and none begins after it."""
        with self._spawning:
            self._is_closed = True
        self._spawners.shutdown()
        for gpu in self._gpus:
            while gpu.spares:
                with contextlib.suppress(ChildFault, MachineError, OSError):
                    gpu.spares.popleft().result().close()
            while gpu.started:
                gpu.started.popleft().close()

    def wait_idle(self, gpu: PooledGpu) -> None:
        """Wait for the processes that begin or end on a GPU."""
        wait(gpu.spares)
        wait(gpu.ending)

    def _acquire(self, last: str) -> int:
        with self._free:
            while True:
                usable = [i for i, g in enumerate(self._gpus) if not g.is_quarantined]
                if not usable:
                    why = f" ({last})" if last else ""
                    raise DeviceError(
                        f"no GPU here can be used any more{why}; restart the machine or its driver, then resume the run"
                    )
                for number in usable:
                    if number not in self._busy:
                        self._busy.add(number)
                        return number
                self._free.wait()

    def _release(self, number: int, held_s: float, asked_s: float = 0.0) -> None:
        with self._free:
            self.held_s += held_s
            self.asked_s += asked_s
            self._busy.discard(number)
            self._free.notify_all()

    def _healthy(self, gpu: PooledGpu) -> ChildProcess | None:
        """Begin a child with the judge's kernels, tested after a fault; None when the GPU has to be given up."""
        while not gpu.is_quarantined:
            spare = gpu.spares.popleft() if gpu.spares else None
            try:
                child = spare.result() if spare else self._begin(gpu)
                if spare and not child.is_alive:  # for want of memory, perhaps; it has not been asked anything
                    child.close()
                    gpu.is_suspect = True
                    continue
                if gpu.is_suspect:
                    _check_or_close(child)
                    gpu.is_suspect = False
                return child
            except (ChildFault, DeviceError) as error:
                gpu.is_suspect, gpu.last = True, str(error)
                self._blame(gpu, 0 if spare else 1)  # one that was there may have died of the fault before it
        return None

    def _begin(self, gpu: PooledGpu) -> ChildProcess:
        child = self._fresh(gpu)
        try:
            child.open()
            child.trust(self._image())
        except BaseException:
            child.close()
            raise
        return child

    def _fresh(self, gpu: PooledGpu) -> ChildProcess:
        """Give a process that has not touched the GPU yet."""
        with contextlib.suppress(IndexError):
            while True:
                child = gpu.started.popleft()
                if child.is_alive:
                    return child
                child.close()
        return self._make(gpu.slot)

    def _spawn(self, gpu: PooledGpu) -> None:
        """Have spares made ready when none is left, all at the same time; only the holder of the GPU may ask for it."""
        with self._spawning:
            if gpu.is_quarantined or self._is_closed:
                return
            with contextlib.suppress(DeviceError, OSError, RuntimeError):  # said when there is no other way
                if not gpu.spares:
                    gpu.spares.extend(self._spawners.submit(self._begin, gpu) for _ in range(self._spares))
                while len(gpu.started) < self._spares:
                    gpu.started.append(self._make(gpu.slot))

    def _end(self, gpu: PooledGpu, child: ChildProcess) -> None:
        """End a process: at once after a fault, since a process that does not die is the GPU's fault."""
        gpu.is_suspect = gpu.is_suspect or child.is_broken
        gpu.ending = [future for future in gpu.ending if not future.done()]
        if self._spares and not child.is_broken:
            with contextlib.suppress(RuntimeError):  # the judge itself ends: nothing is done in the background any more
                gpu.ending.append(self._spawners.submit(self._close, gpu, child))
                return
        self._close(gpu, child)

    def _close(self, gpu: PooledGpu, child: ChildProcess) -> None:
        if not child.close():
            self._blame(gpu, MOST_FAULTS)

    def _blame(self, gpu: PooledGpu, faults: int) -> None:
        with self._free:
            gpu.faults += faults
            gpu.is_suspect = True
            gpu.is_quarantined = gpu.is_quarantined or gpu.faults >= MOST_FAULTS


def _check_or_close(child: ChildProcess) -> None:
    try:
        check(child)
    except BaseException:
        child.close()
        raise


def check(child: ChildProcess, draw: Callable[[], int] = lambda: secrets.randbits(63)) -> None:
    """Run the sentinel, a kernel whose words are known. DeviceError when it computes others."""
    seed = draw()
    expected = noise(seed, SENTINEL_WORDS)
    computed = np.array(child.noise(seed, SENTINEL_WORDS), np.uint64)
    if not np.array_equal(computed, expected):
        raise DeviceError(
            f"GPU {child.slot.index} computes wrong results ({int((computed != expected).sum())} of "
            f"{SENTINEL_WORDS} words of a known kernel)"
        )


def device_indices(target: Target, library: str | None = None) -> tuple[int, ...]:
    """List the GPUs of this machine that are of the target's kind; empty where there are none or no driver."""
    try:
        driver = open_driver(target.vendor, library)
        return tuple(i for i in range(driver.count()) if target.arch.startswith(driver.device(i).properties().arch))
    except MachineError:
        return ()

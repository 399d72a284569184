"""The GPUs of this machine: who has which, whether it still computes, and which are left alone.

One seat a GPU at a time. After a fault the next seat first runs a kernel with a known result; a GPU that fails this
three times is put into quarantine. Candidates' faults never count towards that.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from records.errors import DeviceError, MachineError
from sandbox.device.contents import noise
from sandbox.device.driver import open_driver
from sandbox.device.seat import Seat, SeatFault, Slot
from sandbox.target import Target

MOST_FAULTS = 3
SENTINEL_WORDS = 4096


@dataclass
class _Gpu:
    slot: Slot
    faults: int = 0
    is_suspect: bool = True  # until a sentinel has run
    is_quarantined: bool = False
    spare: Seat | None = None
    last: str = ""


class Gpus:
    """Hands out seats."""

    def __init__(self, slots: Sequence[Slot], image: Callable[[], bytes], keep_spare: bool = False,
                 make: Callable[[Slot], Seat] = Seat) -> None:
        """`image` compiles the judge's own kernels. With `keep_spare` the next process starts while one is in use."""
        self._gpus = [_Gpu(slot) for slot in slots]
        self._image, self._keep_spare, self._make = image, keep_spare, make
        self._free = threading.Condition()
        self._busy: set[int] = set()
        self.held_s = 0.0  # by all candidates so far

    @contextlib.contextmanager
    def seat(self) -> Iterator[Seat]:
        """A new process on a GPU that is free and computes; waits for one. DeviceError when all are in quarantine."""
        last, seat = "", None
        while seat is None:
            number = self._acquire(last)
            gpu, started = self._gpus[number], time.monotonic()
            try:
                seat = self._healthy(gpu)
            finally:
                if seat is None:
                    self._release(number, time.monotonic() - started)
            last = gpu.last
        try:
            try:
                yield seat
            finally:
                gpu.is_suspect = gpu.is_suspect or seat.is_broken
                if not seat.close():
                    self._blame(gpu, MOST_FAULTS)
        finally:
            self._release(number, time.monotonic() - started)

    def blame_device(self, seat: Seat) -> None:
        """A fault that no candidate can have caused."""
        for gpu in self._gpus:
            if gpu.slot == seat.slot:
                self._blame(gpu, 1)

    def quarantined(self) -> tuple[Slot, ...]:
        """GPUs that get no more work."""
        return tuple(g.slot for g in self._gpus if g.is_quarantined)

    def close(self) -> None:
        """End the spare processes."""
        for gpu in self._gpus:
            if gpu.spare is not None:
                gpu.spare.close()
                gpu.spare = None

    def _acquire(self, last: str) -> int:
        with self._free:
            while True:
                usable = [i for i, g in enumerate(self._gpus) if not g.is_quarantined]
                if not usable:
                    why = f" ({last})" if last else ""
                    raise DeviceError(f"no GPU here can be used any more{why}; restart the machine or its "
                                      "driver, then resume the run")
                for number in usable:
                    if number not in self._busy:
                        self._busy.add(number)
                        return number
                self._free.wait()

    def _release(self, number: int, held_s: float) -> None:
        with self._free:
            self.held_s += held_s
            self._busy.discard(number)
            self._free.notify_all()

    def _healthy(self, gpu: _Gpu) -> Seat | None:
        """A seat with the judge's kernels, tested after a fault; None when the GPU has to be given up."""
        while not gpu.is_quarantined:
            seat, was_spare = gpu.spare or self._make(gpu.slot), gpu.spare is not None
            gpu.spare = None
            try:
                self._try(seat, gpu)
            except (SeatFault, DeviceError) as error:
                seat.close()
                gpu.is_suspect, gpu.last = True, str(error)
                self._blame(gpu, 0 if was_spare else 1)  # one that was there may have died of the fault before it
                continue
            except BaseException:
                seat.close()
                raise
            if self._keep_spare:
                with contextlib.suppress(DeviceError):  # said when there is no other way
                    gpu.spare = self._make(gpu.slot)
            return seat
        return None

    def _try(self, seat: Seat, gpu: _Gpu) -> None:
        seat.open()
        seat.trust(self._image())
        if gpu.is_suspect:
            check(seat)
            gpu.is_suspect = False

    def _blame(self, gpu: _Gpu, faults: int) -> None:
        gpu.faults += faults
        gpu.is_suspect = True
        gpu.is_quarantined = gpu.is_quarantined or gpu.faults >= MOST_FAULTS


def check(seat: Seat, draw: Callable[[], int] = lambda: secrets.randbits(63)) -> None:
    """The sentinel: a kernel whose result is known. DeviceError when it is another."""
    seed = draw()
    expected = noise(seed, SENTINEL_WORDS)
    found = np.array(seat.noise(seed, SENTINEL_WORDS), np.uint64)
    if not np.array_equal(found, expected):
        raise DeviceError(f"GPU {seat.slot.index} computes wrong results ({int((found != expected).sum())} of "
                          f"{SENTINEL_WORDS} words of a known kernel)")


def device_indices(target: Target, library: str | None = None) -> tuple[int, ...]:
    """Which GPUs of this machine are of the target's kind; empty where there are none or no driver."""
    try:
        driver = open_driver(target.vendor, library)
        return tuple(i for i in range(driver.count()) if target.arch.startswith(driver.device(i).properties().arch))
    except MachineError:
        return ()

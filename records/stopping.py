"""The one way in which work is stopped: a signal that is passed down to whoever begins something or waits for it.

Whatever cancels a run (Ctrl-C, `kernel-scientist stop`, a server, a task of asyncio) asks the same object. It is looked
at before each compilation, execution and request, and in every wait; programs that are at work are ended.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from records.errors import RunStopped
from records.scratch_folder import leave

INTERRUPTED = RunStopped.exit_code
LOOK_S = 0.05  # between two looks while something waits
STOPPED = "the work was stopped; what it has done so far is kept, resume it to go on"


class StopSignal:
    """Whether the work that shares this object is to stop. Safe for threads and for handlers of signals.

    It stays asked until all who are at work have left, so that what begins later is not stopped.
    """

    def __init__(self) -> None:
        self._is_asked = False  # a plain field: a handler may come while its own thread holds any lock
        self._followers: tuple[StopSignal, ...] = ()
        self._lock, self._at_work = threading.Lock(), 0

    @property
    def is_asked(self) -> bool:
        """True once the work is to stop."""
        return self._is_asked

    def ask(self) -> None:
        """Have the work stop, and that of those who follow this signal."""
        self._is_asked = True
        for follower in self._followers:
            follower.ask()

    def check(self) -> None:
        """Look before something is begun: RunStopped where nothing may be."""
        if self._is_asked:
            raise RunStopped(STOPPED)

    def pause(self, seconds: float) -> None:
        """Sleep; RunStopped as soon as the work is to stop, so that no wait of hours holds an exit up."""
        until = time.monotonic() + seconds
        self.check()
        while (left_s := until - time.monotonic()) > 0:
            time.sleep(min(LOOK_S, left_s))
            self.check()

    def begin(self) -> None:
        """Count one who is at work."""
        with self._lock:
            self._at_work += 1

    def end(self) -> None:
        """Count one less; after the last one the signal is as new."""
        with self._lock:
            self._at_work -= 1
            if not self._at_work:
                self._is_asked = False

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the block as work."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count the block as work; RunStopped where it may not begin."""
        with self.counted():
            self.check()
            yield

    @contextmanager
    def reaching(self, other: StopSignal) -> Iterator[None]:
        """Have the other signal follow this one while the block is at work."""
        with self._lock:
            self._followers = (*self._followers, other)
        if self._is_asked:
            other.ask()
        try:
            yield
        finally:
            with self._lock:
                self._followers = tuple(follower for follower in self._followers if follower is not other)

    @contextmanager
    def cutting(self, cut: Callable[[], None], grace_s: float = 0.0) -> Iterator[None]:
        """Call `cut` in another thread, once, where the block is still at work this long after the stop."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(LOOK_S):
                if self._is_asked:
                    if not ended.wait(grace_s):
                        cut()
                    return

        threading.Thread(target=watch, name="stop", daemon=True).start()
        try:
            yield
        finally:
            ended.set()


@contextmanager
def stoppable(stop: StopSignal, tell: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Turn the first Ctrl-C or SIGTERM into a stop and a KeyboardInterrupt, told by `tell`; a second one ends at once.

    For the main thread of a program.
    """
    was_signalled = False

    def interrupt(number: int, frame: object) -> None:
        nonlocal was_signalled
        if was_signalled:
            leave(INTERRUPTED)
        was_signalled = True
        stop.ask()
        tell()
        raise KeyboardInterrupt

    before = {s: signal.signal(s, interrupt) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interruptible(stop: StopSignal) -> Iterator[None]:
    """Have Ctrl-C stop the block's work before it raises KeyboardInterrupt, in a program that leaves that to Python."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def interrupt(number: int, frame: object) -> None:
        stop.ask()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)

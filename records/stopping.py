"""Ctrl-C and SIGTERM for what must not stop in the middle of a step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from records.scratch_folder import leave

INTERRUPTED = 130
_ASKED = threading.Event()  # by a signal, which comes to the process and not to a thread


@contextmanager
def stoppable(tell: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Turn the first signal into a KeyboardInterrupt, told by `tell`; a second one ends the process at once."""
    was_signalled = False

    def stop(number: int, frame: object) -> None:
        nonlocal was_signalled
        if was_signalled:
            leave(INTERRUPTED)
        was_signalled = True
        _ASKED.set()
        tell()
        raise KeyboardInterrupt

    _ASKED.clear()
    before = {s: signal.signal(s, stop) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class WaitStopped(KeyboardInterrupt):
    """The process was asked to stop while a thread waited."""


def pause(seconds: float) -> None:
    """Sleep, unless the process is asked to stop: WaitStopped then, so that no wait of hours holds an exit up."""
    if _ASKED.wait(seconds):
        raise WaitStopped("asked to stop while waiting")

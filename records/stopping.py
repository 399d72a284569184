"""Ctrl-C and SIGTERM for what must not stop in the middle of a step."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from records.scratch_folder import leave

INTERRUPTED = 130


@contextmanager
def stoppable(tell: Callable[[], None] = lambda: None) -> Iterator[None]:
    """The first signal is a KeyboardInterrupt, told by `tell`; a second one ends the process at once."""
    asked = False

    def stop(number: int, frame: object) -> None:
        nonlocal asked
        if asked:
            leave(INTERRUPTED)
        asked = True
        tell()
        raise KeyboardInterrupt

    before = {s: signal.signal(s, stop) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

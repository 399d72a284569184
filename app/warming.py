"""Work of a sandbox that needs doing once, done beside other preparations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

from records.errors import ScientistError


@contextmanager
def warming(sandbox: object) -> Iterator[None]:
    """Let the lab make its runtime and its headers, where there are none yet, while the graph's libraries are read."""
    warm = getattr(sandbox, "warm", None)
    if warm is None:
        yield
        return

    def make() -> None:
        with suppress(ScientistError):  # what is wrong here is said by the first compilation
            warm(lambda text: None)

    thread = Thread(target=make, name="warm")
    thread.start()
    try:
        yield
    finally:
        thread.join()

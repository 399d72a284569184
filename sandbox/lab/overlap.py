"""Cases of one candidate, two at a time: while one is executed, the next one's inputs and references are computed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")
AT_ONCE = 2  # an executor takes all cores, and waits while numbers are drawn and compared


def overlapping(given: Iterable[Given], make: Callable[[Given], Made], at_once: int = AT_ONCE) -> Iterator[Made]:
    """The results in the order given; of an abandoned iterator, what was begun ends first and is dropped.

    `given` is read in the caller's thread. An exception of `make` comes when its turn does.
    """
    begun: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(at_once, thread_name_prefix="case") as pool:
        try:
            for each in given:
                begun.append(pool.submit(make, each))
                if len(begun) >= at_once:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for waiting in begun:
                waiting.cancel()

"""Cases of one candidate, a few at a time: while one is executed, the next inputs and references are computed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")
AT_ONCE = 2  # an executor takes all cores, and waits while numbers are drawn and compared


def overlapping(
    jobs: Iterable[Job], make: Callable[[Job], Outcome], at_once: int = AT_ONCE, ahead: int = 0
) -> Iterator[Outcome]:
    """Yield the results in the order given; of an abandoned iterator, what was begun ends first and is dropped.

    `jobs` is read in the caller's thread, `ahead` more of it than are made at once: so many can wait for a thread
    while the oldest takes long. An exception of `make` comes when its turn does.
    """
    begun: deque[Future[Outcome]] = deque()
    with ThreadPoolExecutor(at_once, thread_name_prefix="case") as pool:
        try:
            for job in jobs:
                begun.append(pool.submit(make, job))
                if len(begun) >= at_once + ahead:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for waiting in begun:
                waiting.cancel()

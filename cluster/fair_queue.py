"""Jobs that wait for a station: next is one of the run that has been served least.

Service is counted in seconds of stations. A run that comes late begins at the level of those that are being served, so
that it neither overtakes them by what they had before nor waits for them.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
FIRST_GUESS_S = 1.0  # how long a job takes, before one has ended
RECENT = 0.1  # weight of the last job in the mean
MOST_KNOWN = 1024  # runs whose service is remembered


class FairQueue(Generic[T]):
    """The jobs of several runs for stations of one kind."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[T]] = {}
        self._running: dict[str, int] = {}
        self._served_s: dict[str, float] = {}
        self._arrived: dict[str, int] = {}  # breaks ties
        self._count = itertools.count()
        self._mean_s = FIRST_GUESS_S

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def push(self, run: str, job: T, *, is_first: bool = False) -> None:
        """Have a job wait; `is_first` before the others of its run, as one that was begun already."""
        if not self._is_active(run):
            active = [level for other, level in self._served_s.items() if self._is_active(other)]
            self._served_s[run] = max(self._served_s.get(run, 0.0), min(active, default=0.0))
            self._forget()
        line = self._waiting.setdefault(run, deque())
        self._arrived.setdefault(run, next(self._count))
        if is_first:
            line.appendleft(job)
        else:
            line.append(job)

    def pop(self, rank: Callable[[T], int | None]) -> T | None:
        """Take the next job of the run served least, by the least rank and then by age.

        A job whose rank is None stays. None where no other waits.
        """
        for run in sorted(self._waiting, key=lambda name: (self._level(name), self._arrived[name])):
            line = self._waiting[run]
            ranked = [(priority, i) for i, job in enumerate(line) if (priority := rank(job)) is not None]
            if not ranked:
                continue
            index = min(ranked)[1]
            job = line[index]
            del line[index]
            if not line:
                del self._waiting[run], self._arrived[run]
            self._running[run] = self._running.get(run, 0) + 1
            return job
        return None

    def end(self, run: str, seconds: float) -> None:
        """Count a job that has left its station, after so many seconds on it."""
        self._served_s[run] = self._served_s.get(run, 0.0) + seconds
        self._mean_s += RECENT * (seconds - self._mean_s)
        self._running[run] -= 1
        if not self._running[run]:
            del self._running[run]

    def drop(self, is_dropped: Callable[[T], bool]) -> list[T]:
        """Take out the waiting jobs of which this holds."""
        dropped = []
        for run, line in list(self._waiting.items()):
            dropped += [job for job in line if is_dropped(job)]
            left = deque(job for job in line if not is_dropped(job))
            if left:
                self._waiting[run] = left
            else:
                del self._waiting[run], self._arrived[run]
        return dropped

    def counts(self) -> dict[str, tuple[int, int, float]]:
        """By run: jobs that wait, jobs on stations, seconds served."""
        runs = {*self._waiting, *self._running}
        return {
            run: (len(self._waiting.get(run, ())), self._running.get(run, 0), self._served_s.get(run, 0.0))
            for run in sorted(runs)
        }

    def _is_active(self, run: str) -> bool:
        return bool(self._waiting.get(run)) or run in self._running

    def _level(self, run: str) -> float:
        """Service so far, with what is under way as if it took the mean."""
        return self._served_s.get(run, 0.0) + self._running.get(run, 0) * self._mean_s

    def _forget(self) -> None:
        for run in list(self._served_s):
            if len(self._served_s) <= MOST_KNOWN:
                return
            if not self._is_active(run):
                del self._served_s[run]

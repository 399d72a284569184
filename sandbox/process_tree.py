"""A program and whatever it has started, found again by group, session and mark, and killed to the last one."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass

MARK = "KS_PROCESS"  # in the environment of a program and of what it starts


def processes() -> frozenset[tuple[str, int]]:
    """List every process by number and inode of its folder, which a later process of the same number has not."""
    with os.scandir("/proc") as entries:
        return frozenset((entry.name, entry.inode()) for entry in entries if entry.name.isdigit())


def children_of(parent: int) -> list[int]:
    """List the processes that this one has started, and that have not ended, by number."""
    numbers = []
    for name, _ in processes():
        with contextlib.suppress(OSError):
            state, above = _read_file(f"/proc/{name}/stat").rpartition(b")")[2].split()[:2]
            if int(above) == parent and state not in (b"Z", b"X"):
                numbers.append(int(name))
    return numbers


@dataclass
class ProcessTree:
    """A program and whatever it has started: its group, its session, everything that carries its mark."""

    mark: str
    before: frozenset[tuple[str, int]]  # processes that were there before it, so none of its own
    swept: bool = False
    is_gone: bool = False  # nobody was left when it was last swept

    def sweep(self, leader: int) -> None:
        """Kill the group of the leader, then whoever left the group; repeated because a fork may race with the kill."""
        self.swept = True
        for _ in range(20):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, signal.SIGKILL)
            left = self.survivors(leader)
            self.is_gone = not left
            if self.is_gone:
                return
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)

    def survivors(self, leader: int) -> list[int]:
        """List living processes of this tree apart from the leader."""
        token = f"{MARK}={self.mark}".encode()
        numbers = []
        for name, _ in processes() - self.before:
            if int(name) == leader:
                continue
            with contextlib.suppress(OSError):
                state, _, _, session = _read_file(f"/proc/{name}/stat").rpartition(b")")[2].split()[:4]
                if state in (b"Z", b"X"):
                    continue
                if int(session) == leader or token in _read_file(f"/proc/{name}/environ"):
                    numbers.append(int(name))
        return numbers


def _read_file(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - a Path for each process takes longer than its file
        return file.read()

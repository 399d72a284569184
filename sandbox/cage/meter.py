"""Limits of a program, and a look at how far it is: CPU time, memory, threads, files, and whether it moves at all."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from records.errors import HostStarved

End = Literal["ended", "cpu", "stalled", "memory", "folder", "threads", "output", "deadline"]
_PAGE = os.sysconf("SC_PAGE_SIZE")
_FIRST_LOOK_S = 0.2  # at the process itself: most programs have ended by then
_MOST_THREADS_READ = 32
_SELDOM = 10  # looks of which one is at what is mapped
_LONGEST_IDLE_S = 0.2  # that one look can find: with more between two, it was this process that did not get to run


@dataclass(frozen=True)
class ProcessLimits:
    """Limits of a child; None leaves a limit as it is. Address space breaks GPU drivers: leave it to compilers.

    The second group holds in a cage only.
    """

    cpu_s: int = 60
    memory_bytes: int | None = None  # of address space
    data_bytes: int | None = None  # of what it may write and no file holds, touched or not; in a cage
    file_bytes: int = 256 << 20  # of one file
    processes: int | None = None
    resident_bytes: int = 2 << 30  # anonymous memory in use
    folder_bytes: int = 1 << 30  # of all files in the writable folders together
    folder_files: int = 4096
    output_bytes: int = 64 << 20  # of each stream, kept or not
    threads: int = 256
    idle_s: float = 10.0  # time without running and without being able to run, in all
    patience_s: float = 1200.0  # of the wall clock; who has met no other limit by then has starved

    def rows(self) -> tuple[tuple[int, int, int], ...]:
        """List kind, soft and hard limit of each that the kernel keeps."""
        import resource

        rows = [
            (resource.RLIMIT_CPU, self.cpu_s, self.cpu_s + 1),
            (resource.RLIMIT_FSIZE, self.file_bytes, self.file_bytes),
            (resource.RLIMIT_CORE, 0, 0),
            (resource.RLIMIT_NOFILE, 256, 256),
            (resource.RLIMIT_MEMLOCK, 0, 0),
            (resource.RLIMIT_STACK, 8 << 20, 64 << 20),
        ]
        if self.memory_bytes is not None:
            rows.append((resource.RLIMIT_AS, self.memory_bytes, self.memory_bytes))
        if self.data_bytes is not None:
            rows.append((resource.RLIMIT_DATA, self.data_bytes, self.data_bytes))
        return tuple(rows)


class Meter:
    """Looks at one process, which can have no children, every now and then."""

    def __init__(self, pid: int, limits: ProcessLimits, folders: Sequence[Path]) -> None:
        """`folders`: those that the program may write to."""
        self._pid, self._limits, self._folders = pid, limits, folders
        self._clock = (~pid << 3) | 2  # the kernel's number for the CPU clock of this process
        self._started = self._looked_at = time.monotonic()
        self._cpu_s = self._idle_s = 0.0
        self._looks = 0

    @property
    def cpu_s(self) -> float:
        """Processor time that the process had taken when it was last looked at."""
        return self._cpu_s

    def look(self) -> End | None:
        """Name the limit that the program has met, if any. HostStarved where it could run and did not get to."""
        now = time.monotonic()
        if not self._fits():  # from the first moment: gigabytes a second can be written where files are in memory
            return "folder"
        try:
            threads = sorted(os.listdir(f"/proc/{self._pid}/task"))  # noqa: PTH208 - a Path for each takes longer
            if (
                len(threads) > self._limits.threads
            ):  # or in a fifth of a second the machine has no number left for another
                return "threads"
            if now - self._started < _FIRST_LOOK_S:
                return None
            cpu_s = time.clock_gettime(self._clock)
            fields = _words(f"/proc/{self._pid}/statm")
            anonymous = (int(fields[1]) - int(fields[2])) * _PAGE
        except (OSError, IndexError):
            return None  # it has just ended
        passed, ran = now - self._looked_at, cpu_s - self._cpu_s
        if ran < passed and not self._can_run(threads):
            self._idle_s += min(passed - ran, _LONGEST_IDLE_S)
        self._looked_at, self._cpu_s = now, cpu_s
        limits = self._limits
        if cpu_s > limits.cpu_s + 1:
            return "cpu"
        if anonymous > limits.resident_bytes:
            return "memory"
        if self._idle_s > limits.idle_s:
            return "stalled"
        if now - self._started > limits.patience_s:
            raise HostStarved(
                f"this machine is too busy: a program got {cpu_s:.0f} s of processor time in "
                f"{now - self._started:.0f} s; let it do less at a time and try again"
            )
        return None

    def _can_run(self, threads: Sequence[str]) -> bool:
        """Tell whether a thread runs, waits for a processor or waits for a disk."""
        for thread in threads[:_MOST_THREADS_READ]:
            with contextlib.suppress(OSError, IndexError):
                path = f"/proc/{self._pid}/task/{thread}/stat"
                if _read(path).rpartition(b")")[2].split()[0] in (b"R", b"D"):
                    return True
        return False

    def _fits(self) -> bool:
        """Tell whether the folders hold as little as they must; a caged program cannot make folders in them."""
        size = count = 0
        for folder in self._folders:
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    count += 1
                    if count > self._limits.folder_files:
                        return False
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
        return size + self._without_name() <= self._limits.folder_bytes

    def _without_name(self) -> int:
        """Count the bytes of removed files that the program still holds open; mapped ones as large as a file may be."""
        self._looks += 1
        bytes_by_inode = dict[int, int]()
        with contextlib.suppress(OSError, ValueError, IndexError):
            for handle in os.listdir(f"/proc/{self._pid}/fd"):  # noqa: PTH208 - a Path for each takes longer
                with contextlib.suppress(OSError):
                    about = os.stat(f"/proc/{self._pid}/fd/{handle}")  # noqa: PTH116
                    if stat.S_ISREG(about.st_mode) and not about.st_nlink:
                        bytes_by_inode[about.st_ino] = about.st_blocks * 512
            if not self._looks % _SELDOM:
                for line in _read(f"/proc/{self._pid}/maps").split(b"\n"):
                    if line.endswith(b" (deleted)"):
                        bytes_by_inode.setdefault(int(line.split()[4]), self._limits.file_bytes)
        return sum(bytes_by_inode.values())


def _words(path: str) -> list[bytes]:
    return _read(path).split()


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - a Path for each process takes longer than its file
        return file.read()

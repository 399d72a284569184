"""Drivers forked from a process that has read all modules, so that a kill costs the run and not the start of Python."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import IO, Any

from tests.support.bench_run import BenchRun

PAUSED = 3


class Drivers:
    """The process that forks; one driver at a time."""

    def __init__(self) -> None:
        self._forker = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.forked_driver"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, folder: Path, url: str) -> ForkedDriver:
        """Begin or resume the run of a folder."""
        assert self._forker.stdin is not None and self._forker.stdout is not None
        self._forker.stdin.write(f"{folder} {url}\n")
        self._forker.stdin.flush()
        return ForkedDriver(int(self._forker.stdout.readline()), self._forker.stdout)

    def close(self) -> None:
        """End the process that forks."""
        self._forker.communicate()


class ForkedDriver:
    """One driver, as much like a subprocess as the benchmark needs."""

    def __init__(self, pid: int, statuses: IO[str]) -> None:
        self.pid, self._told = pid, statuses
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the way in which it ended; None while it runs."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; TimeoutExpired where it runs longer."""
        status = self._ended(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("driver", timeout or 0)
        return status

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._told], [], [], timeout)[0]:
            self.returncode = int(self._told.readline())
        return self.returncode


def drive(folder: Path, url: str) -> int:
    """Begin or resume the run; 0 when it is done, PAUSED when it is not."""
    run = BenchRun(folder, _Server(url), generations=3, picks=2, endpoint={"retries": 2})  # type: ignore[arg-type]
    try:
        return 0 if run.drive().status == "done" else PAUSED
    finally:
        run.close()


class _Server:
    def __init__(self, url: str) -> None:
        self.url = url


def _forked(folder: str, url: str) -> int:
    """Run a driver of its own, whose words go to a log in the folder, and return its status."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with (Path(folder) / "driver.log").open("a") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            code = drive(Path(folder), url)
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(code)
    _tell(child)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _tell(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def main() -> None:
    """Fork a driver for each line with a folder and an address: its process, then how it ended."""
    import langchain_openai  # noqa: F401 - a second, which each driver would spend again

    for line in sys.stdin:
        _tell(_forked(*_words(line)))


def _words(line: str) -> Any:
    return line.split()


if __name__ == "__main__":
    main()

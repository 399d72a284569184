"""A program of the user's as a process: behind its fence, in a session of its own, gone with all it started."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from app.program.program_fence import Fence
from records.errors import MachineError
from sandbox.cage import fenced
from sandbox.process import Stream, last_words
from sandbox.process_tree import MARK, ProcessTree, processes

MOST_OUTPUT = 4 << 20  # bytes of a session's log that are kept
SAID = 300  # characters of its last words


def end_left_over(mark: str) -> None:
    """Kill what carries the mark of a session whose driver was killed."""
    if mark:
        ProcessTree(mark, frozenset()).sweep(_NOBODY)


_NOBODY = 1 << 30  # a number that no process has


class ProgramProcess:
    """One start. The thread that makes it has to stay until its end: the program ends with that thread."""

    def __init__(
        self, words: tuple[str, ...], environment: Mapping[str, str], fence: Fence, prompt: str, seconds: float
    ) -> None:
        """Start it; MachineError where that cannot be."""
        self.mark = secrets.token_hex(16)
        self._tree, self._began, self._seconds = ProcessTree(self.mark, processes()), time.monotonic(), seconds
        self._output, self._is_late, self._lock = Stream(MOST_OUTPUT), False, threading.Lock()
        about = {
            "parent": os.getpid(),
            "program": words,
            "folder": str(fence.folder),
            "visible": [str(path) for path in fence.visible],
            "free": [str(path) for path in fence.free],
            "is_fenced": fence.is_fenced,
        }
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-S", fenced.__file__, json.dumps(about)],
                cwd=fence.folder,
                env={**environment, MARK: self.mark},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise MachineError(f"the program {words[0]} cannot be started: {error.strerror or error}") from None
        self._threads = [
            threading.Thread(target=self._feed, args=(prompt.encode(),), daemon=True),
            threading.Thread(target=self._drain, daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self._timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), self._end_late)
        self._timer.daemon = True
        self._timer.start()

    @contextlib.contextmanager
    def telling(self, log: Path, plain: Callable[[str], str]) -> Iterator[ProgramProcess]:
        """End it at the end of the block, and write what it said into the log, without keys."""
        self._plain = plain
        try:
            yield self
        finally:
            self.end()
            with contextlib.suppress(OSError):
                log.write_text(plain(self._output.text()), encoding="utf-8")

    @property
    def has_ended(self) -> bool:
        """True once it has ended by itself or was killed."""
        return self._child.returncode is not None or (
            os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        )

    @property
    def ending(self) -> str:
        """How it ended and what it said last."""
        code, lasted = self._child.returncode, f"after {time.monotonic() - self._began:.0f} s"
        if self._is_late:
            how = f"it was ended at the end of its time, {lasted}"
        elif code is not None and code < 0:
            how = f"it ended by signal {-code} {lasted}"
        else:
            how = f"it ended with exit code {code} {lasted}"
        said = last_words(self._plain(self._output.text()), SAID)
        return f"{how}; it said last: {said}" if said else f"{how} and said nothing"

    def end(self) -> None:
        """Kill it and all that it has started."""
        with self._lock:
            self._timer.cancel()
            if self._child.returncode is None:
                self._tree.sweep(self._child.pid)  # the leader is not reaped yet, so that its number is its own
                self._child.wait()
        for thread in self._threads:
            thread.join(1.0)
        assert self._child.stdout is not None
        if not self._threads[-1].is_alive():  # else someone out of our reach holds it open
            self._child.stdout.close()

    def _end_late(self) -> None:
        with self._lock:
            if self._child.returncode is None and not self.has_ended:
                self._is_late = True
                self._tree.sweep(self._child.pid)

    def _feed(self, prompt: bytes) -> None:
        assert self._child.stdin is not None
        with contextlib.suppress(OSError), self._child.stdin as pipe:
            pipe.write(prompt)

    def _drain(self) -> None:
        assert self._child.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(self._child.stdout.fileno(), 65536):
                self._output.add(data)

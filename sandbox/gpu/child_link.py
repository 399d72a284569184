"""A process of the judge's own on one GPU, and the socket to it: it asks, waits no longer than agreed, and kills.

The status that the driver gave separates a candidate's fault from a device's. A request without an answer in time is
the candidate's fault where it runs the candidate's code, and the device's where it does not.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from records.errors import DeviceError
from sandbox.gpu.child_channel import ChildChannel, Closed, Late, Malformed
from sandbox.gpu.child_fault import KILLED, ChildFault
from sandbox.gpu.child_messages import RUNS_CANDIDATE, Request
from sandbox.gpu.child_replies import FailedReply
from sandbox.gpu.driver.driver import symbols_of
from sandbox.gpu.fence import Fence
from sandbox.gpu.memory_file import memory_file

ROOT = Path(__file__).parents[2]
QUICK_S = 30.0  # for requests that run no candidate's code
LAST_WORDS_BYTES = 64 << 10
KILL_S = 10.0  # after which a process that does not die means a device that does not answer
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from sandbox.gpu.fence import enclose; "
    "fence = enclose(sys.argv[4], sys.argv[2], *sys.argv[5:]); "
    "from sandbox.gpu.child_main import main; sys.exit(main(sys.argv[1:], fence))"
)
Answer = TypeVar("Answer")
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}  # numpy starts as many as there are cores, and the child needs none


@dataclass(frozen=True)
class GpuSlot:
    """One GPU, the driver library that leads to it (None: the vendor's own), and the fence around its processes."""

    vendor: str
    index: int
    library: str | None = None
    fence: Fence = "local"


class ChildLink:
    """One process and the requests to it. Use it in a `with` block: it does not outlive that."""

    def __init__(self, slot: GpuSlot, program: str = PROGRAM) -> None:
        """Start the process; nothing is waited for. `program` is the Python text that it runs."""
        ours, theirs = socket.socketpair()
        self._stderr = memory_file("stderr", LAST_WORDS_BYTES)
        self.slot, self._channel = slot, ChildChannel(ours)
        try:
            self._process = subprocess.Popen(
                _command(slot, theirs.fileno(), program),
                env={**ONE_THREAD, **symbols_of(slot.vendor).environment},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                close_fds=True,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            self._channel.close()
            os.close(self._stderr)
            raise DeviceError(
                f"the judge cannot start its child process ({error.strerror}); free some memory"
            ) from None
        finally:
            theirs.close()
        self.is_broken = self._is_closed = self._has_run = False
        self.asked_s = 0.0  # time with a request under way

    def __enter__(self) -> Self:
        """Use it in a `with` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()

    def ask(
        self, request: Request, expected: Sequence[type[Answer]], files: Sequence[int] = (), timeout_s: float = QUICK_S
    ) -> Answer:
        """Send a request and wait for a reply of an expected type; after a ChildFault the process is of no use."""
        started, runs_candidate = time.monotonic(), isinstance(request, RUNS_CANDIDATE)
        self._has_run = self._has_run or runs_candidate
        kinds: tuple[type[Answer] | type[FailedReply], ...] = (*expected, FailedReply)
        try:
            self._channel.send(request, files)
            reply, _ = self._channel.receive(kinds, timeout_s)
            if not isinstance(reply, FailedReply):
                return reply
            fault = ChildFault(reply.message, reply.fault, reply.lost)
        except Late:
            fault = ChildFault.late(runs_candidate, timeout_s)
        except Closed:
            fault = self._ended(runs_candidate)
        except Malformed:
            fault = self._malformed()
        finally:
            self.asked_s += time.monotonic() - started
        self.is_broken = True
        raise fault

    def _ended(self, runs_candidate: bool) -> ChildFault:
        last_words = self._last_words()
        if self._process.returncode == -signal.SIGKILL:  # not by us: a system short of memory kills so
            return ChildFault(KILLED, None, lost=False)
        blamed = symbols_of(self.slot.vendor).blame(last_words) if runs_candidate else None
        return ChildFault.closed(runs_candidate, blamed)

    def _malformed(self) -> ChildFault:
        self.is_broken = True
        return ChildFault.malformed(self._has_run)

    @property
    def is_alive(self) -> bool:
        """The process is there."""
        return self._process.poll() is None

    def _last_words(self) -> str:
        """Read what a driver printed before it ended the process; some do so instead of returning a status."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(KILL_S)
        return os.pread(self._stderr, LAST_WORDS_BYTES, 0).decode(errors="replace").rstrip("\0")

    def close(self) -> bool:
        """End the process; False when it does not die, which is the device's fault. Again does nothing more."""
        if not self._is_closed:
            self._is_closed = True
            self._channel.close()
            os.close(self._stderr)
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        try:
            self._process.wait(KILL_S)
        except subprocess.TimeoutExpired:
            return False
        return True


def _command(slot: GpuSlot, end: int, program: str) -> list[str]:
    library = [slot.library] if slot.library else []
    return [
        sys.executable,
        "-I",
        "-c",
        program,
        str(ROOT),
        str(end),
        slot.vendor,
        str(slot.index),
        slot.fence,
        *library,
    ]

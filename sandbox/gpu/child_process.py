"""The judge's handle on one child process on one GPU: it asks, waits no longer than agreed, and kills.

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self, TypeVar

from records.errors import DeviceError
from sandbox.gpu.child_channel import ChildChannel, Closed, Late, Malformed
from sandbox.gpu.child_fault import KILLED, ChildFault
from sandbox.gpu.child_messages import (
    RUNS_CANDIDATE,
    BindRequest,
    CallReply,
    CallRequest,
    ControlRequest,
    DoneReply,
    FailedReply,
    LoadRequest,
    NoiseReply,
    NoiseRequest,
    OpenReply,
    OpenRequest,
    ReadRequest,
    RepeatRequest,
    Request,
    ShortReply,
    StretchReply,
    TrustRequest,
    WindowRow,
    WindowsReply,
    WindowsRequest,
)
from sandbox.gpu.driver.driver import symbols_of
from sandbox.gpu.layout import Layout
from sandbox.gpu.memory_file import Raw, memory_file, shared_file, view

ROOT = Path(__file__).parents[2]
START_S = 60.0  # to open the driver; the first process on a cold machine takes long
QUICK_S = 30.0  # for requests that run no candidate's code
LAST_WORDS_BYTES = 64 << 10
KILL_S = 10.0  # after which a process that does not die means a device that does not answer
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from sandbox.gpu.child_main import main; "
    "sys.exit(main(sys.argv[1:]))"
)
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class GpuSlot:
    """One GPU and the driver library that leads to it (None: the vendor's own)."""

    vendor: str
    index: int
    library: str | None = None


@dataclass(frozen=True)
class WindowResult:
    """Microseconds a call by the device's clock, blocks that changed and may not, a sum of each set's outputs."""

    time_us: float
    changed: int
    sums: tuple[int, ...]
    outputs: Mapping[str, Raw] = field(default_factory=dict)  # of the set that was to be fetched


@dataclass(frozen=True)
class Called:
    """One call: blocks of 16 bytes that changed and may not, the outputs' bytes, a sum over them."""

    changed: int
    outputs: Mapping[str, Raw]
    sum: int


@dataclass(frozen=True)
class ClockReading:
    """Microseconds of a stretch, or of a call in it, by three readings."""

    device_us: float  # by the device's events
    calls_us: float  # by the host, in the child, around the calls
    request_us: float  # by the judge's own clock, around its request: what the host does besides only adds


class ChildProcess:
    """One child process. Use it in a `with` block: it does not outlive that."""

    def __init__(self, slot: GpuSlot) -> None:
        """Start the process; nothing is waited for."""
        ours, theirs = socket.socketpair()
        self._stderr = memory_file("stderr", LAST_WORDS_BYTES)
        self.slot, self._channel = slot, ChildChannel(ours)
        try:
            self._process = subprocess.Popen(
                _command(slot, theirs.fileno()),
                env=dict(symbols_of(slot.vendor).environment),
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
        self.noise_seed = 0  # of the buffers bound last
        self._layout = Layout((), 0)
        self.before_windows: Callable[[], None] = lambda: None  # waits until no other process of ours disturbs a time
        self.wait_idle: Callable[[], None] = lambda: None  # waits for our other processes that begin or end
        self.asked_s = 0.0  # time with a request under way

    def __enter__(self) -> Self:
        """Use it in a `with` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()

    def open(self) -> OpenReply:
        """Describe the GPU; DeviceError when it cannot be used."""
        try:
            return self.ask(OpenRequest(), (OpenReply,), timeout_s=START_S)
        except ChildFault as fault:
            raise DeviceError(fault.message) from None

    def trust(self, image: bytes) -> None:
        """Load the judge's own kernels."""
        with shared_file("trusted", image) as handle:
            self.ask(TrustRequest(), (DoneReply,), [handle])

    def load(self, request: LoadRequest, image: bytes) -> None:
        """Load compiled code under a tag."""
        with shared_file("image", image) as handle:
            self._claim(request, handle)

    def bind(self, request: BindRequest, inputs: int) -> None:
        """Allocate the buffers of a case; the file `inputs` holds both bases' inputs."""
        self.noise_seed, self._layout = request.seed, request.layout
        self._claim(request, inputs)

    def _claim(self, request: LoadRequest | BindRequest, file: int) -> None:
        """Ask for memory; memory that an ending process of ours still holds is waited for first."""
        if isinstance(self.ask(request, (DoneReply, ShortReply), [file]), ShortReply):
            self.wait_idle()
            self.ask(replace(request, is_last=True), (DoneReply,), [file])

    def call(self, request: CallRequest, timeout_s: float) -> Called:
        """One call on one set."""
        reply, (outputs,) = self._fetch(request, CallReply, request.outputs, 1, timeout_s)
        return Called(reply.changed, outputs, reply.sum)

    def read(self, names: Sequence[str]) -> dict[str, Raw]:
        """Buffers of the first set as they are now."""
        return self._fetch(ReadRequest(tuple(names)), DoneReply, names, 1, QUICK_S)[1][0]

    def windows(self, request: WindowsRequest, timeout_s: float) -> tuple[WindowResult, ...]:
        """Timed windows in this order."""
        self.before_windows()
        count = sum(w.fetch is not None for w in request.windows)
        reply, fetched = self._fetch(request, WindowsReply, request.outputs, count, timeout_s)
        if len(reply.rows) != len(request.windows) or not all(map(WindowRow.answers, reply.rows, request.windows)):
            raise self._malformed()
        outputs = iter(fetched)
        return tuple(
            WindowResult(row.time_us, row.changed, row.sums, {} if window.fetch is None else next(outputs))
            for window, row in zip(request.windows, reply.rows, strict=True)
        )

    def repeat(self, request: RepeatRequest, timeout_s: float) -> ClockReading:
        """So many calls without a pause."""
        self.before_windows()
        return self._stretch(request, timeout_s)

    def control(self, request: ControlRequest) -> ClockReading:
        """The same of a kernel of the judge's own."""
        return self._stretch(request, QUICK_S)

    def _stretch(self, request: RepeatRequest | ControlRequest, timeout_s: float) -> ClockReading:
        started = time.monotonic()
        reply = self.ask(request, (StretchReply,), timeout_s=timeout_s)
        return ClockReading(reply.device_us, reply.calls_us, 1e6 * (time.monotonic() - started))

    def noise(self, seed: int, words: int) -> tuple[int, ...]:
        """The words that a known kernel computes."""
        found = self.ask(NoiseRequest(seed, words), (NoiseReply,)).words
        if len(found) != words:
            raise self._malformed()
        return found

    def _fetch(
        self, request: Request, expected: type[Answer], names: Sequence[str], times: int, timeout_s: float
    ) -> tuple[Answer, list[dict[str, Raw]]]:
        """A reply and so many times the buffers of these names, in the order in which the child writes them."""
        places = [self._layout[name] for name in names]
        handle = memory_file("outputs", max(1, times * sum(p.nbytes for p in places)))
        try:
            reply = self.ask(request, (expected,), [handle], timeout_s)
            data, found, at = view(handle), list[dict[str, Raw]](), 0
            for _ in range(times):
                found.append({})
                for place in places:
                    found[-1][place.name] = data[at : at + place.nbytes]
                    at += place.nbytes
            return reply, found
        finally:
            os.close(handle)

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
        """Text that a driver printed before it ended the process; some do so instead of returning a status."""
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


def _command(slot: GpuSlot, end: int) -> list[str]:
    library = [slot.library] if slot.library else []
    return [sys.executable, "-I", "-c", _BOOT, str(ROOT), str(end), slot.vendor, str(slot.index), *library]

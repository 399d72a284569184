"""The judge's handle on one child process on one GPU: it asks, waits no longer than agreed, and kills.

A candidate's fault and a device's are told apart here by the status that the driver gave; what nobody answers for in
time is the candidate's while its code may be running, and the device's before.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from records.errors import DeviceError
from records.evaluation import FindingKind
from sandbox.gpu.child_messages import ChildChannel, Closed, Late, memory_file, shared_file
from sandbox.gpu.driver.driver import symbols_of
from sandbox.gpu.layout import BufferPlace, Layout

Raw = npt.NDArray[np.uint8]
ROOT = Path(__file__).parents[2]
START_S = 60.0  # to open the driver; the first process on a cold machine takes long
QUICK_S = 30.0  # for what runs no candidate's code
LAST_WORDS_BYTES = 64 << 10
KILLED = "somebody killed the process on the GPU; free some of the machine's memory"
KILL_S = 10.0  # after which a process that does not die means a device that does not answer
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from sandbox.gpu.child import main; sys.exit(main(sys.argv[1:]))"
)


class ChildFault(Exception):
    """A request did not succeed. `kind` is a finding's when the candidate did it, None when nobody can tell.

    `lost` when only the device can be to blame, `ended` when the process died while the candidate was running.
    """

    def __init__(self, message: str, kind: FindingKind | None, lost: bool, ended: bool = False) -> None:
        super().__init__(message)
        self.message, self.kind, self.lost, self.ended = message, kind, lost, ended
        self.case: str | None = None


@dataclass(frozen=True)
class GpuSlot:
    """Which GPU, through which driver library (None: the vendor's own)."""

    vendor: str
    index: int
    library: str | None = None


@dataclass(frozen=True)
class Window:
    """So many calls of one image, each on its own set; `seed` decides what the sets hold. Warm: all on one set.

    Only an inspected window says what changed and sums the outputs, and only one with `fetch` gives back those of the
    set with that number; a kernel cannot tell which windows are.
    """

    tag: str
    calls: int
    seed: int
    warm: bool = False
    inspect: bool = True
    fetch: int | None = None


@dataclass(frozen=True)
class WindowResult:
    """Microseconds a call by the device's clock, blocks that changed and must not have, a sum of each set's outputs."""

    time_us: float
    changed: int
    sums: tuple[int, ...]
    outputs: Mapping[str, Raw] = field(default_factory=dict)  # of the set that was to be fetched


@dataclass(frozen=True)
class Called:
    """One call: blocks of 16 bytes changed that must not be, the outputs' bytes, a sum over them."""

    changed: int
    outputs: Mapping[str, Raw]
    sum: int


@dataclass(frozen=True)
class ClockReading:
    """Microseconds of a stretch, or of a call in it, by three readings."""

    device_us: float  # by the device's events
    calls_us: float  # by the host, in the child, around the calls
    request_us: float  # by the judge's own clock, around its request: what the host does besides only adds


Launches = Sequence[Mapping[str, Any]]  # kernel, grid, block, lds_bytes, args: [["buffer", name], ["i32", 7], ...]


class ChildProcess:
    """One child process. Use it in a `with` block: it does not outlive that."""

    def __init__(self, slot: GpuSlot) -> None:
        """Start the process; nothing is waited for."""
        ours, theirs = socket.socketpair()
        self._said = memory_file("stderr", 0)
        argv = [
            sys.executable,
            "-I",
            "-c",
            _BOOT,
            str(ROOT),
            str(theirs.fileno()),
            slot.vendor,
            str(slot.index),
            *([slot.library] if slot.library else []),
        ]
        self.slot, self._channel = slot, ChildChannel(ours)
        try:
            self._process = subprocess.Popen(
                argv,
                env=dict(symbols_of(slot.vendor).environment),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                close_fds=True,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            self._channel.close()
            os.close(self._said)
            raise DeviceError(
                f"the judge cannot start its child process ({error.strerror}); free some memory"
            ) from None
        finally:
            theirs.close()
        self.is_broken = self._is_closed = False
        self.noise_seed = 0  # of the buffers bound last
        self.before_windows: Callable[[], None] = lambda: None  # waits until nobody disturbs a time
        self.alone: Callable[[], None] = lambda: None  # waits for our other processes that begin or end
        self.asked_s = 0.0  # how long the GPU's side has been at work for us

    def __enter__(self) -> Self:
        """Use it in a `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the process."""
        self.close()

    def open(self) -> dict[str, Any]:
        """Properties and fingerprint of the GPU; DeviceError when it cannot be used."""
        try:
            return self.ask({"do": "open"}, timeout_s=START_S)
        except ChildFault as fault:
            raise DeviceError(fault.message) from None

    def trust(self, image: bytes) -> None:
        """Load the judge's own kernels."""
        with shared_file("trusted", image) as handle:
            self.ask({"do": "trust"}, [handle])

    def load(self, tag: str, image: bytes, variables: Sequence[str], has_hidden: bool = False) -> None:
        """Load compiled code; `variables` are its device variables' symbols, hidden ones have none to be found by."""
        with shared_file("image", image) as handle:
            self._claim({"do": "load", "tag": tag, "variables": list(variables), "has_hidden": has_hidden}, handle)

    def bind(self, layout: Layout, inputs: int, sets: int, whole: bool, seed: int, skip: int = 0) -> None:
        """Allocate; the file `inputs` holds base A's inputs, then base B's, in the layout's order, without gaps.

        `skip` bytes are left free before the first set, `seed` decides the noise where no input lies.
        """
        self.noise_seed = seed
        self._claim(
            {"do": "bind", "layout": asdict(layout), "sets": sets, "whole": whole, "seed": seed, "skip": skip}, inputs
        )

    def _claim(self, message: Mapping[str, Any], file: int) -> None:
        """Ask for memory; what a process of ours that is ending still has is waited for before anybody is blamed."""
        if self.ask({**message, "is_last": False}, [file]).get("is_short"):
            self.alone()
            self.ask({**message, "is_last": True}, [file])

    def call(
        self, tag: str, launches: Launches, layout: Layout, seed: int, number: int, timeout_s: float, fetch: bool = True
    ) -> Called:
        """One call on one set; without `fetch` only the sum of its outputs comes back."""
        outputs = layout.outputs if fetch else ()
        said, (found,) = self._fetch(
            {
                "do": "call",
                "tag": tag,
                "launches": launches,
                "seed": seed,
                "number": number,
                "outputs": [p.name for p in outputs],
            },
            outputs,
            timeout_s,
        )
        return Called(int(said["changed"]), found, int(said["sum"]))

    def read(self, names: Sequence[str], layout: Layout) -> dict[str, Raw]:
        """Buffers of the first set as they are now."""
        return self._fetch({"do": "read", "names": list(names)}, [layout[n] for n in names], QUICK_S)[1][0]

    def _fetch(
        self, message: Mapping[str, Any], places: Sequence[BufferPlace], timeout_s: float, times: int = 1
    ) -> tuple[dict[str, Any], list[dict[str, Raw]]]:
        handle = memory_file("outputs", max(1, times * sum(p.nbytes for p in places)))
        try:
            said = self.ask(message, [handle], timeout_s, runs_candidate=message["do"] != "read")
            data, found, at = _view(handle), list[dict[str, Raw]](), 0
            for _ in range(times):
                found.append({})
                for place in places:
                    found[-1][place.name] = data[at : at + place.nbytes]
                    at += place.nbytes
            return said, found
        finally:
            os.close(handle)

    def windows(
        self,
        windows: Sequence[Window],
        launches: Mapping[str, Launches],
        layout: Layout,
        flush_bytes: int,
        timeout_s: float,
    ) -> tuple[WindowResult, ...]:
        """Timed windows in this order."""
        self.before_windows()
        said, fetched = self._fetch(
            {
                "do": "windows",
                "windows": [asdict(w) for w in windows],
                "launches": launches,
                "flush_bytes": flush_bytes,
                "outputs": [p.name for p in layout.outputs],
            },
            layout.outputs,
            timeout_s,
            sum(w.fetch is not None for w in windows),
        )
        outputs = iter(fetched)
        return tuple(
            WindowResult(float(row[0]), int(row[1]), tuple(row[2:]), {} if window.fetch is None else next(outputs))
            for window, row in zip(windows, said["rows"], strict=True)
        )

    def repeat(self, tag: str, launches: Launches, seed: int, times: int, timeout_s: float) -> ClockReading:
        """So many calls without a pause."""
        self.before_windows()
        return self._stretch(
            {"do": "repeat", "tag": tag, "launches": launches, "seed": seed, "times": times},
            timeout_s,
            runs_candidate=True,
        )

    def control(self, times: int, flush_bytes: int) -> ClockReading:
        """The same of a kernel of the judge's own."""
        return self._stretch(
            {"do": "control", "times": times, "flush_bytes": flush_bytes}, QUICK_S, runs_candidate=False
        )

    def _stretch(self, message: Mapping[str, Any], timeout_s: float, runs_candidate: bool) -> ClockReading:
        started = time.monotonic()
        said = self.ask(message, timeout_s=timeout_s, runs_candidate=runs_candidate)
        return ClockReading(float(said["time_us"]), float(said["host_us"]), 1e6 * (time.monotonic() - started))

    def noise(self, seed: int, words: int) -> list[int]:
        """What a known kernel gives."""
        return [int(w) for w in self.ask({"do": "noise", "seed": seed, "words": words})["words"]]

    def ask(
        self,
        message: Mapping[str, Any],
        files: Sequence[int] = (),
        timeout_s: float = QUICK_S,
        runs_candidate: bool = False,
    ) -> dict[str, Any]:
        """Send and wait; ChildFault for everything but an answer, after which the seat is of no use."""
        started = time.monotonic()
        try:
            self._channel.send(message, files)
            answer, _ = self._channel.receive(timeout_s)
        except Late:
            self.is_broken = True
            raise ChildFault(
                f"the kernel did not end within {timeout_s:g} s"
                if runs_candidate
                else f"the GPU did not answer within {timeout_s:g} s",
                "timeout" if runs_candidate else None,
                lost=not runs_candidate,
            ) from None
        except Closed:
            self.is_broken = True
            said = self._last_words()
            if self._process.returncode == -signal.SIGKILL:  # not by us: a system short of memory kills so
                raise ChildFault(KILLED, None, lost=False) from None
            blamed = symbols_of(self.slot.vendor).blame(said) if runs_candidate else None
            kind, sentence = blamed or (None, "the process on the GPU ended without an answer")
            raise ChildFault(sentence, kind, lost=not runs_candidate, ended=runs_candidate) from None
        finally:
            self.asked_s += time.monotonic() - started
        if "failed" in answer:
            self.is_broken = True
            raise ChildFault(str(answer["failed"]), answer.get("fault"), bool(answer.get("lost")))
        return answer

    @property
    def is_alive(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def _last_words(self) -> str:
        """What a driver printed before it ended the process; some do so instead of returning a status."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(KILL_S)
        return os.pread(self._said, LAST_WORDS_BYTES, 0).decode(errors="replace")

    def close(self) -> bool:
        """End the process; False when it does not die, which is the device's fault. Again does nothing more."""
        if not self._is_closed:
            self._is_closed = True
            self._channel.close()
            os.close(self._said)
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        try:
            self._process.wait(KILL_S)
        except subprocess.TimeoutExpired:
            return False
        return True


def _view(handle: int) -> Raw:
    """A file's contents without a copy; they stay as long as the array does."""
    return np.frombuffer(mmap.mmap(handle, 0, prot=mmap.PROT_READ), np.uint8)

"""The judge's handle on one child process on one GPU: a method for each request."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from records.errors import DeviceError
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.child_link import PROGRAM, QUICK_S, Answer, ChildLink, GpuSlot
from sandbox.gpu.child_messages import (
    BatchRequest,
    BindRequest,
    CallRequest,
    ChainRequest,
    ControlRequest,
    LoadRequest,
    NoiseRequest,
    OpenRequest,
    PresetRequest,
    ReadRequest,
    RepeatRequest,
    ReplayRequest,
    Request,
    TrustRequest,
    VariablesRequest,
    WindowsRequest,
)
from sandbox.gpu.child_replies import (
    CallReply,
    DoneReply,
    NoiseReply,
    OpenReply,
    ShortReply,
    StretchReply,
    SumsReply,
    WindowRow,
    WindowsReply,
)
from sandbox.gpu.layout import Layout
from sandbox.gpu.memory_file import Raw, memory_file, shared_file, view

START_S = 60.0  # to open the driver; the first process on a cold machine takes long


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
class Chained:
    """Several calls: blocks that changed and may not, of all together; for each a sum and, where asked for, outputs."""

    changed: int
    sums: tuple[int, ...]
    outputs: tuple[Mapping[str, Raw], ...]


@dataclass(frozen=True)
class ClockReading:
    """Microseconds of a stretch, or of a call in it, by three readings."""

    device_us: float  # by the device's events
    calls_us: float  # by the host, in the child, around the calls
    request_us: float  # by the judge's own clock, around its request: what the host does besides only adds


class ChildProcess(ChildLink):
    """One child process. Use it in a `with` block: it does not outlive that."""

    def __init__(self, slot: GpuSlot, program: str = PROGRAM) -> None:
        """Start the process; nothing is waited for. `program` is the Python text that it runs."""
        super().__init__(slot, program)
        self.noise_seed = 0  # of the buffers bound last
        self._layout, self._sets = Layout((), 0), 0
        self.before_windows: Callable[[], None] = lambda: None  # waits until no other process of ours disturbs a time
        self.wait_idle: Callable[[], None] = lambda: None  # waits for our other processes that begin or end

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
        self.noise_seed, self._layout, self._sets = request.seed, request.layout, request.sets
        self._claim(request, inputs)

    def _claim(self, request: LoadRequest | BindRequest, file: int) -> None:
        """Ask for memory; memory that an ending process of ours still holds is waited for first."""
        if isinstance(self.ask(request, (DoneReply, ShortReply), [file]), ShortReply):
            self.wait_idle()
            self.ask(replace(request, is_last=True), (DoneReply,), [file])

    def call(self, request: CallRequest, timeout_s: float) -> Called:
        """Call once on one set."""
        reply, (outputs,) = self._fetch(request, CallReply, request.outputs, 1, timeout_s)
        return Called(reply.changed, outputs, reply.sum)

    def batch(self, request: BatchRequest, inputs: int, nbytes: int, timeout_s: float) -> tuple[int, Raw]:
        """Call many cases at once: blocks that changed and may not, and so many bytes of outputs."""
        handle = memory_file("outputs", max(1, nbytes))
        try:
            files, kinds = (inputs, handle), tuple[type[CallReply | ShortReply], ...]((CallReply, ShortReply))
            reply = self.ask(request, kinds, files, timeout_s)
            if isinstance(reply, ShortReply):
                self.wait_idle()
                reply = self.ask(replace(request, is_last=True), (CallReply,), files, timeout_s)
            return reply.changed, view(handle)[:nbytes]
        finally:
            os.close(handle)

    def chain(self, request: ChainRequest, timeout_s: float) -> Chained:
        """Call in a row with nothing reset between."""
        calls = len(request.seeds) * self._sets
        reply, outputs = self._fetch(request, SumsReply, request.outputs, calls * bool(request.outputs), timeout_s)
        if len(reply.sums) != calls:
            raise self._malformed()
        return Chained(reply.changed, reply.sums, tuple(outputs))

    def replay(self, request: ReplayRequest, timeout_s: float) -> Chained:
        """Repeat the calls of a window, each of them fresh."""
        reply = self.ask(request, (SumsReply,), timeout_s=timeout_s)
        if len(reply.sums) != request.calls:
            raise self._malformed()
        return Chained(reply.changed, reply.sums, ())

    def variables(self, request: VariablesRequest, nbytes: int) -> Raw:
        """Read all device variables, so many bytes in all."""
        handle = memory_file("variables", max(1, nbytes))
        try:
            self.ask(request, (DoneReply,), [handle])
            return view(handle)[:nbytes]
        finally:
            os.close(handle)

    def preset(self, request: PresetRequest, data: Raw) -> None:
        """Give the device variables these bytes."""
        with shared_file("variables", data) as handle:
            self.ask(request, (DoneReply,), [handle])

    def read(self, names: Sequence[str]) -> dict[str, Raw]:
        """Read buffers of the first set as they are now."""
        return self._fetch(ReadRequest(tuple(names)), DoneReply, names, 1, QUICK_S)[1][0]

    def windows(self, request: WindowsRequest, timeout_s: float) -> tuple[WindowResult, ...]:
        """Time windows in this order."""
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
        """Repeat a call so many times without a pause."""
        self.before_windows()
        return self._stretch(request, timeout_s)

    def control(self, request: ControlRequest) -> ClockReading:
        """Time a stretch of calls of a kernel of the judge's own."""
        return self._stretch(request, QUICK_S)

    def _stretch(self, request: RepeatRequest | ControlRequest, timeout_s: float) -> ClockReading:
        started = time.monotonic()
        reply = self.ask(request, (StretchReply,), timeout_s=timeout_s)
        return ClockReading(reply.device_us, reply.calls_us, 1e6 * (time.monotonic() - started))

    def noise(self, seed: int, words: int) -> tuple[int, ...]:
        """Compute the words of a known kernel on the GPU, so many."""
        computed = self.ask(NoiseRequest(seed, words), (NoiseReply,)).words
        if len(computed) != words:
            raise self._malformed()
        return computed

    def _fetch(
        self, request: Request, expected: type[Answer], names: Sequence[str], times: int, timeout_s: float
    ) -> tuple[Answer, list[dict[str, Raw]]]:
        """Ask, and read so many times the buffers of these names, in the order in which the child writes them."""
        buffers = [self._layout[name] for name in names]
        handle = memory_file("outputs", max(1, times * sum(p.nbytes for p in buffers)))
        try:
            reply = self.ask(request, (expected,), [handle], timeout_s)
            data, fetched, offset = view(handle), list[dict[str, Raw]](), 0
            for _ in range(times):
                fetched.append({})
                for buffer in buffers:
                    fetched[-1][buffer.name] = data[offset : offset + buffer.nbytes]
                    offset += buffer.nbytes
            return reply, fetched
        finally:
            os.close(handle)

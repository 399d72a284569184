"""The process that touches the GPU for one candidate: it gets code and inputs, launches, and gives back outputs.

It holds no reference, no tolerance and no verdict, so nothing that a kernel does in here can change one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from records.errors import MachineError
from sandbox.gpu.buffers import CaseBuffers, LoadedModule, Need, PreparedCall, need_of
from sandbox.gpu.call_series import chain, copy_out, replay, single
from sandbox.gpu.child_channel import decode
from sandbox.gpu.child_messages import (
    BatchCall,
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
    Window,
    WindowsRequest,
)
from sandbox.gpu.child_replies import (
    CallReply,
    DoneReply,
    FailedReply,
    NoiseReply,
    OpenReply,
    Reply,
    ShortReply,
    StretchReply,
    WindowRow,
    WindowsReply,
)
from sandbox.gpu.compile.images import read_image
from sandbox.gpu.driver.device_memory import DeviceMemory
from sandbox.gpu.driver.driver import open_driver
from sandbox.gpu.driver.library import CallFailed
from sandbox.gpu.fence import Fence
from sandbox.gpu.memory_file import Raw, view, view_to_fill
from sandbox.gpu.trusted.trusted import Trusted

FLUSH_PATTERN = 0x5A5A5A5A
HEAP_BYTES = 64 << 10  # for `malloc` in kernels: next to nothing, since what is kept there outlives a call
CODE_BYTES = 64 << 20  # more than a driver takes for code without variables


class Child:
    """Answers the judge's requests."""

    def __init__(self, vendor: str, index: int, library: str | None, fence: Fence) -> None:
        self._fence = fence
        self._device = open_driver(vendor, library).device(index)
        self._properties = self._device.properties()
        self._modules: dict[str, LoadedModule] = {}
        self._trusted: Trusted | None = None
        self._buffers: CaseBuffers | None = None
        self._flush: DeviceMemory | None = None
        self._room, self._need = 0, Need(0, 0)  # free bytes before the last allocation, and what that takes
        self._events = (self._device.event(), self._device.event())
        with suppress(CallFailed):  # not every driver takes so small a heap
            self._device.limit_heap(HEAP_BYTES)

    def answer(self, request: Request, files: Sequence[int]) -> Reply:
        """Do what a request asks for."""
        try:
            return self._do(request, files)
        except CallFailed as error:
            if error.out_of_memory and error.fault is None and self._need.judge_bytes:
                return self._short_of_memory()
            raise

    def _do(self, request: Request, files: Sequence[int]) -> Reply:
        match request:
            case OpenRequest():
                return OpenReply(self._properties, self._device.free_bytes(), self._fence)
            case TrustRequest():
                return self._trust(view(files[0]).tobytes())
            case LoadRequest():
                return self._load(request, view(files[0]).tobytes())
            case BindRequest():
                return self._bind(request, view(files[0]))
            case CallRequest():
                return self._call(request, view_to_fill(files[0]))
            case BatchRequest():
                return self._batch(request, view(files[0]), view_to_fill(files[1]))
            case ChainRequest():
                return chain(request, self._case(), self._modules[request.tag], view_to_fill(files[0]))
            case ReplayRequest():
                return replay(request, self._case(), self._modules[request.tag], self._trusted_kernels().scrub)
            case VariablesRequest():
                return self._read_variables(request, view_to_fill(files[0]))
            case PresetRequest():
                return self._preset(request, view(files[0]))
            case ReadRequest():
                copy_out(self._case().pieces(request.names, 0), view_to_fill(files[0]))
                return DoneReply()
            case WindowsRequest():
                return self._windows(request, view_to_fill(files[0]))
            case RepeatRequest():
                return self._repeat(request)
            case ControlRequest():
                return self._control(request)
            case NoiseRequest():
                return self._noise(request)

    def _trust(self, image: bytes) -> DoneReply:
        self._trusted = Trusted(self._device, image, self._properties.attributes)
        self._trusted.scrub()  # a GPU that refuses it says so before there is a candidate to blame
        self._device.synchronize()
        return DoneReply()

    def _load(self, request: LoadRequest, image: bytes) -> DoneReply | ShortReply:
        """Load an image under a tag; its variables are kept twice."""
        described = read_image(image)
        need = Need(CODE_BYTES, described.hidden_bytes + 2 * sum(nbytes for _, nbytes in described.globals))
        if self._is_short(request.is_last, need):
            return ShortReply()
        self._modules[request.tag] = LoadedModule(self._device, image, request.variables, request.has_hidden)
        self._device.synchronize()
        return DoneReply()

    def _bind(self, request: BindRequest, inputs: Raw) -> DoneReply | ShortReply:
        """Allocate the buffers of a case and upload both bases' inputs."""
        if self._buffers is not None:
            self._buffers.free()
            self._buffers = None
        if self._is_short(request.is_last, need_of(request)):
            return ShortReply()
        self._buffers = CaseBuffers(self._device, self._trusted_kernels(), request, inputs)
        self._device.synchronize()
        return DoneReply()

    def _call(self, request: CallRequest, outputs: Raw) -> CallReply:
        """Make one call on one set; all sets are inspected for changes."""
        buffers, module = self._case(), self._modules[request.tag]
        changed, sums = single(request, buffers, module, self._trusted_kernels().scrub)
        copy_out(buffers.pieces(request.outputs, request.number), outputs)
        return CallReply(changed, sums[request.number])

    def _batch(self, request: BatchRequest, inputs: Raw, outputs: Raw) -> CallReply | ShortReply:
        """Bind and call many cases as one."""
        batch_call = decode(request.call.encode(), (BatchCall,))
        bound = BindRequest(batch_call.layout, 1, False, request.noise_seed, request.skip, request.is_last)
        if isinstance(reply := self._bind(bound, inputs), ShortReply):
            return reply
        return self._call(CallRequest(request.tag, batch_call.launches, request.seed, 0, batch_call.outputs), outputs)

    def _read_variables(self, request: VariablesRequest, target: Raw) -> DoneReply:
        module = self._modules[request.tag]
        if request.is_reset:
            module.reset()
        copy_out([(memory, 0, memory.nbytes) for memory in module.variables()], target)
        return DoneReply()

    def _preset(self, request: PresetRequest, data: Raw) -> DoneReply:
        offset = 0
        for memory in self._modules[request.tag].variables():
            memory.write(data[offset : offset + memory.nbytes])
            offset += memory.nbytes
        self._device.synchronize()
        return DoneReply()

    def _windows(self, request: WindowsRequest, outputs: Raw) -> WindowsReply:
        """Time windows, one after the other: each with fresh contents and emptied caches.

        Each is waited for before the next is queued: work that is queued behind a window shows in its time.
        """
        buffers, rows, prepared, copied = self._case(), list[WindowRow](), dict[str, list[PreparedCall]](), 0
        for window in request.windows:
            module = self._modules[window.tag]
            if module.reset() or window.tag not in prepared:
                prepared[window.tag] = buffers.prepare(module, request.launches[window.tag])
            rows.append(self._window(window, prepared[window.tag], request.flush_bytes))
            if window.fetch is not None:
                copied += copy_out(buffers.pieces(request.outputs, window.fetch), outputs[copied:])
        return WindowsReply(tuple(rows))

    def _window(self, window: Window, calls: Sequence[PreparedCall], flush_bytes: int) -> WindowRow:
        """Time one window. A warm one calls on one set only, and once before its clock starts."""
        buffers, (start, end) = self._case(), self._events
        ready = [calls[0]] * window.calls if window.warm else calls[: window.calls]
        sets = 1 if window.warm else len(ready)
        buffers.refresh(window.seed, sets)
        self._trusted_kernels().scrub()
        self._empty_caches(flush_bytes)
        for launch in calls[0] if window.warm else ():
            launch()
        start.record()
        for call in ready:
            for launch in call:
                launch()
        end.record()
        end.wait()
        time_us = end.since_us(start) / len(ready)
        if not window.inspect:
            return WindowRow(time_us)
        changed, sums = buffers.inspect(window.seed, sets)
        return WindowRow(time_us, changed, tuple(sums))

    def _repeat(self, request: RepeatRequest) -> StretchReply:
        """Make the same call again and again, its data where it is."""
        buffers, module = self._case(), self._modules[request.tag]
        buffers.refresh(request.seed, 1)
        module.reset()
        self._trusted_kernels().scrub()
        call = buffers.prepare(module, request.launches)[0]
        for launch in call:
            launch()
        self._device.synchronize()
        return self._stretch(request.times, call)

    def _control(self, request: ControlRequest) -> StretchReply:
        flush = self._empty_caches(request.flush_bytes)
        self._device.synchronize()
        return self._stretch(request.times, [lambda: self._trusted_kernels().sweep(flush)])

    def _stretch(self, times: int, call: PreparedCall) -> StretchReply:
        """Time so many calls, by the device's clock and by the host's."""
        start, end = self._events
        began = time.perf_counter()
        start.record()
        for _ in range(times):
            for launch in call:
                launch()
        end.record()
        end.wait()
        return StretchReply(end.since_us(start), 1e6 * (time.perf_counter() - began))

    def _noise(self, request: NoiseRequest) -> NoiseReply:
        """Run a known kernel with a known result, which shows whether the GPU still computes."""
        memory = self._device.allocate(8 * request.words)
        self._trusted_kernels().noise(memory, request.words, request.seed, is_noisy=True)
        self._device.synchronize()
        computed = memory.read(np.uint64, (request.words,))
        memory.free()
        return NoiseReply(tuple(int(w) for w in computed))

    def _trusted_kernels(self) -> Trusted:
        if self._trusted is None:
            raise MachineError("the judge's own kernels are not loaded")
        return self._trusted

    def _case(self) -> CaseBuffers:
        if self._buffers is None:
            raise MachineError("the judge asked for a launch before there were buffers")
        return self._buffers

    def _is_short(self, is_last: bool, need: Need) -> bool:
        """Report whether memory does not suffice yet: the judge asks again when none of its other processes has any."""
        self._room, self._need = self._device.free_bytes(), need
        return not is_last and self._room < need.judge_bytes + need.candidate_bytes

    def _short_of_memory(self) -> FailedReply:
        """Reply that memory is short: the candidate's fault only when the judge's own need would fit."""
        if self._need.blames_candidate(self._room):
            return FailedReply(
                "the workspaces or device variables do not fit into the GPU's memory; make them smaller", "over_limit"
            )
        return FailedReply(
            f"the judge needs {_gigabytes(self._need.judge_bytes)} of the GPU's memory and finds "
            f"{_gigabytes(self._room)} free: end what else uses it"
        )

    def _empty_caches(self, nbytes: int) -> DeviceMemory:
        """Read more than the caches hold: they end up full of clean lines, and the host can queue what is timed.

        Writing first leaves lines that must be written back, at moments that show in short times.
        """
        if self._flush is None or self._flush.nbytes < nbytes:
            if self._flush is not None:
                self._room += self._flush.nbytes
                self._flush.free()
                self._flush = None
            self._need = replace(self._need, judge_bytes=self._need.judge_bytes + nbytes)
            self._flush = self._device.allocate(nbytes)
            self._flush.fill(FLUSH_PATTERN)
        self._device.reset_persisting()
        self._trusted_kernels().sweep(self._flush)
        return self._flush


def _gigabytes(nbytes: int) -> str:
    return f"{nbytes / 1e9:.2f} GB"

"""Calls of one candidate in a row, in the child process: what a call leaves behind shows in those after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sandbox.gpu.buffers import CaseBuffers, LoadedModule, PreparedCall
from sandbox.gpu.child_messages import CallRequest, ChainRequest, ReplayRequest
from sandbox.gpu.child_replies import SumsReply
from sandbox.gpu.driver.device_memory import DeviceMemory
from sandbox.gpu.memory_file import Raw


def single(
    request: CallRequest, buffers: CaseBuffers, module: LoadedModule, scrub: Callable[[], None]
) -> tuple[int, list[int]]:
    """Call once on one set, and inspect all sets: blocks changed, and a sum for each set."""
    buffers.refresh(request.seed, buffers.sets)
    if request.is_fresh:
        module.reset()
        scrub()
    launch_all(buffers.prepare(module, request.launches)[request.number])
    return buffers.inspect(request.seed, buffers.sets)


def chain(request: ChainRequest, buffers: CaseBuffers, module: LoadedModule, outputs: Raw) -> SumsReply:
    """Call in a row with nothing reset between, on every set in turn; the outputs of all follow one another."""
    changed, sums, copied = 0, list[int](), 0
    module.reset()
    calls = buffers.prepare(module, request.launches)
    for seed in request.seeds:
        buffers.refresh(seed, buffers.sets)
        for call in calls:
            launch_all(call)
        more, totals = buffers.inspect(seed, buffers.sets)
        changed, sums = changed + more, sums + totals
        for number in range(buffers.sets if request.outputs else 0):
            copied += copy_out(buffers.pieces(request.outputs, number), outputs[copied:])
    return SumsReply(changed, tuple(sums))


def replay(request: ReplayRequest, buffers: CaseBuffers, module: LoadedModule, scrub: Callable[[], None]) -> SumsReply:
    """Repeat the calls of a window on the contents that they had, each as if it were the first."""
    buffers.refresh(request.seed, request.calls)
    for number, call in _from_the_start(request, buffers, module):
        scrub()
        launch_all(call[number])
    changed, sums = buffers.inspect(request.seed, request.calls)
    return SumsReply(changed, tuple(sums))


def _from_the_start(
    request: ReplayRequest, buffers: CaseBuffers, module: LoadedModule
) -> Iterator[tuple[int, Sequence[PreparedCall]]]:
    """Yield the number of each call, and the calls as the module has them after a reset."""
    prepared: Sequence[PreparedCall] = ()
    for number in range(request.calls):
        if module.reset() or not prepared:
            prepared = buffers.prepare(module, request.launches)
        yield number, prepared


def launch_all(call: PreparedCall) -> None:
    """Start the launches of a plan, one after the other."""
    for launch in call:
        launch()


def copy_out(pieces: Sequence[tuple[DeviceMemory, int, int]], target: Raw) -> int:
    """Copy (memory, offset, bytes) one after the other to the host; the bytes copied."""
    copied = 0
    for memory, offset, nbytes in pieces:
        memory.read_into(target[copied : copied + nbytes], offset)
        copied += nbytes
    return copied

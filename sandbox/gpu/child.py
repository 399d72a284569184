"""The process that touches the GPU for one candidate: it gets code and inputs, launches, and gives back outputs.

It holds no reference, no tolerance and no verdict, so nothing that a kernel does in here can change one. Started by
`Seat` with one socket; it answers one message at a time and ends when the socket closes.
"""

from __future__ import annotations

import mmap
import os
import select
import socket
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from records.errors import MachineError
from sandbox.gpu.buffers import Call, CaseBuffers, Loaded, Need, need_of
from sandbox.gpu.child_messages import ChildChannel, Closed
from sandbox.gpu.compile.images import read_image
from sandbox.gpu.driver.device_memory import DeviceMemory
from sandbox.gpu.driver.driver import open_driver
from sandbox.gpu.driver.library import CallFailed
from sandbox.gpu.trusted.trusted import Trusted

FLUSH_PATTERN = 0x5A5A5A5A
HEAP_BYTES = 64 << 10  # for `malloc` in kernels: next to nothing, since what is kept there outlives a call
CODE_BYTES = 64 << 20  # more than a driver takes for code without variables
GRACE_S = 5.0  # for an orderly end when the judge has gone
RUNS_CANDIDATE = ("call", "windows", "repeat")


class Child:
    """Answers the judge's messages."""

    def __init__(self, vendor: str, index: int, library: str | None) -> None:
        self._device = open_driver(vendor, library).device(index)
        self._properties = self._device.properties()
        self._loaded: dict[str, Loaded] = {}
        self._trusted: Trusted | None = None
        self._bound: CaseBuffers | None = None
        self._flush: DeviceMemory | None = None
        self._room, self._need = 0, Need(0, 0)  # free bytes before what was allocated last, and what that takes
        self._events = (self._device.event(), self._device.event())
        with suppress(CallFailed):  # not every driver takes so small a heap
            self._device.limit_heap(HEAP_BYTES)

    def answer(self, message: Mapping[str, Any], files: Sequence[int]) -> dict[str, Any]:
        """Do what a message asks for."""
        try:
            done: dict[str, Any] = getattr(self, f"do_{message['do']}")(message, files)
        except CallFailed as error:
            if error.out_of_memory and error.fault is None and self._need.own:
                return self._short_of_memory()
            raise
        return done

    def _short_of_memory(self) -> dict[str, Any]:
        """The reply: the candidate's fault only when the judge's own need would fit."""
        if self._need.is_the_candidates(self._room):
            return {
                "failed": "the workspaces or device variables do not fit into the GPU's memory; make them smaller",
                "fault": "over_limit",
                "lost": False,
            }
        return {
            "failed": f"the judge needs {_gigabytes(self._need.own)} of the GPU's memory and finds "
            f"{_gigabytes(self._room)} free: end what else uses it",
            "fault": None,
            "lost": False,
        }

    def _is_short(self, message: Mapping[str, Any], need: Need) -> bool:
        """Whether memory does not suffice yet: the judge then says when none of its other processes has any."""
        self._room, self._need = self._device.free_bytes(), need
        return not message["is_last"] and self._room < need.own + need.asked

    def do_open(self, message: Mapping[str, Any], files: Sequence[int]) -> dict[str, Any]:
        """Describe the GPU."""
        return {
            "properties": asdict(self._properties),
            "fingerprint": self._properties.fingerprint,
            "free_bytes": self._device.free_bytes(),
        }

    def do_trust(self, message: Mapping[str, Any], files: Sequence[int]) -> dict[str, Any]:
        """Load the judge's own kernels."""
        self._trusted = Trusted(self._device, bytes(_mapped(files[0])), self._properties.attributes)
        self._trusted.scrub()  # a GPU that refuses it says so before there is a candidate to blame
        self._device.synchronize()
        return {}

    def do_load(self, message: Mapping[str, Any], files: Sequence[int]) -> dict[str, Any]:
        """Load an image under a tag; its variables are kept twice."""
        image = bytes(_mapped(files[0]))
        found = read_image(image)
        need = Need(CODE_BYTES, found.hidden_bytes + 2 * sum(nbytes for _, nbytes in found.globals))
        if self._is_short(message, need):
            return {"is_short": True}
        self._loaded[message["tag"]] = Loaded(self._device, image, message["variables"], message["has_hidden"])
        self._device.synchronize()
        return {}

    def do_bind(self, message: Mapping[str, Any], files: Sequence[int]) -> dict[str, Any]:
        """Allocate the buffers of a case and upload both bases' inputs."""
        if self._bound is not None:
            self._bound.free()
            self._bound = None
        if self._is_short(message, need_of(message)):
            return {"is_short": True}
        self._bound = CaseBuffers(self._device, self._own(), message, np.frombuffer(_mapped(files[0]), np.uint8))
        self._device.synchronize()
        return {}

    def do_call(self, message: Mapping[str, Any], files: Sequence[int]) -> dict[str, Any]:
        """One call on one set: what changed that must not, on all sets, and its outputs."""
        bound, loaded = self._case(), self._loaded[message["tag"]]
        number = message["number"]
        bound.refresh(message["seed"], bound.sets)
        loaded.forget()
        self._own().scrub()
        for launch in bound.prepare(loaded, message["launches"])[number]:
            launch()
        self._device.synchronize()
        changed, sums = bound.inspect(message["seed"], bound.sets)
        _give_back(files[0], bound.pieces(message["outputs"], number))
        return {"changed": changed, "sum": sums[number]}

    def do_read(self, message: Mapping[str, Any], files: Sequence[int]) -> dict[str, Any]:
        """Buffers of the first set as they are."""
        _give_back(files[0], self._case().pieces(message["names"], 0))
        return {}

    def do_windows(self, message: Mapping[str, Any], files: Sequence[int]) -> dict[str, Any]:
        """Timed windows, one after the other: each with fresh contents and emptied caches.

        Each is waited for before the next is queued: work that is queued behind a window shows in its time. A warm
        window calls on one set only, and once before its clock starts.
        """
        bound, rows, prepared, at = self._case(), [], dict[str, list[Call]](), 0
        start, end = self._events
        for window in message["windows"]:
            tag = window["tag"]
            if self._loaded[tag].forget() or tag not in prepared:
                prepared[tag] = bound.prepare(self._loaded[tag], message["launches"][tag])
            calls = prepared[tag]
            ready = [calls[0]] * window["calls"] if window["warm"] else calls[: window["calls"]]
            bound.refresh(window["seed"], 1 if window["warm"] else len(ready))
            self._own().scrub()
            self._empty_caches(message["flush_bytes"])
            for launch in calls[0] if window["warm"] else ():
                launch()
            start.record()
            for call in ready:
                for launch in call:
                    launch()
            end.record()
            end.wait()
            changed, sums = (
                bound.inspect(window["seed"], 1 if window["warm"] else len(ready)) if window["inspect"] else (0, [])
            )
            if window["fetch"] is not None:
                at = _give_back(files[0], bound.pieces(message["outputs"], window["fetch"]), at)
            rows.append([end.since_us(start) / len(ready), changed, *sums])
        return {"rows": rows}

    def do_repeat(self, message: Mapping[str, Any], files: Sequence[int]) -> dict[str, Any]:
        """The same call again and again, its data where it is: the warm time, and the parent's clock beside it."""
        bound, loaded = self._case(), self._loaded[message["tag"]]
        bound.refresh(message["seed"], 1)
        loaded.forget()
        self._own().scrub()
        call = bound.prepare(loaded, message["launches"])[0]
        for launch in call:
            launch()
        self._device.synchronize()
        return self._stretch(message["times"], call)

    def do_control(self, message: Mapping[str, Any], files: Sequence[int]) -> dict[str, Any]:
        """A kernel of the judge's own again and again, for the two clocks."""
        flush = self._empty_caches(message["flush_bytes"])
        self._device.synchronize()
        return self._stretch(message["times"], [lambda: self._own().sweep(flush)])

    def _stretch(self, times: int, call: Call) -> dict[str, Any]:
        """So many calls, by the device's clock and by the host's."""
        start, end = self._events
        began = time.perf_counter()
        start.record()
        for _ in range(times):
            for launch in call:
                launch()
        end.record()
        end.wait()
        return {"time_us": end.since_us(start), "host_us": 1e6 * (time.perf_counter() - began)}

    def do_noise(self, message: Mapping[str, Any], files: Sequence[int]) -> dict[str, Any]:
        """A known kernel with a known result: whether the GPU still computes."""
        memory = self._device.allocate(8 * message["words"])
        self._own().noise(memory, message["words"], message["seed"], is_noisy=True)
        self._device.synchronize()
        found = memory.read(np.uint64, (message["words"],))
        memory.free()
        return {"words": [int(w) for w in found]}

    def _own(self) -> Trusted:
        if self._trusted is None:
            raise MachineError("the judge's own kernels are not loaded")
        return self._trusted

    def _case(self) -> CaseBuffers:
        if self._bound is None:
            raise MachineError("the judge asked for a launch before there were buffers")
        return self._bound

    def _empty_caches(self, nbytes: int) -> DeviceMemory:
        """Read more than the caches hold: they end up full of clean lines, and the host can queue what is timed.

        Writing first leaves lines that must be written back, at moments that show in short times.
        """
        if self._flush is None or self._flush.nbytes < nbytes:
            if self._flush is not None:
                self._room += self._flush.nbytes
                self._flush.free()
                self._flush = None
            self._need = replace(self._need, own=self._need.own + nbytes)
            self._flush = self._device.allocate(nbytes)
            self._flush.fill(FLUSH_PATTERN)
        self._device.reset_persisting()
        self._own().sweep(self._flush)
        return self._flush


def _mapped(handle: int) -> memoryview:
    return memoryview(mmap.mmap(handle, 0, prot=mmap.PROT_READ))


def _give_back(handle: int, pieces: Sequence[tuple[DeviceMemory, int, int]], at: int = 0) -> int:
    """Copy (memory, offset, bytes) one after the other into a file, from `at` on; says where the next would go."""
    target = np.frombuffer(mmap.mmap(handle, 0, mmap.MAP_SHARED | mmap.MAP_POPULATE), np.uint8)  # no fault a page
    for memory, offset, nbytes in pieces:
        memory.read_into(target[at : at + nbytes], offset)
        at += nbytes
    return at


def _gigabytes(nbytes: int) -> str:
    return f"{nbytes / 1e9:.2f} GB"


def serve(channel: ChildChannel, vendor: str, index: int, library: str | None) -> None:
    """Answer until the judge has gone. A fault is told; after one that ends the context nothing more can work.

    What the driver itself cannot name ends this process without an answer while a candidate runs: the judge then tries
    again and has the GPU tested in between, and holds it against the one that does it every time. The driver is opened
    when the first message comes, and not ahead: the judge knows when that disturbs nobody.
    """
    child: Child | None = None
    while True:
        message, files = channel.receive()
        try:
            child = child or Child(vendor, index, library)
            reply = child.answer(message, files)
        except CallFailed as error:
            if error.is_unclear and message["do"] in RUNS_CANDIDATE:
                os.write(sys.stderr.fileno(), f"{error}\n".encode())
                os._exit(1)  # what a broken driver would do at an orderly end may take for ever
            reply = {"failed": str(error), "fault": error.fault, "lost": error.lost}
        except MachineError as error:
            reply = {"failed": str(error), "fault": None, "lost": True}
        except (LookupError, TypeError, ValueError, ArithmeticError, MemoryError, OSError) as error:
            reply = {"failed": f"the judge's child cannot do this: {error!r}", "fault": None, "lost": False}
        finally:
            for handle in files:
                os.close(handle)
        channel.send(reply)


def end_with(handle: int, grace_s: float = GRACE_S) -> None:
    """End this process when the other end of a socket is gone, even while a kernel does not come back."""

    def watch() -> None:
        gone = select.poll()
        gone.register(handle, select.POLLRDHUP)
        gone.poll()
        time.sleep(grace_s)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main(words: Sequence[str]) -> int:
    """`child.py SOCKET VENDOR INDEX [LIBRARY]`."""
    end_with(int(words[0]))
    channel = ChildChannel(socket.socket(fileno=int(words[0])))
    try:
        serve(channel, words[1], int(words[2]), words[3] if len(words) > 3 else None)
    except Closed:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

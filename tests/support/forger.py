"""A process in the place of the judge's child that answers whatever it likes, for the task `scale`.

`forge(mode)` is its program. Under "honest" it does all work in numpy; every other mode is a lie.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sandbox.gpu.child_channel import ChildChannel, Closed
from sandbox.gpu.child_messages import (
    REQUESTS,
    BatchRequest,
    BindRequest,
    CallRequest,
    ChainRequest,
    ControlRequest,
    NoiseRequest,
    OpenRequest,
    RepeatRequest,
    ReplayRequest,
    WindowsRequest,
)
from sandbox.gpu.child_replies import (
    CallReply,
    DoneReply,
    NoiseReply,
    OpenReply,
    StretchReply,
    SumsReply,
    WindowRow,
    WindowsReply,
)
from sandbox.gpu.driver.driver import GpuProperties
from sandbox.gpu.layout import content, noise, set_seed
from sandbox.gpu.memory_file import view, view_to_fill

FACTOR = np.float32(1.7)
TRUE_US = 20_000.0  # of a call, which the process waits for
GPU = GpuProperties("a GPU", "gfx942", "7.0", 1 << 34, {"units": 304, "wave": 64, "l2_bytes": 4 << 20}, "0000:1b:00.0")
Array = Any
# What becomes of a right output, by the number of the call.
LIES: Mapping[str, Callable[[Array, int], Array]] = {
    "zeros": lambda y, n: np.zeros_like(y),
    "stale": lambda y, n: np.zeros_like(y) if n == 1 else y[::-1].copy(),
    "not a number": lambda y, n: np.full_like(y, np.nan),
    "half": lambda y, n: np.where(np.arange(len(y)) < len(y) // 2, y, 0).astype(y.dtype),
    "one element": lambda y, n: np.where(np.arange(len(y)) == len(y) // 3, 2 * y + 1, y).astype(y.dtype),
    "one call in seven": lambda y, n: y if n % 7 else 0 * y,
    "right at first": lambda y, n: y if n < 12 else 0 * y,
    "other sign": lambda y, n: -y,
}
TIMES: Mapping[str, float] = {"no time": 0.0, "a hundredth": TRUE_US / 100, "a tenth": TRUE_US / 10}
RAW: Mapping[str, bytes] = {
    "negative time": b'{"kind":"WindowsReply","fields":{"rows":[{"time_us":-1.0,"changed":0,"sums":[]}]}}',
    "time that is no number": b'{"kind":"WindowsReply","fields":{"rows":[{"time_us":NaN,"changed":0,"sums":[]}]}}',
    "endless time": b'{"kind":"WindowsReply","fields":{"rows":[{"time_us":Infinity,"changed":0,"sums":[]}]}}',
    "true for a number": b'{"kind":"CallReply","fields":{"changed":true,"sum":true}}',
    "an accepted verdict": b'{"kind":"Verdict","fields":{"stage":"time","accepted":true,"code":"OK","findings":[]}}',
    "no text": b"\xff" * 64,
    "brackets": b"[" * 100_000,
    "nothing": b"",
}
ENDS = ("closes", "closes at once", "hangs", "floods", "giant", "drips", "kills itself")
MODES = (*LIES, *TIMES, *RAW, *ENDS)


def forge(mode: str) -> str:
    """The program's text."""
    return (
        "import sys; sys.path.insert(0, sys.argv[1]); from tests.support.forger import main; "
        f"main(int(sys.argv[2]), {mode!r})"
    )


class Forger:
    """Answers as a child would, or nearly."""

    def __init__(self, mode: str) -> None:
        self.mode, self.calls = mode, 0
        self.bound: BindRequest | None = None
        self.bases: Array = None

    def output(self, seed: int, number: int) -> Array:
        """The output of a set under a seed, with the lie."""
        assert self.bound is not None
        self.calls += 1
        slot, seed_of_set = self.bound.layout["x"], set_seed(seed, number)
        y = FACTOR * content(self.bases[0], self.bases[1], slot, seed_of_set, self.bound.whole)
        return LIES[self.mode](y, self.calls) if self.mode in LIES else y

    def sum(self, y: Array) -> int:
        """The same for all calls where that hides the lie."""
        return 7 if self.mode in LIES else zlib.crc32(y.tobytes())

    def answer(self, request: Any, files: list[int]) -> object:
        match request:
            case OpenRequest():
                return OpenReply(GPU, 1 << 34, "closed")
            case NoiseRequest():
                return NoiseReply(tuple(int(word) for word in noise(request.seed, request.words)))
            case BindRequest():
                self.bound, self.bases = request, view(files[0]).view(np.float32).reshape(2, -1)
            case CallRequest():
                y = self.output(request.seed, request.number)
                if request.outputs:
                    view_to_fill(files[0])[: y.nbytes] = y.view(np.uint8)
                return CallReply(0, self.sum(y))
            case BatchRequest():
                x = view(files[0]).view(np.float32)
                self.calls += 1
                y = FACTOR * x[: len(x) // 2]  # the other half are base B's, which are the same
                y = LIES[self.mode](y, self.calls) if self.mode in LIES else y
                view_to_fill(files[1])[: y.nbytes] = y.view(np.uint8)
                return CallReply(0, self.sum(y))
            case ChainRequest():
                assert self.bound is not None
                outputs = [self.output(seed, n) for seed in request.seeds for n in range(self.bound.sets)]
                if request.outputs:
                    data = np.concatenate(outputs).view(np.uint8)
                    view_to_fill(files[0])[: data.nbytes] = data
                return SumsReply(0, tuple(map(self.sum, outputs)))
            case ReplayRequest():
                return SumsReply(0, tuple(self.sum(self.output(request.seed, n)) for n in range(request.calls)))
            case WindowsRequest():
                return self.windows(request, files)
            case RepeatRequest() | ControlRequest():
                us = TRUE_US if isinstance(request, RepeatRequest) else 30.0
                began = time.perf_counter()
                time.sleep(1e-6 * us * request.times)
                passed_us = 1e6 * (time.perf_counter() - began)
                return StretchReply(passed_us, passed_us)
        return DoneReply()

    def windows(self, request: WindowsRequest, files: list[int]) -> WindowsReply:
        rows, offset, target = [], 0, view_to_fill(files[0])
        for window in request.windows:
            sets = [0] * window.calls if window.warm else range(window.calls)
            outputs = [self.output(window.seed, n) for n in sets]
            sums = tuple(map(self.sum, outputs[: 1 if window.warm else None])) if window.inspect else ()
            rows.append(WindowRow(TIMES.get(self.mode, TRUE_US), 0, sums))
            if window.fetch is not None:
                y = outputs[window.fetch]
                target[offset : offset + y.nbytes] = y.view(np.uint8)
                offset += y.nbytes
        return WindowsReply(tuple(rows))


def ended(mode: str, end: socket.socket) -> None:
    """What a process does that gives no answer."""
    if mode == "hangs":
        time.sleep(600)
    while mode == "floods":
        end.sendall(b'\x10\0\0\0\0\0\0\0{"kind":"none"} ' * 4096)
    if mode == "giant":
        end.sendall(b"\xff" * 8)
        time.sleep(600)
    while mode == "drips":
        end.sendall(b"\0")
        time.sleep(0.05)
    if mode == "kills itself":
        os.kill(os.getpid(), 11)
    os._exit(0)


def main(handle: int, mode: str) -> None:
    """Serve until the judge has gone; the lie begins when a candidate runs, that of `closes at once` at once."""
    end = socket.socket(fileno=handle)
    channel, forger = ChildChannel(end, takes_files=True), Forger(mode)
    while True:
        try:
            request, files = channel.receive(REQUESTS)
            if mode == "closes at once":
                ended(mode, end)
            if isinstance(request, CallRequest | BatchRequest | WindowsRequest):
                if mode in ENDS:
                    ended(mode, end)
                if mode in RAW:
                    end.sendall(len(RAW[mode]).to_bytes(8, "little") + RAW[mode])
                    continue
            channel.send(forger.answer(request, files))
            for file in files:
                os.close(file)
        except (Closed, OSError):
            sys.exit(0)

"""A machine with an MI300X that is none: HIP's runtime and hipRTC as a library whose kernels the lab executes.

    with hip_stub(toolchain, cache) as stub:
        driver = open_driver("amd", stub.library)        # here, or in any child process
        compiler = GpuCompiler(target, folder, runtime_library=stub.library)
    assert not stub.world.violations

The library hands every call to this process, which checks it strictly, compiles for gfx942 for real and executes each
launch in the lab, so results and faults are those of the kernel. Times are invented: `world.launch_us`. Device
variables can be read and written, but the kernels see their first values at every launch.
"""

from __future__ import annotations

import contextlib
import shutil
import socketserver
import struct
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sandbox.amdgcn.toolchain import Toolchain
from sandbox.gpu.child_link import GpuSlot
from sandbox.gpu.child_process import ChildProcess
from tests.support.c_library import shared_library
from tests.support.hip_code import Coded
from tests.support.hip_device import INVALID_VALUE, World
from tests.support.hip_kernels import Workshop

SOURCE = Path(__file__).with_suffix(".c")
_HEAD, _ANSWER = struct.Struct("<QQQ"), struct.Struct("<qQ")


@dataclass(frozen=True)
class Stub:
    """The needs of a test: the library (HIP and hipRTC in one) and the world behind it."""

    library: str
    world: World


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    world: World
    alive: list[Coded]


class _Conversation(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        process = Coded(self.server.world)
        self.server.alive.append(process)
        with contextlib.suppress(EOFError, OSError):
            while True:
                name_size, count, size = _HEAD.unpack(self._take(_HEAD.size))
                name = self._take(name_size).decode()
                numbers = struct.unpack(f"<{count}Q", self._take(8 * count))
                status, back = self._answer(process, name, numbers, self._take(size))
                self.request.sendall(_ANSWER.pack(status, len(back)) + back)
        self.server.alive.remove(process)
        process.end()

    def _answer(self, process: Coded, name: str, numbers: tuple[int, ...], data: bytes) -> tuple[int, bytes]:
        try:
            return process.call(name, numbers, data)
        except Exception as error:
            self.server.world.violations.append(f"{name}: {error!r}")
            return INVALID_VALUE, b""

    def _take(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            data: Any = self.request.recv(min(1 << 20, size - len(parts)))
            if not data:
                raise EOFError
            parts += data
        return bytes(parts)


def local(slot: GpuSlot) -> ChildProcess:
    """A process with the fence that the stub's socket needs, so that the stronger ones need not be tried each time."""
    return ChildProcess(replace(slot, fence="local"))


@contextlib.contextmanager
def hip_stub(toolchain: Toolchain, cache: Path, memory_bytes: int = 4 << 30) -> Iterator[Stub]:
    """A stub in a folder of its own; it ends with the block, and then `world.left` lists what was not given back."""
    cache = cache.resolve()  # as the lab's own: clang compares the paths of its overlay with where it really works
    (cache / "work").mkdir(parents=True, exist_ok=True)
    world = World(Workshop(toolchain, cache), memory_bytes)
    with tempfile.TemporaryDirectory(prefix="ks-hip-") as folder:  # a socket's path must be short
        library = Path(folder, "libamdhip64.so")
        shutil.copy(shared_library(SOURCE.read_text(encoding="utf-8")), library)
        with _Server(str(Path(folder, "socket")), _Conversation) as server:
            server.world, server.alive = world, []
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            try:
                yield Stub(str(library), world)
            finally:
                world.gone.set()
                server.shutdown()
                for process in list(server.alive):  # this process keeps its connection
                    process.end()

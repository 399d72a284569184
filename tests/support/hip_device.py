"""The device behind the HIP stub: state of each process that uses it, strict checks, faults to order."""

from __future__ import annotations

import struct
import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sandbox.gpu.compile.images import ImageKernel
from tests.support.hip_kernels import Bytes, Image, Workshop

INVALID_VALUE, OUT_OF_MEMORY, INVALID_CONFIGURATION, INVALID_IMAGE, INVALID_HANDLE = 1, 2, 9, 200, 400
NOT_FOUND, ILLEGAL_ADDRESS, UNKNOWN = 500, 700, 999
ABORT, HANG = -1, -2  # to order in `failures`: the process ends by SIGABRT, the call does not return
LAST_WORDS = (
    b"Memory access fault by GPU node-1 (Agent handle: 0x1f829860) on address 0x7a8a4be00000. "
    b"Reason: Page not present or supervisor privilege.\n"
)
ATTRIBUTES = {
    63: 304,
    87: 64,
    5: 2_100_000,
    60: 1_300_000,
    59: 8192,
    19: 4 << 20,
    23: 9,
    61: 4,
    10002: 65536,
    74: 65536,
    72: 65536,
    57: 2048,
    56: 1024,
}
ARCH_AT, PROPERTIES_BYTES = 1160, 1472  # of hipDeviceProp_tR0600
GRANULE = 1 << 21
NEEDS_DEVICE = ("hipM", "hipF", "hipEvent", "hipDeviceS")  # memory, modules, functions, events, synchronising, limits


@dataclass
class World:
    """Faults that a test orders, and calls that it looks at afterwards. Shared by all processes that use the stub."""

    workshop: Workshop
    memory_bytes: int = 4 << 30
    arch: str = "gfx942:sramecc+:xnack-"
    failures: dict[str, list[int]] = field(default_factory=dict)  # function: statuses that its next calls return
    hangs: set[str] = field(default_factory=set)  # kernels that do not end
    unclear: set[str] = field(default_factory=set)  # kernels after which each call of the process returns UNKNOWN
    skipped: set[str] = field(default_factory=set)  # kernels that do nothing, as their work shows nowhere
    computed: set[str] = field(default_factory=set)  # the judge's own kernels that numpy computes, in place of the lab
    aborts: bool = False  # an illegal access ends the process, as with ROCm's default handler
    last_words: bytes = LAST_WORDS  # what it prints then
    launch_us: dict[str, float] = field(default_factory=dict)  # device time of a kernel's launch; others take 10
    host_us: dict[str, float] = field(default_factory=dict)  # time that the host needs at least for a kernel's launch
    violations: list[str] = field(default_factory=list)  # wrong uses of the interface
    left: list[str] = field(default_factory=list)  # what processes had not given back when they ended
    launched: list[str] = field(default_factory=list)  # kernels in the order of their launches
    last: dict[str, Any] = field(default_factory=dict)  # by kernel: grid, block, dynamic LDS and arguments
    gone: threading.Event = field(default_factory=threading.Event)


class Process:
    """One process's view: its allocations, modules, functions, events; methods carry the names of HIP's functions.

    Each returns a status, or a status and bytes.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.is_ready = self.is_selected = self.hangs = False
        self.memory: dict[int, Bytes] = {}
        self.owned: dict[int, int] = {}  # allocations that a module owns: address, module
        self.modules: dict[int, Image] = {}
        self.functions: dict[int, tuple[int, ImageKernel]] = {}
        self.events: dict[int, float | None] = {}
        self.clock_us, self.fault, self._next = 0.0, 0, 0x7F00_0000_0000

    def call(self, name: str, numbers: tuple[int, ...], data: bytes) -> tuple[int, bytes]:
        """One call, with what was ordered for it and what an earlier launch has left behind."""
        if self.world.failures.get(name):
            status = self.world.failures[name].pop(0)
            if status == HANG:
                self.world.gone.wait()
            return status, b""
        if name.startswith("hip") and not name.startswith("hiprtc") and name != "hipInit" and not self.is_ready:
            return self._wrong(f"{name} before hipInit", 3)
        if name.startswith(NEEDS_DEVICE) and not self.is_selected:
            return self._wrong(f"{name} before hipSetDevice", 101)
        if self.fault:
            return (ABORT, self.world.last_words) if self.world.aborts else (self.fault, b"")
        if self.hangs and not name.startswith("hiprtc"):
            self.world.gone.wait()  # for ever, as far as the caller can tell: it is killed, or the stub ends
            return UNKNOWN, b""
        answer = getattr(self, name)(numbers, data)
        return answer if isinstance(answer, tuple) else (answer, b"")

    def end(self) -> None:
        """The process has gone."""
        count = len(self.memory) - len(self.owned)
        self.world.left += [
            f"{n} {noun}"
            for n, noun in ((count, "allocations"), (len(self.modules), "modules"), (len(self.events), "events"))
            if n
        ]

    def _wrong(self, message: str, status: int = INVALID_VALUE) -> tuple[int, bytes]:
        self.world.violations.append(message)
        return status, b""

    def _handle(self, nbytes: int = 1) -> int:
        """A number that no other allocation or handle of this process has, with a gap behind it."""
        handle, self._next = self._next, self._next + (nbytes // GRANULE + 2) * GRANULE
        return handle

    def _span(self, address: int, size: int) -> Bytes | None:
        for start, data in self.memory.items():
            if start <= address and address + size <= start + data.nbytes:
                return data[address - start : address - start + size]
        return None

    def hipInit(self, numbers: tuple[int, ...], data: bytes) -> int:
        self.is_ready = True
        return 0

    def hipDriverGetVersion(self, numbers: tuple[int, ...], data: bytes) -> Any:
        return 0, struct.pack("<i", 70_051_831)

    def hipGetDeviceCount(self, numbers: tuple[int, ...], data: bytes) -> Any:
        return 0, struct.pack("<i", 1)

    def hipDeviceGet(self, numbers: tuple[int, ...], data: bytes) -> Any:
        return (0, struct.pack("<i", 0)) if numbers[0] == 0 else self._wrong(f"device {numbers[0]}", 101)

    def hipSetDevice(self, numbers: tuple[int, ...], data: bytes) -> Any:
        self.is_selected = True
        return 0 if numbers[0] == 0 else self._wrong(f"device {numbers[0]}", 101)

    def hipDeviceGetName(self, numbers: tuple[int, ...], data: bytes) -> Any:
        return 0, b"AMD Instinct MI300X (stub)\0"

    def hipDeviceGetPCIBusId(self, numbers: tuple[int, ...], data: bytes) -> Any:
        return 0, b"0000:1B:00.0\0"

    def hipDeviceTotalMem(self, numbers: tuple[int, ...], data: bytes) -> Any:
        return 0, struct.pack("<Q", self.world.memory_bytes)

    def hipDeviceGetAttribute(self, numbers: tuple[int, ...], data: bytes) -> Any:
        if numbers[0] not in ATTRIBUTES:
            return self._wrong(f"device attribute {numbers[0]}")
        return 0, struct.pack("<i", ATTRIBUTES[numbers[0]])

    def hipGetDevicePropertiesR0600(self, numbers: tuple[int, ...], data: bytes) -> Any:
        properties = bytearray(PROPERTIES_BYTES)
        properties[:19] = b"AMD Instinct MI300X"
        properties[ARCH_AT : ARCH_AT + len(self.world.arch)] = self.world.arch.encode()
        return 0, bytes(properties)

    def hipDeviceSetLimit(self, numbers: tuple[int, ...], data: bytes) -> Any:
        return 0 if numbers[0] == 2 else self._wrong(f"limit {numbers[0]}", 215)

    def hipMemGetInfo(self, numbers: tuple[int, ...], data: bytes) -> Any:
        return 0, struct.pack("<QQ", self.world.memory_bytes - self._used(), self.world.memory_bytes)

    def _used(self) -> int:
        return sum(m.nbytes for m in self.memory.values())

    def hipMalloc(self, numbers: tuple[int, ...], data: bytes) -> Any:
        if self._used() + numbers[0] > self.world.memory_bytes:
            return OUT_OF_MEMORY
        address = self._handle(numbers[0])
        small = numbers[0] < 1 << 20  # larger ones are zero, which costs nothing until they are used
        self.memory[address] = np.full(numbers[0], 0xA5, np.uint8) if small else np.zeros(numbers[0], np.uint8)
        return 0, struct.pack("<Q", address)

    def hipFree(self, numbers: tuple[int, ...], data: bytes) -> Any:
        if numbers[0] not in self.memory or numbers[0] in self.owned:
            return self._wrong(f"hipFree of {numbers[0]:#x}, which is no allocation")
        del self.memory[numbers[0]]
        return 0

    def hipMemcpyHtoD(self, numbers: tuple[int, ...], data: bytes) -> Any:
        span = self._span(numbers[0], len(data))
        if span is None:
            return self._wrong(f"a copy of {len(data)} bytes to {numbers[0]:#x}, outside of any allocation")
        span[:] = np.frombuffer(data, np.uint8)
        return 0

    def hipMemcpyDtoH(self, numbers: tuple[int, ...], data: bytes) -> Any:
        span = self._span(*numbers)
        if span is None:
            return self._wrong(f"a copy of {numbers[1]} bytes from {numbers[0]:#x}, outside of any allocation")
        return 0, span.tobytes()

    def hipMemcpyDtoDAsync(self, numbers: tuple[int, ...], data: bytes) -> Any:
        to, start = self._span(numbers[0], numbers[2]), self._span(numbers[1], numbers[2])
        if to is None or start is None:
            return self._wrong(f"a copy of {numbers[2]} bytes on the device, outside of any allocation")
        to[:] = start.copy()
        return 0

    def hipMemsetD32Async(self, numbers: tuple[int, ...], data: bytes) -> Any:
        span = self._span(numbers[0], 4 * numbers[2])
        if span is None or numbers[0] % 4:
            return self._wrong(f"a fill of {numbers[2]} words at {numbers[0]:#x}, outside of any allocation")
        span.view(np.uint32)[:] = numbers[1]
        return 0

    def hipDeviceSynchronize(self, numbers: tuple[int, ...], data: bytes) -> int:
        return 0

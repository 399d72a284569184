"""Memory, modules, launches, events and properties of one GPU, through a vendor's C interface by ctypes.

Nothing here knows a vendor: names and numbers come from a `Symbols` table. Every call is checked; a status that is not
success becomes a MachineError that names the call. After an illegal access the device's context is lost: only a new
process can go on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from records.errors import MachineError
from sandbox.device.symbols import Symbols

Extent = tuple[int, int, int]
_POINTER = ctypes.c_uint64


class Driver:
    """An opened driver library."""

    def __init__(self, symbols: Symbols) -> None:
        """MachineError when the library is missing or finds no device."""
        self.symbols = symbols
        self._library = _open(symbols)
        self.call("init", 0)

    def call(self, verb: str, *arguments: Any) -> None:
        """Call one function of the table; MachineError unless it succeeds."""
        name = self.symbols.functions[verb]
        try:
            status = int(getattr(self._library, name)(*arguments))
        except AttributeError:
            raise MachineError(f"the {self.symbols.vendor} driver has no {name}; {self.symbols.remedy}") from None
        if status:
            raise MachineError(f"{name} failed on the GPU ({self.symbols.describe(self._library, status)})")

    def count(self) -> int:
        """How many GPUs there are."""
        found = ctypes.c_int()
        self.call("count", ctypes.byref(found))
        return found.value

    def version(self) -> str:
        """The newest interface that the driver offers, such as "13.0"."""
        found = ctypes.c_int()
        self.call("version", ctypes.byref(found))
        return f"{found.value // 1000}.{found.value % 1000 // 10}"

    def device(self, index: int = 0) -> Device:
        """Make one GPU the calling thread's. MachineError names how many there are."""
        if index >= self.count():
            raise MachineError(f"there is no {self.symbols.vendor} GPU {index}: the driver finds {self.count()}; "
                               f"{self.symbols.remedy}")
        return Device(self, self.symbols.select(self.call, index), index)


def _open(symbols: Symbols) -> ctypes.CDLL:
    for name in symbols.libraries:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise MachineError(f"there is no {symbols.vendor} GPU driver here ({symbols.libraries[0]} is missing); "
                       f"{symbols.remedy}")


@dataclass(frozen=True)
class Properties:
    """What the driver says of a GPU; sizes in bytes, clocks in kHz."""

    name: str
    arch: str  # sm_90
    driver: str
    memory_bytes: int
    attributes: dict[str, int]


@dataclass(frozen=True)
class KernelFacts:
    """What one kernel needs, from its module; `blocks_per_unit` is for the block size and dynamic bytes asked for."""

    registers: int
    shared_bytes: int
    local_bytes: int
    threads: int
    blocks_per_unit: int


class Device:
    """One GPU, current in the thread that made it."""

    def __init__(self, driver: Driver, handle: ctypes.c_int, index: int) -> None:
        self.driver, self.handle, self.index = driver, handle, index

    def properties(self) -> Properties:
        """Name, architecture, sizes and clocks."""
        name, total = ctypes.create_string_buffer(256), ctypes.c_size_t()
        self.driver.call("name", name, 256, self.handle)
        self.driver.call("total", ctypes.byref(total), self.handle)
        attributes = {}
        for noun, number in self.driver.symbols.device_attributes.items():
            value = ctypes.c_int()
            self.driver.call("attribute", ctypes.byref(value), number, self.handle)
            attributes[noun] = value.value
        arch = f"sm_{attributes.get('major', 0)}{attributes.get('minor', 0)}"
        return Properties(name.value.decode(), arch, self.driver.version(), total.value, attributes)

    def allocate(self, nbytes: int) -> Memory:
        """Device memory, contents undefined."""
        address = _POINTER()
        self.driver.call("allocate", ctypes.byref(address), ctypes.c_size_t(max(4, nbytes)))
        return Memory(self, address.value, nbytes)

    def load(self, image: bytes) -> Module:
        """Load a compiled module."""
        handle = ctypes.c_void_p()
        self.driver.call("load", ctypes.byref(handle), image)
        return Module(self, handle)

    def event(self) -> Event:
        """A new event."""
        handle = ctypes.c_void_p()
        self.driver.call("create_event", ctypes.byref(handle), 0)
        return Event(self, handle)

    def synchronize(self) -> None:
        """Wait for all work; errors of earlier launches surface here."""
        self.driver.call("synchronize")


class Memory:
    """One allocation."""

    def __init__(self, device: Device, address: int, nbytes: int) -> None:
        self.device, self.address, self.nbytes = device, address, nbytes

    def write(self, data: npt.NDArray[Any]) -> None:
        """Copy from the host; the array must be as large as the allocation."""
        flat = np.ascontiguousarray(data)
        if flat.nbytes != self.nbytes:
            raise ValueError(f"{flat.nbytes} bytes for an allocation of {self.nbytes}")
        self.device.driver.call("copy_in", _POINTER(self.address), ctypes.c_void_p(flat.ctypes.data),
                                ctypes.c_size_t(flat.nbytes))

    def read(self, dtype: npt.DTypeLike, shape: Sequence[int]) -> npt.NDArray[Any]:
        """Copy to the host."""
        found = np.empty(tuple(shape), dtype)
        if found.nbytes > self.nbytes:
            raise ValueError(f"{found.nbytes} bytes from an allocation of {self.nbytes}")
        self.device.driver.call("copy_out", ctypes.c_void_p(found.ctypes.data), _POINTER(self.address),
                                ctypes.c_size_t(found.nbytes))
        return found

    def fill(self, word: int) -> None:
        """Fill with a 32-bit word, asynchronously; a rest of up to 3 bytes stays."""
        self.device.driver.call("fill", _POINTER(self.address), ctypes.c_uint(word), ctypes.c_size_t(self.nbytes // 4),
                                None)

    def free(self) -> None:
        """Give the memory back."""
        self.device.driver.call("free", _POINTER(self.address))


class Module:
    """A loaded module."""

    def __init__(self, device: Device, handle: ctypes.c_void_p) -> None:
        self.device, self._handle = device, handle

    def kernel(self, name: str) -> Kernel:
        """One of its kernels, by its symbol."""
        handle = ctypes.c_void_p()
        self.device.driver.call("kernel", ctypes.byref(handle), self._handle, name.encode())
        return Kernel(self.device, handle)

    def unload(self) -> None:
        """Give it back."""
        self.device.driver.call("unload", self._handle)


class Kernel:
    """A function that can be launched."""

    def __init__(self, device: Device, handle: ctypes.c_void_p) -> None:
        self.device, self._handle = device, handle

    def allow_dynamic(self, nbytes: int) -> None:
        """Allow that much dynamic shared memory a block."""
        number = self.device.driver.symbols.dynamic_shared_attribute
        if number >= 0 and nbytes > 48 << 10:
            self.device.driver.call("set_kernel_attribute", self._handle, number, nbytes)

    def facts(self, threads: int, dynamic_bytes: int = 0) -> KernelFacts:
        """Registers and memory, and how many such blocks fit on a unit."""
        found = {}
        for noun, number in self.device.driver.symbols.kernel_attributes.items():
            value = ctypes.c_int()
            self.device.driver.call("kernel_attribute", ctypes.byref(value), number, self._handle)
            found[noun] = value.value
        blocks = ctypes.c_int()
        self.device.driver.call("blocks_per_unit", ctypes.byref(blocks), self._handle, threads,
                                ctypes.c_size_t(dynamic_bytes))
        return KernelFacts(**found, blocks_per_unit=blocks.value)

    def launch(self, grid: Extent, block: Extent, dynamic_bytes: int, arguments: Sequence[Argument]) -> None:
        """Start it on the default stream; arguments are ctypes values or memory, in the kernel's order."""
        values = [_POINTER(a.address) if isinstance(a, Memory) else a for a in arguments]
        pointers = (ctypes.c_void_p * max(1, len(values)))(*(ctypes.addressof(v) for v in values))
        self.device.driver.call("launch", self._handle, *grid, *block, dynamic_bytes, None, pointers, None)


Argument = Memory | ctypes.c_int | ctypes.c_int64 | ctypes.c_float | ctypes.c_double


class Event:
    """A mark on the default stream."""

    def __init__(self, device: Device, handle: ctypes.c_void_p) -> None:
        self.device, self._handle = device, handle

    def record(self) -> None:
        """Put the mark behind what was launched so far."""
        self.device.driver.call("record", self._handle, None)

    def wait(self) -> None:
        """Wait until the device has passed the mark."""
        self.device.driver.call("wait_event", self._handle)

    def since_us(self, earlier: Event) -> float:
        """Microseconds from an earlier mark to this one; both must have passed."""
        found = ctypes.c_float()
        self.device.driver.call("elapsed", ctypes.byref(found), earlier._handle, self._handle)
        return 1e3 * found.value

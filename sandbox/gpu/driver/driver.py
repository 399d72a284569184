"""Modules, launches, events and properties of one GPU, through a vendor's C interface by ctypes.

Nothing here knows a vendor: names and numbers come from a `Symbols` table. Every call is checked; a status that is not
success becomes a CallFailed that names the call and records whether a kernel caused it. After such a fault the device's
context is lost: only a new process can go on. Launches, fills and device copies run in order on the default stream.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from records.errors import MachineError
from sandbox.gpu.driver.cuda import CUDA
from sandbox.gpu.driver.device_memory import POINTER, Argument, DeviceMemory
from sandbox.gpu.driver.hip import HIP
from sandbox.gpu.driver.library import CallFailed, Library, Symbols

Extent = tuple[int, int, int]


@dataclass(frozen=True)
class GpuProperties:
    """A GPU as its driver describes it; sizes in bytes, clocks in kHz."""

    name: str
    arch: str  # sm_90, gfx942
    driver: str
    memory_bytes: int
    attributes: dict[str, int]
    pci: str = ""  # 0000:1b:00.0

    @property
    def fingerprint(self) -> str:
        """One line that names the GPU on which a time was measured."""
        return f"{self.name} / driver {self.driver} / {self.arch}"


@dataclass(frozen=True)
class KernelFacts:
    """The needs of one kernel, from its module; `blocks_per_unit` is for the block size and dynamic bytes asked for."""

    registers: int
    shared_bytes: int
    local_bytes: int
    threads: int
    blocks_per_unit: int


class Driver(Library):
    """The GPUs behind a driver library."""

    def count(self) -> int:
        """Count the GPUs."""
        number = ctypes.c_int()
        self.call("count", ctypes.byref(number))
        return number.value

    def version(self) -> str:
        """Name the newest interface that the driver offers, such as "13.0"."""
        number = ctypes.c_int()
        self.call("version", ctypes.byref(number))
        return self.symbols.version(number.value)

    def device(self, index: int = 0) -> Device:
        """Make one GPU the calling thread's. MachineError names how many there are."""
        if index >= self.count():
            raise MachineError(
                f"there is no {self.symbols.vendor} GPU {index}: the driver finds {self.count()}; {self.symbols.remedy}"
            )
        return Device(self, self.symbols.select(self.call, index), index)


def symbols_of(vendor: str) -> Symbols:
    """Choose the table of a target's vendor."""
    return {"nvidia": CUDA, "amd": HIP}[vendor]


def open_driver(vendor: str, library: str | None = None) -> Driver:
    """Open the driver of a target's vendor; MachineError when this machine has none."""
    return Driver(symbols_of(vendor), library)


class Device:
    """One GPU, current in the thread that made it."""

    def __init__(self, driver: Driver, handle: ctypes.c_int, index: int) -> None:
        self.driver, self.handle, self.index = driver, handle, index

    def properties(self) -> GpuProperties:
        """Ask for name, architecture, sizes and clocks."""
        name, total = ctypes.create_string_buffer(256), ctypes.c_size_t()
        self.driver.call("name", name, 256, self.handle)
        self.driver.call("total", ctypes.byref(total), self.handle)
        attributes = {}
        for noun, number in self.driver.symbols.device_attributes.items():
            value = ctypes.c_int()
            self.driver.call("attribute", ctypes.byref(value), number, self.handle)
            attributes[noun] = value.value
        pci = ctypes.create_string_buffer(32)
        self.driver.call("pci", pci, 32, self.handle)
        arch = self.driver.symbols.arch(self.driver.call, self.handle, attributes)
        return GpuProperties(
            name.value.decode(errors="replace"),
            arch,
            self.driver.version(),
            total.value,
            attributes,
            pci.value.decode().lower(),
        )

    def free_bytes(self) -> int:
        """Free device memory."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.driver.call("memory", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def reset_persisting(self) -> None:
        """Turn lines that a kernel asked the L2 to keep into ordinary ones, where the vendor has such lines."""
        if self.driver.has("reset_persisting"):
            self.driver.call("reset_persisting")

    def limit_heap(self, nbytes: int) -> None:
        """Limit the memory that `malloc` in a kernel may take in all; before the first launch."""
        self.driver.call("limit", self.driver.symbols.heap_limit, ctypes.c_size_t(nbytes))

    def allocate(self, nbytes: int) -> DeviceMemory:
        """Allocate device memory, contents undefined."""
        address = POINTER()
        self.driver.call("allocate", ctypes.byref(address), ctypes.c_size_t(max(4, nbytes)))
        return DeviceMemory(self.driver, address.value, nbytes)

    def load(self, image: bytes) -> Module:
        """Load a compiled module."""
        handle = ctypes.c_void_p()
        self.driver.call("load", ctypes.byref(handle), image)
        return Module(self, handle)

    def event(self) -> DeviceEvent:
        """Create an event."""
        handle = ctypes.c_void_p()
        self.driver.call("create_event", ctypes.byref(handle), 0)
        return DeviceEvent(self, handle)

    def synchronize(self) -> None:
        """Wait for all work; errors of earlier launches surface here."""
        self.driver.call("synchronize")


class Module:
    """A loaded module."""

    def __init__(self, device: Device, handle: ctypes.c_void_p) -> None:
        self.device, self._handle = device, handle

    def kernel(self, name: str) -> DeviceKernel:
        """Find one of its kernels, by its symbol."""
        handle = ctypes.c_void_p()
        self.device.driver.call("kernel", ctypes.byref(handle), self._handle, name.encode())
        return DeviceKernel(self.device, handle)

    def global_memory(self, name: str) -> DeviceMemory:
        """Find one of its device variables, by its symbol; it belongs to the module."""
        address, size = POINTER(), ctypes.c_size_t()
        self.device.driver.call("global", ctypes.byref(address), ctypes.byref(size), self._handle, name.encode())
        return DeviceMemory(self.device.driver, address.value, size.value)

    def unload(self) -> None:
        """Give it back."""
        self.device.driver.call("unload", self._handle)


class DeviceKernel:
    """A function that can be launched."""

    def __init__(self, device: Device, handle: ctypes.c_void_p) -> None:
        self.device, self._handle = device, handle

    def allow_dynamic(self, nbytes: int) -> None:
        """Allow that much dynamic shared memory a block."""
        number = self.device.driver.symbols.dynamic_shared_attribute
        if number >= 0 and nbytes > 48 << 10:
            self.device.driver.call("set_kernel_attribute", self._handle, number, nbytes)

    def facts(self, threads: int, dynamic_bytes: int = 0) -> KernelFacts:
        """Ask for registers and memory, and how many such blocks fit on a unit."""
        attributes = {}
        for noun, number in self.device.driver.symbols.kernel_attributes.items():
            value = ctypes.c_int()
            self.device.driver.call("kernel_attribute", ctypes.byref(value), number, self._handle)
            attributes[noun] = value.value
        blocks = ctypes.c_int()
        self.device.driver.call(
            "blocks_per_unit", ctypes.byref(blocks), self._handle, threads, ctypes.c_size_t(dynamic_bytes)
        )
        return KernelFacts(**attributes, blocks_per_unit=blocks.value)

    def parameters(self) -> tuple[int, ...] | None:
        """Ask for the size of each parameter in bytes; None where the driver does not report it."""
        if not self.device.driver.has("parameter"):
            return None
        offset, size, sizes = ctypes.c_size_t(), ctypes.c_size_t(), list[int]()
        with suppress(CallFailed):  # the end of the list is an invalid index
            while True:
                self.device.driver.call(
                    "parameter", self._handle, ctypes.c_size_t(len(sizes)), ctypes.byref(offset), ctypes.byref(size)
                )
                sizes.append(size.value)
        return tuple(sizes)

    def launch(self, grid: Extent, block: Extent, dynamic_bytes: int, arguments: Sequence[Argument]) -> None:
        """Start it on the default stream; arguments are ctypes values or memory, in the kernel's order."""
        self.prepared(grid, block, dynamic_bytes, arguments)()

    def prepared(
        self, grid: Extent, block: Extent, dynamic_bytes: int, arguments: Sequence[Argument], *, together: bool = False
    ) -> Callable[[], None]:
        """Prepare a launch that can be repeated at little cost: between two events every microsecond shows.

        `together`: the driver refuses it unless all its blocks fit on the device at the same time.
        """
        values = [POINTER(a.address) if isinstance(a, DeviceMemory) else a for a in arguments]
        pointers = (ctypes.c_void_p * max(1, len(values)))(*(ctypes.addressof(v) for v in values))

        def start(_alive: object = values) -> None:
            self.device.driver.call("launch", self._handle, *grid, *block, dynamic_bytes, None, pointers, None)

        def start_together(_alive: object = values) -> None:
            self.device.driver.call("launch_together", self._handle, *grid, *block, dynamic_bytes, None, pointers)

        return start_together if together else start


class DeviceEvent:
    """A mark on the default stream."""

    def __init__(self, device: Device, handle: ctypes.c_void_p) -> None:
        self.device, self._handle = device, handle

    def destroy(self) -> None:
        """Give it back."""
        self.device.driver.call("destroy_event", self._handle)

    def record(self) -> None:
        """Put the mark behind what was launched so far."""
        self.device.driver.call("record", self._handle, None)

    def wait(self) -> None:
        """Wait until the device has passed the mark."""
        self.device.driver.call("wait_event", self._handle)

    def since_us(self, earlier: DeviceEvent) -> float:
        """Compute the microseconds from an earlier mark to this one; both must have passed."""
        milliseconds = ctypes.c_float()
        self.device.driver.call("elapsed", ctypes.byref(milliseconds), earlier._handle, self._handle)
        return 1e3 * milliseconds.value

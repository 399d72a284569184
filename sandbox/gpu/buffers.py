"""A call's needs on the GPU: code with its variables as they were at first, and the buffers of one case."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sandbox.gpu.child_messages import BindRequest, FieldArgument, LaunchArgument, Launches
from sandbox.gpu.driver.device_memory import Argument, DeviceMemory, Scalar
from sandbox.gpu.driver.driver import Device, DeviceKernel
from sandbox.gpu.layout import ALIGNMENT, BLOCK, FILLED, RED_ZONE, Layout, block_roles
from sandbox.gpu.memory_file import Raw
from sandbox.gpu.trusted.trusted import DeviceSets, Trusted
from tasks.dtypes import stored

BASES = 2
REPORT = 16  # bytes a set, see `Trusted.inspect`
MANY = 16  # buffers from which on they are copied to and from the host together: each copy waits for the device


def _narrow(dtype: str, value: float) -> Scalar:
    """The bits of a type that ctypes does not have."""
    found = stored(value, dtype)
    return (
        ctypes.c_uint16(int(found.view(np.uint16)))
        if found.itemsize == 2
        else ctypes.c_uint8(int(found.view(np.uint8)))
    )


SCALARS: Mapping[str, Callable[[Any], Scalar]] = {
    "i64": ctypes.c_int64,
    "i32": ctypes.c_int,
    "i16": ctypes.c_int16,
    "i8": ctypes.c_int8,
    "u8": ctypes.c_uint8,
    "bool": ctypes.c_bool,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
    **{name: partial(_narrow, name) for name in ("f16", "bf16", "e4m3fnuz", "e5m2fnuz", "e4m3fn", "e5m2")},
}
PreparedCall = Sequence[Callable[[], None]]  # the launches of a plan on one set, ready to be started


@dataclass(frozen=True)
class Need:
    """Bytes on the GPU: those that the judge needs in any case, and those that the candidate asks for besides."""

    own: int
    asked: int

    def blames_candidate(self, room: int) -> bool:
        """Report whether so much memory would do without the candidate's share, and does not with it."""
        return self.own <= room < self.own + self.asked


def need_of(request: BindRequest) -> Need:
    """The memory that `CaseBuffers` will take, of which the workspaces are the candidate's."""
    nbytes = request.layout.nbytes
    spaces = sum(
        -(-p.nbytes // ALIGNMENT) * ALIGNMENT + RED_ZONE for p in request.layout.places if p.role == "workspace"
    )
    own, copies = nbytes - spaces, BASES + request.sets
    besides = REPORT * request.sets + request.skip + staging_bytes(request.layout)
    return Need(copies * own + own // BLOCK + besides, copies * spaces + spaces // BLOCK)


def staging_bytes(layout: Layout) -> int:
    """Bytes of the memory by which the contents of many buffers go to and from the host; none where there are few."""
    if len(layout.places) < MANY:
        return 0
    filled = BASES * sum(p.nbytes for p in layout.places if p.role in FILLED)
    return max(filled, sum(p.nbytes for p in layout.outputs))


class LoadedModule:
    """A module, its kernels, and its variables as they were when it was loaded."""

    def __init__(self, device: Device, image: bytes, variables: Sequence[str], has_hidden: bool) -> None:
        """With hidden variables only a new load resets them."""
        self._device, self._image, self._names, self._has_hidden = device, image, tuple(variables), has_hidden
        self._module = device.load(image)
        self._kernels: dict[str, DeviceKernel] = {}
        self._variables: list[tuple[DeviceMemory, DeviceMemory]] = []
        for name in () if has_hidden else variables:
            memory = self._module.global_memory(name)
            copy = device.allocate(memory.nbytes)
            copy.copy_from(memory, memory.nbytes)
            self._variables.append((memory, copy))

    def kernel(self, symbol: str) -> DeviceKernel:
        """One of its kernels."""
        if symbol not in self._kernels:
            self._kernels[symbol] = self._module.kernel(symbol)
        return self._kernels[symbol]

    def reset(self) -> bool:
        """Give the variables their first values again, so that no call knows of an earlier one.

        True when the module was loaded again for it: kernels that were prepared before are no more.
        """
        if self._has_hidden:
            self._module.unload()
            self._module, self._kernels = self._device.load(self._image), {}
            return True
        for memory, copy in self._variables:
            memory.copy_from(copy, memory.nbytes)
        return False

    def variables(self) -> list[DeviceMemory]:
        """Its variables in the order in which they were named."""
        return [self._module.global_memory(name) for name in self._names]


class CaseBuffers:
    """The buffers of one case: two bases, the sets, the role of each block."""

    def __init__(self, device: Device, trusted: Trusted, request: BindRequest, inputs: Raw) -> None:
        """`inputs`: base A's, then base B's, in the layout's order, without gaps. CallFailed when memory runs out."""
        self.sets, self._layout, self._trusted = request.sets, request.layout, trusted
        nbytes, blocks = request.layout.nbytes, request.layout.blocks
        bases = (device.allocate(nbytes), device.allocate(nbytes))
        whole = device.allocate(nbytes * self.sets + request.skip)
        arena = DeviceMemory(device.driver, whole.address + request.skip, nbytes * self.sets)
        roles, report = device.allocate(blocks), device.allocate(REPORT * self.sets)
        roles.write(block_roles(request.layout.places, blocks))
        self._held = DeviceSets(arena, bases, roles, report, blocks, request.whole)
        size = staging_bytes(request.layout)
        self._staging = device.allocate(size) if size else None
        self._allocated = (*bases, whole, roles, report, *([self._staging] if self._staging else []))
        for base, is_noisy in zip(bases, (False, True), strict=True):
            trusted.noise(base, 2 * blocks, request.seed, is_noisy)
        self._fill(bases, inputs)

    def _fill(self, bases: Sequence[DeviceMemory], inputs: Raw) -> None:
        """Put each base's inputs, which follow one another in the order of the places, into it."""
        at = 0
        if self._staging:
            self._staging.write(inputs[: BASES * sum(p.nbytes for p in self._layout.places if p.role in FILLED)])
        for base in bases:
            for place in (p for p in self._layout.places if p.role in FILLED):
                if self._staging:
                    base.copy_from(self._staging, place.nbytes, place.offset, at)
                else:
                    base.write(inputs[at : at + place.nbytes], place.offset)
                at += place.nbytes

    def refresh(self, seed: int, sets: int) -> None:
        """Write the first sets again."""
        self._trusted.refresh(self._held, sets, seed)

    def inspect(self, seed: int, sets: int) -> tuple[int, list[int]]:
        """Blocks changed that may not be, of all sets together, and for each set a sum over its outputs."""
        self._trusted.inspect(self._held, sets, seed)
        report = self._held.report.read(np.uint64, (2 * sets,))
        return int(report[0::2].sum()), [int(n) for n in report[1::2]]

    def pieces(self, names: Sequence[str], number: int) -> list[tuple[DeviceMemory, int, int]]:
        """Memory, offset and bytes of buffers of one set; of many the memory that they are gathered in."""
        places, start = [self._layout[name] for name in names], number * self._layout.nbytes
        total = sum(place.nbytes for place in places)
        if self._staging is None or not len(places) >= MANY or total > self._staging.nbytes:
            return [(self._held.arena, start + place.offset, place.nbytes) for place in places]
        at = 0
        for place in places:
            self._staging.copy_from(self._held.arena, place.nbytes, at, start + place.offset)
            at += place.nbytes
        return [(self._staging, 0, total)]

    def prepare(self, module: LoadedModule, launches: Launches) -> list[PreparedCall]:
        """The launches of a plan for every set."""
        made: list[PreparedCall] = []
        for number in range(self.sets):
            call = []
            for launch in launches:
                kernel = module.kernel(launch.symbol)
                if launch.lds_bytes:
                    kernel.allow_dynamic(launch.lds_bytes)
                arguments = [self._argument(given, number) for given in launch.args]
                call.append(
                    kernel.prepared(launch.grid, launch.block, launch.lds_bytes, arguments, together=launch.cooperative)
                )
            made.append(call)
        return made

    def _argument(self, given: LaunchArgument, number: int) -> Argument:
        if not given.size:
            return self._value(given, number)
        data = bytearray(given.size)
        for field in given.fields:
            item = ctypes.string_at(ctypes.addressof(value := self._value(field, number)), ctypes.sizeof(value))
            data[field.at : field.at + len(item)] = item
        return (ctypes.c_ubyte * given.size).from_buffer(data)

    def _value(self, given: LaunchArgument | FieldArgument, number: int) -> Scalar:
        if given.buffer:
            at = self._layout[given.buffer].offset + given.offset
            return ctypes.c_uint64(self._held.arena.address + number * self._layout.nbytes + at)
        return SCALARS[given.dtype](given.value)

    def free(self) -> None:
        """Give everything back."""
        for memory in self._allocated:
            memory.free()

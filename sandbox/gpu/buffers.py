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
    """Encode a value of a type that ctypes does not have as its bits."""
    narrow = stored(value, dtype)
    return (
        ctypes.c_uint16(int(narrow.view(np.uint16)))
        if narrow.itemsize == 2
        else ctypes.c_uint8(int(narrow.view(np.uint8)))
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

    judge_bytes: int
    candidate_bytes: int

    def blames_candidate(self, room: int) -> bool:
        """Report whether so much memory would do without the candidate's share, and does not with it."""
        return self.judge_bytes <= room < self.judge_bytes + self.candidate_bytes


def need_of(request: BindRequest) -> Need:
    """Count the bytes that `CaseBuffers` will take, of which the workspaces are the candidate's."""
    nbytes = request.layout.nbytes
    spaces = sum(
        -(-p.nbytes // ALIGNMENT) * ALIGNMENT + RED_ZONE for p in request.layout.places if p.role == "workspace"
    )
    fixed_bytes, copies = nbytes - spaces, BASES + request.sets
    besides = REPORT * request.sets + request.skip + staging_bytes(request.layout)
    return Need(copies * fixed_bytes + fixed_bytes // BLOCK + besides, copies * spaces + spaces // BLOCK)


def staging_bytes(layout: Layout) -> int:
    """Count the bytes by which the contents of many buffers go to and from the host; none where there are few."""
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
        """Look up one of its kernels."""
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
        """List its variables in the order in which they were named."""
        return [self._module.global_memory(name) for name in self._names]


class CaseBuffers:
    """The buffers of one case: two bases, the sets, the role of each block."""

    def __init__(self, device: Device, trusted: Trusted, request: BindRequest, inputs: Raw) -> None:
        """Allocate and fill; `inputs`: base A's, then base B's, in the layout's order, without gaps.

        CallFailed when memory runs out.
        """
        self.sets, self._layout, self._trusted = request.sets, request.layout, trusted
        nbytes, blocks = request.layout.nbytes, request.layout.blocks
        bases = (device.allocate(nbytes), device.allocate(nbytes))
        allocation = device.allocate(nbytes * self.sets + request.skip)
        arena = DeviceMemory(device.driver, allocation.address + request.skip, nbytes * self.sets)
        roles, report = device.allocate(blocks), device.allocate(REPORT * self.sets)
        roles.write(block_roles(request.layout.places, blocks))
        self._device_sets = DeviceSets(arena, bases, roles, report, blocks, request.whole)
        size = staging_bytes(request.layout)
        self._staging = device.allocate(size) if size else None
        self._allocated = (*bases, allocation, roles, report, *([self._staging] if self._staging else []))
        for base, is_noisy in zip(bases, (False, True), strict=True):
            trusted.noise(base, 2 * blocks, request.seed, is_noisy)
        self._fill(bases, inputs)

    def _fill(self, bases: Sequence[DeviceMemory], inputs: Raw) -> None:
        """Put each base's inputs, which follow one another in the order of the places, into it."""
        start = 0
        if self._staging:
            self._staging.write(inputs[: BASES * sum(p.nbytes for p in self._layout.places if p.role in FILLED)])
        for base in bases:
            for buffer in (p for p in self._layout.places if p.role in FILLED):
                if self._staging:
                    base.copy_from(self._staging, buffer.nbytes, buffer.offset, start)
                else:
                    base.write(inputs[start : start + buffer.nbytes], buffer.offset)
                start += buffer.nbytes

    def refresh(self, seed: int, sets: int) -> None:
        """Write the first sets again."""
        self._trusted.refresh(self._device_sets, sets, seed)

    def inspect(self, seed: int, sets: int) -> tuple[int, list[int]]:
        """Count the blocks changed that may not be, of all sets together, and sum each set's outputs."""
        self._trusted.inspect(self._device_sets, sets, seed)
        report = self._device_sets.report.read(np.uint64, (2 * sets,))
        return int(report[0::2].sum()), [int(n) for n in report[1::2]]

    def pieces(self, names: Sequence[str], number: int) -> list[tuple[DeviceMemory, int, int]]:
        """Locate buffers of one set by memory, offset and bytes; of many the memory that they are gathered in."""
        buffers, start = [self._layout[name] for name in names], number * self._layout.nbytes
        total = sum(buffer.nbytes for buffer in buffers)
        if self._staging is None or not len(buffers) >= MANY or total > self._staging.nbytes:
            return [(self._device_sets.arena, start + buffer.offset, buffer.nbytes) for buffer in buffers]
        gathered = 0
        for buffer in buffers:
            self._staging.copy_from(self._device_sets.arena, buffer.nbytes, gathered, start + buffer.offset)
            gathered += buffer.nbytes
        return [(self._staging, 0, total)]

    def prepare(self, module: LoadedModule, launches: Launches) -> list[PreparedCall]:
        """Prepare the launches of a plan for every set."""
        prepared: list[PreparedCall] = []
        for number in range(self.sets):
            call = []
            for launch in launches:
                kernel = module.kernel(launch.symbol)
                if launch.lds_bytes:
                    kernel.allow_dynamic(launch.lds_bytes)
                arguments = [self._argument(argument, number) for argument in launch.args]
                call.append(
                    kernel.prepared(launch.grid, launch.block, launch.lds_bytes, arguments, together=launch.cooperative)
                )
            prepared.append(call)
        return prepared

    def _argument(self, argument: LaunchArgument, number: int) -> Argument:
        if not argument.size:
            return self._value(argument, number)
        data = bytearray(argument.size)
        for field in argument.fields:
            item = ctypes.string_at(ctypes.addressof(value := self._value(field, number)), ctypes.sizeof(value))
            data[field.at : field.at + len(item)] = item
        return (ctypes.c_ubyte * argument.size).from_buffer(data)

    def _value(self, argument: LaunchArgument | FieldArgument, number: int) -> Scalar:
        if argument.buffer:
            offset = self._layout[argument.buffer].offset + argument.offset
            return ctypes.c_uint64(self._device_sets.arena.address + number * self._layout.nbytes + offset)
        return SCALARS[argument.dtype](argument.value)

    def free(self) -> None:
        """Give everything back."""
        for memory in self._allocated:
            memory.free()

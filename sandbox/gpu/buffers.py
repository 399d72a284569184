"""What a call needs on the GPU: code with its variables as they were at first, and the buffers of one case."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sandbox.gpu.driver.device_memory import Argument, DeviceMemory
from sandbox.gpu.driver.driver import Device, DeviceKernel
from sandbox.gpu.layout import ALIGNMENT, BLOCK, RED_ZONE, BufferPlace, block_roles
from sandbox.gpu.trusted.trusted import DeviceSets, Trusted
from tasks.dtypes import stored

BASES = 2
REPORT = 16  # bytes a set, see `Trusted.inspect`


def _narrow(dtype: str, value: float) -> Argument:
    """The bits of a type that ctypes does not have."""
    found = stored(value, dtype)
    return (
        ctypes.c_uint16(int(found.view(np.uint16)))
        if found.itemsize == 2
        else ctypes.c_uint8(int(found.view(np.uint8)))
    )


SCALARS: Mapping[str, Callable[[Any], Argument]] = {
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
Call = Sequence[Callable[[], None]]  # the launches of a plan on one set, ready to be started


@dataclass(frozen=True)
class Need:
    """Bytes on the GPU: what the judge needs in any case, and what the candidate asks for besides."""

    own: int
    asked: int

    def is_the_candidates(self, room: int) -> bool:
        """Whether so much memory would do without the candidate's share, and does not with it."""
        return self.own <= room < self.own + self.asked


def need_of(message: Mapping[str, Any]) -> Need:
    """What `Bound` will take, of which the workspaces are the candidate's."""
    nbytes, sets = int(message["layout"]["nbytes"]), int(message["sets"])
    spaces = sum(
        -(-p["nbytes"] // ALIGNMENT) * ALIGNMENT + RED_ZONE
        for p in message["layout"]["places"]
        if p["role"] == "workspace"
    )
    own, copies = nbytes - spaces, BASES + sets
    return Need(copies * own + own // BLOCK + REPORT * sets + int(message["skip"]), copies * spaces + spaces // BLOCK)


class Loaded:
    """A module, its kernels, and its variables as they were when it was loaded."""

    def __init__(self, device: Device, image: bytes, variables: Sequence[str], has_hidden: bool) -> None:
        """With hidden variables only a new load resets them."""
        self._device, self._image, self._has_hidden = device, image, has_hidden
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

    def forget(self) -> bool:
        """Give the variables their first values again, so that no call knows of an earlier one.

        True when the module was loaded anew for it: kernels that were prepared before are no more.
        """
        if self._has_hidden:
            self._module.unload()
            self._module, self._kernels = self._device.load(self._image), {}
            return True
        for memory, copy in self._variables:
            memory.copy_from(copy, memory.nbytes)
        return False


class CaseBuffers:
    """The buffers of one case: two bases, the sets, what each block is for."""

    def __init__(
        self, device: Device, trusted: Trusted, message: Mapping[str, Any], inputs: npt.NDArray[np.uint8]
    ) -> None:
        """`inputs`: base A's, then base B's, in the layout's order, without gaps. MachineError when memory runs out."""
        layout = message["layout"]
        self.sets, self._trusted = int(message["sets"]), trusted
        self.places = {p["name"]: BufferPlace(**p) for p in layout["places"]}
        self.nbytes = int(layout["nbytes"])
        blocks = self.nbytes // BLOCK
        self._bases = (device.allocate(self.nbytes), device.allocate(self.nbytes))
        self._whole_arena = device.allocate(self.nbytes * self.sets + int(message["skip"]))
        self.arena = DeviceMemory(
            device.driver, self._whole_arena.address + int(message["skip"]), self.nbytes * self.sets
        )
        self._roles, self._report = device.allocate(blocks), device.allocate(REPORT * self.sets)
        self._roles.write(block_roles(list(self.places.values()), blocks))
        whole = bool(message["whole"])
        self._held = DeviceSets(self.arena, self._bases, self._roles, self._report, blocks, whole)
        at = 0
        for base, is_noisy in zip(self._bases, (False, True), strict=True):
            trusted.noise(base, 2 * blocks, int(message["seed"]), is_noisy)
            for place in self.inputs:
                base.write(inputs[at : at + place.nbytes], place.offset)
                at += place.nbytes

    @property
    def inputs(self) -> list[BufferPlace]:
        """Where the inputs lie."""
        return [p for p in self.places.values() if p.role == "input"]

    def refresh(self, seed: int, sets: int) -> None:
        """Write the first sets again."""
        self._trusted.refresh(self._held, sets, seed)

    def inspect(self, seed: int, sets: int) -> tuple[int, list[int]]:
        """Blocks changed that may not be, of all sets together, and for each set a sum over its outputs."""
        self._trusted.inspect(self._held, sets, seed)
        report = self._report.read(np.uint64, (2 * sets,))
        return int(report[0::2].sum()), [int(n) for n in report[1::2]]

    def pieces(self, names: Sequence[str], number: int) -> list[tuple[DeviceMemory, int, int]]:
        """Memory, offset and bytes of buffers of one set."""
        return [(self.arena, number * self.nbytes + self.places[n].offset, self.places[n].nbytes) for n in names]

    def prepare(self, loaded: Loaded, launches: Sequence[Mapping[str, Any]]) -> list[Call]:
        """The launches of a plan for every set."""
        made: list[Call] = []
        for number in range(self.sets):
            call = []
            for launch in launches:
                kernel = loaded.kernel(launch["kernel"])
                if launch["lds_bytes"]:
                    kernel.allow_dynamic(launch["lds_bytes"])
                grid, block = (tuple(launch[name]) for name in ("grid", "block"))
                arguments = [self._argument(a, number) for a in launch["args"]]
                call.append(kernel.prepared(grid, block, launch["lds_bytes"], arguments))
            made.append(call)
        return made

    def _argument(self, given: Sequence[Any], number: int) -> Argument:
        kind, value = given
        if kind == "buffer":
            return ctypes.c_uint64(self.arena.address + number * self.nbytes + self.places[value].offset)
        return SCALARS[kind](value)

    def free(self) -> None:
        """Give everything back."""
        for memory in (*self._bases, self._whole_arena, self._roles, self._report):
            memory.free()

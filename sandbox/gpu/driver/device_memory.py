"""Memory of a GPU, and what a launch can be passed."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sandbox.gpu.driver.library import Library

POINTER = ctypes.c_uint64


class DeviceMemory:
    """One allocation, or a device variable of a module, which is never freed. Offsets and sizes are in bytes."""

    def __init__(self, library: Library, address: int, nbytes: int) -> None:
        self._library, self.address, self.nbytes = library, address, nbytes

    def _address_at(self, offset: int, nbytes: int) -> ctypes.c_uint64:
        if offset < 0 or nbytes < 0 or offset + nbytes > self.nbytes:
            raise ValueError(f"{nbytes} bytes at {offset} of an allocation of {self.nbytes}")
        return POINTER(self.address + offset)

    def write(self, data: npt.NDArray[Any], offset: int = 0) -> None:
        """Copy from the host."""
        flat = np.ascontiguousarray(data)
        if flat.nbytes:
            self._library.call(
                "copy_in",
                self._address_at(offset, flat.nbytes),
                ctypes.c_void_p(flat.ctypes.data),
                ctypes.c_size_t(flat.nbytes),
            )

    def read(self, dtype: npt.DTypeLike, shape: Sequence[int], offset: int = 0) -> npt.NDArray[Any]:
        """Copy to the host, behind all earlier work."""
        values = np.empty(tuple(shape), dtype)
        self.read_into(values, offset)
        return values

    def read_into(self, target: npt.NDArray[Any], offset: int = 0) -> None:
        """Copy to a contiguous array of the host, behind all earlier work."""
        if target.nbytes:
            self._library.call(
                "copy_out",
                ctypes.c_void_p(target.ctypes.data),
                self._address_at(offset, target.nbytes),
                ctypes.c_size_t(target.nbytes),
            )

    def fill(self, word: int, offset: int = 0, nbytes: int | None = None) -> None:
        """Fill with a 32-bit word, asynchronously; a rest of up to 3 bytes stays."""
        size = self.nbytes - offset if nbytes is None else nbytes
        if size >= 4:
            self._library.call(
                "fill", self._address_at(offset, size), ctypes.c_uint(word), ctypes.c_size_t(size // 4), None
            )

    def copy_from(self, other: DeviceMemory, nbytes: int, offset: int = 0, other_offset: int = 0) -> None:
        """Copy from other memory of the same device, asynchronously."""
        if nbytes:
            self._library.call(
                "copy",
                self._address_at(offset, nbytes),
                other._address_at(other_offset, nbytes),
                ctypes.c_size_t(nbytes),
                None,
            )

    def free(self) -> None:
        """Give the memory back."""
        self._library.call("free", POINTER(self.address))


Scalar = (
    ctypes.c_bool
    | ctypes.c_int8
    | ctypes.c_uint8
    | ctypes.c_int16
    | ctypes.c_uint16
    | ctypes.c_int
    | ctypes.c_int64
    | ctypes.c_uint64
    | ctypes.c_float
    | ctypes.c_double
)
StructBytes = ctypes.Array[ctypes.c_ubyte]  # passed by value
Argument = DeviceMemory | Scalar | StructBytes

"""Lay out what the executor needs: buffers between red zones, in the files that it maps."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from records.errors import LabError
from sandbox.lab.cost.clock import TimelineRequest
from sandbox.lab.explored_launches import ShapeExploration
from sandbox.lab.stored_inputs import Stored

LOWEST, HIGHEST = 1 << 40, 0x78 << 40  # addresses of buffers; above them lies what the executor maps for itself
GRANULE = 65536
PART, PAGE, EVEN = 256, 4096, 2 << 20  # multiples at which an allocator that keeps memory, a GPU's own, and either of
# them with large buffers lay these
NONE = (1 << 64) - 1
ROLES = {"input": 0, "output": 1, "workspace": 2, "inout": 3}
WRITTEN = ("output", "inout")  # roles of buffers that are compared
MAX_BUFFERS = 254
MIN_RED_ZONE = 1 << 20
MAX_RED_ZONE = 1 << 32
_RANDOM = random.SystemRandom()
_NANS = {  # a NaN, and how many of its lower bits are free
    "float16": (0x7E00, 9),
    "bfloat16": (0x7FC0, 6),
    "float32": (0x7FC00000, 22),
    "float64": (0x7FF8000000000000, 51),
}


@dataclass(frozen=True)
class Buffer:
    """One allocation: its flat contents (inputs) or size and type, and its role: input, output, inout or workspace."""

    name: str
    data: npt.NDArray[Any] | Stored
    role: str


@dataclass(frozen=True)
class Region:
    """The place of one buffer: in the executor's address space, in a file, in the mask file."""

    buffer: Buffer
    address: int
    file_offset: int  # of the file of inputs when the buffer is `Stored`, else of the memory file; NONE: no file
    mask_offset: int  # NONE for all but outputs that are read afterwards
    poison: bytes  # eight bytes, over and over, that it holds before anything is written; of a secret draw

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.buffer.data.nbytes)

    def poisoned(self, itemsize: int) -> npt.NDArray[np.uint8]:
        """Repeat the poison as bytes, uint8 (elements, itemsize); one row where all elements hold the same."""
        if 8 % itemsize == 0:
            return np.frombuffer(self.poison[:itemsize], np.uint8)
        repeated = np.frombuffer(self.poison * itemsize, np.uint8).reshape(-1, itemsize)
        return np.resize(repeated, (self.size // itemsize, itemsize))

    @property
    def period(self) -> int:
        """Bytes in the file, which repeat up to the buffer's size."""
        data = self.buffer.data
        return data.period if isinstance(data, Stored) else self.size


@dataclass(frozen=True)
class MemoryLayout:
    """All regions, where the arena begins, and the bytes of the arena, of the memory file and of the mask file."""

    regions: tuple[Region, ...]
    base: int
    arena: int
    memory: int
    masks: int


@dataclass(frozen=True)
class Work:
    """Amount of work: workgroups of each launch to execute and to record, threads, seconds."""

    blocks: tuple[int, ...]
    recorded_blocks: int
    workers: int
    deadline_s: float
    l1_lines: int
    line_bytes: int
    checks: int = 2  # 0: bounds only, 1: all but unwritten buffers, 2: all; see interpreter/request.h
    exact: bool = False  # matrix instructions round as the hardware does
    shuffled: bool = False  # another wave begins in each workgroup
    order: int = 0  # of workgroups, see ORDERS in lab.py
    device: tuple[int, ...] = (64, 64, 128, 16, 64, 1)  # see executor_limits.device_words
    phases: bytes = b""  # conflict groups, see phases.py
    workgroups: tuple[tuple[int, ...] | None, ...] = ()  # the numbers of `blocks`; None: evenly spread, or all
    surveyed: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # launches and kind of each shape, see shape_survey.py
    survey: tuple[int, int, int] = (0, 0, 0)  # how many shapes are known; instructions in all, and of a workgroup
    coverage: bytes = b""  # of known shapes, by an earlier survey of the program
    exploration: ShapeExploration | None = None
    timeline: TimelineRequest | None = None
    together: int = 0  # workgroups that wait for each other: one worker runs them in turns


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def lay_out(buffers: Sequence[Buffer], *, count: bool, sparse: bool = False, masks: bool = True) -> MemoryLayout:
    """Place the buffers between red zones. When counting, nobody reads what was written, so that needs no file.

    Sparse: a few workgroups touch a little of much memory, which begins as zeros then. `masks`: outputs have them.
    """
    if len(buffers) > MAX_BUFFERS:
        raise LabError(f"the lab takes at most {MAX_BUFFERS} buffers")
    rooms = [_round_up(int(buffer.data.nbytes), GRANULE) for buffer in buffers]
    rng = random.Random(_RANDOM.getrandbits(256))
    offsets, arena = _places(rooms, unit := rng.choice((PART, PAGE, EVEN)), rng)
    base = LOWEST + unit * rng.randrange((HIGHEST - LOWEST - arena) // unit)
    regions, file_at, mask_at = list[Region](), 0, 0
    for buffer, offset, room in zip(buffers, offsets, rooms, strict=True):
        masked = masks and buffer.role in WRITTEN and not count
        poison = bytes(8) if sparse else poison_of(buffer.data.dtype, rng)
        if isinstance(buffer.data, Stored):
            regions.append(Region(buffer, base + offset, buffer.data.offset, NONE, poison))
        elif buffer.role != "input" and count:
            regions.append(Region(buffer, base + offset, NONE, NONE, poison))
        else:
            regions.append(Region(buffer, base + offset, file_at, mask_at if masked else NONE, poison))
            file_at += room
        mask_at += room * masked
    return MemoryLayout(tuple(regions), base, arena, file_at, mask_at)


def _places(rooms: Sequence[int], unit: int, rng: random.Random) -> tuple[list[int], int]:
    """Random offsets in the arena, about half of them multiples of the unit; and the size of the arena."""
    step = min(PAGE, unit)
    offsets, offset, before = [0] * len(rooms), step * rng.randrange(1 << 16), MIN_RED_ZONE
    for index in rng.sample(range(len(rooms)), len(rooms)):
        zone = min(MAX_RED_ZONE, max(MIN_RED_ZONE, rooms[index]))
        offset += max(before, zone) + step * rng.randrange(zone // step)
        offset = _round_up(offset, rng.choice((1, unit)))
        offsets[index] = offset
        offset, before = offset + rooms[index], zone
    return offsets, offset + before


def poison_of(dtype: np.dtype[Any], rng: random.Random = _RANDOM) -> bytes:
    """Eight bytes of poison: in a floating type NaN with random bits, else random; bytes of fp8 have one NaN only."""
    count = 8 // dtype.itemsize if dtype.itemsize in (1, 2, 4, 8) else 0
    if nan_bits := _nan_of(dtype):
        nan, free = nan_bits
        return (nan | rng.randrange(1 << free)).to_bytes(dtype.itemsize, "little") * count
    return rng.randbytes(dtype.itemsize) * count if count else rng.randbytes(8)


@cache
def _nan_of(dtype: np.dtype[Any]) -> tuple[int, int] | None:
    return _NANS.get(dtype.name)  # a name that NumPy puts together each time


def inputs_file(buffers: Sequence[Buffer]) -> Path | None:
    """Find the file that holds the stored inputs; LabError when there are several, or only some inputs are in it."""
    paths = {b.data.path if isinstance(b.data, Stored) else None for b in buffers if b.role == "input"}
    if len(paths) > 1:
        raise LabError("the lab was given inputs from several places; please report this")
    return next(iter(paths), None)


def write_memory(path: Path, layout: MemoryLayout) -> None:
    """Write the inputs at their places; the rest is a hole, which the executor fills with poison. LabError."""
    try:
        with path.open("wb") as file:
            file.truncate(layout.memory)
            for region in layout.regions:
                data = region.buffer.data
                is_filled = region.buffer.role in ("input", "inout") and region.file_offset != NONE
                if is_filled and not isinstance(data, Stored):
                    file.seek(region.file_offset)
                    file.write(np.ascontiguousarray(data).view(np.uint8).data)
    except OSError as error:
        raise LabError(
            f"{os.strerror(error.errno or 0)} while writing the buffers to {path.parent}; free some space"
        ) from None

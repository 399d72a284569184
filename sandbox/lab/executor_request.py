"""Writes what the executor needs into a folder: request.bin, the buffers, their masks. See runtime/request.h."""

from __future__ import annotations

import math
import os
import random
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from records.errors import LabError
from sandbox.candidate.resolve import BufferArg, NullArg, ResolvedLaunch, ResolvedPlan, ScalarArg, StructArg
from sandbox.lab.build.lab_program import LabProgram
from sandbox.lab.cost.phases import lane_groups
from sandbox.lab.stored_inputs import Stored
from tasks.dtypes import stored

MAGIC = 0x4B534C4142303130
LOWEST, HIGHEST = 1 << 40, 0x78 << 40  # addresses of buffers; above them lies what the executor maps for itself
GRANULE = 65536
PAGE, EVEN = 4096, 2 << 20  # what a GPU's allocator promises of a buffer's address, and what it gives to large ones
NONE = (1 << 64) - 1
ROLES = {"input": 0, "output": 1, "workspace": 2, "inout": 3}
WRITTEN = ("output", "inout")  # roles of buffers that are compared
MAX_BUFFERS = 254
STRUCT = 3  # kind of an argument, see runtime/request.h
MIN_RED_ZONE, MAX_RED_ZONE = 1 << 20, 1 << 32
LANE_STACK_BYTES = 576 << 10  # address space of a work-item's stacks with their guard, see runtime/fibre.h
WORKER_GUARD_BYTES = 16 << 30
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
        """The poison of each element as rows of bytes; one row where all elements hold the same."""
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
    checks: int = 2  # 0: bounds only, 1: all but unwritten buffers, 2: all; see runtime/shadow.h
    exact: bool = False  # matrix instructions round as the hardware does
    shuffled: bool = False  # another wave begins in each workgroup
    backwards: bool = False  # the last workgroup begins
    device: tuple[int, ...] = (64, 64, 128, 16, 64, 1)  # from `wave` to `joins_global` in runtime/request.h's header
    phases: bytes = b""  # conflict groups, see phases.py
    workgroups: tuple[tuple[int, ...] | None, ...] = ()  # the numbers of `blocks`; None: evenly spread, or all
    surveyed: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # launches and kind of each shape, see shape_survey.py
    survey: tuple[int, int, int] = (0, 0, 0)  # how many shapes are known; instructions in all, and of a workgroup
    seen: bytes = b""  # of known shapes, by an earlier survey of the program


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def lay_out(buffers: Sequence[Buffer], *, count: bool, sparse: bool = False, masks: bool = True) -> MemoryLayout:
    """Place the buffers between red zones. When counting, nobody reads what was written, so that needs no file.

    Sparse: a few workgroups touch a little of much memory, which begins as zeros then. `masks`: outputs have them.
    """
    if len(buffers) > MAX_BUFFERS:
        raise LabError(f"the lab takes at most {MAX_BUFFERS} buffers")
    rooms = [_round_up(int(buffer.data.nbytes), GRANULE) for buffer in buffers]
    places, arena = _places(rooms, unit := _RANDOM.choice((PAGE, EVEN)))
    base = LOWEST + unit * _RANDOM.randrange((HIGHEST - LOWEST - arena) // unit)
    regions, file_at, mask_at = list[Region](), 0, 0
    for buffer, at, room in zip(buffers, places, rooms, strict=True):
        masked = masks and buffer.role in WRITTEN and not count
        poison = bytes(8) if sparse else poison_of(buffer.data.dtype)
        if isinstance(buffer.data, Stored):
            regions.append(Region(buffer, base + at, buffer.data.offset, NONE, poison))
        elif buffer.role != "input" and count:
            regions.append(Region(buffer, base + at, NONE, NONE, poison))
        else:
            regions.append(Region(buffer, base + at, file_at, mask_at if masked else NONE, poison))
            file_at += room
        mask_at += room * masked
    return MemoryLayout(tuple(regions), base, arena, file_at, mask_at)


def _places(rooms: Sequence[int], unit: int) -> tuple[list[int], int]:
    """Random offsets in the arena, about half of them multiples of the unit; and the size of the arena."""
    places, at, before = [0] * len(rooms), GRANULE * _RANDOM.randrange(1 << 12), MIN_RED_ZONE
    for index in _RANDOM.sample(range(len(rooms)), len(rooms)):
        zone = min(MAX_RED_ZONE, max(MIN_RED_ZONE, rooms[index]))
        at += max(before, zone) + GRANULE * _RANDOM.randrange(zone // GRANULE)
        at = _round_up(at, _RANDOM.choice((1, unit)))
        places[index] = at
        at, before = at + rooms[index], zone
    return places, at + before


def poison_of(dtype: np.dtype[Any]) -> bytes:
    """Eight bytes of poison: in a floating type NaN with random bits, else random; bytes of fp8 have one NaN only."""
    count = 8 // dtype.itemsize if dtype.itemsize in (1, 2, 4, 8) else 0
    if dtype.name in _NANS:
        nan, free = _NANS[dtype.name]
        return (nan | _RANDOM.randrange(1 << free)).to_bytes(dtype.itemsize, "little") * count
    return _RANDOM.randbytes(dtype.itemsize) * count if count else _RANDOM.randbytes(8)


def write(folder: Path, program: LabProgram, plan: ResolvedPlan, layout: MemoryLayout, work: Work) -> None:
    """Write the four files."""
    _write_memory(folder / "memory.bin", layout)
    with (folder / "masks.bin").open("wb") as file:
        file.truncate(layout.masks)
    (folder / "result.json").touch()
    words = [*_header(program, plan, layout, work), *struct.unpack("<64Q", work.phases or lane_groups())]
    for region in layout.regions:
        words += [
            ROLES[region.buffer.role],
            region.size,
            region.address - layout.base,
            region.file_offset,
            region.mask_offset,
            region.period,
            int.from_bytes(region.poison, "little"),
        ]
    for variable in program.lds:
        words += [variable.offset, variable.size]
    words += [program.dynamic_lds_offset, NONE, *_launches(program, plan, layout, work)]
    (folder / "request.bin").write_bytes(struct.pack(f"<{len(words)}Q", *(w & NONE for w in words)))


def inputs_file(buffers: Sequence[Buffer]) -> Path | None:
    """The file that holds the stored inputs; LabError when there are several, or only some inputs are in it."""
    found = {b.data.path if isinstance(b.data, Stored) else None for b in buffers if b.role == "input"}
    if len(found) > 1:
        raise LabError("the lab was given inputs from several places; please report this")
    return next(iter(found), None)


def _header(program: LabProgram, plan: ResolvedPlan, layout: MemoryLayout, work: Work) -> list[int]:
    lanes = max(math.prod(launch.block) for launch in plan.launches)
    stacks = work.workers * (lanes * LANE_STACK_BYTES + WORKER_GUARD_BYTES)
    shadow = 12 * sum(_round_up(region.size, GRANULE) for region in layout.regions)  # as global_shadow.cpp maps it
    space = layout.arena + shadow + 2 * layout.masks + stacks + (4 << 30)
    return [
        MAGIC,
        int(work.recorded_blocks > 0),
        work.workers,
        int(work.deadline_s * 1e6),
        len(layout.regions),
        len(plan.launches),
        len(program.lds) + 1,
        work.recorded_blocks,
        layout.base,
        layout.arena,
        layout.memory,
        layout.masks,
        program.tls_bytes,
        program.tls_align,
        *program.image,
        *program.constants,
        *program.variables,
        *program.zeros,
        work.l1_lines,
        work.line_bytes,
        space,
        work.checks,
        int(work.exact),
        *work.device,
        int(work.shuffled),
        int(work.backwards),
    ]


def _launches(program: LabProgram, plan: ResolvedPlan, layout: MemoryLayout, work: Work) -> list[int]:
    addresses = {region.buffer.name: region.address for region in layout.regions}
    words: list[int] = []
    lists = work.workgroups or (None,) * len(plan.launches)
    for launch, blocks, numbers in zip(plan.launches, work.blocks, lists, strict=True):
        words += [
            program.kernels[launch.kernel],
            *launch.grid,
            *launch.block,
            launch.lds_bytes,
            blocks,
            len(launch.args),
            len(numbers or ()),
            *_arguments(launch, addresses),
            *(numbers or ()),
        ]
    return words


def _arguments(launch: ResolvedLaunch, addresses: Mapping[str, int]) -> list[int]:
    """The number of words that structs take, kind and bits of each argument, then the structs' words."""
    words, structs = list[int](), list[int]()
    for argument in launch.args:
        if isinstance(argument, StructArg):
            words += [STRUCT, 0]
            structs += _struct(argument, addresses)
        else:
            words += _word(argument, addresses)
    return [len(structs), *words, *structs]


def _struct(argument: StructArg, addresses: Mapping[str, int]) -> list[int]:
    data = bytearray(_round_up(argument.size, 8))
    for at, leaf in argument.fields:
        if isinstance(leaf, ScalarArg):
            item = stored(leaf.value, leaf.dtype).tobytes()
        else:
            item = (_word(leaf, addresses)[1] & NONE).to_bytes(8, "little")
        data[at : at + len(item)] = item
    return list(struct.unpack(f"<{len(data) // 8}Q", data))


def _word(argument: BufferArg | ScalarArg | NullArg, addresses: Mapping[str, int]) -> list[int]:
    """Kind and bits."""
    if isinstance(argument, NullArg):
        return [0, 0]
    if isinstance(argument, BufferArg):
        return [0, addresses[argument.name] + argument.offset]
    if argument.dtype.startswith(("i", "u", "bool")):
        return [1, int(argument.value)]
    value = float(stored(argument.value, argument.dtype))  # what a GPU is given
    return [2, struct.unpack("<Q", struct.pack("<d", value))[0]]


def _write_memory(path: Path, layout: MemoryLayout) -> None:
    """Inputs at their places; the rest is a hole, which the executor fills with a poison pattern."""
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

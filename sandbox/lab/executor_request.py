"""Writes what the executor needs into a folder: request.bin, the buffers, their masks. See runtime/request.h."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from records.errors import LabError
from sandbox.candidate.resolve import BufferArg, ResolvedLaunch, ResolvedPlan
from sandbox.lab.build.program import LabProgram
from sandbox.lab.cost.phases import lane_groups
from tasks.dtypes import stored

MAGIC = 0x4B534C4142303031
ARENA = 0x100000000000
GRANULE = 65536
NONE = (1 << 64) - 1
ROLES = {"input": 0, "output": 1, "workspace": 2}
MAX_BUFFERS = 254
MIN_RED_ZONE = 1 << 20
MAX_RED_ZONE = 1 << 32


@dataclass(frozen=True)
class Buffer:
    """One allocation: its flat contents (inputs) or size and type, and its role: input, output or workspace."""

    name: str
    data: npt.NDArray[Any]
    role: str


@dataclass(frozen=True)
class Region:
    """Where one buffer lies: in the executor's address space, in the memory file, in the mask file."""

    buffer: Buffer
    address: int
    file_offset: int
    mask_offset: int  # NONE for all but outputs

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.buffer.data.nbytes)


@dataclass(frozen=True)
class Work:
    """How much to do: workgroups of each launch to execute and to record, threads, seconds."""

    blocks: tuple[int, ...]
    recorded_blocks: int
    workers: int
    deadline_s: float
    l1_lines: int
    line_bytes: int
    checks: int = 2  # 0: bounds only, 1: all but unwritten buffers, 2: all; see runtime/shadow.h
    exact: bool = False  # matrix instructions round as the hardware does
    device: tuple[int, ...] = (64, 64, 128, 16, 64, 1)  # the last words of runtime/request.h's header
    phases: bytes = b""  # conflict groups, see phases.py


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def lay_out(buffers: Sequence[Buffer]) -> tuple[tuple[Region, ...], int, int, int]:
    """The regions, then bytes of the arena, of the memory file and of the mask file."""
    if len(buffers) > MAX_BUFFERS:
        raise LabError(f"the lab takes at most {MAX_BUFFERS} buffers")
    regions, at, file_at, mask_at, before = [], 0, 0, 0, MIN_RED_ZONE
    for buffer in buffers:
        size = int(buffer.data.nbytes)
        zone = min(MAX_RED_ZONE, max(MIN_RED_ZONE, _round_up(size, GRANULE)))
        at = at + max(before, zone)
        output = buffer.role == "output"
        regions.append(Region(buffer, ARENA + at, file_at, mask_at if output else NONE))
        at += _round_up(size, GRANULE)
        file_at += _round_up(size, GRANULE)
        mask_at += _round_up(size, GRANULE) if output else 0
        before = zone
    return tuple(regions), _round_up(at + before, GRANULE), file_at, mask_at


def write(
    folder: Path, program: LabProgram, plan: ResolvedPlan, buffers: Sequence[Buffer], work: Work
) -> tuple[Region, ...]:
    """Write the four files and say where each buffer lies."""
    regions, arena_bytes, memory_bytes, mask_bytes = lay_out(buffers)
    _write_memory(folder / "memory.bin", regions, memory_bytes)
    with (folder / "masks.bin").open("wb") as file:
        file.truncate(mask_bytes)
    (folder / "result.json").touch()
    addresses = {region.buffer.name: region.address for region in regions}
    words = _header(program, plan, len(regions), work, arena_bytes, memory_bytes, mask_bytes)
    words += struct.unpack("<64Q", work.phases or lane_groups())
    for region in regions:
        words += [
            ROLES[region.buffer.role],
            region.size,
            region.address - ARENA,
            region.file_offset,
            region.mask_offset,
        ]
    for variable in program.lds:
        words += [variable.offset, variable.size]
    words += [program.dynamic_lds_offset, NONE]
    for launch, blocks in zip(plan.launches, work.blocks, strict=True):
        words += [
            program.kernels[launch.kernel],
            *launch.grid,
            *launch.block,
            launch.lds_bytes,
            blocks,
            len(launch.args),
            *_arguments(launch, addresses),
        ]
    (folder / "request.bin").write_bytes(struct.pack(f"<{len(words)}Q", *(w & NONE for w in words)))
    return regions


def _header(
    program: LabProgram, plan: ResolvedPlan, regions: int, work: Work, arena: int, memory: int, masks: int
) -> list[int]:
    lanes = max(math.prod(launch.block) for launch in plan.launches)
    stacks = work.workers * lanes * (320 << 10)
    space = arena + 8 * memory + 2 * masks + stacks + (4 << 30)
    return [
        MAGIC,
        int(work.recorded_blocks > 0),
        work.workers,
        int(work.deadline_s * 1e6),
        regions,
        len(plan.launches),
        len(program.lds) + 1,
        work.recorded_blocks,
        arena,
        memory,
        masks,
        program.tls_bytes,
        program.tls_align,
        *program.image,
        *program.globals,
        work.l1_lines,
        work.line_bytes,
        space,
        work.checks,
        int(work.exact),
        *work.device,
    ]


def _arguments(launch: ResolvedLaunch, addresses: Mapping[str, int]) -> list[int]:
    words: list[int] = []
    for argument in launch.args:
        if isinstance(argument, BufferArg):
            words += [0, addresses[argument.name]]
        elif argument.dtype.startswith(("i", "u", "bool")):
            words += [1, int(argument.value)]
        else:
            value = float(stored(argument.value, argument.dtype))  # what a GPU is given
            words += [2, struct.unpack("<Q", struct.pack("<d", value))[0]]
    return words


def _write_memory(path: Path, regions: Sequence[Region], size: int) -> None:
    """Inputs at their places; the rest is a hole, which the executor fills with a poison pattern."""
    try:
        with path.open("wb") as file:
            file.truncate(size)
            for region in regions:
                if region.buffer.role == "input":
                    file.seek(region.file_offset)
                    file.write(np.ascontiguousarray(region.buffer.data).view(np.uint8).data)
    except OSError as error:
        raise LabError(
            f"{os.strerror(error.errno or 0)} while writing the buffers to {path.parent}; free some space"
        ) from None

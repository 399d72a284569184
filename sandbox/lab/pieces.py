"""Pieces of large outputs that a few workgroups wrote, read without the pages that nobody touched."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sandbox.lab.executor_request import Region
from sandbox.lab.stored_inputs import Stored

CHUNK = 16 << 20  # bytes read at a time


@dataclass(frozen=True)
class Piece:
    """The elements of an output that were written whole: their places in flat memory, ascending, and their values."""

    positions: npt.NDArray[np.int64]
    values: npt.NDArray[Any]


def pieces_of(folder: Path, regions: Sequence[Region]) -> dict[str, Piece]:
    """Read the written elements of every output, by name."""
    pieces = {}
    with (folder / "memory.bin").open("rb") as memory, (folder / "masks.bin").open("rb") as masks:
        for region in regions:
            if region.buffer.role == "output" and not isinstance(region.buffer.data, Stored):
                pieces[region.buffer.name] = _piece(memory.fileno(), masks.fileno(), region)
    return pieces


def _piece(memory: int, masks: int, region: Region) -> Piece:
    data = region.buffer.data
    size = data.itemsize
    positions, values = [np.empty(0, np.int64)], [np.empty(0, data.dtype)]
    for start, end in _touched(masks, region.mask_offset, region.size):
        start, end = start // size * size, -(-end // size) * size
        marks = np.frombuffer(os.pread(masks, end - start, region.mask_offset + start), np.uint8)
        is_written = marks.view(f"u{size}") == int.from_bytes(b"\x01" * size, "little")
        indices = np.arange(is_written.size) if is_written.all() else np.flatnonzero(is_written)
        if indices.size:
            raw = os.pread(memory, end - start, region.file_offset + start)
            values.append(np.frombuffer(raw, data.dtype)[indices if indices.size < is_written.size else slice(None)])
            positions.append(indices + start // size)
    return Piece(np.concatenate(positions), np.concatenate(values))


def _touched(file: int, offset: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of a region that have pages, from its beginning, in whole chunks at most."""
    begin = 0
    while begin < size:
        try:
            start = os.lseek(file, offset + begin, os.SEEK_DATA) - offset
        except OSError:  # ENXIO: nothing behind
            return
        end = min(size, os.lseek(file, offset + start, os.SEEK_HOLE) - offset)
        if start >= size:
            return
        for piece in range(start, end, CHUNK):
            yield piece, min(end, piece + CHUNK)
        begin = end

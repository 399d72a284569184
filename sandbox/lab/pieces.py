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

    places: npt.NDArray[np.int64]
    values: npt.NDArray[Any]


def pieces_of(folder: Path, regions: Sequence[Region]) -> dict[str, Piece]:
    """The written elements of every output, by name."""
    found = {}
    with (folder / "memory.bin").open("rb") as memory, (folder / "masks.bin").open("rb") as masks:
        for region in regions:
            if region.buffer.role == "output" and not isinstance(region.buffer.data, Stored):
                found[region.buffer.name] = _piece(memory.fileno(), masks.fileno(), region)
    return found


def _piece(memory: int, masks: int, region: Region) -> Piece:
    data = region.buffer.data
    size = data.itemsize
    places, values = [np.empty(0, np.int64)], [np.empty(0, data.dtype)]
    for start, end in _touched(masks, region.mask_offset, region.size):
        start, end = start // size * size, -(-end // size) * size
        marks = np.frombuffer(os.pread(masks, end - start, region.mask_offset + start), np.uint8)
        kept = marks.view(f"u{size}") == int.from_bytes(b"\x01" * size, "little")
        whole = np.arange(kept.size) if kept.all() else np.flatnonzero(kept)
        if whole.size:
            raw = os.pread(memory, end - start, region.file_offset + start)
            values.append(np.frombuffer(raw, data.dtype)[whole if whole.size < kept.size else slice(None)])
            places.append(whole + start // size)
    return Piece(np.concatenate(places), np.concatenate(values))


def _touched(file: int, offset: int, size: int) -> Iterator[tuple[int, int]]:
    """The spans of a region that have pages, from its beginning, in whole chunks at most."""
    at = 0
    while at < size:
        try:
            start = os.lseek(file, offset + at, os.SEEK_DATA) - offset
        except OSError:  # ENXIO: nothing behind
            return
        end = min(size, os.lseek(file, offset + start, os.SEEK_HOLE) - offset)
        if start >= size:
            return
        for piece in range(start, end, CHUNK):
            yield piece, min(end, piece + CHUNK)
        at = end

"""The LDS conflict groups as data, a table a vendor in `lds_phases.toml`; one group number a lane for the executor."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

WIDTHS = (4, 8, 12, 16)
_FILE = Path(__file__).parent / "lds_phases.toml"


@cache
def lane_groups(vendor: str = "amd", wave: int = 64, path: Path = _FILE) -> bytes:
    """Group numbers, 64 lanes for each width of each direction (read, then write). ValueError for a bad table."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))[vendor]
    return b"".join(_groups(table[direction][str(width)], wave) for direction in ("read", "write") for width in WIDTHS)


def _groups(ranges: list[str], wave: int) -> bytes:
    lanes = [-1] * wave
    for number, text in enumerate(ranges):
        for part in text.split():
            first, _, last = part.partition("-")
            for lane in range(int(first), int(last or first) + 1):
                if lanes[lane] != -1:
                    raise ValueError(f"lane {lane} is in two groups of {ranges}")
                lanes[lane] = number
    if min(lanes) < 0 or len(ranges) > 16:
        raise ValueError(f"the groups {ranges} do not cover {wave} lanes in at most 16 groups")
    return bytes(lanes).ljust(64, b"\0")

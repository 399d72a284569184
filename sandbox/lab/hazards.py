"""Sentences on order: races, barriers that do not drain, memory nobody wrote, masks of half a wave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sandbox.candidate.resolve import ResolvedLaunch

Row = Mapping[str, Any]
FLAGS = 1 << 18  # places by which workgroups are ordered: kFlags in runtime/release.cpp
_RAW, _WAR, _WAW = range(3)
_SAME_WAVE, _OTHER_WAVE, _OTHER_WORKGROUP = range(3)
_DOES = ("reads", "overwrites", "writes")
_DID = ("wrote", "reads", "wrote")


def is_global(row: Row) -> bool:
    """Tell whether the accesses are of global memory, a buffer or a variable of the file, and not of LDS."""
    return row["kind"] in ("race", "undrained_barrier") and bool(int(row["detail"]) >> 8 & 1)


def race(row: Row, subject: str, location: str, launch: ResolvedLaunch, line: Callable[[int], int | None]) -> str:
    """Name the two sides of a race, its place, and the remedy that would order them."""
    hazard, relation = int(row["detail"]) & 15, int(row["detail"]) >> 4 & 15
    is_lost, is_relaxed, is_stale = (bool(int(row["detail"]) >> bit & 1) for bit in (9, 10, 11))
    start = f"{subject} {_DOES[hazard]} {location}, which {_other(row, launch)} {_DID[hazard]}{_where(row, line)}"
    if is_lost:
        return (
            f"{start} in the same launch, and the lab cannot follow the order of workgroups: it knows {FLAGS} places "
            "that are changed atomically behind a fence, and this launch has more; use fewer, or a launch of its own"
        )
    if is_relaxed:
        return (
            f"{start}, and the atomic operation that announces it does not wait for it; let that one release "
            "(__threadfence() before it, or __ATOMIC_RELEASE)"
        )
    if is_stale:
        return (
            f"{start}, and what is read may come from a cache that was filled before; let the atomic operation that "
            "announces it acquire (__threadfence() behind it, or __ATOMIC_ACQUIRE)"
        )
    if relation == _OTHER_WORKGROUP:
        return (
            f"{start} in the same launch, and nothing orders workgroups; use atomics of device scope with "
            "__threadfence(), or a launch of its own"
        )
    if relation == _SAME_WAVE:
        return (
            f"{start} in the same wave with no wave operation between; put __builtin_amdgcn_wave_barrier(), "
            "__syncwarp() or __syncthreads() between the two"
        )
    return f"{start} with no barrier between; put __syncthreads() between the two, or let atomics do it"


def undrained(row: Row, subject: str, location: str, launch: ResolvedLaunch, line: Callable[[int], int | None]) -> str:
    """Say that a raw barrier stands between, but the write may still be under way."""
    hazard = int(row["detail"]) & 15
    return (
        f"{subject} {_DOES[hazard]} {location}, which {_other(row, launch)} {_DID[hazard]}{_where(row, line)} before a "
        "raw s_barrier, which does not wait for it; use __syncthreads(), or put a release fence or s_waitcnt before it"
    )


def uninitialised(
    row: Row, subject: str, location: str, launch: ResolvedLaunch, line: Callable[[int], int | None]
) -> str:
    """Say that nobody has written there before."""
    writers = "this workgroup" if not row["buffer"] else "any launch"
    return f"{subject} reads {location}, which nothing in {writers} has written before; fill it first or do not read it"


def wave_mask(row: Row, subject: str, location: str, launch: ResolvedLaunch, line: Callable[[int], int | None]) -> str:
    """Say that a mask knows half of the lanes only, or that a ballot is cut, which takes a wave of 64 lanes."""
    if not row["write"]:
        return (
            f"{subject} keeps only a part of a ballot's 64 bits, and upper ones are set; use unsigned long long and "
            "__popcll, __ffsll, __clzll, or take the upper half as well"
        )
    mask = int(row["detail"])
    full_mask = "~0ull" if row["wave"] == 64 else "~0u"
    return (
        f"{subject} calls with the mask {mask:#x}, in which its own lane is missing; a wave has {row['wave']} lanes, "
        f"so use {full_mask} or __activemask()"
    )


def _other(row: Row, launch: ResolvedLaunch) -> str:
    item, group = (int(v) for v in row["other"])
    if int(row["detail"]) >> 4 & 15 == _OTHER_WORKGROUP:
        if group >= launch.grid[0] * launch.grid[1] * launch.grid[2]:
            return "another workgroup"
        return f"workgroup ({_spread(group, launch.grid)})"
    thread = tuple(int(v) for v in row["thread"])
    other = _spread(item, launch.block)
    # Of several that touched the word the last one is known; where that is this very one, it was another before it.
    return "another work-item" if other == ",".join(map(str, thread)) else f"work-item ({other})"


def _spread(number: int, extent: tuple[int, int, int]) -> str:
    x, y, _ = extent
    return f"{number % x},{number // x % y},{number // x // y}"


def _where(row: Row, line: Callable[[int], int | None]) -> str:
    other = line(int(row["places"][1])) if len(row["places"]) > 1 else None
    return f" in line {other}" if other else ""

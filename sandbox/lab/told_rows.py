"""Rows of the executor's findings as they are told: a probe's as its fault, a wait for the whole grid as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.candidate.resolve import ResolvedLaunch
from sandbox.lab.lab_program import LabProgram
from sandbox.machine.machine_program import InstructionLines

# What an address belongs to: numbers of the executor's, and one for probes.
NONE, NEAR, LDS, NULL, IMAGE, PRIVATE, OWN, OTHER_LDS, VECTOR = range(9)
CODE = 10
_SPACES = {"": PRIVATE, "file": OWN, "lds": OTHER_LDS}  # of a probe's array
_ASSUMED = ("assume", "unreachable", "zeros")


def by_probe(program: LabProgram, row: Mapping[str, Any]) -> tuple[Mapping[str, Any], int | None]:
    """Give the row as if the fault that a probe shows had been met by itself, and the probe's line."""
    probes = program.probes
    number = int(row["address"]) // 8
    if number >= len(probes):
        return row, None
    probe, value = probes[number], int(row["other"][0])
    fault = {
        **row,
        "kind": probe.kind,
        "address": value,
        "other": (value, probe.limit),
        "size": probe.limit,
        "detail": 0,
    }
    if probe.kind == "out_of_bounds":
        space = VECTOR if probe.detail == "vector" else _SPACES[probe.space]
        fault |= {"detail": space, "name": probe.name}
    elif probe.kind == "shift":
        fault |= {"detail": value & 0xFFFFFFFF}
    elif probe.kind == "misaligned":
        fault |= {"size": 0, "detail": probe.limit}
        if not value:
            fault |= {"kind": "out_of_bounds", "detail": NULL}
    elif probe.kind == "trap":
        fault |= {"detail": int(probe.detail in _ASSUMED)}
    elif probe.kind == "wave_mask":
        fault |= {"write": int(probe.detail == "mask"), "detail": value}
    elif probe.kind == "divergent_collective":
        fault |= {"detail": value}
    if probe.detail == "returned":
        callers = [program.lines.caller_line(number) for number in row["places"][:1]]
        fault |= {"places": ()}
        return fault, next(filter(None, callers), probe.line or None)
    return fault, probe.line or None


def of_grid(lines: InstructionLines, launch: ResolvedLaunch, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Tell a wait without an end in the barrier of the grid as what it is: another workgroup is not there."""
    if not lines.grid_waits.intersection(row["places"][:1]):
        return row
    return {**row, "kind": "divergent_barrier" if launch.cooperative else "timeout", "write": 1, "size": 1}

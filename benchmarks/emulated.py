"""A specimen in the lab, as the H200's description counts it; no GPU is needed."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from app.settings import load_settings
from benchmarks.specimens import Specimen
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.lab.cost.counters import LaunchCounters
from sandbox.lab.lab import Buffer, ExecutionRequest, Lab, LabProgram
from sandbox.target import load_target
from tasks.task import Array

DATA = Path(__file__).parent / "data"
DEADLINE_S = 120.0
ALL_BLOCKS = 1 << 30


def stored(name: str) -> dict[str, Any]:
    """One file of `data/`."""
    found: dict[str, Any] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return found


def origin(about: Mapping[str, Any]) -> str:
    """Device, driver, profiler and date of a file, in a line."""
    return (
        f"{about['device']['name']}, driver {about['nvidia_smi'].split(',')[0]}, ncu "
        f"{about['ncu'].removeprefix('Version ').split(' ')[0]}, {about['date']}"
    )


def h200_lab() -> Lab:
    """The lab with the H200's description."""
    cache = load_settings().cache_folder
    return Lab(find_toolchain(cache / "toolchain"), cache / "kernels", load_target("h200"))


def count(
    lab: Lab, specimen: Specimen, inputs: Mapping[str, Array], blocks: int | None, recorded: int, l1_sharers: int = 1
) -> LaunchCounters:
    """Counters of its only launch: from `recorded` of the `blocks` workgroups that run (None: all of the grid)."""
    program = lab.build(specimen.candidate, specimen.chosen)
    if not isinstance(program, LabProgram):
        sys.exit(f"{specimen.name} does not compile for the lab: {program[0].message}")
    buffers = [
        Buffer(t.name, inputs[t.name], "input")
        if t.fill
        else Buffer(t.name, np.empty(specimen.shape(t), t.dtype), "output")
        for t in specimen.tensors
    ]
    seen = lab.execute(
        ExecutionRequest(
            program,
            specimen.plan,
            buffers,
            count=True,
            blocks=blocks,
            deadline_s=DEADLINE_S,
            recorded=recorded,
            l1_sharers=l1_sharers,
        )
    )
    if seen.findings:
        sys.exit(f"{specimen.name}: {seen.findings[0].message}")
    return seen.launches[0]

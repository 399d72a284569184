"""A candidate's executable and what is needed to call it and to read its findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.candidate.diagnostics import SOURCE
from sandbox.candidate.plan import Candidate
from sandbox.elf import Elf
from sandbox.lab.build.conditions import DataCondition
from sandbox.lab.build.decisions import Steps
from sandbox.lab.build.lines import LineTable, read_lines
from sandbox.lab.build.object_file import CONSTANTS, DYNAMIC_LDS, VARIABLES, ZEROS


@dataclass(frozen=True)
class LdsVariable:
    """Place of one LDS variable in the thread-local image."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True)
class LabProgram:
    """One executable and what is needed to call it and to read its findings."""

    path: str
    kernels: Mapping[str, int]  # address of the bridge to each kernel
    tls_bytes: int
    tls_align: int
    image: tuple[int, int]
    constants: tuple[int, int]  # where the candidate's own lie
    variables: tuple[int, int]  # its __device__ variables that begin as something
    zeros: tuple[int, int]  # those that begin as zeros
    lds: tuple[LdsVariable, ...]
    dynamic_lds_offset: int
    lines: LineTable
    symbols: Mapping[str, str] = field(default_factory=dict)  # of the function that stands for each kernel
    expressions: Mapping[str, str] = field(default_factory=dict)  # of each kernel's address in C++
    text_digest: str = ""  # SHA-256 of the candidate's text as it was compiled
    conditions: tuple[DataCondition, ...] = ()  # its comparisons of values from memory, each by the number of its mark
    recorded_of: str = ""  # the path of the program whose comparisons this one records
    decisions: tuple[Steps, ...] = ()  # of each launch of the plan, what it decides by its arguments alone


def described_program(candidate: Candidate, program: Elf, lds_names: set[str], path: Path) -> LabProgram:
    """The program as its own tables describe it."""
    by_name = {s.name: s for s in program.symbols if s.section}
    lds = tuple(LdsVariable(s.name, s.value, s.size) for s in program.symbols if s.kind == 6 and s.name in lds_names)
    memory, align = program.tls_segment()
    kernels = {launch.kernel: by_name[f"ks_launch_{i}"].value for i, launch in enumerate(candidate.plan.launches)}
    return LabProgram(
        path=str(path),
        kernels=kernels,
        tls_bytes=memory,
        tls_align=align,
        image=program.image(),
        constants=program.span(CONSTANTS),
        variables=program.span(VARIABLES),
        zeros=program.span(ZEROS),
        lds=lds,
        dynamic_lds_offset=by_name[DYNAMIC_LDS].value,
        lines=read_lines(program.content(".debug_line"), SOURCE),
    )

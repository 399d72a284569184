"""The subjects of the sentences of findings: the program, the plan and the buffers, and places in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.executor_request import Region
from sandbox.lab.lab_program import LabProgram
from sandbox.machine.machine_program import InstructionLines


@dataclass(frozen=True)
class Scene:
    """The data needed to name places: the program, the plan, the buffers, the deadline, the lanes of a wave."""

    program: LabProgram
    plan: ResolvedPlan
    regions: Sequence[Region]
    deadline_s: float
    wave: int = 64

    @property
    def lines(self) -> InstructionLines:
        """The candidate's line table."""
        return self.program.lines


def candidate_line(lines: InstructionLines, program_counters: Sequence[int]) -> int | None:
    """Find the line of the innermost of the program counters that lies in the candidate; None where none does."""
    return next((line for p in program_counters if (line := lines.line(p))), None)


def who(row: Mapping[str, Any]) -> str:
    """Name the work-item of a row."""
    block, thread = (",".join(str(v) for v in row[k]) for k in ("block", "thread"))
    return f"work-item ({thread}) of workgroup ({block})"

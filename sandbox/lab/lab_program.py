"""A candidate's code as the lab executes it: the compiler's listing, decoded, and what is needed to call it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.candidate.plan import Candidate
from sandbox.machine.data_comparisons import DataComparison, SoughtComparisons
from sandbox.machine.instrumented.fault_probe import FaultProbe
from sandbox.machine.kernarg import KernargLayout
from sandbox.machine.machine_program import InstructionLines


@dataclass(frozen=True)
class LabProgram:
    """One decoded listing. Kernels go by the names that the plan calls them by."""

    path: str  # of the image that the interpreter reads
    kernels: Mapping[str, int]  # numbers in the image
    layouts: Mapping[str, KernargLayout]
    lines: InstructionLines
    lds_bytes: int  # static; dynamic LDS lies behind it
    sought: SoughtComparisons | None = None  # of data
    probes: tuple[FaultProbe, ...] = ()  # of an instrumented listing
    text: tuple[Candidate, Mapping[str, int]] | None = None  # that it was made from, for one with probes
    # Lanes of a wave are ordered where its source lets them meet. Optimised code has lost some of these places: it is
    # held to the order of its instructions where an instrumented listing was held to the source.
    lanes_meet: bool = True
    is_checked: bool = True  # False: nothing is checked but bounds, masked or counted; no verdict can rest on it

    @property
    def comparisons(self) -> tuple[DataComparison, ...]:
        """List the comparisons of data."""
        return self.sought.every if self.sought else ()

    @property
    def reported(self) -> tuple[DataComparison, ...]:
        """List the comparisons whose outcomes are reported to people."""
        return tuple(comparison for comparison in self.comparisons if comparison.is_told)

    @property
    def numbers(self) -> tuple[float, ...]:
        """List the numbers that data are compared with, each once."""
        return tuple(dict.fromkeys(number for comparison in self.comparisons for number in comparison.numbers))

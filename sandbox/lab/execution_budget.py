"""Processor time of all executions for one candidate: many cases, each within its deadline, cost no more than this."""

from __future__ import annotations

from dataclasses import dataclass

from records.evaluation import Finding
from sandbox.lab.lab import Lab


@dataclass(frozen=True)
class ExecutionBudget:
    """A budget that begins when it is made; a case that began within it may go on to its own deadline."""

    lab: Lab
    total_s: float
    begun_s: float

    @classmethod
    def begin(cls, lab: Lab, total_s: float) -> ExecutionBudget:
        """Begin a budget of `total_s` seconds of processor time."""
        return cls(lab, total_s, lab.cpu_s)

    def exceeded_before(self, case: str) -> tuple[Finding, ...]:
        """Report a case for which nothing is left; no finding where something is."""
        spent_s = self.lab.cpu_s - self.begun_s
        if spent_s < self.total_s:
            return ()
        message = (
            f"the cases before this one took {spent_s:.0f} s of processor time in the lab, all of them together may "
            f"take {self.total_s:.0f} s; let a workgroup do less work, or look for loops that turn too often"
        )
        return (Finding("timeout", message, case=case),)

"""The part of the benchmark cases that was executed and compared, in words."""

from __future__ import annotations

from collections.abc import Sequence

from records.evaluation import CaseResult


def coverage_text(cases: Sequence[CaseResult]) -> str:
    """A sentence on how much of the benchmark cases was compared; empty where none was, or nobody counted."""
    timed = [case for case in cases if case.role == "benchmark" and case.grid and case.correct]
    if not timed:
        return ""
    sampled = [case for case in timed if not case.is_whole]
    if not sampled:
        return "Every benchmark case was executed and compared whole."
    chance = max(case.miss_chance for case in sampled)
    passes = f"with a probability of {chance:.1%}" if chance >= 0.001 else "with a probability below 0.1%"
    least = min(case.workgroups for case in sampled)
    return (
        f"{len(timed) - len(sampled)} of {len(timed)} benchmark cases were executed and compared whole, the others by "
        f"{least} workgroups at least: an error in 1% of the workgroups of one of them is missed {passes}."
    )

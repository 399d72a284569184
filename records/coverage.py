"""The part of the benchmark cases that was executed and compared, in words."""

from __future__ import annotations

from collections.abc import Sequence

from records.evaluation import CaseResult


def coverage_text(cases: Sequence[CaseResult]) -> str:
    """Sentences on how much of the benchmark cases was compared; empty where none was, or nobody counted."""
    timed = [case for case in cases if case.role == "benchmark" and case.grid and case.correct]
    scaled = [case.stands_for for case in cases if case.stands_for and case.correct]
    sentences = [_compared(timed, len(timed) + len(scaled))] if timed else []
    if scaled:
        sentences.append(
            f"Too large to execute, and compared only scaled down: {', '.join(scaled)}; an error that only large "
            "shapes show is missed there."
        )
    return " ".join(sentences)


def _compared(timed: Sequence[CaseResult], count: int) -> str:
    """Write a sentence on the cases executed at their own size, of `count` in all."""
    sampled = [case for case in timed if not case.is_whole]
    if not sampled:
        subject = "Every benchmark case was" if count == len(timed) else f"{len(timed)} of {count} benchmark cases were"
        return f"{subject} executed and compared whole."
    chance = max(case.miss_chance for case in sampled)
    passes = f"with a probability of {chance:.1%}" if chance >= 0.001 else "with a probability below 0.1%"
    least = min(case.workgroups for case in sampled)
    remainder = "the others" if count == len(timed) else f"{len(sampled)}"
    return (
        f"{len(timed) - len(sampled)} of {count} benchmark cases were executed and compared whole, {remainder} by "
        f"{least} workgroups at least: an error in 1% of the workgroups of one of them is missed {passes}."
    )

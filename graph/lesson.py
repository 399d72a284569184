"""Experience from one attempt: the lesson for the next planner, and the reason of a refusal, in one line each."""

from __future__ import annotations

from graph.history import gain_over
from records.evaluation import CODES, Evaluation
from records.experiment import Attempt, Experiment


def lesson_of(experiment: Experiment, attempt: Attempt, parent: Attempt | None, evaluation: Evaluation | None) -> str:
    """One sentence that the next planner can use."""
    if attempt.status != "accepted":
        return f"{experiment.title}: did not work ({attempt.reason or attempt.status})"
    gain = gain_over(attempt, parent)
    if gain is None:
        return f"{experiment.title}: works"
    bounds = sorted({m.bound for m in evaluation.measurements if m.bound}) if evaluation else []
    found = f"{experiment.title}: {gain:+.1f} % against {attempt.parent_id} by {attempt.time_kind} time"
    asked = f", {experiment.gain_min_pct:g} to {experiment.gain_max_pct:g} % had been expected"
    return found + asked + (f"; now bound by {', '.join(bounds)}" if bounds else "")


def reason_of(evaluation: Evaluation) -> str:
    """The reason of a refusal, in the words of the first finding or the first wrong case."""
    for finding in evaluation.verdict.findings:
        where = f" (line {finding.line})" if finding.line else ""
        return f"{finding.message}{where}"
    for case in evaluation.cases:
        if not case.correct:
            return f"case {case.name}: {case.message or 'the result is wrong'}"
    return CODES.get(evaluation.verdict.code, evaluation.verdict.code)

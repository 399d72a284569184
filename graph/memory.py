"""The experience of a run: failures, lessons and the quality of predictions, one line each."""

from __future__ import annotations

from collections.abc import Sequence

from agents.author import Memory
from graph import calibration
from graph.calibration import Forecast
from records.evaluation import CODES, Evaluation
from records.experiment import Attempt, Experiment

RECENT = 12  # lines of each kind that fit into a prompt without crowding out the rest


def remember(attempts: Sequence[Attempt], experiments: Sequence[Experiment], before: int) -> Memory:
    """Failures and lessons of the generations below `before`, newest first, and every experiment's title."""
    titles = {e.id: e.title for e in experiments}
    earlier = [a for a in reversed(attempts) if a.generation < before]
    failures = [
        f"{titles.get(a.experiment_id, a.experiment_id)}: {a.code or a.status}: {a.reason}"
        for a in earlier
        if a.status != "accepted"
    ]
    lessons = [a.lesson for a in earlier if a.lesson]
    outcomes = _outcomes(earlier[::-1], experiments)
    tried = tuple(e.title for e in experiments if 0 < e.generation < before)
    return Memory(tuple(failures[:RECENT]), tuple(lessons[:RECENT]), calibration.paragraph(outcomes), tried)


def gain_pct(attempt: Attempt, parent: Attempt | None) -> float | None:
    """Gain over the parent in percent of the parent's speed; None where the two cannot be compared."""
    if parent is None or parent.time_kind != attempt.time_kind or not attempt.geomean_us or not parent.geomean_us:
        return None
    return calibration.gain_pct(parent.geomean_us, attempt.geomean_us)


def lesson_of(experiment: Experiment, attempt: Attempt, parent: Attempt | None, evaluation: Evaluation | None) -> str:
    """One sentence that the next planner can use."""
    if attempt.status != "accepted":
        return f"{experiment.title}: did not work ({attempt.reason or attempt.status})"
    gain = gain_pct(attempt, parent)
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


def _outcomes(attempts: Sequence[Attempt], experiments: Sequence[Experiment]) -> list[Forecast]:
    """The outcome of each experiment but the seeds: that of its last attempt, which repaired the ones before."""
    by_id, last = {a.id: a for a in attempts}, {a.experiment_id: a for a in attempts}
    outcomes = []
    for experiment in experiments:
        attempt = last.get(experiment.id)
        if attempt is None or attempt.parent_id is None or attempt.status == "duplicate":
            continue
        found = gain_pct(attempt, by_id.get(attempt.parent_id)) if attempt.status == "accepted" else None
        if found is not None or attempt.status != "accepted":
            outcomes.append(Forecast(experiment.gain_min_pct, experiment.gain_max_pct, found))
    return outcomes

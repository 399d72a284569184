"""Experience from one attempt: the lesson for the next planner, and the reason of a refusal, in one line each."""

from __future__ import annotations

from collections.abc import Mapping

from records.code_meanings import CODES
from records.concealment import name_told, told
from records.evaluation import Evaluation
from records.experiment import Attempt, Experiment
from records.quantity import given
from records.ranking import is_slight, tie_text

SLIGHT = 0.1  # per cent: no gain to speak of
EXPLORED = "explore"  # picked as: an experiment that the graph adds, which nobody predicted anything of


def subject_of(experiment: Experiment, attempt: Attempt) -> str:
    """Put the idea in words: its title, and of an exploration the changes that it ended with."""
    if experiment.picked_as != EXPLORED or not attempt.report:
        return experiment.title
    return f"{', '.join(attempt.report)} (found by exploring {attempt.parent_id})"


def lesson_of(experiment: Experiment, attempt: Attempt, evaluation: Evaluation | None) -> str:
    """One sentence that the next planner can use."""
    if attempt.status != "accepted":
        return f"{experiment.title}: not tried, no right kernel came of it ({attempt.reason or attempt.status})"
    gain = attempt.credit.idea_pct
    if gain is None:
        return f"{subject_of(experiment, attempt)}: works"
    bounds = sorted({m.bound for m in evaluation.measurements if m.bound}) if evaluation else []
    subject = subject_of(experiment, attempt)
    outcome = f"{subject}: {gain:+.1f} % against {attempt.parent_id} by {attempt.time_kind} time, both tuned"
    if is_slight(gain, attempt.time_error):
        outcome += f", which is {tie_text(attempt.time_error)}"
    expectation = f", {experiment.gain_min_pct:g} to {experiment.gain_max_pct:g} % had been expected"
    if experiment.picked_as == EXPLORED:
        expectation = ""
    bound = f"; now bound by {', '.join(bounds)}" if bounds else ""
    return "".join((outcome, parts_of(attempt), expectation, cause_of(attempt), bound, inert_text(attempt)))


def cause_of(attempt: Attempt) -> str:
    """Put the cause of the gain in words, by what the ablation showed."""
    shown_pct, same = attempt.credit.shown_pct, named(attempt.tunables)
    if attempt.standing == "refuted":
        return f"; refuted: at {same} the change itself gives {shown_pct:+.1f} %, the tunables made the difference"
    if attempt.standing == "believed":
        return "; believed: nothing shows that the change is the cause"
    if attempt.standing != "shown":
        return ""
    equal, idea = attempt.credit.equal_pct, given(attempt.credit.idea_pct, 0.0)
    if equal is not None and abs(equal) < SLIGHT <= abs(idea):
        return f"; shown: the change gives nothing at the parent's tunables, all of it at {same}"
    return f"; shown: the change itself gives {shown_pct:+.1f} % at the same tunables"


def named(tunables: Mapping[str, int]) -> str:
    """Tunables with their values, in words."""
    return ", ".join(f"{name}={value}" for name, value in tunables.items()) or "no tunables"


def parts_of(attempt: Attempt) -> str:
    """Put the rest of the credit in words: what equal tunables show, and what the tuner's choice gave."""
    credit, words = attempt.credit, []
    if credit.equal_pct is not None and credit.equal_pct != credit.idea_pct:
        words.append(f"{credit.equal_pct:+.1f} % at the same tunables")
    if credit.tuner_pct:
        words.append(f"the tuner's choice gives {credit.tuner_pct:+.1f} % over the file's defaults")
    return f" ({'; '.join(words)})" if words else ""


def inert_text(attempt: Attempt) -> str:
    """Name the tunables that never mattered, in words."""
    return f"; {', '.join(attempt.inert)} made no difference, whatever the value" if attempt.inert else ""


def reason_of(evaluation: Evaluation) -> str:
    """Tell the reason of a refusal, in the words of the first finding or the first wrong case.

    It is told to authors.
    """
    for finding in evaluation.verdict.findings:
        line = f" (line {finding.line})" if finding.line else ""
        return f"{told(evaluation, finding.case, finding.message)}{line}"
    for case in evaluation.cases:
        if not case.correct:
            message = told(evaluation, case.name, case.message or "the result is wrong")
            return f"case {name_told(evaluation, case.name)}: {message}"
    return CODES.get(evaluation.verdict.code, evaluation.verdict.code)

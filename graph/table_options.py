"""The kernels that a table by shape may be made of, with what is known of their times.

Verified kernels as they were timed, the other choices that their tuner estimated, and the leading kernels at tunables
that their constraints allow for a part of the shapes only. Of the latter alone an estimate is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from graph.context import Context
from graph.credit import is_time
from graph.evaluating import evaluate, evaluate_arm, prepared_again
from graph.population import VerifiedKernel, attempt_of
from records.evaluation import Evaluation
from records.experiment import Attempt
from sandbox.candidate.narrowed import narrowed
from sandbox.walk import needs_confirmation

TUNED = 8  # of the fastest kernels: their tuner's estimates are looked at
NARROWED, ESTIMATES = 2, 6  # of the fastest kernels: so many, each at so many choices for a part of the shapes


@dataclass(frozen=True)
class Option:
    """A kernel at one choice of tunables, with times that compare with the benchmarks of the run's kernels."""

    attempt: Attempt
    tunables: Mapping[str, int]
    times_us: Mapping[str, float]  # by benchmark case
    requires: str = ""  # of one that serves a part of the shapes
    source: str = ""  # its text then; otherwise the attempt's
    fallback: Option | None = None  # what serves the other shapes then

    @property
    def rows(self) -> int:
        """Rows of a table that it takes."""
        return 1 if self.fallback is None else 2


def options_of(context: Context, generation: int, leader: VerifiedKernel) -> list[Option]:
    """List the verified kernels as they were timed, the leader first, then the choices that their tuners estimated."""
    cases = {case.name for case in context.assignment.task.benchmarks}
    members = context.history.members(generation + 1, leader.attempt.id)
    ranked = sorted(members, key=lambda m: (m.id != leader.attempt.id, m.geomean_us))
    timed = [m for m in ranked if m.time_kind == leader.attempt.time_kind and m.times_us.keys() >= cases]
    timed = [m for m in timed if all(map(is_time, m.times_us.values()))]
    kernels = [(attempt_of(context, m.id), m.times_us) for m in timed]
    right = [(a, times) for a, times in kernels if a.status == "accepted" and not a.arms]
    verified = [Option(attempt, attempt.tunables, times) for attempt, times in right]
    tuned = [o for attempt, times in right[:TUNED] for o in _estimated(context, attempt, times)]
    special = [o for attempt, times in right[:NARROWED] for o in _narrowed(context, attempt, times, verified[0])]
    return [*verified, *tuned, *special]


def _estimated(context: Context, attempt: Attempt, times_us: Mapping[str, float]) -> list[Option]:
    """List the other choices of a kernel, timed by the ratio of two estimates of one file."""
    if not attempt.draft or not attempt.tunables:
        return []
    draft = context.sandbox.prepare(context.artefacts.text(attempt.draft), context.assignment.task)
    times_of = {
        tuple(sorted(estimate.tunables.items())): {
            m.case: m.time_us for m in estimate.measurements if is_time(m.time_us)
        }
        for estimate in context.ledger.estimates(draft.id)
        if estimate.verdict.accepted and estimate.key == context.sandbox.key(draft.choose(estimate.tunables))
    }
    chosen = times_of.pop(tuple(sorted(attempt.tunables.items())), None)
    if chosen is None or not chosen.keys() >= times_us.keys():
        return []
    return [
        Option(attempt, dict(choice), {case: time * row[case] / chosen[case] for case, time in times_us.items()})
        for choice, row in times_of.items()
        if row.keys() >= times_us.keys()
    ]


def _narrowed(context: Context, attempt: Attempt, times_us: Mapping[str, float], fallback: Option) -> list[Option]:
    """List the kernel at tunables that some shapes do not allow, each for the others; none where answers come late."""
    prepared, options = prepared_again(context, attempt), list[Option]()
    choices = [] if context.deferred is not None else list(islice(narrowed(prepared), ESTIMATES))
    plain = _times(evaluate(context, "estimate", prepared)) if choices else {}
    for choice, text in choices:
        arm = context.sandbox.prepare(text, context.assignment.task)
        row = {} if arm.refusal is not None else _times(evaluate_arm(context, "estimate", arm))
        cases = {case.name for case in arm.task.benchmarks}
        if row.keys() >= cases and plain.keys() >= cases:
            times = {case: times_us[case] * row[case] / plain[case] for case in cases}
            options.append(Option(attempt, choice, {**fallback.times_us, **times}, arm.requires, text, fallback))
    return options


def _times(evaluation: Evaluation) -> dict[str, float]:
    return {m.case: m.time_us for m in evaluation.measurements if evaluation.verdict.accepted and is_time(m.time_us)}


def is_right(context: Context, option: Option) -> bool:
    """Tell whether the whole execution confirms a kernel; a choice that was only estimated is judged in full first."""
    if option.fallback is not None and not is_right(context, option.fallback):
        return False
    ask = evaluate_arm if option.requires else evaluate
    text = option.source or context.artefacts.text(option.attempt.source)
    prepared = context.sandbox.prepare(text, context.assignment.task, None if option.source else option.tunables)
    evaluation = context.ledger.add_evaluation(context.run.id, ask(context, "benchmark", prepared))
    if not evaluation.verdict.accepted or not needs_confirmation(evaluation):
        return evaluation.verdict.accepted
    return ask(context, "confirm", prepared).verdict.accepted

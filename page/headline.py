"""The outcome of a run in one number, and what stands beside it: what was changed, and what is left."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from page.leaders import Yardsticks
from records.causes import RESOURCES, STALLS
from records.evaluation import Evaluation
from records.experiment import Attempt, Event, Experiment, Run
from records.incumbent import Beating, beatings
from records.ledger import Ledger
from records.quantity import format_times, format_us, given
from records.ranking import is_within, mean_of, tie_text

LOW_SHARE = 0.8  # of the roofline: below it there is something left that is worth asking for
NAMES: Mapping[str, str] = {"given": "your kernel", "generated": "the best generated kernel", "seed": "the best seed"}
_TAG = re.compile(r" *\[[a-z_]+:[\w.+]+( on [0-9a-f]{8})?\]")


@dataclass(frozen=True)
class Headline:
    """The gain over what the user brought: the kernel as it was written, else the best of the first kernels as tuned.

    The texts are for people; programs read the other fields.
    """

    gain: float | None = None  # times its speed; None where nothing was verified, or the times are of two kinds
    over: str = ""  # given | generated | seed: what the gain is told over
    over_id: str = ""
    over_us: float | None = None
    best_id: str = ""
    best_us: float | None = None
    time_kind: str = ""  # predicted | measured
    is_tie: bool = False  # the clock's error covers the difference
    text: str = "no kernel was verified and timed"  # "2.1x your kernel (38.1 us -> 18.0 us predicted)"
    change: str = ""  # what was done to it, in one line; empty where nothing was
    roofline: float | None = None  # share of the speed of light, weighted geometric mean; None where it is not known
    bounds: tuple[str, ...] = ()  # resources that bind the best kernel, over its benchmark cases
    cause: str = ""  # of the largest part of its time
    cause_share: float | None = None
    incumbents: tuple[Beating, ...] = ()  # what the run was told to beat, beside the best kernel; they head the text
    advice: str = ""  # on what would go on from here; empty where the share is high, or a model is at work


NO_HEADLINE = Headline()


def headline(
    run: Run,
    attempts: Sequence[Attempt],
    experiments: Sequence[Experiment],
    seeds: Yardsticks,
    best: Attempt | None,
    evaluation: Evaluation | None,
    events: Sequence[Event] = (),
) -> Headline:
    """Sum the run up; `evaluation` is the best kernel's, `events` have what it was compared with."""
    if best is None:
        return NO_HEADLINE
    over = seeds.user_kernel or seeds.best
    kinds = {e.id: e.picked_as for e in experiments}
    kind = (
        "given"
        if seeds.user_kernel
        else "generated"
        if over and kinds.get(over.experiment_id) == "generated"
        else "seed"
    )
    gain, over_us = (
        (seeds.over_user_kernel(best), seeds.user_kernel.default_us)
        if seeds.user_kernel
        else (seeds.over_best(best), over.geomean_us if over else None)
    )
    is_tie = is_within(over_us, best.geomean_us, best.time_error) and gain is not None
    share = mean_of(evaluation, "roofline_fraction") if evaluation and evaluation.measurements else 0.0
    cause, cause_share = _cause(evaluation)
    lacking = _lacking(attempts, {e.id for e in experiments if e.is_given}) if seeds.user_kernel is None else ""
    incumbents = beatings(events, best.id)
    return Headline(
        gain=gain,
        over=kind,
        over_id=over.id if over else "",
        over_us=over_us,
        best_id=best.id,
        best_us=best.geomean_us,
        time_kind=best.time_kind or "",
        is_tie=is_tie,
        text="; ".join([*(b.text for b in incumbents), _text(gain, kind, over_us, best, is_tie) + lacking]),
        incumbents=incumbents,
        change=change_of(best, attempts, experiments),
        roofline=share or None,
        bounds=tuple(sorted({m.bound for m in evaluation.measurements if m.bound})) if evaluation else (),
        cause=cause,
        cause_share=cause_share,
        advice=_advice(run, share, evaluation),
    )


def run_headline(
    ledger: Ledger, run: Run, attempts: Sequence[Attempt], seeds: Yardsticks, best: Attempt | None
) -> Headline:
    """Sum up a run of the ledger."""
    evaluation = ledger.evaluation(best.evaluation_key) if best else None
    events = ledger.events(run.id) if run.config.get("beat") else ()
    return headline(run, attempts, ledger.experiments(run.id), seeds, best, evaluation, events)


def change_of(best: Attempt, attempts: Sequence[Attempt], experiments: Sequence[Experiment]) -> str:
    """Put the way from a first kernel to the best one in one line: the change of each step, and the tunables."""
    by_id, ideas = {a.id: a for a in attempts}, {e.id: e for e in experiments}
    steps, step, passed = list[str](), best, set[str]()
    while step.generation and step.id not in passed:
        passed.add(step.id)
        idea = ideas.get(step.experiment_id)
        steps.append(step.change or (_TAG.sub("", idea.title) if idea else ""))
        if step.parent_id not in by_id:
            break
        step = by_id[step.parent_id]
    values = ", ".join(f"{name}={value}" for name, value in best.tunables.items())
    words = ", then ".join(filter(None, reversed(steps)))
    return f"{words}; {values}" if words and values else words or values


def diff_of(before: str, after: str, names: tuple[str, str] = ("before", "after")) -> str:
    """Write the difference of two sources as a unified diff; empty where there is none."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")
    return "\n".join(lines)


def _text(gain: float | None, kind: str, over_us: float | None, best: Attempt, is_tie: bool) -> str:
    name, time = NAMES[kind], f"{format_us(best.geomean_us)} {best.time_kind}"
    if gain is None:
        return f"{time}; no first kernel has such a time to compare with"
    if over_us == best.geomean_us:
        return f"no verified kernel is faster than {name} ({time})"
    if is_tie:
        tie = tie_text(best.time_error)
        return f"no verified kernel is clearly faster than {name} ({format_us(over_us)} -> {time}): {tie}"
    return f"{format_times(gain)} {name} ({format_us(over_us)} -> {time})"


def _lacking(attempts: Sequence[Attempt], user_ids: set[str]) -> str:
    """Say that what the user brought was not accepted, and why; empty where nothing was brought."""
    refused = [a for a in attempts if a.experiment_id in user_ids and a.status != "accepted"]
    return f"; your kernel was not accepted: {refused[-1].reason or refused[-1].status}" if refused else ""


def _advice(run: Run, share: float, evaluation: Evaluation | None) -> str:
    """Say who could go on where the playbook ends below the roofline; of a run that is under way nothing."""
    if run.author != "playbook" or run.status != "done" or run.pause or not 0 < share < LOW_SHARE or evaluation is None:
        return ""
    bound = _worst_bound(evaluation)
    cause, cause_share = _cause(evaluation)
    words = RESOURCES.get(bound, "")
    wait = f"; {given(cause_share, 0.0):.0%} of the time is {cause}: {STALLS[cause]}" if cause in STALLS else ""
    binds = f", bound by {bound}: {words}" if words else ""
    return f"a model or a person is needed here: {share:.0%} of the roofline{binds}{wait}"


def _worst_bound(evaluation: Evaluation) -> str:
    """Find the resource that binds the case farthest from its roofline."""
    timed = [m for m in evaluation.measurements if m.bound]
    return min(timed, key=lambda m: m.roofline_fraction).bound if timed else ""


def _cause(evaluation: Evaluation | None) -> tuple[str, float | None]:
    """Find the largest part of a predicted time and its share; nothing where the parts are not known."""
    parts: dict[str, float] = {}
    for m in evaluation.measurements if evaluation else ():
        total = sum(m.stalls_us.values())
        for cause, us in m.stalls_us.items():
            parts[cause] = parts.get(cause, 0.0) + m.weight * us / total if total else 0.0
    if not any(parts.values()):
        return "", None
    cause = max(sorted(parts), key=parts.__getitem__)
    return cause, parts[cause] / sum(parts.values())

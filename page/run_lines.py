"""Records to lines of the page: one run, one candidate, one call."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from page.headline import headline
from page.leaders import Yardsticks, time_kind
from page.sheets import CallLine, CandidateLine, CaseTime, ReadPassage, RunHead
from records.code_meanings import CODES
from records.evaluation import Evaluation, Measurement, geomean_us
from records.experiment import Attempt, Event, Experiment, ModelCall, Run, RunState
from records.quantity import given
from records.ranking import is_slight, tie_text


@dataclass(frozen=True)
class Judged:
    """The part of an evaluation that a line shows."""

    findings: tuple[str, ...] = ()
    bound: str = ""
    roofline: float | None = None
    timings: tuple[CaseTime, ...] = ()
    isolation: str = ""


class Costs:
    """The cost of a run by any time."""

    def __init__(self, calls: Sequence[ModelCall]) -> None:
        """Read the calls that were answered."""
        answered = [c for c in calls if c.state == "done"]
        self._timed = sorted((c.answered_at, c.usage.usd) for c in answered)
        self._is_known = all(c.answered_at for c in answered)
        self._sums = [0.0]
        for _, usd in self._timed:
            self._sums.append(self._sums[-1] + usd)

    def by(self, moment: str) -> float | None:
        """USD of the calls that were answered until then; None where that is not known."""
        if not self._is_known or not moment:
            return None
        return self._sums[bisect_right(self._timed, moment, key=lambda pair: pair[0])]


def head_of(
    run: Run,
    state: RunState,
    attempts: Sequence[Attempt],
    seeds: Yardsticks,
    best: Attempt | None,
    evaluation: Evaluation | None,
    experiments: Sequence[Experiment],
    events: Sequence[Event],
    calls: Sequence[ModelCall],
) -> RunHead:
    """One run in one line; `evaluation` is the best kernel's."""
    generations = max((a.generation for a in attempts), default=0)
    paid = [c for c in calls if c.state == "done"]
    return RunHead(
        id=run.id,
        task=run.task,
        target=run.target,
        on=run.on,
        author=run.author,
        status=state,
        pause=run.pause,
        stop_reason=run.stop_reason,
        created_at=run.created_at,
        seen_at=events[-1].at if events else "",
        generations=generations,
        of_generations=run.generations_at(generations + 1, int(str(given(run.config.get("generations"), 0)))),
        candidates=len(attempts),
        accepted=sum(a.status == "accepted" for a in attempts),
        kind=time_kind(attempts),
        best_id=best.id if best else "",
        best_us=best.geomean_us if best else None,
        over_seed=seeds.over_best(best),
        over_naive=seeds.over_naive(best),
        headline=headline(run, attempts, experiments, seeds, best, evaluation, events),
        calls=len(paid),
        usd=sum(c.usage.usd for c in paid),
    )


def judged(evaluation: Evaluation) -> Judged:
    """Return the part of an evaluation that a line shows."""
    slowest = max(evaluation.measurements, key=lambda m: m.time_us, default=None)
    speed, light = evaluation.geomean_us, light_us(evaluation.measurements)
    return Judged(
        findings=tuple(dict.fromkeys(f.kind for f in evaluation.verdict.findings)),
        bound=slowest.bound if slowest else "",
        roofline=light / speed if light and speed else None,
        timings=tuple(
            CaseTime(m.case, m.time_us, m.resources_us.get("hbm", 0.0), m.roofline_us) for m in evaluation.measurements
        ),
        isolation=evaluation.isolation,
    )


def candidate_line(
    attempt: Attempt,
    experiment: Experiment | None,
    facts: Judged,
    *,
    gain_pct: float | None,
    over_seed: float | None,
    is_record: bool,
    recorded_at: str,
    usd: float | None,
) -> CandidateLine:
    """One candidate in one line."""
    is_timed = attempt.status in ("accepted", "tried")
    credit = attempt.credit
    return CandidateLine(
        id=attempt.id,
        experiment=attempt.experiment_id,
        generation=attempt.generation,
        number=attempt.number,
        parent=attempt.parent_id or "",
        reference=(experiment.reference_id or "") if experiment else "",
        title=experiment.title if experiment else "",
        picked_as=experiment.picked_as if experiment else "",
        hoped_min_pct=experiment.gain_min_pct if experiment else 0.0,
        hoped_max_pct=experiment.gain_max_pct if experiment else 0.0,
        status=attempt.status,
        code=attempt.code,
        stage=attempt.stage,
        reason=attempt.reason or CODES.get(attempt.code, "") if attempt.status != "accepted" else "",
        findings=facts.findings,
        kind=attempt.time_kind or "",
        time_us=attempt.geomean_us,
        over_seed=over_seed,
        gain_pct=gain_pct,
        tie=tie_text(attempt.time_error) if gain_pct and is_slight(gain_pct, attempt.time_error) else "",
        equal_pct=credit.equal_pct,
        tuner_pct=credit.tuner_pct,
        shown_pct=credit.shown_pct,
        is_record=is_record,
        strategy=attempt.strategy,
        tool=attempt.tool,
        lesson=attempt.lesson,
        standing=attempt.standing,
        bound=facts.bound if is_timed else "",
        roofline=facts.roofline if is_timed else None,
        timings=facts.timings if is_timed else (),
        at=recorded_at,
        usd=usd,
    )


def gain_over(attempt: Attempt, parent: Attempt | None) -> float | None:
    """Gain over the parent, both as tuned, in per cent of the new time."""
    faster = Yardsticks(None, parent).over_best(attempt) if attempt.status == "accepted" else None
    return (faster - 1) * 100 if faster else None


def light_us(measurements: Sequence[Measurement]) -> float | None:
    """Weighted geometric mean of the cases at the speed of light."""
    if not measurements or any(m.roofline_us <= 0 for m in measurements):
        return None
    return geomean_us(tuple(replace(m, time_us=m.roofline_us) for m in measurements))


def literature(events: Sequence[Event], experiments: Sequence[Experiment]) -> tuple[ReadPassage, ...]:
    """List the passages that a run was given, each once, with its readers and the experiments that cite it."""
    read: dict[tuple[str, str, str, str], list[str]] = {}
    for payload in (e.payload for e in events if e.kind == "literature"):
        passage, title, section, source, role = (
            str(payload.get(word) or "") for word in ("passage", "title", "section", "source", "role")
        )
        read.setdefault((passage, title, section, source), []).append(role)
    return tuple(
        ReadPassage(
            *name,
            roles=tuple(filter(None, dict.fromkeys(roles))),
            times=len(roles),
            cited_by=tuple(e.id for e in experiments if name[0] and name[0] in e.cites),
        )
        for name, roles in read.items()
    )


def call_line(number: int, call: ModelCall) -> CallLine:
    """One call in one line."""
    return CallLine(
        number=number,
        role=call.role,
        model=call.model,
        state=call.state,
        generation=call.generation,
        experiment=call.experiment_id,
        turn=call.number,
        prompt_tokens=call.usage.prompt_tokens,
        completion_tokens=call.usage.completion_tokens,
        usd=call.usage.usd,
        at=call.answered_at,
    )

"""The wall time of a run by stage, from the events that begin them.

A run is a row of stages of its own (`seeds`, `plan`, `confirm`), beside them those of its experiments, several at a
time. Each event ends what came before it in its row: the next stage, the attempt that an experiment ends with, or the
next stage of the whole run. While experiments are at a stage the time is theirs, in equal parts; else it is the run's.
So every second is in one stage, and all of them add up to the time that the run was driven.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from records.experiment import Event

START, BEAT, REPORT, BETWEEN = "start", "beat", "report", "experiments"  # before the graph, behind it, between stages
TRY = "try"  # at the bench: when it is judged, the author goes on there
STAGES: Mapping[str, str] = {  # for people: what the program does then
    START: "reading the libraries, warming the compiler",
    "seeds": "judging the first kernels",
    "select": "choosing the kernel to build on",
    "retrieve": "reading the literature",
    "plan": "planning experiments",
    "approve": "waiting for approval",
    BETWEEN: "keeping records",
    "write": "writing a kernel",
    "bench": "writing with tools",
    TRY: "judging a try",
    "compile": "compiling",
    "critique": "reading the draft",
    "verify": "executing and comparing",
    "tune": "estimating tunables",
    "explore": "estimating changes and tunables",
    "benchmark": "judging and timing the finalists",
    "confirm": "executing the leader on its benchmark cases, whole",
    "compose": "estimating a table of kernels by shape",
    BEAT: "comparing with what is to be beaten",
    REPORT: "writing the kernel and the report",
}


@dataclass(frozen=True)
class OpenStage:
    """A stage that is under way."""

    experiment: str  # empty: of the whole run
    stage: str
    since: float  # seconds, on the clock of whoever asks


class StageClock:
    """Sums seconds by stage as events come in, in their order; times are seconds of any clock that only goes on."""

    def __init__(self, begun_at: float | None = None) -> None:
        """With a time the clock runs from then on, in the stage `start`; without one from `resume`."""
        self.seconds: dict[str, float] = {}
        self._run = OpenStage("", START, begun_at or 0.0)
        self._experiments: dict[str, OpenStage] = {}
        self._now = begun_at

    @property
    def current(self) -> tuple[OpenStage, ...]:
        """The stages under way, those of experiments before the run's; none while the run stands still."""
        if self._now is None:
            return ()
        return tuple(self._experiments.values()) or (self._run,)

    def take(self, event: Mapping[str, Any], moment: float) -> None:
        """Take an event at its time."""
        self.pass_to(moment)
        kind, experiment, stage = event.get("event"), str(event.get("experiment") or ""), str(event.get("stage") or "")
        if kind == "stage" and not experiment:
            self._run, self._experiments = OpenStage("", stage, moment), {}
        elif kind == "stage":
            self._experiments[experiment] = OpenStage(experiment, stage, moment)
        elif kind == "attempt" and self._experiments.get(experiment) is not None:
            if self._experiments[experiment].stage == TRY:
                self._experiments[experiment] = OpenStage(experiment, "bench", moment)
            else:
                del self._experiments[experiment]

    def pass_to(self, moment: float) -> None:
        """Give the time until a moment to the stages under way."""
        if self._now is not None and moment > self._now:
            share = (moment - self._now) / len(self.current)
            for stage in self.current:
                self.seconds[stage.stage] = self.seconds.get(stage.stage, 0.0) + share
            self._now = moment

    def stand_still(self) -> None:
        """Nothing drives the run from here on."""
        self._now, self._experiments = None, {}

    def resume(self, moment: float) -> None:
        """Run again from here on, in the stage `start`: a process drives the run."""
        self.stand_still()
        self._run, self._now = OpenStage("", START, moment), moment


def stage_clock(events: Iterable[Event]) -> StageClock:
    """Make the clock of a run from its diary; what a process that was killed did last is lost."""
    clock = StageClock()
    for event in events:
        moment = datetime.fromisoformat(event.at).timestamp()
        if event.kind == "driving":
            clock.resume(moment)
        clock.take({**event.payload, "event": event.kind}, moment)
        if event.kind == "driven":
            clock.stand_still()
    return clock


def stages_text(seconds: Mapping[str, float]) -> str:
    """Write the parts in a line, the longest first; those below a second are summed up."""
    ranked = sorted(seconds.items(), key=lambda part: (-part[1], part[0]))
    parts = [f"{stage} {part:.0f} s" for stage, part in ranked if part >= 1.0]
    rest = sum(part for _, part in ranked if part < 1.0)
    return ", ".join([*parts, f"others {rest:.1f} s"] if rest >= 0.1 else parts)

"""Counters of one benchmark case, from workgroups whose work explains what the launch leaves.

A few workgroups at fixed places stand for the grid where they write the outputs' bytes, no more and no fewer, read the
inputs', fill the workspaces, and do as much as others at drawn places. Where they do not (idle workgroups pad the grid,
work is uneven, a queue hands it out), many at drawn places are counted, by what they write of the outputs; where those
do nothing, or one waits for another, every workgroup is. What a workgroup does is taken from a wide draw, in which few
that do much more are met: they are executed and not recorded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from records.computed_once import computed_once
from records.evaluation import Finding
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.cost.clock import Clock, Residency, TimelineRequest
from sandbox.lab.cost.counters import LaunchCounters
from sandbox.lab.cost.neighbours import neighbours
from sandbox.lab.cost.spread import Spread
from sandbox.lab.executor_limits import COUNTED_BYTES
from sandbox.lab.executor_request import WRITTEN
from sandbox.lab.lab import Buffer, Execution, ExecutionRequest, Lab
from sandbox.lab.lab_verify import Built, written_buffers
from sandbox.lab.workgroups import drawn
from tasks.dtypes import numpy_dtype
from tasks.task import Case

COUNTED = 3  # workgroups at the middle of as many equal parts of the grid: at its edges there is often less to do
OTHERS = (4, 459)  # at drawn places, which are executed beside them: 1 % of the workgroups are in the most with 99 %
WIDE = 2.0**22  # operations plus bytes of the task that these stand for
ROUGH = 4  # times fewer of either where the times only rank: what is chosen is counted again
MANY = 48  # at drawn places, recorded, where those few do not represent the work
DEADLINE_S = 15.0
SLACK, LONGEST_S = 4.0, 60.0  # times what the first ones took, which more of them may take, and its limit
FEWER, MORE = 0.8, 1.2  # of a buffer's bytes: what the recorded workgroups explain
READ = 0.5  # of an input's bytes
SURE = 3.0  # standard errors

Places = tuple[tuple[int, ...] | None, ...]
Counted = tuple[tuple[LaunchCounters, ...], tuple[Finding, ...]]


@dataclass(frozen=True)
class CountedCase:
    """One benchmark case of one candidate; `seed` draws the places that nobody foresees."""

    lab: Lab
    built: Built
    case: Case
    inputs: Sequence[Buffer]
    l1_sharers: int
    seed: int
    is_rough: bool = False
    clock: Clock | None = None  # with it, timelines are made
    residencies: tuple[Residency, ...] = ()  # of the launches
    keep: Path | None = None  # where the streams of the timelines go

    @computed_once
    def plan(self) -> ResolvedPlan:
        """Its launches."""
        return self.built.prepared.plan(self.case)

    @computed_once
    def _written(self) -> tuple[Buffer, ...]:
        task, case = self.built.prepared.task, self.case
        updated = ((s.name, np.empty(task.length_of(s, case), numpy_dtype(s.dtype))) for s in task.outputs if s.initial)
        filled = tuple(Buffer(name, data, "inout") for name, data in updated)
        return *filled, *written_buffers(task, case, self.plan)

    @computed_once
    def _totals(self) -> tuple[int, ...]:
        return tuple(math.prod(launch.grid) for launch in self.plan.launches)

    def run(self) -> Counted:
        """Count the launches; findings where nothing that was executed represents the work."""
        trial = self._execute(DEADLINE_S, self._counted, self._few())
        if not trial.findings and self._represents(trial):
            return tuple(c if c.spread.is_atomic else c.times(_more(c.spread.others_share)) for c in trial.launches), ()
        if trial.is_waiting:
            trial = self._whole(MANY)
        elif not trial.findings and not self._is_handed_out(trial):
            trial = self._in_quartiles(self._execute(self._deadline_s(trial), MANY, self._drawn()))
        if not trial.findings:
            trial = self._beside_idle(trial) or trial
        if trial.findings:
            return (), trial.findings
        if self._is_explained(trial):
            return self._explained(trial), ()
        if sum(int(buffer.data.nbytes) for buffer in self._written) > COUNTED_BYTES:
            return (), (self._refusal(trial.launches),)
        complete = self._whole(max(self._totals))
        if {finding.kind for finding in complete.findings} == {"timeout"}:
            return (), (self._refusal(trial.launches),)
        return complete.launches, complete.findings

    def _execute(
        self, deadline_s: float, recorded: int, workgroups: tuple[tuple[int, ...] | None, ...] = ()
    ) -> Execution:
        return self.lab.execute(
            ExecutionRequest(
                self.built.program,
                self.plan,
                (*self.inputs, *self._written),
                deadline_s,
                count=True,
                workgroups=workgroups,
                recorded=recorded,
                l1_sharers=self.l1_sharers,
                timeline=self._timeline,
            )
        )

    @computed_once
    def _timeline(self) -> TimelineRequest | None:
        if self.clock is None:
            return None
        near = (
            neighbours(launch.grid, round(r.units * min(r.resident, r.workgroups)), round(self.clock.chiplets))
            for r, launch in zip(self.residencies, self.plan.launches, strict=True)
        )
        return TimelineRequest(self.clock, self.residencies, tuple(near), keep=self.keep)

    def _few(self) -> Places:
        """Of each launch those that are recorded, and others that only say how much they do."""
        numbers, rng = list[tuple[int, ...] | None](), np.random.default_rng(self.seed)
        for launch, total in zip(self.plan.launches, self._totals, strict=True):
            counted = self._counted
            middle = tuple((2 * k + 1) * total // (2 * counted) for k in range(counted))
            unrecorded = drawn(launch.grid, self._others(total), 0, rng, frozenset(middle))
            numbers.append((*middle, *unrecorded) if total > counted else None)
        return tuple(numbers)

    @property
    def _counted(self) -> int:
        """Workgroups of a launch that are recorded; fewer where the times only rank and each does much."""
        return min(COUNTED, max(1, self._affordable(max(self._totals)))) if self.is_rough else COUNTED

    def _others(self, total: int) -> int:
        """Workgroups of a grid of so many that stand for a fixed amount of the task: what they cost is bounded."""
        fewer = ROUGH if self.is_rough else 1
        return min(OTHERS[1] // fewer, max(OTHERS[0] // fewer, self._affordable(total)))

    def _affordable(self, total: int) -> int:
        work_per_workgroup = max(1.0, sum(self.built.prepared.task.work(self.case)) / total)
        return int(WIDE / (ROUGH if self.is_rough else 1) / len(self._totals) / work_per_workgroup)

    def _drawn(self) -> Places:
        rng = np.random.default_rng(self.seed + 1)
        return tuple(drawn(launch.grid, MANY, 0, rng, frozenset()) for launch in self.plan.launches)

    def _wide(self) -> Places:
        rng, launches = np.random.default_rng(self.seed + 2), zip(self.plan.launches, self._totals, strict=True)
        return tuple(drawn(launch.grid, self._others(total), 0, rng, frozenset()) for launch, total in launches)

    def _whole(self, recorded: int) -> Execution:
        """Every workgroup, so many of them recorded."""
        return self._execute(DEADLINE_S, recorded)

    def _in_quartiles(self, trial: Execution) -> Execution:
        """Execute drawn places again where their work is uneven, so that timelines stand for a quarter of it each."""
        if trial.findings:
            return trial
        numbers = self._drawn()
        pairs = [(c.spread, some) for c, some in zip(trial.launches, numbers, strict=True)]
        ordered = [spread.quartiles_first(some) if some else None for spread, some in pairs]
        if not any(ordered):
            return trial
        numbers = tuple(a if a else b for a, b in zip(ordered, numbers, strict=True))
        uneven = self._execute(self._deadline_s(trial), MANY, numbers)
        return trial if uneven.findings else uneven

    def _deadline_s(self, first: Execution) -> float:
        """Seconds for more workgroups of launches of which some ended: a busy machine is not their fault."""
        each_s = (spent / c.spread.executed for spent, c in zip(first.launch_cpu_s, first.launches, strict=True))
        return max(DEADLINE_S, min(LONGEST_S, SLACK * MANY * sum(each_s)))

    def _beside_idle(self, first: Execution) -> Execution | None:
        """Execute launches that did nothing at more places, then whole, beside the rest; None where that is in vain.

        A plan may have a launch that does little or nothing on some shapes, such as one that adds parts.
        """
        totals, deadline_s = self._totals, self._deadline_s(first)
        idle = [not c.spread.busy and c.spread.executed < n for c, n in zip(first.launches, totals, strict=True)]
        if not any(idle) or all(idle):
            return None
        some, rng, launches = self._drawn(), np.random.default_rng(self.seed + 3), self.plan.launches
        for is_whole in (False, True):
            more = (None if is_whole else drawn(launch.grid, OTHERS[1], 0, rng, frozenset()) for launch in launches)
            numbers = tuple(b if is_idle else a for is_idle, a, b in zip(idle, some, more, strict=True))
            execution = self._execute(deadline_s, MANY if is_whole else OTHERS[1], numbers)
            if execution.findings:
                return None
            at_work = [c.spread.busy for c, is_idle in zip(execution.launches, idle, strict=True) if is_idle]
            if all(at_work) if not is_whole else not any(at_work):
                return execution
        return None

    def _represents(self, trial: Execution) -> bool:
        """Tell whether the recorded work explains what is written and read, and others do as much."""
        if all(c.spread.executed == total for c, total in zip(trial.launches, self._totals, strict=True)):
            return all(math.isfinite(c.spread.others_share) for c in trial.launches)  # else only idle ones are recorded
        stored, loaded = _sums(trial.launches, "stored"), _sums(trial.launches, "loaded")
        for buffer in self._written:
            size, stored_bytes = int(buffer.data.nbytes), stored[buffer.name]
            may_repeat = buffer.role not in WRITTEN or buffer.name in trial.updated  # a workspace is used again
            if stored_bytes < FEWER * size or (stored_bytes > MORE * size and not may_repeat):
                return False
        # Scalar loads are not counted: of an input that a whole wave reads at one place there is nothing.
        if any(0 < loaded[buffer.name] < READ * buffer.data.nbytes for buffer in self.inputs):
            return False
        return all(c.spread.is_alike and c.spread.busy for c in trial.launches)

    def _is_explained(self, trial: Execution) -> bool:
        """Tell whether somebody writes each output, and each launch does something, or nothing as a whole."""
        stored = _sums(trial.launches, "stored")
        outputs = (buffer for buffer in self._written if buffer.role in WRITTEN and buffer.data.nbytes)
        if not all(stored[buffer.name] for buffer in outputs):
            return False
        return all(c.spread.busy or c.spread.executed == n for c, n in zip(trial.launches, self._totals, strict=True))

    def _is_handed_out(self, trial: Execution) -> bool:
        """Tell whether the first workgroups took everything from a queue: more of them would take as much."""
        stored = _sums(trial.launches, "stored")
        outputs = [buffer for buffer in self._written if buffer.role in WRITTEN and buffer.name not in trial.updated]
        return (
            any(c.spread.is_atomic for c in trial.launches)
            and bool(outputs)
            and all(stored[buffer.name] > MORE * buffer.data.nbytes for buffer in outputs)
        )

    def _explained(self, trial: Execution) -> tuple[LaunchCounters, ...]:
        """As much of each launch as writes the outputs once, times what a busy workgroup of a wide draw does."""
        sizes = {b.name: b.data.nbytes for b in self._written if b.role in WRITTEN and b.name not in trial.updated}
        is_whole = all(c.spread.executed == total for c, total in zip(trial.launches, self._totals, strict=True))
        wide = trial if is_whole else self._execute(DEADLINE_S, 1, self._wide())
        factors = _by_what_they_write(trial.launches, sizes)
        if is_whole or wide.findings:
            return tuple(c.times(factor) for c, factor in zip(trial.launches, factors, strict=True))
        pairs = zip(trial.launches, wide.launches, self._totals, factors, strict=True)
        return tuple(c.times(_factor(c.spread, other.spread, total, once)) for c, other, total, once in pairs)

    def _refusal(self, launches: Sequence[LaunchCounters]) -> Finding:
        counted, total = max(c.spread.executed for c in launches), max(self._totals)
        message = (
            f"{counted} workgroups from anywhere in a grid of {total} do nothing of the work, and the whole grid takes "
            "too long to count: no time can be predicted; launch the workgroups that have something to do, and no more"
        )
        return Finding("over_limit", message, case=self.case.name)


def _by_what_they_write(launches: Sequence[LaunchCounters], sizes: Mapping[str, int]) -> list[float]:
    """Give the factor of each launch to as much as writes the outputs once; an update may come several times.

    What several launches write is shared out by what each of them stores.
    """
    stored_by_all = _sums(launches, "stored")
    once = {name: size / stored_by_all[name] for name, size in sizes.items() if stored_by_all.get(name)}
    factors = list[float]()
    for spread in (launch.spread for launch in launches):
        stored = sum(spread.stored[name] for name in once)
        factors.append(sum(spread.stored[name] * once[name] for name in once) / stored if stored else 1.0)
    return factors


def _factor(spread: Spread, wide: Spread, total: int, once: float) -> float:
    """From the work of the recorded workgroups of a launch, scaled to its grid, to that of the grid.

    `once`: to as much as writes the outputs once. Where workgroups write the same places, the output's size says
    nothing of their number: the draw does.
    """
    factor = once
    if spread.is_atomic or spread.executed == total or not (spread.busy and wide.busy and spread.work):
        return factor
    share = wide.busy / wide.executed
    times_size = share / (spread.busy / spread.executed) / factor  # times the outputs' size, by the wide draw's share
    if times_size * (1 - SURE * math.sqrt((1 - share) / wide.busy)) > MORE:
        return wide.work / wide.executed / (spread.work / spread.executed)
    return factor * _more(wide.work / wide.busy / (spread.work / spread.busy))


def _more(times: float) -> float:
    """So many times as much where that is more than chance."""
    return times if times > MORE else 1.0


def _sums(launches: Sequence[LaunchCounters], direction: str) -> Mapping[str, float]:
    bytes_by_buffer: dict[str, float] = {}
    for launch in launches:
        for name, value in getattr(launch.spread, direction).items():
            bytes_by_buffer[name] = bytes_by_buffer.get(name, 0.0) + value
    return bytes_by_buffer

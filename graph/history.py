"""A run so far, generation by generation: no generation reads the run from its beginning.

What is kept for each experiment is its title and how far its gain lay from the forecast; of kernels, failures and
lessons only those that an author is shown. Nothing here is stored: any process rebuilds it from the ledger.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from agents.author import Member, Memory
from graph.archive import Archive
from graph.backlog import Backlog
from graph.bandit import Bandit
from graph.beliefs import Ancestor, Base, Beliefs, Promise
from graph.calibration import Calibration, Forecast, counted_gain, gain_pct, paragraph
from graph.lesson import EXPLORED, subject_of
from graph.sameness import Sameness
from graph.siblings import Siblings
from records.errors import LedgerError
from records.evaluation import Evaluation
from records.experiment import Attempt, Experiment, Proposed
from records.ledger import Ledger
from records.mechanism import Mechanism
from records.quantity import given, plain
from records.ranking import is_slight

SHOWN = 100  # kernels that a selector is shown: each is a line of its prompt
PLANNED = 24  # kernels in the planner's table, which has more columns of thought to spend its prompt on
RECENT = 12  # failures and lessons that fit into a prompt without crowding out the rest
_Ranked = tuple[float, int, Member]  # time and place in the search: of equal times the earlier one comes first


class History:
    """The generations below a bound, as the selector and the planner see them."""

    def __init__(self, ledger: Ledger, run_id: str, classifies: bool = True) -> None:
        """Nothing is read before it is asked for. `classifies`: failures are told with their classes."""
        self._ledger, self._run_id, self._classifies = ledger, run_id, classifies
        self.forget()

    def members(self, before: int, leader_id: str) -> list[Member]:
        """List the accepted kernels of the generations below `before`, oldest first, timed the way the first one was.

        Of more than `SHOWN` the fastest, the first and the leader. The bound makes a replayed generation see what it
        saw the first time.
        """
        self._reach(before)
        listed = {member.id: (position, member) for _, position, member in self._fastest}
        if self._first is not None:
            listed[self._first.id] = (0, self._first)
        missing = [] if leader_id in listed else self._leader(leader_id, is_alone=not listed)
        members = [member for _, member in sorted(listed.values(), key=lambda s: s[0])] + missing
        return [replace(m, is_explored=True) if m.id in self._explored else m for m in members]

    def memory(self, before: int) -> Memory:
        """Failures and lessons of the generations below `before`, newest first, and every experiment's title."""
        self._reach(before)
        return Memory(
            tuple(reversed(self._failures)),
            (*((self._archive.alarm,) if self._archive.alarm else ()), *reversed(self._lessons)),
            paragraph(self._calibration),
            tuple(self._tried),
            tuple(member for _, _, member in sorted(self._fastest[:PLANNED], key=lambda r: r[1])),
            self._backlog.proposals,
            bench=tuple(reversed(self._steps)),
        )

    def archive(self, before: int) -> Archive:
        """Return the cells of the generations below `before`."""
        self._reach(before)
        return self._archive

    def bandit(self, before: int) -> Bandit:
        """Return the rules of choice with what they gained so far."""
        self._reach(before)
        return self._bandit

    def born(self, before: int) -> Mapping[str, int]:
        """Return the generation of each accepted kernel."""
        self._reach(before)
        return self._born

    def beliefs(self, before: int) -> Beliefs:
        """Return what the experiments of the generations below `before` say of ideas."""
        self._reach(before)
        return self._beliefs

    def base(self, before: int, base_id: str, time_us: float, attainable: float) -> Base:
        """Describe the kernel in hand; `attainable` is its share of the speed that no kernel exceeds."""
        self._reach(before)
        times_us = {name: kernel.time_us for name, kernel in self._kernels.items() if kernel.time_us}
        used, mechanisms, kernel = dict[str, frozenset[Mechanism]](), set[Mechanism](), self._kernels.get(base_id)
        while kernel is not None and kernel.parent_id is not None and kernel.parent_id not in used:
            mechanisms.add(kernel.mechanism)
            used[kernel.parent_id] = frozenset(mechanisms)
            kernel = self._kernels.get(kernel.parent_id)
        return Base(time_us, attainable * time_us, times_us, {base_id: frozenset(), **used})

    def beside(self, before: int, base: Base) -> Sequence[Proposed]:
        """List the gains of other branches that the kernel in hand does not have."""
        self._reach(before)
        return self._siblings.beside(base.used)

    def explored(self, before: int) -> frozenset[str]:
        """List the kernels that need no exploration: they had one, or came out of one that ended by itself."""
        self._reach(before)
        return frozenset(self._explored)

    def forget(self) -> None:
        """Read the run again from its beginning: an attempt is not what it was."""
        self._explored = set[str]()
        self._archive = Archive()
        self._bandit = Bandit()
        self._born: dict[str, int] = {}  # by accepted kernel: its generation
        self._before = 0  # generations below are in the rest
        self._accepted = 0
        self._first: Member | None = None
        self._fastest: list[_Ranked] = []
        self._failures: deque[str] = deque(maxlen=RECENT)
        self._lessons: deque[str] = deque(maxlen=RECENT)
        self._tried: list[str] = []
        self._calibration = Calibration()
        self._steps: deque[str] = deque(maxlen=RECENT)  # between right tries of one writer
        sameness = Sameness()
        self._backlog, self._siblings = Backlog(sameness), Siblings(sameness)
        self._beliefs = Beliefs()
        self._kernels: dict[str, Ancestor] = {}  # by id, all that were accepted

    def _reach(self, before: int) -> None:
        """Add the generations up to the bound; start again where a replay asks for an earlier one."""
        if before < self._before:
            self.forget()
        while self._before < before:
            experiments = self._ledger.experiments(self._run_id, self._before)
            attempts = self._ledger.attempts(self._run_id, self._before)
            self._add(experiments, attempts)
            right = {a.experiment_id for a in attempts if a.status in ("accepted", "duplicate")}
            unwritten = {e.id for e in experiments} - right
            self._backlog.add(self._ledger.proposals(self._run_id, self._before), experiments, unwritten)
            for experiment in experiments:
                self._siblings.forget_tried(experiment, experiment.id not in unwritten)
            self._before += 1

    def _add(self, experiments: Sequence[Experiment], attempts: Sequence[Attempt]) -> None:
        """Add one generation, in the order of the search."""
        last = {a.experiment_id: a for a in attempts}
        last |= {a.experiment_id: a for a in attempts if a.status == "accepted"}  # those that failed were repaired
        titles = {e.id: subject_of(e, last[e.id]) if e.id in last else e.title for e in experiments}
        repeats = self._repeats(attempts)
        mechanisms = {e.id: e.mechanism for e in experiments if not e.explores}
        for attempt in attempts:
            if attempt.status == "accepted":
                time_us, mechanism = given(attempt.geomean_us, 0.0), mechanisms.get(attempt.experiment_id, "")
                self._kernels[attempt.id] = Ancestor(attempt.parent_id, time_us, mechanism)
                if not attempt.arms:  # a dispatch is made of kernels and is none to build on
                    self._admit(attempt, titles)
            elif attempt.status != "tried" and last[attempt.experiment_id].status != "accepted":
                title = titles.get(attempt.experiment_id, attempt.experiment_id)
                code = attempt.code if self._classifies else ""
                self._failures.append(f"{title}: {code or attempt.status}: {attempt.reason}")
            is_lesson = attempt.status == "accepted" and attempt.standing != "refuted" and attempt.id not in repeats
            if attempt.lesson and is_lesson:
                self._lessons.append(attempt.lesson)
        for experiment in experiments:
            self._steps.extend(self._bench_steps([a for a in attempts if a.experiment_id == experiment.id]))
        self._explored |= {a.id for a in attempts if a.is_settled}
        self._explored |= {e.parent_id for e in experiments if e.picked_as == EXPLORED and e.parent_id}
        for experiment in experiments:
            if experiment.picked_as == "dispatch":
                continue  # nobody planned it
            if experiment.generation:
                self._tried.append(experiment.title)
            final = last.get(experiment.id)
            outcome = None if final is not None and final.id in repeats else self._outcome(experiment, final)
            count = sum(a.experiment_id == experiment.id for a in attempts)
            gained = counted_gain(outcome.found_pct, final.time_error) if outcome and final else None
            self._bandit.add(experiment.picked_as, gained, count)
            if final is not None and final.parent_id in self._kernels and final.id not in repeats:
                self._siblings.add(experiment, final, self._kernels[final.parent_id].time_us)
            if outcome is not None and experiment.picked_as != EXPLORED:  # the planner predicted the others
                self._calibration.add(outcome)
                promise = Promise.of(experiment.gain_min_pct, experiment.gain_max_pct)
                found = None if outcome.found_pct is None else math.log1p(outcome.found_pct / 100)
                self._beliefs.add(experiment.mechanism, promise, found)

    def _bench_steps(self, attempts: Sequence[Attempt]) -> Iterator[str]:
        """Put the steps from one right try of a writer to the next in words, those that the clock can tell apart."""
        tries = [a for a in attempts if a.status == "tried" and a.geomean_us]
        for old, new in pairwise(tries):
            before, after = (given(a.geomean_us, 0.0) for a in (old, new))
            if is_slight(gain_pct(before, after), max(old.time_error, new.time_error)):
                continue
            bounds = [evidence(self._ledger, a).measurements for a in (old, new)]
            old_bound, new_bound = (", ".join(sorted({m.bound for m in rows if m.bound})) for rows in bounds)
            bound = f", bound by {old_bound}" + (f", then by {new_bound}" if new_bound != old_bound else "")
            said = new.change or f"{old.strategy} became {new.strategy}"
            yield f"{said}: {plain(before)} to {plain(after)} us{bound if old_bound else ''} ({new.id})"

    def _repeats(self, attempts: Sequence[Attempt]) -> frozenset[str]:
        """List the accepted kernels that an earlier one of their generation has made: two threads may have one idea.

        They stay kernels of the run, but a gain is learnt from and rewarded once.
        """
        first_experiments, repeats = dict[tuple[object, ...], str](), set[str]()
        for attempt in (a for a in attempts if a.status == "accepted" and a.generation):
            evaluation, tunables = (
                self._ledger.evaluation(attempt.evaluation_key),
                tuple(sorted(attempt.tunables.items())),
            )
            key: tuple[object, ...] = (attempt.parent_id, attempt.candidate_id, tunables)
            if evaluation is not None and evaluation.time_kind == "predicted" and evaluation.code_object:
                key = (attempt.parent_id, evaluation.code_object, tunables, *sorted(times_us(evaluation).items()))
            if first_experiments.setdefault(key, attempt.experiment_id) != attempt.experiment_id:
                repeats.add(attempt.id)
        return frozenset(repeats)

    def _admit(self, attempt: Attempt, titles: Mapping[str, str]) -> None:
        member = _member(attempt, evidence(self._ledger, attempt), titles)
        self._first = self._first or member
        if member.time_kind != self._first.time_kind:
            return
        self._archive.admit(member, is_seed=attempt.generation == 0)
        self._born[member.id] = attempt.generation
        insort(self._fastest, (member.geomean_us, self._accepted, member), key=lambda r: r[:2])
        self._accepted += 1
        del self._fastest[SHOWN:]

    def _leader(self, attempt_id: str, is_alone: bool) -> list[Member]:
        """Find a kernel that leads without being shown.

        It leads by comparison, or as a dispatch, which is shown only where alone.
        """
        attempt = self._ledger.attempt(self._run_id, attempt_id)
        if attempt is None or (attempt.arms and not is_alone):
            return []
        experiment = self._ledger.experiment(self._run_id, attempt.experiment_id)
        titles = {experiment.id: subject_of(experiment, attempt)} if experiment else {}
        return [_member(attempt, evidence(self._ledger, attempt), titles)]

    def _outcome(self, experiment: Experiment, attempt: Attempt | None) -> Forecast | None:
        """Read the outcome of an experiment; None for seeds, duplicates, and times that cannot be compared."""
        if attempt is None or attempt.parent_id is None or attempt.status == "duplicate":
            return None
        if attempt.status != "accepted":
            return Forecast(experiment.gain_min_pct, experiment.gain_max_pct, None)
        found_pct = self._gain_pct(attempt, attempt.parent_id)
        return None if found_pct is None else Forecast(experiment.gain_min_pct, experiment.gain_max_pct, found_pct)

    def _gain_pct(self, attempt: Attempt, parent_id: str) -> float | None:
        """Gain of the change, as far as it is shown; from the times where an older program recorded no parts."""
        if attempt.credit.shown_pct is not None:
            return attempt.credit.shown_pct
        if attempt.credit.idea_pct is not None:
            return attempt.credit.idea_pct
        parent = self._ledger.attempt(self._run_id, parent_id)
        if parent is None or parent.time_kind != attempt.time_kind or not attempt.geomean_us or not parent.geomean_us:
            return None
        return gain_pct(parent.geomean_us, attempt.geomean_us)


def evidence(ledger: Ledger, attempt: Attempt) -> Evaluation:
    """Find the evaluation an attempt rests on; LedgerError when it is missing."""
    evaluation = ledger.evaluation(attempt.evaluation_key)
    if evaluation is None:
        raise LedgerError(f"the ledger has no evaluation for attempt {attempt.id}; restore it from a copy")
    return evaluation


def times_us(evaluation: Evaluation) -> dict[str, float]:
    """Benchmark times by case."""
    return {m.case: m.time_us for m in evaluation.measurements}


def _member(attempt: Attempt, evaluation: Evaluation, titles: Mapping[str, str]) -> Member:
    """Make a member of a kernel without its code: ids, ancestry and times."""
    return Member(
        id=attempt.id,
        parent_id=attempt.parent_id,
        title=titles.get(attempt.experiment_id, attempt.experiment_id),
        geomean_us=given(evaluation.geomean_us, math.inf),
        time_kind=attempt.time_kind or "",
        times_us=times_us(evaluation),
        strategy=attempt.strategy,
        bounds={m.case: m.bound for m in evaluation.measurements if m.bound},
        vgpr=max((r.vgpr for r in evaluation.resources), default=0),
        lds_bytes=max((r.lds_bytes for r in evaluation.resources), default=0),
        scratch_bytes=max((r.scratch_bytes for r in evaluation.resources), default=0),
        waves_per_simd=min((r.waves_per_simd for r in evaluation.resources), default=0),
        credit=attempt.credit,
        time_error=evaluation.time_error,
    )

"""An author whose hypotheses have a known worth: some are optimistic, some false, some repeated.

A kernel's time is that of its roofline and a surplus of each of six mechanisms. A hypothesis takes away a share of one
surplus, or nothing. The author takes each surplus for larger or smaller than it is, by a factor that belongs to the
mechanism, and knows the shares of true hypotheses by chance and not those that are false.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agents.author import Assignment, Critique, Draft, Idea, Member, Memory, Proposal, Room, Selection, Specimen, Step
from records.evaluation import Evaluation
from records.experiment import Experiment
from records.literature import Quotation
from records.mechanism import MECHANISMS, Mechanism

ROOFLINE_US = 20.0
HYPOTHESES, FALSE, FAILED, REPEATED = 24, 0.6, 0.15, 0.2  # how many; shares of them, of drafts, of proposals
PROPOSED = 5  # hypotheses in one plan
_CHANGE = re.compile(r"change (\d+)")
_APPLIED = re.compile(r"^// applied =(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Hypothesis:
    """One change of known worth."""

    number: int
    mechanism: Mechanism
    share: float  # of the mechanism's surplus that it takes away; below 0 where it makes the kernel slower
    believed_share: float  # that its author predicts


class World:
    """A task: what each mechanism costs the naive kernel, and all hypotheses that there are."""

    def __init__(self, seed: int) -> None:
        """Draw the surpluses, and by which factor predictions of each mechanism are wrong."""
        rng = random.Random(seed)
        mechanisms = rng.sample(MECHANISMS, 6)
        self._surplus_us = {m: ROOFLINE_US * math.exp(rng.uniform(-1.5, 2.5)) for m in mechanisms}
        self._optimism = {m: math.exp(rng.gauss(0.3, 0.8)) for m in mechanisms}
        self.hypotheses = tuple(self._drawn(n, rng.choice(mechanisms), rng) for n in range(HYPOTHESES))

    @staticmethod
    def _drawn(number: int, mechanism: Mechanism, rng: random.Random) -> Hypothesis:
        share = rng.uniform(-0.2, 0.02) if rng.random() < FALSE else rng.uniform(0.3, 0.9)
        promised = share if share > 0.02 else rng.uniform(0.3, 0.9)
        return Hypothesis(number, mechanism, share, min(0.98, promised * math.exp(rng.gauss(0, 0.3))))

    def _left_us(self, applied: Collection[int]) -> dict[Mechanism, float]:
        left_us = dict(self._surplus_us)
        for number in applied:
            left_us[self.hypotheses[number].mechanism] *= 1 - self.hypotheses[number].share
        return left_us

    def time_us(self, applied: Collection[int]) -> float:
        """Compute the time of a kernel with these changes."""
        return ROOFLINE_US + sum(self._left_us(applied).values())

    def predicted_us(self, applied: Collection[int], hypothesis: Hypothesis) -> float:
        """Compute the time that the author expects of one more change."""
        saved_us = hypothesis.believed_share * self._left_us(applied)[hypothesis.mechanism]
        time_us = self.time_us(applied)
        return max(0.1 * time_us, time_us - self._optimism[hypothesis.mechanism] * saved_us)

    @property
    def best_us(self) -> float:
        """The time of the kernel with every change that helps."""
        return self.time_us([h.number for h in self.hypotheses if h.share > 0])

    def source(self, applied: Collection[int]) -> str:
        """Write the kernel; its roofline is the best that the changes reach, so that a run stops by itself near it."""
        names = " ".join(map(str, sorted(applied)))
        return f"// applied = {names}\n// time_us = {self.time_us(applied)!r}\n// roofline_us = {self.best_us!r}\n"


def applied_in(source: str) -> frozenset[int]:
    """Read which changes a kernel has."""
    return frozenset(map(int, _APPLIED.findall(source)[-1].split()))


def _numbers_in(title: str) -> frozenset[int]:
    return frozenset(map(int, _CHANGE.findall(title)))


class SimulatedAuthor:
    """Plans and writes in one world. Of each question the answer is drawn from the seed and the question's place."""

    name, can_begin, reads = "simulated", False, False

    def __init__(self, world: World, seed: int, plans: bool = True, keeps: bool = True) -> None:
        """`plans`: hypotheses are predicted, not drawn blindly; `keeps`: earlier ones may come back."""
        self._world, self._seed, self._plans, self._keeps = world, seed, plans, keeps
        self.planned = 0

    def select(self, step: Step, work: Assignment, population: Sequence[Member]) -> Selection:
        """Choose the fastest, with its parent for reference."""
        fastest = min(population, key=lambda m: m.geomean_us)
        return Selection(fastest.id, fastest.parent_id, "the fastest")

    def queries(self, step: Step, work: Assignment, base: Specimen) -> tuple[str, ...]:
        """Ask nothing."""
        return ()

    def plan(
        self, step: Step, work: Assignment, base: Specimen, literature: Sequence[Quotation], memory: Memory, room: Room
    ) -> Proposal:
        """Propose hypotheses that the base does not have, a share of them again under another title."""
        self.planned += self._plans
        rng, applied = self._rng(step), applied_in(base.source)
        tried = frozenset[int]().union(*(_numbers_in(title) for title in memory.tried))
        left = [h for h in self._world.hypotheses if h.number not in applied]
        fresh = [h for h in left if h.number not in tried or rng.random() < REPEATED]
        drawn = rng.sample(fresh, min(PROPOSED if self._plans else room.generation, len(fresh)))
        ideas = tuple(self._idea(h, applied, step.generation) for h in drawn)
        obsolete = () if self._keeps else tuple(p.title for p in memory.backlog)
        return Proposal((), ideas, obsolete)

    def _idea(self, hypothesis: Hypothesis, applied: frozenset[int], generation: int) -> Idea:
        gain = 100 * (self._world.time_us(applied) / self._world.predicted_us(applied, hypothesis) - 1)
        low, high = (0.5 * gain, 1.5 * gain) if self._plans else (10.0, 10.0)
        title = f"plan {generation} change {hypothesis.number}"
        innovation = random.Random(hypothesis.number).uniform(0, 100)
        return Idea(title, "", (f"change {hypothesis.number}",), low, high, innovation, mechanism=hypothesis.mechanism)

    def write(
        self,
        step: Step,
        work: Assignment,
        experiment: Experiment,
        idea: Idea,
        base: Specimen,
        reference: Specimen | None,
        literature: Sequence[Quotation],
    ) -> Draft:
        """Make the change, or fail to."""
        if self._rng(step).random() < FAILED:
            return Draft(f"// {step.experiment_id} {step.number}\n// fail compile\n// applied = \n")
        return Draft(self._world.source(applied_in(base.source) | _numbers_in(idea.title)))

    def critique(
        self,
        step: Step,
        work: Assignment,
        idea: Idea,
        base: Specimen,
        draft: Draft,
        evaluation: Evaluation,
        concerns: Sequence[str],
        literature: Sequence[Quotation] = (),
    ) -> Critique:
        """Approve."""
        return Critique(True)

    def repair(
        self,
        step: Step,
        work: Assignment,
        idea: Idea,
        base: Specimen,
        draft: Draft,
        remarks: Sequence[str],
        evaluation: Evaluation | None,
        literature: Sequence[Quotation] = (),
    ) -> Draft:
        """Fail again."""
        return draft

    def _rng(self, step: Step) -> random.Random:
        return random.Random(f"{self._seed} {step.generation} {step.experiment_id} {step.number}")

"""Inputs on which a comparison of a candidate goes the other way, one step after the other.

The candidate is executed by a program that records what its comparisons compared (`build/recorder.py`). One comparison
is chosen, first of all one that had a single outcome; the very values that it compared are changed so that it comes
out otherwise (`tasks/turned_inputs.py`), all else stays as drawn, and the candidate is executed again: on the new way
other comparisons are met, and the next step turns one of these. Each step is judged as a try of any search is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from records.errors import TaskError
from records.evaluation import CaseResult, Finding
from sandbox.lab.build.conditions import DataCondition, numbers_in
from sandbox.lab.driven_case import LONGEST, Drives, Key, ways_of
from sandbox.lab.lab_verify import Judge
from sandbox.lab.listed_values import ListedValues
from tasks.compared_sides import Compared
from tasks.held_lines import with_held_lines
from tasks.held_out import cost
from tasks.loader import TASK_FAULTS
from tasks.searched_inputs import SearchedInputs
from tasks.task import Case, Tensors
from tasks.turned_inputs import Turner

STEPS, DULL = 20, 7  # of one chain; after which only a comparison that was not met before lets it go on
GO_ON = 7 / 8  # of the steps turn such a one
AGAIN = 5  # steps at most that turn the same comparison: a loop that ends at the first difference shows one at a time
ASKED = 4  # comparisons that are asked for a way before a chain ends
WEIGHTS = {"one outcome": 8.0, "equality": 3.0, "number": 1.0, "other": 0.4}
DEAR, LEAST_COST = 0.3, 2.0**12  # the power of a cost by which shapes become rarer, from this cost on
UNKNOWN, LITTLE = 8.0, 0.25  # as many times as likely is a shape of which nothing is known, or that has nothing left
EVERY = 2  # one of so many chains brings a comparison to one outcome everywhere
FAMILY = 1 / 3  # of the chains begin with a family that is the task's own or made for any
BESIDE = 2 / 3  # of the steps turn all comparisons of the line alike
Row = tuple[CaseResult | None, tuple[Finding, ...]]
Step = tuple[CaseResult | None, tuple[Finding, ...], Mapping[Key, Compared]]


class TurnedInputs(SearchedInputs):
    """The inputs of the steps, as they were made."""

    given: Tensors

    def draw(self, case: Case, family: str | None) -> Tensors:
        """The inputs of the present step."""
        return self.given


@dataclass
class TurnedCases:
    """Chains of steps on small shapes of one candidate; `judge` executes by the program that records."""

    judge: Judge
    known: SearchedInputs
    shapes: list[Case]
    rng: np.random.Generator
    most: int  # steps
    is_in_time: Callable[[], bool]
    begun: int = 0
    chains: int = 0
    met: int = 0
    worst: float = 0.0
    reached: dict[int, frozenset[Key]] = field(default_factory=dict)  # comparisons by the numbers of the shapes
    drives: Drives = field(default_factory=Drives)
    tried: dict[Key, int] = field(default_factory=dict)  # how often each comparison was turned
    outcomes: dict[Key, int] = field(default_factory=dict)  # of those with one number alone: 1 false, 2 true, 3 both

    @property
    def conditions(self) -> tuple[DataCondition, ...]:
        """By the numbers of their marks."""
        return self.judge.built.program.conditions

    def _shape(self) -> int:
        """A shape, more likely one on which few comparisons were turned so far, or none is known to be met."""
        share = np.array([max(cost(self.judge.task, case.dims), LEAST_COST) ** -DEAR for case in self.shapes])
        for number in range(len(self.shapes)):
            reached = self.reached.get(number)
            open_ = [self._weight(key) / (1 + self.tried.get(key, 0)) for key in reached or ()]
            share[number] *= UNKNOWN if reached is None else LITTLE + sum(open_)
        return int(self.rng.choice(len(self.shapes), p=share / share.sum()))

    def may_go_on(self) -> bool:
        """True while there is time for another step."""
        return self.begun < self.most and self.is_in_time()

    def run(self) -> Row:
        """The row and the findings of the first wrong step, if any is."""
        while self.may_go_on():
            is_driven, self.chains = bool(ways_of(self.conditions)) and self.chains % EVERY == 0, self.chains + 1
            row, findings = self._drive() if is_driven else self._chain()
            if findings:
                return row, findings
        return None, ()

    def _drive(self) -> Row:
        """Steps on which one comparison with a number comes to have one outcome everywhere, the rarer one."""
        shape = self._shape()
        case, drawn, mine = self._drawn(shape)
        state, driver, key = drawn, None, (-1, 0.0)
        for _ in range(LONGEST):
            if not self.may_go_on():
                break
            row, findings, seen = self._step(shape, case, state)
            if findings:
                return row, findings
            if driver is None:
                key, driver = self.drives.chosen(seen, self.rng)
            made = driver.step(seen[key], state, mine) if driver and key in seen else None
            if made is None:
                break
            state = self._borne(made, drawn, case)
        return None, ()

    def _borne(self, made: Tensors, drawn: Tensors, case: Case) -> Tensors:
        """Inputs that were changed, as far as right kernels bear them and the task promises them."""
        held = made if self.known.known.moves_values else with_held_lines(made, drawn)
        return self.judge.task.kept(held, drawn, case)

    def _drawn(self, shape: int) -> tuple[Case, Tensors, list[str]]:
        """A case of this shape, its inputs, and those of them that may be changed."""
        task = self.judge.task
        case = replace(self.shapes[shape], seed=int(self.rng.integers(2**32)), role="held_out")
        drawn = task.draw(case)
        given = (spec for spec in task.inputs if spec.name in task.plant and not spec.strides)
        return case, drawn, [spec.name for spec in given if spec.name in drawn]

    def _chain(self) -> Row:
        rng, shape = self.rng, self._shape()
        case, drawn, mine = self._drawn(shape)
        chain, state = _Chain(), self._start(case, drawn)
        for number in range(STEPS):
            if not self.may_go_on():
                break
            row, findings, seen = self._step(shape, case, state)
            if findings:
                return row, findings
            if chain.is_farther(seen):
                state, seen = chain.kept
            chain.meet(state, seen)
            if row is None or not seen or (number >= DULL and not chain.fresh):
                break
            turned = self._next(chain, Turner(state, mine, self.known.known.moves_values, rng), seen)
            if turned is None:
                break
            state = self._borne(turned, drawn, case)
        return None, ()

    def _next(self, chain: _Chain, turner: Turner, seen: Mapping[Key, Compared]) -> Tensors | None:
        """The inputs of the next step; None where no comparison that is asked can be turned."""
        for _ in range(ASKED):
            mark = self._choose(chain, seen)
            if mark is None:
                return None
            self.tried[mark] = self.tried.get(mark, 0) + 1
            if mark not in chain.to:
                outcomes, share = self._outcomes(mark), float(seen[mark].truth.mean())
                chain.to[mark] = outcomes == 1 if outcomes in (1, 2) else bool(self.rng.random() > share)
            turned = self._turned(turner, seen, mark, chain.to[mark])
            chain.chosen[mark] = chain.chosen.get(mark, 0) + 1 if turned is not None else AGAIN
            chain.last = mark
            if turned is not None:
                return turned
        return None

    def _start(self, case: Case, drawn: Tensors) -> Tensors:
        families = self.known.known
        names = families.names
        if names and self.rng.random() < FAMILY:
            return families.draw(case, names[int(self.rng.integers(len(names)))])
        return drawn

    def _step(self, shape: int, case: Case, state: Tensors) -> Step:
        """Execute and compare; no row where no answer is known. Notes which comparisons the shape reaches."""
        row, findings, seen = self._compared(case, state)
        self.reached[shape] = self.reached.get(shape, frozenset()) | set(seen)
        return row, findings, seen

    def _compared(self, case: Case, state: Tensors) -> Step:
        self.begun += 1
        name = f"search {self.met}"
        made = TurnedInputs(self.known.known, (), 0)
        made.given = state
        values = ListedValues(self.judge.task, made)
        given = values.of(case, name)
        try:
            is_sound = made.is_sound(case, name, given.inputs, given.reference, given.baseline)
        except (TaskError, *TASK_FAULTS):
            is_sound = False
        if not is_sound:
            return None, (), {}
        row, findings = replace(self.judge, known=values).run(case, name)
        seen = self._parted(self.judge.lab.outcomes.take_compared(self.judge.built.program))
        if any(finding.kind == "timeout" for finding in findings):
            return None, (), {}
        self.met, self.worst = self.met + 1, max(self.worst, row.error or 0.0)
        return row, findings, seen

    def _parted(self, rows: Mapping[int, Compared]) -> dict[Key, Compared]:
        """The comparisons, and of those with a number at times, as a running maximum's first, these times alone."""
        found: dict[Key, Compared] = {(mark, 0.0): one for mark, one in rows.items()}
        for mark, one in rows.items():
            for number in numbers_in(self.conditions[mark : mark + 1]):
                is_it = (one.values(0) == number) | (one.values(1) == number)
                if is_it.any() and not is_it.all():
                    part = one.only(np.flatnonzero(is_it))
                    found[mark, number] = part
                    bits = int((~part.truth).any()) + 2 * int(part.truth.any())
                    self.outcomes[mark, number] = self.outcomes.get((mark, number), 0) | bits
        return found

    def _choose(self, chain: _Chain, seen: Mapping[Key, Compared]) -> Key | None:
        """The comparison to turn: one that the chain has met first, the last one again, or any by what it promises."""
        open_ = [mark for mark in seen if chain.chosen.get(mark, 0) < AGAIN and seen[mark].relation]
        if not open_:
            return None
        last = chain.last
        if last in open_ and not chain.fresh and seen[last].truth.mean() not in (0.0, 1.0) and self.rng.integers(2):
            return last
        if (new := [mark for mark in open_ if mark in chain.fresh]) and self.rng.random() < GO_ON:
            return new[int(self.rng.integers(len(new)))]
        weights = np.array([self._weight(mark) / (1 + self.tried.get(mark, 0)) for mark in open_])
        return open_[int(self.rng.choice(len(open_), p=weights / weights.sum()))]

    def _weight(self, key: Key) -> float:
        condition, outcomes = self.conditions[key[0]], self._outcomes(key)
        if outcomes in (1, 2):
            return WEIGHTS["one outcome"]
        return WEIGHTS["equality" if condition.is_equality else "number" if condition.constants else "other"]

    def _outcomes(self, key: Key) -> int:
        mark, number = key
        if number:
            return self.outcomes.get(key, 0)
        return self.judge.lab.outcomes.of(self.judge.built.program.recorded_of, mark)

    def _turned(self, turner: Turner, seen: Mapping[Key, Compared], key: Key, to: bool) -> Tensors | None:
        """The inputs with this comparison turned, and in most steps those of its line that ask the same."""
        one, line = seen[key], self.conditions[key[0]].line
        made = turner.turned(one, to=to)
        if made is None or self.rng.random() > BESIDE:
            return made
        for other, compared in seen.items():
            if (
                other != key
                and not other[1]
                and self.conditions[other[0]].line == line
                and compared.relation == one.relation
            ):
                made = replace(turner, inputs=made).turned(compared, to=to) or made
        return made


@dataclass
class _Chain:
    """The comparisons that the steps of one chain have met and turned."""

    met: set[Key] = field(default_factory=set)
    fresh: set[Key] = field(default_factory=set)  # met by the last step, which turned a comparison, for the first time
    chosen: dict[Key, int] = field(default_factory=dict)  # how often each was turned
    to: dict[Key, bool] = field(default_factory=dict)  # the outcome that each is to have
    last: Key = (-1, 0.0)
    kept: tuple[Tensors, Mapping[Key, Compared]] = field(default_factory=lambda: ({}, {}))  # of the step before

    def is_farther(self, seen: Mapping[Key, Compared]) -> bool:
        """True where the comparison that was turned did not turn, and its sides lie farther apart than before."""
        before = self.kept[1].get(self.last)
        if before is None or self.last not in seen:
            return before is not None and self.last not in seen
        now, to = seen[self.last], self.to[self.last]
        return not (now.truth == to).any() and not now.distance() < before.distance()

    def meet(self, state: Tensors, seen: Mapping[Key, Compared]) -> None:
        """Note the inputs of a step and its comparisons."""
        self.kept = state, seen
        self.fresh = {mark for mark in seen if mark not in self.met} if self.met else set()
        self.met |= set(seen)

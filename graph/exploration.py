"""Changes of a text and its tunables searched together: one step a time from the best kernel so far, by estimates.

A step is a change of the book, several that are safe at once, or the next value of one tunable. Steps that were never
tried come first, the most promising of them before the others; then those that lost little on an earlier best kernel,
because what a step gives depends on the others. A text that takes the lead is verified before anything is built on it,
and what wins is judged in full afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from graph.predictor import Predictor, features_of
from records.evaluation import Evaluation
from records.quantity import given
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.quantities import quantities, unused_tunables
from sandbox.candidate.search import Search, Timing
from sandbox.walk import Ask, timing_of

DOUBT = 0.25  # of the promise, of a change that gained nothing together with others
NEAR = 1.02  # of the best time: a step that lost no more may gain once another one was taken
VALUE = 12.0  # promise of another value of a tunable, beside those of the changes, which are gains in percent
ONWARD = 60.0  # of the next value in a direction that gained


class ChangeBook(Protocol):
    """Changes of a text that keep its meaning."""

    def offers(self, source: str) -> tuple[str, ...]:
        """List handles of all single changes that apply to this text."""

    def together(self, handles: Sequence[str]) -> tuple[str, ...]:
        """Those of them that may be tried at once."""

    def refusals(self, source: str) -> tuple[str, ...]:
        """List changes that do not apply to this text, each with the reason."""

    def apply(self, source: str, handle: str) -> str:
        """Apply a change and return the text; the text itself where the change does not apply."""

    def title(self, handle: str) -> str:
        """Name a change in words."""

    def promise(self, handle: str, evaluation: Evaluation) -> float:
        """Estimate the gain in percent, by what binds the kernel."""


@dataclass(frozen=True)
class Probe:
    """One kernel of the search."""

    prepared: Prepared
    changes: tuple[str, ...]  # handles applied to the parent's text, in their order
    timing: Timing
    evaluation: Evaluation

    def beats(self, other: Probe) -> bool:
        """Tell whether its time is shorter by what counts, or the times are equal and other resources need less."""
        mine, theirs = level_of(self), level_of(other)
        return mine.is_faster(theirs) or (not theirs.is_faster(mine) and self.timing.is_faster(other.timing))


@dataclass(frozen=True)
class Way:
    """One way on from the best kernel."""

    names: tuple[str, ...]  # handles, or `NAME=value`
    prepared: Prepared
    changes: tuple[str, ...]
    promise: float


class Exploration:
    """One search. The same arguments ask for the same estimates in the same order."""

    def __init__(
        self,
        ask: Ask,
        prepare: Callable[[str], Prepared],
        changes: ChangeBook,
        limit: int,
        seed: int = 0,
        predictor: Predictor | None = None,
    ) -> None:
        """At most `limit` estimates beside the parent's. A predictor leaves out the steps that are sure to lose."""
        self._predictor = predictor
        self._features: dict[str, Mapping[str, float]] = {}
        self._foretold: dict[str, float] = {}  # by step that was left out: the predicted loss in percent
        self._ask, self._prepare, self._changes, self._limit, self._seed = ask, prepare, changes, limit, seed
        self._lost: dict[str, float] = {}  # by step: its time over the best one's when it was tried last
        self._known = set[tuple[str, tuple[tuple[str, int], ...]]]()
        self._right: dict[str, bool] = {}  # by text
        self._doubted = set[str]()  # changes that gained nothing with others
        self.probes: list[Probe] = []
        self.best: Probe  # the fastest whose text is right; a later one only where it is faster by what counts
        self.is_settled = False  # it ended by itself

    def run(self, parent: Prepared, readings: Sequence[tuple[Mapping[str, int], Timing]] = ()) -> None:
        """Search from this kernel until the limit, or until nothing is left that may gain.

        `readings` are earlier estimates of the parent's text. Where no step is left, a surrogate of the best text's
        tunables says what to ask for; where that gains, steps begin again.
        """
        self._right[parent.id] = True
        self._try(Way((), parent, (), 0.0))
        while self._left and self.best.timing.time_us is not None:
            step = max(self._steps(), key=lambda s: s.promise, default=None)  # of equal ones the first
            if step is not None:
                self._try(step)
                continue
            before = self.best
            self.is_settled = self._ask_surrogate(readings)
            if self.best is before:
                return

    @property
    def without_gain(self) -> tuple[str, ...]:
        """The steps that gained nothing when they were tried last, and the changes that do not apply to the parent."""
        tried = tuple(f"{name}: no gain" for name in self._lost if name not in self.best.changes and "=" not in name)
        untried = ((name, loss) for name, loss in self._foretold.items() if name not in self._lost and "=" not in name)
        spared = (f"{name}: not tried, some {loss:.0f} % slower by what similar kernels took" for name, loss in untried)
        return (*tried, *spared, *self.refusals)

    @property
    def refusals(self) -> tuple[str, ...]:
        """The changes that do not apply to the parent's text, with a reason each."""
        return self._changes.refusals(self.probes[0].prepared.source)

    @property
    def _left(self) -> int:
        """Estimates that may still be asked for."""
        return self._limit + 1 - len(self.probes)

    def _ask_surrogate(self, readings: Sequence[tuple[Mapping[str, int], Timing]]) -> bool:
        """Search the tunables of the best text with all that is known of its relatives; True where that ends by itself.

        Times of the parent's text are taken at the ratio of the two where both have the same tunables.
        """
        best, parent = self.best, self.probes[0]
        index_of = {tuple(choice.items()): index for index, choice in enumerate(best.prepared.choices)}
        if len(index_of) <= 1:
            return True
        ratio = _over(best, parent, readings) if best.changes else 1.0
        timings = dict[int, Timing]()
        for tunables, timing in readings:
            index = index_of.get(tuple((n, tunables.get(n, v)) for n, v in best.prepared.choices[0].items()))
            if index is not None:
                timings[index] = _scaled(timing, ratio)
        same_text = [p for p in self.probes if p.prepared.id == best.prepared.id]
        timings |= {index_of[_ordered(p.prepared)]: p.timing for p in same_text}

        def estimate(choice: Mapping[str, int]) -> Timing:
            chosen = best.prepared.choose(choice)
            self._try(Way(tuple(f"{n}={v}" for n, v in choice.items()), chosen, best.changes, 0.0))
            return self.probes[-1].timing

        search = Search(
            best.prepared.choices,
            estimate,
            self._left,
            self._seed,
            unused_tunables(best.prepared),
            quantities(best.prepared),
            prior_readings=timings,
        )
        search.run((best.prepared.tunables,))
        return self._left > 0

    def _try(self, step: Way) -> None:
        self._known.add(_identity(step.prepared))
        evaluation = self._ask("estimate", step.prepared)
        probe = Probe(step.prepared, step.changes, timing_of(evaluation), evaluation)
        before = self.best.timing if self.probes else None
        if self._predictor is not None:
            self._predictor.learn(self._numbers(probe.prepared), level_of(probe).time_us)
        if before is None:
            self.best = probe
        elif probe.beats(self.best):
            if self._is_right(probe.prepared):
                self.best = probe
            else:
                probe = replace(probe, timing=Timing(None))
        self.probes.append(probe)
        ratio = given(probe.timing.time_us, math.inf) / before.time_us if before and before.time_us else 1.0
        if len(step.names) == 1:
            self._lost[step.names[0]] = ratio
        elif self.best is not probe:  # nobody knows which of them lost
            self._doubted |= set(step.names)

    def _is_right(self, prepared: Prepared) -> bool:
        """Tell whether a text that takes the lead is right; it is verified at the first choice that does."""
        if prepared.id not in self._right:
            tuned = prepared.tuned(prepared.tunables)
            self._right[prepared.id] = self._ask("verify", tuned).verdict.accepted
        return self._right[prepared.id]

    def _steps(self) -> Iterator[Way]:
        best = self.best
        offered = [h for h in self._changes.offers(best.prepared.source)]
        fresh = [h for h in offered if h not in self._lost]
        for handle in offered:
            promise = self._changes.promise(handle, best.evaluation) * (DOUBT if handle in self._doubted else 1.0)
            yield from self._fresh(self._changed(best, (handle,)), promise)
        group = self._changes.together(fresh)
        if len(group) > 1:
            most = max(self._changes.promise(handle, best.evaluation) for handle in group)
            step = self._changed(best, group)
            if _identity(step.prepared) not in self._known:
                yield Way(step.names, step.prepared, step.changes, most + 0.5)
        for name in best.prepared.tunables:
            for value in _beside(best.prepared, name):
                chosen = best.prepared.choose({**best.prepared.tunables, name: value})
                yield from self._fresh(Way((f"{name}={value}",), chosen, best.changes, 0.0), VALUE)

    def _fresh(self, step: Way, promise: float) -> Iterator[Way]:
        """Yield the step with its promise, unless it is known or hopeless."""
        if _identity(step.prepared) in self._known or self._is_hopeless(step):
            return
        lost = self._lost.get(step.names[0])
        if lost is None:
            yield Way(step.names, step.prepared, step.changes, promise)
        elif lost <= NEAR:
            yield Way(step.names, step.prepared, step.changes, -100.0 * (lost - 1.0) - 100.0)

    def _is_hopeless(self, step: Way) -> bool:
        """Tell whether the predictor is sure that a step loses; it is asked again once more is known."""
        self._foretold.pop(step.names[0], None)
        if self._predictor is None:
            return False
        forecast = self._predictor.forecast(self._numbers(step.prepared), self._numbers(self.best.prepared))
        if forecast is None or not forecast.surely_loses(NEAR):
            return False
        self._foretold[step.names[0]] = 100.0 * math.expm1(forecast.mean)
        return True

    def _numbers(self, prepared: Prepared) -> Mapping[str, float]:
        key = repr(_identity(prepared))
        if key not in self._features:
            self._features[key] = features_of(prepared)
        return self._features[key]

    def _changed(self, probe: Probe, handles: Sequence[str]) -> Way:
        source = probe.prepared.source
        for handle in handles:
            source = self._changes.apply(source, handle)
        prepared = self._prepare(source)
        tunables = {n: v for n, v in probe.prepared.tunables.items() if n in prepared.tunables}
        return Way(tuple(handles), prepared.choose(tunables) if tunables else prepared, (*probe.changes, *handles), 0.0)


def _beside(prepared: Prepared, name: str) -> Iterator[int]:
    """Yield the next lower and the next higher value of one tunable that the constraints allow."""
    tunables = prepared.tunables
    apart = [c[name] for c in prepared.choices if all((c[n] == v) != (n == name) for n, v in tunables.items())]
    value = tunables[name]
    yield from sorted(v for v in apart if v < value)[-1:]
    yield from sorted(v for v in apart if v > value)[:1]


def level_of(probe: Probe) -> Timing:
    """Return the time that a record would state, in place of the one that also orders equals."""
    time_us = probe.evaluation.geomean_us if probe.timing.time_us is not None else None
    return Timing(time_us, probe.timing.low_us, probe.timing.high_us)


def _ordered(prepared: Prepared) -> tuple[tuple[str, int], ...]:
    return tuple((name, prepared.tunables[name]) for name in prepared.choices[0])


def _over(best: Probe, parent: Probe, readings: Sequence[tuple[Mapping[str, int], Timing]]) -> float:
    """Time of the best text over the parent's at the same tunables; over the parent's own where those are unknown."""
    tunables = dict(best.prepared.tunables)
    same = [t.time_us for choice, t in readings if t.time_us and {**tunables, **choice} == tunables]
    theirs = same[0] if same else parent.timing.time_us
    return given(best.timing.time_us, 1.0) / given(theirs, 1.0)


def _scaled(timing: Timing, ratio: float) -> Timing:
    if timing.time_us is None:
        return timing
    return Timing(timing.time_us * ratio, timing.low_us * ratio, timing.high_us * ratio)


def _identity(prepared: Prepared) -> tuple[str, tuple[tuple[str, int], ...]]:
    return prepared.id, tuple(sorted(prepared.tunables.items()))

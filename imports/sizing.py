"""The dims of an imported task: which constants may change, in which steps, and small values for tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from imports.refusal import ImportRefused
from tasks.expressions import evaluate

TARGETS = (6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024)
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512)
IN_PROPORTION = (16, 32, 64)  # the largest of sizes that shrink together
MANY_GROUPS, LEAST_OF_GROUP = 128, 8
MOST_TRIED = 2**30  # of the product of all sizes
MOST_FIXED = 512  # of a constant that cannot change, so that tests stay small
MOST_KEPT = 3  # sizes that are tried as the one on which others depend
CONFIGS = 6
GROWTH = 2  # tests larger than the smallest

Dims = dict[str, int]
Runs = Callable[[Mapping[str, int]], bool]


@dataclass
class Sizing:
    """The dims that were found: smallest values, steps, constants that follow another or stay."""

    base: Dims
    steps: Dims
    fixed: Dims = field(default_factory=dict)
    followers: dict[str, str] = field(default_factory=dict)  # a constant to the dim, or the multiple, that it is
    begins_later: bool = False  # than at one step of each size, which cases may have all the same

    def constants(self, dims: Mapping[str, int]) -> Dims:
        """All constants of the file for these dims."""
        return {**dims, **self.fixed, **{follower: evaluate(text, dims) for follower, text in self.followers.items()}}

    def admits(self, case: Mapping[str, float]) -> bool:
        """Tell whether a case has the values that stay, and steps and followers as they must be."""
        dims = {n: int(case[n]) for n in self.base}
        constants = self.constants(dims)
        return all(v % self.steps[n] == 0 for n, v in dims.items()) and all(case[n] == constants[n] for n in constants)

    def configs(self, rng: np.random.Generator) -> list[Dims]:
        """Choose the smallest dims and others near them, no two the same."""
        configs = [dict(self.base)]
        while len(configs) < CONFIGS:
            drawn = {n: v + self.steps[n] * int(rng.integers(0, 8)) for n, v in self.base.items()}
            if drawn not in configs or len(configs) > 3 * CONFIGS:
                configs.append(drawn)
        return configs

    def unseen(self, rng: np.random.Generator) -> list[Dims]:
        """List the smallest dims with one of them larger than before, in its turn; one step of each; last any dims."""
        base, steps = self.base, self.steps
        choices = [{**base, name: v + steps[name] * int(rng.integers(8, 13))} for name, v in base.items()]
        choices += [dict(steps)] if self.begins_later else []
        return [*choices, {n: v + steps[n] * int(rng.integers(2, 8)) for n, v in base.items()}]


def common(cases: Sequence[Mapping[str, float]], names: Iterable[str]) -> Dims:
    """Find the step that a dim has in all cases that a source lists."""
    return {n: math.gcd(*(int(case[n]) for case in cases)) for n in names}


def sized(
    original: Mapping[str, int],
    runs: Runs,
    steps: Mapping[str, int] | None = None,
    held_sizes: Collection[str] = (),
    frees: bool = True,
    least: int = 1,
) -> Sizing:
    """Try constants out; ImportRefused where the function runs with none but its own sizes.

    With `steps` each dim comes in these alone, in `least` of them or more; those that are `held` keep their values.
    """
    if not original:
        raise ImportRefused(
            "its sizes have no names: write them as constants at the top of the file (rows = 4096), or give --input "
            "and --size"
        )
    if held_sizes and steps is None:
        first, *more = held_sizes
        return _with_pinned(first, original, runs, steps, more=more)
    base: Dims | None = None
    for tried in _smaller(original):
        if runs(tried):
            base = base or tried
            if _has_room(tried, runs):
                base = tried
                break
    if base is None:
        raise ImportRefused("it does not run with sizes smaller than its own, so that no test of it would end in time")
    if held_sizes:
        return _with_held(original, runs, steps or {}, held_sizes)
    sizing = Sizing(_shrunk(base, runs) if not steps else base, {}, begins_later=least > 1)
    for name in list(base):
        if name in sizing.base and name not in sizing.steps:
            _settle(name, original, sizing, runs, (steps[name],) if steps else STEPS, least)
            if frees and name in sizing.fixed and not _still_runs(sizing, runs):
                return _with_one_kept(name, original, runs, steps)
    if not sizing.base:
        raise ImportRefused("none of its sizes can change, so that no case but its own could be judged")
    return sizing


def _still_runs(sizing: Sizing, runs: Runs) -> bool:
    """Tell whether what was found for other sizes holds beside one that has to stay."""
    larger = ({**sizing.base, n: sizing.base[n] + step} for n, step in sizing.steps.items() if n in sizing.base)
    return all(runs(sizing.constants(dims)) for dims in (sizing.base, *larger))


def _with_one_kept(name: str, original: Mapping[str, int], runs: Runs, steps: Mapping[str, int] | None) -> Sizing:
    """Find the sizes beside that one or a smaller one, which keeps its value: the way in which most can change."""
    small = sorted((n for n in original if n != name and original[n] <= original[name]), key=lambda n: original[n])
    sizings: list[Sizing] = []
    for kept_name in [name, *small[:MOST_KEPT]]:
        try:
            sizings.append(_with_pinned(kept_name, original, runs, steps, frees=False))
        except ImportRefused:
            continue
    if not sizings:
        raise ImportRefused(f"its constant {name} = {original[name]} cannot be changed, and nothing else beside it")
    return max(sizings, key=lambda sizing: len(sizing.base))


def _with_pinned(
    name: str,
    original: Mapping[str, int],
    runs: Runs,
    steps: Mapping[str, int] | None,
    frees: bool = True,
    more: Collection[str] = (),
) -> Sizing:
    """Find the sizes beside one, or more, that have to stay as they are: they were tried with other values."""
    others = {n: v for n, v in original.items() if n != name}
    if not others:
        raise ImportRefused("none of its sizes can change, so that no case but its own could be judged")
    sizing = sized(others, lambda constants: runs({**constants, name: original[name]}), steps, more, frees)
    sizing.fixed[name] = original[name]
    return sizing


def _with_held(
    original: Mapping[str, int], runs: Runs, steps: Mapping[str, int], held_sizes: Collection[str]
) -> Sizing:
    """Hold some sizes and change the others by their steps, from one on; ImportRefused where that does not run."""
    free = [n for n in original if n not in held_sizes]
    sizing = Sizing({n: steps[n] for n in free}, {n: steps[n] for n in free}, {n: original[n] for n in held_sizes})
    tried = [sizing.base, *({**sizing.base, n: k * steps[n]} for n in free for k in (2, 3))]
    if not free or not all(runs(sizing.constants(dims)) for dims in tried):
        raise ImportRefused("it does not run with sizes smaller than its own, so that no test of it would end in time")
    return sizing


def _smaller(original: Mapping[str, int]) -> list[Dims]:
    """Sizes to try, cheap ones first: all of them cut to one number, or all of them divided by one."""
    largest = max(original.values())
    cut = [{n: min(v, t) for n, v in original.items()} for t in TARGETS]
    divided = [{n: max(min(v, 2), v * t // largest) for n, v in original.items()} for t in IN_PROPORTION if t < largest]
    by_product = {math.prod(dims.values()): dims for dims in [*cut, *divided]}
    return [by_product[size] for size in sorted(by_product) if size <= MOST_TRIED]


def _shrunk(dims: Dims, runs: Runs) -> Dims:
    """Each size alone as small as it may be, where the others need more."""
    for name, value in dims.items():
        for target in (t for t in TARGETS if t < value):
            tried = {**dims, name: target}
            if runs(tried) and _has_room(tried, runs):
                dims = tried
                break
    return dims


def _has_room(dims: Mapping[str, int], runs: Runs) -> bool:
    """Tell whether half of every size still runs: shapes of held-out cases may be that small."""
    return runs({n: max(1, v // 2) for n, v in dims.items()})


def _settle(
    name: str, original: Mapping[str, int], sizing: Sizing, runs: Runs, steps: Sequence[int] = STEPS, least: int = 1
) -> None:
    """Settle the step of one dim, or the dim that it follows, or its value where it cannot change."""
    base = sizing.base
    for step in steps:
        value = max(least * step, -(-base[name] // step) * step)
        if step > 1 and (original[name] % step or step > original[name]):
            continue
        tried = [{**base, name: value}, {**base, name: value + step}, {**base, name: value + 3 * step}]
        if all(runs(sizing.constants(t)) for t in tried):
            base[name], sizing.steps[name] = _roomy(original[name], value, step) if steps is STEPS else (value, step)
            return
    for other in sorted(set(base) - {name}, key=lambda n: original[n] != original[name]):
        ratio = Fraction(original[name], original[other])
        if _follows(name, other, ratio, sizing, runs):
            return
    if original[name] > MOST_FIXED:
        raise ImportRefused(
            f"its constant {name} = {original[name]} cannot be changed alone, and is too large for a test"
        )
    del base[name]
    sizing.fixed[name] = original[name]


def _roomy(original: int, value: int, step: int) -> tuple[int, int]:
    """Value and step of a size that comes in many groups: with a few elements each, or they show rounding alone."""
    wide = step * LEAST_OF_GROUP
    return (value, step) if step < MANY_GROUPS or original % wide else (-(-value // wide) * wide, wide)


def _follows(name: str, other: str, ratio: Fraction, sizing: Sizing, runs: Runs) -> bool:
    """Tell whether a constant is a multiple of a dim, or a part of one, and needs to be no more."""
    if ratio.numerator != 1 and ratio.denominator != 1:
        return False
    step = math.lcm(sizing.steps.get(other, 1), ratio.denominator)
    least = -(-sizing.base[other] // step) * step
    tried = [{**sizing.base, other: v, name: int(v * ratio)} for v in (least, least + step, least + 3 * step)]
    if not all(runs(sizing.constants(t)) for t in tried):
        return False
    sizing.followers[name] = other if ratio == 1 else f"{ratio} * {other}" if ratio > 1 else f"{other} // {1 / ratio}"
    sizing.steps[other], sizing.base[other] = step, least
    del sizing.base[name]
    return True


def listed_dims(sizing: Sizing, cost: Callable[[Mapping[str, int]], float], limit: float) -> list[Dims]:
    """List the smallest dims, uneven ones, and ones as large as the limit of their cost allows."""
    steps, base = sizing.steps, sizing.base
    uneven = {n: v + steps[n] * (1 + 2 * (i % 2)) for i, (n, v) in enumerate(base.items())}
    large = dict(base)
    for _ in range(64):
        grown = {n: _grown(v, steps[n]) for n, v in large.items()}
        if cost(grown) > limit:
            break
        large = grown
    cases = [base, uneven]
    if large not in cases:
        cases.append(large)
    return cases


def _grown(value: int, step: int) -> int:
    return step * math.ceil((value * 1.3 + step) / step)

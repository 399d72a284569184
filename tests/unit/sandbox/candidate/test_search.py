from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pytest

from sandbox.candidate.search import LEAST, Choice, Search, Timing, by_rank

VALUES = (4, 1, 2, 8, 16, 32)
GRID = [dict(zip("XYZ", values, strict=True)) for values in product(VALUES, repeat=3)]
Time = Callable[[Choice], float | None]


class Asked:
    """A table of times behind a list of what was asked."""

    def __init__(self, time: Time, spread: float = 0.0) -> None:
        self.time, self.spread, self.seen = time, spread, list[Choice]()

    def __call__(self, choice: Choice) -> Timing:
        self.seen.append(choice)
        time = self.time(choice)
        if time is None or not self.spread:
            return Timing(time)
        return Timing(time, time * (1 - self.spread), time * (1 + self.spread))

    def until(self, is_hit: Callable[[Choice], bool]) -> int:
        """The number of estimates until the first choice of this kind."""
        return next((n for n, choice in enumerate(self.seen, 1) if is_hit(choice)), 10**6)


def searched(time: Time, limit: int = 60, seed: int = 1, spread: float = 0.0, **more: object) -> tuple[Search, Asked]:
    choices = more.pop("choices", GRID)
    timer = Asked(time, spread)
    search = Search(choices, timer, limit, seed, **more)  # type: ignore[arg-type]
    search.run()
    return search, timer


def best(search: Search) -> Mapping[str, int]:
    return search.choices[search.ranked()[0]]


def additive(choice: Choice) -> float:
    return 10.0 + abs(choice["X"] - 16) + 3 * abs(choice["Y"] - 2) + 0.5 * abs(choice["Z"] - 8)


def joint(choice: Choice) -> float:
    """Fast where X * Y is 64 and slow to both sides; Z matters little."""
    return 10.0 * max(choice["X"] * choice["Y"] / 64, 64 / (choice["X"] * choice["Y"])) + 0.3 * abs(choice["Z"] - 8)


@pytest.mark.parametrize("limit", [1, 3, 5, 24, 300])
@pytest.mark.parametrize("time", [additive, joint, lambda c: 1.0, lambda c: None], ids=["sum", "product", "flat", "no"])
def test_nothing_is_estimated_twice_the_default_comes_first_and_the_limit_holds(limit: int, time: Time) -> None:
    timer = searched(time, limit)[1]
    counted = Counter(tuple(choice.values()) for choice in timer.seen)
    assert max(counted.values()) == 1
    assert timer.seen[0] == GRID[0]
    assert len(timer.seen) <= min(limit, len(GRID))


@pytest.mark.slow
@pytest.mark.parametrize(("time", "bound"), [(additive, 24), (joint, 24)])
def test_a_planted_best_is_found_in_far_fewer_estimates_than_chance_needs(time: Time, bound: int) -> None:
    fastest = min(time(choice) or 0.0 for choice in GRID)
    good = [choice for choice in GRID if (time(choice) or 0.0) <= 1.05 * fastest]
    by_chance = (len(GRID) + 1) / (len(good) + 1)
    needed = []
    for seed in range(4):
        search, timer = searched(time, 60, seed)
        needed.append(timer.until(lambda choice: (time(choice) or 0.0) <= 1.05 * fastest))
        assert (time(best(search)) or 0.0) <= 1.05 * fastest
    assert statistics.mean(needed) <= min(bound, by_chance)


@pytest.mark.slow
def test_a_needle_that_nothing_points_to_is_found_by_a_thorough_search_alone() -> None:
    needle = {"X": 32, "Y": 1, "Z": 16}
    few = [c for c in GRID if c["X"] >= 16]
    search, timer = searched(lambda c: 1.0 if c == needle else 10.0, len(few), choices=few, is_thorough=True)
    assert len(timer.seen) == len(few)
    assert best(search) == needle
    assert len(searched(lambda c: 10.0, len(few), choices=few)[1].seen) < 40, "a flat space is given up"


def test_one_choice_and_two_choices_end_at_once() -> None:
    assert len(searched(additive, choices=GRID[:1])[1].seen) == 1
    search, timer = searched(additive, choices=GRID[:2])
    assert len(timer.seen) == 2
    assert best(search) == GRID[0]


def test_the_same_seed_asks_for_the_same_and_another_one_does_not() -> None:
    once, repeated = searched(joint, seed=3)[1], searched(joint, seed=3)[1]
    assert once.seen == repeated.seen
    assert once.seen != searched(joint, seed=4)[1].seen


def test_it_starts_at_the_default_and_at_the_parents_choice() -> None:
    timer = Asked(additive)
    Search(GRID, timer, 2, 1).run([{"X": 8, "Y": 16, "W": 3}])
    assert timer.seen == [GRID[0], {"X": 8, "Y": 16, "Z": 4}]
    timer = Asked(additive)
    Search(GRID, timer, 9, 1).run([GRID[0], GRID[0]])
    assert timer.seen.count(GRID[0]) == 1


def test_where_the_compiler_refuses_95_of_100_the_search_learns_where_it_does_not() -> None:
    def narrow(choice: Choice) -> float | None:
        return additive(choice) if choice["X"] * choice["Y"] * choice["Z"] <= 64 and choice["Y"] <= 4 else None

    def rare(choice: Choice) -> float | None:
        return additive(choice) if (choice["Y"], choice["Z"]) in ((4, 4), (2, 4)) else None

    for time, chance in ((narrow, 0.3), (rare, 0.06)):
        share = sum(time(choice) is not None for choice in GRID) / len(GRID)
        assert share < chance
        search, timer = searched(time, 40)
        timed = sum(time(choice) is not None for choice in timer.seen) / len(timer.seen)
        assert timed > 1.5 * share
        assert all(time(search.choices[index]) is not None for index in search.ranked())
        fastest = min(time_us for choice in GRID if (time_us := time(choice)) is not None)
        assert (time(best(search)) or 0.0) <= 1.25 * fastest


def test_ties_are_won_by_the_choice_closest_to_the_default() -> None:
    def plateau(choice: Choice) -> float:
        return 5.0 if choice["X"] == 16 else 9.0

    search, timer = searched(plateau)
    changes = [sum(choice[name] != 4 for name in "XYZ") for choice in timer.seen if plateau(choice) == 5.0]
    assert sum(best(search)[name] != 4 for name in "XYZ") == min(changes)


def test_a_tunable_that_never_mattered_is_varied_alone_at_two_places_and_costs_little() -> None:
    search, timer = searched(lambda c: 10.0 + abs(c["X"] - 16) + 3 * abs(c["Y"] - 2), 60)
    alone = [
        (choice, other)
        for n, choice in enumerate(timer.seen)
        for other in timer.seen[:n]
        if [name for name in "XYZ" if choice[name] != other[name]] == ["Z"]
    ]
    assert len({(pair[0]["X"], pair[0]["Y"]) for pair in alone}) >= 2
    assert best(search)["Z"] == GRID[0]["Z"], "its value stays the default's"
    assert len(timer.seen) < 40


def test_a_tunable_that_nothing_reads_keeps_its_default_but_for_a_look() -> None:
    timer = searched(additive, 60, unused=frozenset("Z"))[1]
    assert 1 <= sum(choice["Z"] != 4 for choice in timer.seen) <= 2
    only = searched(lambda c: 1.0, choices=[{"Z": z} for z in VALUES], unused=frozenset("Z"))[1]
    assert len(only.seen) == 2


def test_it_stops_when_nothing_more_is_expected_and_a_thorough_one_does_not() -> None:
    timer = searched(additive, 200)[1]
    assert LEAST <= len(timer.seen) < 60
    assert len(searched(additive, 60, is_thorough=True)[1].seen) == 60


def test_noise_does_not_make_a_new_best() -> None:
    def noisy(seed: int) -> Time:
        draw = random.Random(seed)
        return lambda choice: 10.0 * (1 + draw.uniform(-0.02, 0.02))

    for seed in range(4):
        assert best(searched(noisy(seed), 24, spread=0.03)[0]) == GRID[0]
    search, _ = searched(lambda c: additive(c) * (1 + 0.005 * (c["X"] % 3)), 60, spread=0.01)
    assert additive(best(search)) <= 1.1 * min(map(additive, GRID))


def test_a_gain_counts_from_the_least_gain_on_and_beyond_the_intervals() -> None:
    assert Timing(9.98).is_faster(Timing(10.0))
    assert not Timing(9.995).is_faster(Timing(10.0))
    assert not Timing(9.0, 8.5, 9.9).is_faster(Timing(10.0, 9.5, 10.5))
    assert Timing(9.0, 8.8, 9.2).is_faster(Timing(10.0, 9.5, 10.5))
    assert Timing(10.0).is_faster(Timing(None))
    assert not Timing(None).is_faster(Timing(10.0))


@pytest.mark.long
def test_what_follows_from_several_tunables_helps() -> None:
    def product_of_three(choice: Choice) -> float:
        size = choice["X"] * choice["Y"] * choice["Z"]
        return 10.0 * max(size / 2048, 2048 / size)

    def needed(quantities: list[list[float]]) -> float:
        runs = [
            searched(product_of_three, 16, seed, quantities=quantities)[1] for seed in range(40)
        ]  # all find it within 12
        return statistics.mean(run.until(lambda choice: product_of_three(choice) == 10.0) for run in runs)

    assert needed([[float(c["X"] * c["Y"] * c["Z"])] for c in GRID]) < needed([])


def test_ranks_keep_ties_and_order() -> None:
    ranks = by_rank(np.asarray([3.0, 1.0, 1.0, 900.0]))
    assert ranks[1] == ranks[2] < ranks[0] < ranks[3]
    assert abs(ranks.mean()) < 0.2

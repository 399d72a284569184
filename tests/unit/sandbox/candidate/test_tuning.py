from collections.abc import Mapping
from itertools import product

import pytest

from sandbox.candidate.tuning import FINALISTS, Tuning, finalists, moved_to_front, search

GRID = [dict(zip("XYZ", values, strict=True)) for values in product((4, 1, 2, 8, 16), repeat=3)]


def bowl(choice: Mapping[str, int]) -> float:
    return 1.0 + abs(choice["X"] - 16) + abs(choice["Y"] - 2) + abs(choice["Z"] - 8)


@pytest.mark.parametrize("limit", [1, 5, 24, 200])
def test_no_more_estimates_than_allowed_and_no_choice_twice(limit: int) -> None:
    seen: list[Mapping[str, int]] = []
    ranked = search(GRID, [], lambda c: seen.append(c) or bowl(c), limit, seed=1)  # type: ignore[func-returns-value]
    assert len(seen) == len({tuple(c.values()) for c in seen}) == min(limit, len(GRID))
    assert ranked == sorted(ranked, key=bowl)


def test_descent_finds_the_bottom_of_a_bowl_in_far_fewer_estimates_than_there_are_choices() -> None:
    assert search(GRID, [], bowl, limit=40, seed=1)[0] == {"X": 16, "Y": 2, "Z": 8}


def test_the_search_starts_at_the_default_and_at_the_parents_choice() -> None:
    seen: list[Mapping[str, int]] = []
    search(GRID, [{"X": 8, "Y": 16, "W": 3}], lambda c: seen.append(c) or 1.0, 2, 1)  # type: ignore[func-returns-value]
    assert seen == [GRID[0], {"X": 8, "Y": 16, "Z": 4}]


def test_the_same_arguments_give_the_same_ranking_and_the_seed_matters() -> None:
    def flat(choice: Mapping[str, int]) -> float:
        return 1.0

    assert search(GRID, [], flat, 30, 1) == search(GRID, [], flat, 30, 1) != search(GRID, [], flat, 30, 2)


def test_choices_that_cannot_be_estimated_are_left_out() -> None:
    ranked = search(GRID[:10], [], lambda c: None if c["Y"] == 4 else bowl(c), 24, 1)
    assert ranked
    assert all(c["Y"] != 4 for c in ranked)
    assert search(GRID, [], lambda c: None, 24, 1) == []


def test_the_finalists_are_the_best_estimates_and_the_default_has_the_last_word() -> None:
    slow_default = finalists(GRID, Tuning((), 200, 1), bowl)
    assert slow_default == [*sorted(GRID, key=bowl)[:FINALISTS], GRID[0]]
    assert finalists(GRID, Tuning((), 200, 1), lambda c: 0.0 if c == GRID[0] else bowl(c)) == [GRID[0]]
    assert finalists(GRID, Tuning((), 200, 1), lambda c: None) == [GRID[0]]


def test_without_choices_or_estimates_the_default_is_judged_alone() -> None:
    assert finalists([], Tuning(), bowl) == [{}]
    assert finalists(GRID[:1], Tuning(), bowl) == finalists(GRID, Tuning((), 0, 1), bowl) == [GRID[0]]


SOURCE = """/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(rows, ROWS)"]
[tunables]
ROWS = [4, 1,
        0x2, 8]  # rows a block
COLS=[1, 2]
[constraints]
ROWS = ["not a list of values"]
fits = "ROWS * cols <= 4096"
+++*/
int ROWS_[] = {1}; // ROWS = [4, 1]
"""


def test_the_chosen_values_come_first_and_nothing_else_changes() -> None:
    tuned = moved_to_front(SOURCE, {"ROWS": 2, "COLS": 1})[0]
    assert "ROWS = [2, 4, 1, 8\n]  # rows a block\nCOLS=[1, 2]\n" in tuned, "every line keeps its number"
    assert tuned.replace("ROWS = [2, 4, 1, 8\n]", "ROWS = [4, 1,\n        0x2, 8]") == SOURCE
    assert moved_to_front(tuned, {"ROWS": 2})[0] == tuned


@pytest.mark.parametrize("source", ["no plan", "/*+++\n[[launch]]\n+++*/ [tunables]\nROWS = [4, 1]\n"])
def test_a_file_without_tunables_stays_as_it_is(source: str) -> None:
    assert moved_to_front(source, {"ROWS": 1})[0] == source

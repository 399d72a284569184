from collections.abc import Mapping
from itertools import product

import pytest

from sandbox.candidate.search import Timing
from sandbox.candidate.tuning import FINALISTS, Tuning, finalists, moved_to_front

GRID = [dict(zip("XYZ", values, strict=True)) for values in product((4, 1, 2, 8, 16), repeat=3)]
BEST = {"X": 16, "Y": 2, "Z": 8}


def bowl(choice: Mapping[str, int]) -> Timing:
    return Timing(4.0 + abs(choice["X"] - 16) + abs(choice["Y"] - 2) + abs(choice["Z"] - 8))


def test_the_finalists_are_the_best_estimates_and_the_default_has_the_last_word() -> None:
    chosen = finalists(GRID, Tuning((), 200, 1), bowl)
    assert len(chosen) == FINALISTS + 1
    assert (chosen[0], chosen[-1]) == (BEST, GRID[0])
    times = [bowl(choice).time_us for choice in chosen]
    assert times == sorted(times, key=float)  # type: ignore[arg-type]
    assert finalists(GRID, Tuning((), 200, 1), lambda c: Timing(0.5) if c == GRID[0] else bowl(c)) == [GRID[0]]
    assert finalists(GRID, Tuning((), 200, 1), lambda c: Timing(None)) == [GRID[0]]


def test_a_choice_that_gains_less_than_the_least_gain_does_not_take_the_defaults_place() -> None:
    def close(choice: Mapping[str, int]) -> Timing:
        return Timing(10.0 if choice == GRID[0] else 9.995)

    def faster(choice: Mapping[str, int]) -> Timing:
        return Timing(10.0 if choice == GRID[0] else 9.9)

    assert finalists(GRID, Tuning((), 24, 1), close) == [GRID[0]]
    assert finalists(GRID, Tuning((), 24, 1), faster)[0] != GRID[0]


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

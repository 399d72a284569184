"""Twelve naive kernels: all there in two styles, none of them shipped, and the stored outcomes reach their goals."""

from __future__ import annotations

from agents.source import read
from benchmarks.own_kernels import FOLDER, LIMIT, OTHER, Outcome, figures, names, stored
from tasks.loader import load_task
from tests.support.specimens import seeds


def test_each_operation_has_a_task_and_two_kernels_that_ship_nowhere() -> None:
    assert len(names()) == 12
    shipped = {read(path.read_text(encoding="utf-8")).fingerprint for _, path in seeds()}
    for name in names():
        kernels = [(FOLDER / name / "seed.hip"), (OTHER / f"{name}.hip")]
        prints = {read(path.read_text(encoding="utf-8")).fingerprint for path in kernels}
        assert len(prints) == 2
        assert not prints & shipped
        assert not any(read(path.read_text(encoding="utf-8")).tunables for path in kernels[:1])


def test_a_goal_is_missed_where_too_few_are_reached_or_a_slow_one_gains_too_little() -> None:
    outcomes = {str(n): Outcome(str(n), 0.2, 0.9, 12) for n in range(8)}
    assert all(figure.met is not False for figure in figures(outcomes, is_other=False))
    outcomes["0"] = Outcome("0", 0.2, 0.59, 12)
    assert [f.met for f in figures(outcomes, is_other=False)][-3:] == [False, False, True]
    outcomes["0"] = Outcome("0", 0.2, 0.9, LIMIT + 1)
    assert [f.met for f in figures(outcomes, is_other=False)][-3:] == [True, True, False]


def test_the_stored_outcomes_reach_their_goals() -> None:
    outcomes = stored(is_other=False)
    assert set(outcomes) <= set(names())
    assert all(figure.met is not False for figure in figures(outcomes, is_other=False))


def test_every_task_loads_for_both_targets() -> None:
    for name in names():
        for target in ("mi300x", "h200"):
            assert load_task(str(FOLDER / name), target).seeds

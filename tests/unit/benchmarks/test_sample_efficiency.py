import json

from benchmarks.sample_efficiency import (
    CLIMB,
    FILE,
    LIMIT,
    OURS,
    RANDOM,
    UNSEEN,
    by_chance,
    climb,
    curve,
    figures,
    needed,
    ours,
)
from benchmarks.spaces import Space, stored_spaces

SPACE = Space(
    "planted",
    "",
    ("ROWS", "COLS"),
    tuple((r, c) for r in range(10) for c in range(10)),
    tuple(None if r == 9 else 10.0 + abs(r - 6) + 2 * abs(c - 3) for r in range(10) for c in range(10)),
)


def test_the_good_points_are_within_5_percent_and_chance_follows_from_their_number() -> None:
    assert SPACE.best_us == 10.0
    assert [SPACE.points[i] for i in SPACE.good] == [(6, 3)]
    assert by_chance(SPACE) == 101 / 2
    assert by_chance(SPACE, 49) == 26


def test_a_run_that_did_not_get_there_is_charged_what_chance_needs() -> None:
    good = SPACE.points.index((6, 3))
    assert needed(SPACE, [0, 1, good, 2]) == 3
    assert needed(SPACE, [0, 1, 2]) == 3 + by_chance(SPACE, 3)


def test_our_tuner_and_the_climb_get_there_and_the_curve_never_falls() -> None:
    order = ours(SPACE, 0)
    assert order[0] == 0
    assert order[-1] in SPACE.good
    assert len(order) < by_chance(SPACE)
    climbed = climb(SPACE, 1)
    assert len(climbed) == len(set(climbed)) == min(LIMIT, len(SPACE.points))
    shares = curve(SPACE, [order, climbed])
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_the_goal_is_a_quarter_of_random_and_half_of_the_best_of_the_others() -> None:
    rows = [{OURS: 4.0, RANDOM: 40.0, CLIMB: 20.0, "one": 9.0, "two": 30.0}] * 2
    goals = {figure.anchor: figure.goal for figure in figures("all", rows)}
    assert goals == {RANDOM: "<= 10", CLIMB: "", "one": "<= 4.5", "two": ""}


def test_the_spaces_are_many_and_mostly_hard() -> None:
    summaries = json.loads(FILE.read_text(encoding="utf-8"))["spaces"]
    assert len(summaries) >= 8 and set(summaries) >= UNSEEN
    assert sum(summary["good"] < 0.05 * summary["points"] for summary in summaries.values()) >= 4
    spaces = stored_spaces()
    assert len(spaces) >= 4 and {space.name for space in spaces} <= set(summaries)
    for space in spaces:
        assert len(set(space.points)) == len(space.points) == len(space.times_us) <= 4096
        assert (len(space.points), len(space.good)) == (summaries[space.name]["points"], summaries[space.name]["good"])
        assert 0 not in space.good, "the default leaves something to find"

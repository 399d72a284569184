from __future__ import annotations

import pytest

from graph.credit import Estimated, credit_of, inert_of, shared_choice
from records.experiment import Attempt, Credit

PARENT = Attempt(
    "p", "r", "e", 0, 0, "c", "s", "accepted", "k", tunables={"ROWS": 2}, geomean_us=80.0, time_kind="predicted"
)


def child(time_us: float, tunables: dict[str, int], kind: str = "predicted") -> Attempt:
    return Attempt("c", "r", "f", 1, 0, "d", "t", "accepted", "l", "p", (), (), "", tunables, time_us, kind)


def at(time_us: float, spread: float = 0.0, **tunables: int) -> Estimated:
    return Estimated(tunables, time_us, time_us - spread, time_us + spread)


def test_the_parts_of_a_gain_are_told_apart() -> None:
    """Estimates may have another level than the benchmark: only their ratios count."""
    made = [at(200.0, ROWS=4), at(160.0, ROWS=2), at(100.0, ROWS=1)]
    found = credit_of(child(50.0, {"ROWS": 1}), PARENT, {"ROWS": 4}, made)
    assert found == Credit(pytest.approx(100.0), pytest.approx(60.0), pytest.approx(0.0))  # type: ignore[arg-type]


def test_a_part_that_is_not_known_is_none() -> None:
    assert credit_of(child(50.0, {"ROWS": 1}), None, {"ROWS": 4}, ()) == Credit(None, None, None)
    assert credit_of(child(50.0, {}), PARENT, {}, ()) == Credit(0.0, pytest.approx(60.0), None)  # type: ignore[arg-type]
    assert credit_of(child(50.0, {"ROWS": 2}, "measured"), PARENT, {"ROWS": 2}, ()) == Credit(0.0, None, None)
    same = credit_of(child(50.0, {"ROWS": 2}), PARENT, {"ROWS": 2}, ())
    assert same.equal_pct == same.idea_pct == pytest.approx(60.0)


def test_new_tunables_are_equal_at_their_defaults() -> None:
    assert shared_choice({"ROWS": 4, "COLS": 8}, {"ROWS": 2}) == {"ROWS": 2, "COLS": 8}
    assert shared_choice({"COLS": 8}, {"ROWS": 2}) is None
    made = [at(80.0, ROWS=2, COLS=8), at(40.0, ROWS=2, COLS=16)]
    found = credit_of(child(40.0, {"ROWS": 2, "COLS": 16}), PARENT, {"ROWS": 2, "COLS": 8}, made)
    assert (found.tuner_pct, found.idea_pct, found.equal_pct) == pytest.approx((100.0, 100.0, 0.0))


def test_a_tunable_is_inert_where_no_pair_that_differs_in_it_alone_differs_in_time() -> None:
    made = [at(100.0, ROWS=4, LOG=0), at(100.0, ROWS=4, LOG=1), at(80.0, ROWS=2, LOG=1), at(80.0, ROWS=2, LOG=0)]
    assert inert_of(made) == ("LOG",)
    assert inert_of([*made, at(70.0, ROWS=2, LOG=3)]) == ()
    assert inert_of([at(100.0, ROWS=4, LOG=0), at(80.0, ROWS=2, LOG=1)]) == (), "nothing was varied alone"
    assert inert_of([at(100.0, 3.0, ROWS=4), at(97.0, 1.0, ROWS=2)]) == ("ROWS",), "measured intervals overlap"
    assert inert_of([at(100.0, 1.0, ROWS=4), at(97.0, 1.0, ROWS=2)]) == ()

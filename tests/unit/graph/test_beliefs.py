"""What a run believes of ideas: on which base, by how much, and what moves it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.beliefs import TOLD, Base, Beliefs, Promise
from records.mechanism import Mechanism

GAINS = st.floats(-60, 5000)


def base(time_us: float, least_us: float = 0.0, used: frozenset[Mechanism] = frozenset()) -> Base:
    """A kernel that was made from `naive`, which took 14,550 us, by changes of these mechanisms."""
    return Base(
        time_us, least_us, {"naive": 14_550.0, "sibling": 300.0, "now": time_us}, {"now": frozenset(), "naive": used}
    )


def test_a_gain_over_the_naive_kernel_is_nothing_on_a_base_that_has_passed_it() -> None:
    hand = base(112.9, 101.7, frozenset({"tiling"}))
    stale = Beliefs().expected("tiling", Promise.of(1000, 4000), "naive", hand)
    assert not stale.is_worth_trying
    fresh = Beliefs().expected("latency hiding", Promise.of(2, 6), "now", hand)
    assert fresh.is_worth_trying and fresh.saved_us > stale.saved_us


def test_another_mechanism_keeps_its_gain_up_to_what_the_roofline_leaves() -> None:
    hand = base(112.9, 101.7, frozenset({"tiling"}))
    kept = Beliefs().expected("bank conflicts", Promise.of(5, 40), "naive", hand)
    assert kept.gain_min_pct == pytest.approx(5)
    assert kept.gain_max_pct == pytest.approx(100 * (112.9 / 101.7 - 1))


def test_an_idea_of_a_branch_that_did_not_win_counts_by_the_time_that_it_promised() -> None:
    hand = base(112.9)
    assert not Beliefs().expected("tiling", Promise.of(10, 50), "sibling", hand).is_worth_trying
    assert Beliefs().expected("tiling", Promise.of(100, 300), "sibling", hand).gain_max_pct == pytest.approx(
        50.5, abs=1
    )


@given(
    low=GAINS,
    high=GAINS,
    time_us=st.floats(1, 1e5),
    share=st.floats(0.01, 1),
    on=st.sampled_from(["now", "naive", "no"]),
)
def test_nothing_is_expected_beyond_the_roofline(
    low: float, high: float, time_us: float, share: float, on: str
) -> None:
    hand = base(time_us, share * time_us)
    expected = Beliefs().expected("", Promise.of(low, high), on, hand)
    assert expected.gain_max_pct <= 100 * (1 / share - 1) + 1e-5
    assert expected.saved_us <= time_us * (1 - share) * (1 + 1e-9)


def test_evidence_moves_its_mechanism_most_and_the_others_a_little() -> None:
    beliefs = Beliefs()
    before = beliefs.trust("tiling")
    for _ in range(4):
        beliefs.add("occupancy", Promise.of(50, 50), 0.0)
    assert beliefs.trust("occupancy") < beliefs.trust("tiling") < before
    assert "4 tried" in beliefs.evidence["occupancy"].text


def test_a_writer_s_failure_says_nothing_of_the_mechanism() -> None:
    beliefs = Beliefs()
    trust, success = beliefs.trust("tiling"), beliefs.success
    beliefs.add("tiling", Promise.of(50, 50), None)
    assert beliefs.trust("tiling") == trust
    assert beliefs.success < success


def test_a_calibrated_author_is_believed_in_the_end() -> None:
    beliefs = Beliefs()
    for _ in range(30):
        beliefs.add("tiling", Promise.of(20, 20), math.log(1.2))
    assert beliefs.trust("tiling") == pytest.approx(1.0, abs=0.1)


def test_a_long_run_tells_the_latest_experiments_of_a_mechanism() -> None:
    beliefs = Beliefs()
    for number in range(100):
        beliefs.add("tiling", Promise.of(10, 20), number / 100)
    text = beliefs.evidence["tiling"].text
    assert text.startswith("100 tried: ") and text.count("predicted") == TOLD

"""Which region of a model the next generation goes to, and when the rest is worth too little."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.model_worth import RegionState, gain, next_region, rest_gain

NORM = RegionState(("norm",), "tasks/norm", 0.4, 4.0)
GATE = RegionState(("gate",), "tasks/gate", 0.2, 2.0)


def test_the_largest_expected_gain_goes_first() -> None:
    assert next_region([GATE, NORM]) is NORM
    assert rest_gain([NORM, GATE]) == pytest.approx(1 / (1 - 0.3 - 0.1))
    assert gain([NORM, GATE]) == 1


def test_a_kernel_near_the_roofline_leaves_the_other_region_more() -> None:
    done = replace(NORM, run="r", fractions=(0.5, 0.9), seconds=20.0)
    assert done.gained == pytest.approx(0.4 * (1 - 1 / (4 * 0.9)))
    assert done.rest == pytest.approx(0.1 * (1 / 0.9 - 1))
    assert next_region([done, GATE]) is GATE


def test_generations_without_success_halve_what_is_expected() -> None:
    stuck = replace(NORM, run="r", fractions=(0.5, 0.5, 0.5), seconds=30.0)
    assert stuck.expected == pytest.approx(stuck.rest / 4)
    moving = replace(stuck, fractions=(0.3, 0.4, 0.5))
    assert moving.belief == 1


def test_the_gain_counts_by_its_cost() -> None:
    dear = replace(NORM, run="r", fractions=(0.4, 0.5), usd=10.0)
    cheap = replace(GATE, run="s", fractions=(0.5, 0.6), usd=0.1)
    assert dear.expected > cheap.expected and next_region([dear, cheap]) is cheap


def test_nothing_is_left_where_no_gap_is_known_or_the_run_has_ended() -> None:
    assert next_region([replace(NORM, gap=0.0), replace(GATE, is_ended=True)]) is None
    assert rest_gain([replace(NORM, gap=1.0)]) == 1

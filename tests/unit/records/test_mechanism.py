"""The list of mechanisms, as planners name them."""

from __future__ import annotations

import pytest

from records.mechanism import MECHANISMS, mechanism_of


@pytest.mark.parametrize("said", ["Split-Work", " bank_conflicts ", "COALESCING", "", "magic"])
def test_a_mechanism_is_read_from_what_a_planner_says(said: str) -> None:
    plain = " ".join(said.lower().replace("-", " ").replace("_", " ").split())
    assert mechanism_of(said) == (plain if plain in MECHANISMS else "")

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from imports.refusal import ImportRefused
from imports.sizing import listed_dims, sized


def runs(dims: Mapping[str, int]) -> bool:
    """Channels come in groups of eight, two constants are one size, and a window needs three of the height."""
    return dims["channels"] % 8 == 0 and dims["height"] >= 3 and dims["left"] == dims["right"]


ORIGINAL = {"channels": 64, "height": 256, "left": 32, "right": 32}


def test_each_dim_has_its_smallest_value_and_its_step() -> None:
    sizing = sized(ORIGINAL, runs)
    assert sizing.steps == {"channels": 8, "height": 1, "right": 1} and sizing.followers == {"left": "right"}
    for config in sizing.configs(np.random.default_rng(0)):
        assert runs(sizing.constants(config))


def test_tests_grow_to_the_limit() -> None:
    sizing = sized(ORIGINAL, runs)
    cases = listed_dims(sizing, lambda d: d["channels"] * d["height"], 4096)
    assert cases[0] == sizing.base and len({tuple(c.values()) for c in cases}) == 3
    assert all(c["channels"] * c["height"] <= 4096 and runs(sizing.constants(c)) for c in cases)


def test_what_cannot_change_is_refused() -> None:
    with pytest.raises(ImportRefused, match="no names"):
        sized({}, runs)
    with pytest.raises(ImportRefused, match="smaller than its own"):
        sized({"n": 4096}, lambda dims: dims["n"] == 4096)


def test_sizes_are_tried_again_with_one_that_has_to_stay() -> None:
    """A patch that has 8 places, whatever the rest was tried with."""

    def patches(dims: Mapping[str, int]) -> bool:
        return dims["width"] % dims["p"] == 0 and dims["p"] in (6, 8)

    sizing = sized({"batch": 4, "width": 64, "p": 8}, patches)
    assert sizing.fixed == {"p": 8} and sizing.steps["width"] == 8
    assert all(patches(sizing.constants(config)) for config in sizing.configs(np.random.default_rng(0)))

"""Which of a run's proposals an experiment has tried, whatever the two are called."""

from __future__ import annotations

import pytest

from graph.sameness import Sameness
from records.experiment import Experiment, Proposed
from records.mechanism import Mechanism

CHANGES = (
    "128 x 128 tiles, swizzled LDS, register prefetch, split K",
    "Vector staging by v_perm at 64 x 64, prefetched",
    "Chiplet-aware order of tiles",
    "Eight waves for 128 x 128 tiles",
    "Two LDS buffers in the K loop",
    "Non-temporal stores of the output",
    "Stream-K decomposition of the tiles",
)


@pytest.mark.parametrize(
    ("title", "mechanism", "change", "is_tried"),
    [
        ("Stream-K decomposition of the tiles", "", "Decompose the K loop of all tiles over units (Stream-K)", True),
        ("Two LDS buffers in the K loop", "latency hiding", "One barrier a block: two LDS buffers, loop over k", True),
        ("Two LDS buffers in the K loop", "bank conflicts", "One barrier a block: two LDS buffers, loop over k", False),
        ("Chiplet-aware order of tiles", "", "Tunable tiles and split, order of tiles aware of the chiplet", True),
        ("Chiplet-aware order of tiles", "", "Order the loads of tiles by wave", False),
        ("Non-temporal stores of the output", "", "Non-temporal loads of the weights", False),
        ("Eight waves for 128 x 128 tiles", "", "128 x 128 tiles, swizzled LDS, register prefetch, split K", False),
    ],
)
def test_rare_words_and_the_mechanism_decide(title: str, mechanism: Mechanism, change: str, is_tried: bool) -> None:
    sameness = Sameness()
    for known in CHANGES:
        sameness.learn(Proposed("r", 1, "b", known))
    experiment = Experiment("e", "r", 2, 1, "p", None, change, "", mechanism=mechanism and "latency hiding")
    assert sameness.is_tried_by(experiment, Proposed("r", 1, "b", title, mechanism=mechanism)) is is_tried

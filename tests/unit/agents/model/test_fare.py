"""The room that a role's next answer is as likely as not to fit into, whatever the lengths before it are."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from agents.model.fare import KEPT, AnswerLengths


def spread(draw: random.Random) -> int:
    return int(draw.expovariate(1e-3))


def apart(draw: random.Random) -> int:
    return draw.choice((1, 10**6))


@pytest.mark.parametrize("length", [spread, apart])
@pytest.mark.parametrize("count", [1, 4, 5])
def test_the_next_answer_fits_with_a_chance_of_a_half_or_more(
    length: Callable[[random.Random], int], count: int
) -> None:
    draw, fits = random.Random(5), 0
    for _ in range(2000):
        lengths = AnswerLengths()
        for _ in range(count):
            lengths.add("coder", length(draw), is_cut=False)
        room = lengths.likely("coder")
        assert room is not None
        fits += length(draw) <= room
    assert fits > 0.47 * 2000


def test_what_was_cut_off_is_longer_than_any_room_and_what_is_long_ago_is_forgotten() -> None:
    lengths = AnswerLengths()
    assert lengths.likely("coder") is None
    for tokens, is_cut in ((90, True), (50, False), (80, True)):
        lengths.add("coder", tokens, is_cut)
    assert lengths.likely("coder") == math.inf
    for _ in range(KEPT):
        lengths.add("coder", 7, is_cut=False)
    assert (lengths.likely("coder"), lengths.likely("critic")) == (7, None)

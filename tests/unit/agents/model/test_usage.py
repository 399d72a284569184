"""Usage as servers tell it: what is believed, and what is counted where it is not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.model.price import Price
from agents.model.usage import RequestSizes, usage_of

SIZES = RequestSizes(prompt_bytes=4000, answer_bytes=400)
PRICE = Price(1.0, 10.0, 0.1, tiers={"batch": 0.5})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
NAMES = st.sampled_from(
    ["prompt_tokens", "completion_tokens", "total_tokens", "cost", "prompt_tokens_details", "output_tokens"]
)


@given(st.dictionaries(NAMES, JSON) | JSON, JSON)
def test_whatever_a_server_tells_costs_something_and_is_a_number(told: Any, tier: Any) -> None:
    made = usage_of(told, SIZES, PRICE, tier).usage
    assert made.prompt_tokens * 64 >= SIZES.prompt_bytes
    assert made.completion_tokens * 64 >= SIZES.answer_bytes
    assert 0 <= made.cached_tokens <= made.prompt_tokens
    assert 0 < made.usd < float("inf")


@pytest.mark.parametrize(
    "told",
    [
        {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 900}},
        {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_cache_hit_tokens": 900},
        {"input_tokens": 1000, "output_tokens": 100, "input_tokens_details": {"cached_tokens": 900}},
    ],
)
def test_cached_tokens_are_found_under_the_names_that_servers_give_them(told: dict[str, Any]) -> None:
    made = usage_of(told, SIZES, PRICE)
    assert made.is_counted
    assert made.usage.cached_tokens == 900
    assert made.usage.usd == pytest.approx((100 * 1.0 + 900 * 0.1 + 100 * 10.0) / 1e6)
    assert usage_of(told, SIZES, PRICE, "batch").usage.usd == pytest.approx(made.usage.usd / 2)


def test_one_false_count_leaves_the_other_as_it_is() -> None:
    made = usage_of({"prompt_tokens": 1100, "completion_tokens": -1}, SIZES, PRICE)
    assert (made.usage.prompt_tokens, made.usage.completion_tokens, made.is_counted) == (1100, 200, False)

"""Text from outside: usable by every store after decoding, and nothing in it hidden from a reader."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.outside_text import cleaned, cleaned_value, decoded, escaped, is_whole, visible, visible_value

ANY = st.text(st.characters(codec=None, exclude_categories=()))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3),
    max_leaves=8,
)


def texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [t for pair in value.items() for each in pair for t in texts_in(each)]
    if isinstance(value, list):
        return [t for each in value for t in texts_in(each)]
    return [value] if isinstance(value, str) else []


@given(ANY)
def test_cleaned_text_can_be_stored_and_cleaning_it_again_changes_nothing(text: str) -> None:
    made = cleaned(text)
    assert made.encode("utf-8").decode("utf-8") == made
    assert "\0" not in made
    assert cleaned(made) == made
    assert is_whole(text) == (made == text)


@given(VALUES)
def test_json_is_clean_after_its_decoding(value: Any) -> None:
    found = decoded(json.dumps(value))
    assert found == cleaned_value(value)
    for text in texts_in(found):
        text.encode("utf-8")


def test_an_escape_is_cleaned_where_cleaning_the_text_would_see_none() -> None:
    text = '{"source": "\\ud800 \\u0000 \\ud83d\\ude00"}'
    assert cleaned(text) == text
    assert decoded(text) == {"source": "\ufffd  \U0001f600"}


@given(ANY)
def test_nothing_visible_is_a_control_a_direction_or_a_tag(text: str) -> None:
    for character in visible(text):
        kind = unicodedata.category(character)
        assert kind not in ("Cc", "Cs", "Zl", "Zp") or character in "\n\t"
        assert not "\u202a" <= character <= "\u202e"
        assert not "\u2066" <= character <= "\u2069"
        assert not "\U000e0000" <= character <= "\U000e0fff"


@pytest.mark.parametrize("text", ["ä × 2\n\tfloat x;", "日本語 العربية עברית", "plain"])
def test_what_people_write_stays(text: str) -> None:
    assert visible(text) == cleaned(text) == escaped(text) == text


@given(VALUES)
def test_escaped_json_is_the_same_value(value: Any) -> None:
    assert json.loads(escaped(json.dumps(value, ensure_ascii=False))) == json.loads(json.dumps(value))


def test_values_are_made_visible_at_any_depth() -> None:
    assert visible_value({"a\u202e": ["\x1b", 1]}) == {"a⟨U+202E⟩": ["⟨U+001B⟩", 1]}

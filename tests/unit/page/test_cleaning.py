from __future__ import annotations

import json
import math

from page.cleaning import as_json, cleaned, json_of
from page.sheets import Extras, ReadPassage
from records.outside_text import visible


def test_hidden_characters_are_shown_as_code_points() -> None:
    assert visible("a\u202eb\x1b[0m") == "a⟨U+202E⟩b⟨U+001B⟩[0m"
    assert visible("ä\n\t×") == "ä\n\t×"
    assert visible("\ud800\u2028\u200b") == "⟨U+D800⟩⟨U+2028⟩⟨U+200B⟩"


def test_secrets_and_home_go_from_keys_and_values_at_any_depth() -> None:
    extras = Extras(secrets=("sk-secret",), home="/houses/ada")
    value = {"sk-secret": [{"a": "in /houses/ada/x"}, ["sk-secret"]], "n": 1.5, "t": True, "none": None}
    assert cleaned(value, extras) == {"[removed]": [{"a": "in ~/x"}, ["[removed]"]], "n": 1.5, "t": True, "none": None}


def test_json_has_no_markup_and_no_number_that_a_browser_cannot_read() -> None:
    text = json_of({"a": "</script><!--", "b": [math.inf, math.nan, -math.inf, 2]}, Extras())
    assert "<" not in text
    assert json.loads(text) == {"a": "</script><!--", "b": [None, None, None, 2]}


def test_a_record_becomes_an_object_of_its_fields() -> None:
    passage = ReadPassage("p", "t", "s", "src", ("planner",), 2, ())
    assert json.loads(as_json(passage, Extras())) == {
        "id": "p", "title": "t", "section": "s", "source": "src", "roles": ["planner"], "times": 2, "cited_by": []
    }  # fmt: skip

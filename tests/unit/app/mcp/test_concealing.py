"""Answers for a client: bounded, without keys, without shapes that are not listed."""

from __future__ import annotations

from pathlib import Path

from app.mcp.concealing import MOST_ITEMS, cleaned, clipped, without_shapes

LISTED = {"rows=7,cols=1000", "rows=1,cols=64"}


def test_only_listed_shapes_are_told() -> None:
    text = "wrong (case rows=7,cols=1000), and (case rows=37,cols=1009), rows=7,cols=1000 (new inputs), n=13 lost"
    concealed = without_shapes(text, LISTED)
    assert "rows=7,cols=1000)" in concealed
    assert not any(hidden in concealed for hidden in ("37", "1009", "new inputs", "13"))


def test_a_text_is_cut_at_a_line_and_says_so() -> None:
    assert clipped("short", 10) == "short"
    cut = clipped("first line\nsecond line\nthird line", 25)
    assert cut == "first line\nsecond line\n(cut here: 11 characters more)"
    assert clipped("x" * 50, 10).startswith("x" * 10 + "\n(cut here: 40")


def test_keys_home_and_length_are_seen_to_at_every_depth() -> None:
    fields = {"a": ["sk-canary-1234", {"b": str(Path.home() / "file")}], "n": 3, "many": list(range(100))}
    safe_fields = cleaned(fields, ("sk-canary-1234",), 20)
    assert safe_fields["a"] == ["[removed]", {"b": "~/file"}] and safe_fields["n"] == 3
    assert len(safe_fields["many"]) == MOST_ITEMS

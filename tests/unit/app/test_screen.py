from __future__ import annotations

import json

import pytest

from app.screen import emit, folded, format_seconds, format_us, heading, say, table


def test_nothing_said_can_drive_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("before\x1b[2J\x1b]0;title\x07after\x9b31m")
    out = capsys.readouterr().out
    assert not set(out) & {"\x1b", "\x07", "\x9b"}
    assert "before" in out
    assert "after" in out


def test_ordinary_text_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    say("ä × 2\n\tfloat x;")
    assert capsys.readouterr().out == "ä × 2\n\tfloat x;\n"


def test_hidden_characters_of_an_answer_in_json_are_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"why": "a\u202eb\U000e0041\x9b\ud800", "Ä": 1})
    out = capsys.readouterr().out
    assert "\\u202e" in out
    assert "Ä" in out
    assert not set(out) & {"\u202e", "\U000e0041", "\x9b"}
    assert json.loads(out) == {"why": "a\u202eb\U000e0041\x9b\ud800", "Ä": 1}


def test_columns_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    table(["name", "value"], [["a", "1"], ["longer", "1000"]], right=[1])
    assert capsys.readouterr().out.splitlines() == ["name    value", "a           1", "longer   1000"]


@pytest.mark.parametrize(
    ("time_us", "text"),
    [(None, "-"), (0.5, "0.5 us"), (12.345, "12.3 us"), (999.7, "1000 us"), (2500.0, "2.5 ms"), (3e6, "3 s")],
)
def test_times_carry_their_unit(time_us: float | None, text: str) -> None:
    assert format_us(time_us) == text


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("unroll the loops [unroll:2 on f3585392]", "unroll the loops [unroll:2]"),
        ("two at once [together:restrict+unroll on f3585392]: +3 %", "two at once [together:restrict+unroll]: +3 %"),
        ("store [i] on 8 lanes", "store [i] on 8 lanes"),
    ],
)
def test_a_title_is_shown_without_the_playbooks_fingerprint(title: str, expected: str) -> None:
    assert heading(title) == expected


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("kernel       runs/one/best.hip", ["kernel       runs/one/best.hip"]),
        ("changed      unroll, load a pass ahead", ["changed      unroll, load a", "             pass ahead"]),
        ("             unroll, load a pass ahead", ["             unroll, load a", "             pass ahead"]),
        ("[0:02]   g000-e0-a0 accepted: 1.99 ms", ["[0:02]   g000-e0-a0 accepted:", "         1.99 ms"]),
        ("a sentence of more words than fit in it", ["a sentence of more words than", "fit in it"]),
        ("report       /a/longer/path/than/the/line", ["report       /a/longer/path/than/the/line"]),
    ],
)  # fmt: skip
def test_a_line_is_broken_between_words_below_its_second_column(text: str, lines: list[str]) -> None:
    assert folded(text, 31).split("\n") == lines


def test_elapsed_time() -> None:
    assert (format_seconds(5), format_seconds(65), format_seconds(3700)) == ("0:05", "1:05", "1h 01m")


def test_json_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"a": [1, None, "ü\x1b"]})
    assert json.loads(capsys.readouterr().out) == {"a": [1, None, "ü\x1b"]}

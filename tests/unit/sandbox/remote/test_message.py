"""What goes between an asker and a worker: names by content, types of all fields, answers that fit their question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from records.errors import SpoolError
from records.evaluation import Comparison, Contender, Evaluation, Verdict
from sandbox.remote.message import BundleEntry, Place, Request, Result, is_typed, pack, problem_of, unpack

PLACE = Place("mi300x", "lab:mi300x", "clang 20")
REQUEST = Request("h", "mi300x", "s", 7, "t", "d", "source", {"ROWS": 2}, ("compile",), files={"task.toml": "x"})
ENTRY = BundleEntry("compile", Evaluation("k", "c", {"ROWS": 2}, Verdict("compile", True, "OK"), seconds=0.5))
RESULT = Result(REQUEST.hash, "h", "w", PLACE, (ENTRY,))
COMPARISON = Comparison("k", "a", "b", "faster", 0.9, 0.8, 0.95)


@dataclass(frozen=True)
class Row:
    """Fields of all kinds."""

    name: str
    parts: tuple[int, ...]
    sizes: Mapping[str, float]
    inner: Place | None
    is_set: bool


ROW = Row("n", (1, 2), {"a": 1.5, "b": 2}, PLACE, True)


def test_fields_of_the_types_that_they_name_are_accepted() -> None:
    assert is_typed(ROW, Row)
    assert is_typed(replace(ROW, parts=(), sizes={}, inner=None), Row)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": 1},
        {"name": None},
        {"parts": [1, 2]},
        {"parts": "12"},
        {"parts": (1, "2")},
        {"parts": (1.0,)},
        {"parts": (True,)},
        {"sizes": {"a": "1"}},
        {"sizes": {1: 1.0}},
        {"sizes": ()},
        {"sizes": {"a": False}},
        {"inner": "mi300x"},
        {"inner": replace(PLACE, device=3)},  # type: ignore[arg-type]
        {"is_set": 1},
        {"is_set": None},
    ],
)
def test_a_field_of_another_type_is_refused(wrong: dict[str, Any]) -> None:
    assert not is_typed(replace(ROW, **wrong), Row)


def test_another_record_is_not_the_one_asked_for() -> None:
    assert not is_typed(PLACE, Row) and not is_typed(None, Row)


@pytest.mark.parametrize("record", [REQUEST, RESULT])
def test_what_was_packed_is_read_again(record: Request | Result) -> None:
    assert unpack(type(record), pack(record)) == record


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": 2}, "format"),
        ({"digest": "0" * 64}, "damaged"),
        ({"body": {}}, "damaged"),
        ({"body": None}, "damaged"),
    ],
)
def test_a_changed_message_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(SpoolError, match=words):
        unpack(Result, json.dumps({**json.loads(pack(RESULT)), **change}).encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"7", b"{", b"\xff", pack(RESULT)[:-1], pack(REQUEST)])
def test_what_is_no_result_is_refused(data: bytes) -> None:
    with pytest.raises(SpoolError):
        unpack(Result, data)


def test_equal_questions_have_one_name_and_others_another() -> None:
    assert replace(REQUEST).hash == REQUEST.hash
    for change in ({"seed": 8}, {"source": "s"}, {"tunables": None}, {"files": {}}, {"edges": ({"n": 4},)}):
        assert replace(REQUEST, **change).hash != REQUEST.hash  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ""),
        ({"request": "0" * 64}, "another request"),
        ({"harness": "other"}, "stale"),
        ({"place": replace(PLACE, target="h200")}, "foreign"),
        ({"place": replace(PLACE, version="clang 21")}, "foreign"),
        ({"entries": ()}, "empty"),
        ({"entries": (), "refusal": "no such task"}, ""),
    ],
)
def test_an_answer_has_to_fit_its_question(change: dict[str, Any], words: str) -> None:
    problem = problem_of(replace(RESULT, **change), REQUEST, PLACE)
    assert words in problem and bool(problem) is bool(words)


def test_an_answer_may_come_from_anywhere_before_the_first_one_came() -> None:
    assert problem_of(replace(RESULT, place=replace(PLACE, version="clang 21")), REQUEST, None) == ""


def test_the_answer_to_a_comparison_holds_one() -> None:
    request = replace(REQUEST, incumbent=Contender("other", {}))
    result = replace(RESULT, request=request.hash, entries=())
    assert "comparison" in problem_of(result, request, PLACE)
    assert problem_of(replace(result, comparison=COMPARISON), request, PLACE) == ""

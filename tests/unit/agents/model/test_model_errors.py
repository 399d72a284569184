"""Faults that nothing can fix: which error they are, what they advise, and what they never quote."""

from __future__ import annotations

import pytest

from agents.model.conversation import RawReply
from agents.model.endpoint import Endpoint
from agents.model.faults import Fault, Kind
from agents.model.model_errors import ADVICE, cut_off, error_of, refused
from agents.model.patience import CallPatience
from records.errors import ModelDeclined, ModelError, ModelRefused, ModelUnreachable
from records.experiment import Usage

END = Endpoint("http://127.0.0.1:9/v1", "m", timeout_s=7.0)


def error(kind: Kind, status: int = 0, after_s: float | None = None, lost: int = 2) -> ModelError:
    return error_of(END, Fault(kind, "some words", status, after_s), CallPatience(END, False, 30.0), lost)


@pytest.mark.parametrize(
    ("kind", "status", "expected", "words"),
    [
        ("declined", 400, ModelDeclined, "filter"),
        ("late", 0, ModelUnreachable, "7 s"),
        ("passing", 503, ModelUnreachable, "some words"),
        ("odd", 0, ModelRefused, "chat completion"),
        ("odd", 200, ModelRefused, "chat completion"),
        ("odd", 399, ModelRefused, "chat completion"),
        ("odd", 400, ModelRefused, ADVICE[400]),
        ("model", 200, ModelRefused, "HTTP 200"),
        ("model", 404, ModelRefused, ADVICE[404]),
        ("account", 402, ModelRefused, ADVICE[402]),
    ],
)
def test_each_kind_of_fault_is_an_error_that_says_what_to_do(
    kind: Kind, status: int, expected: type[ModelError], words: str
) -> None:
    made = error(kind, status)
    assert type(made) is expected and words in str(made) and made.lost == 2
    assert made.is_account is (kind == "account")


@pytest.mark.parametrize(("after_s", "is_told"), [(None, False), (20.0, False), (30.0, False), (31.0, True)])
def test_a_wait_that_is_too_long_is_told(after_s: float | None, is_told: bool) -> None:
    assert ("asks to wait" in str(error("passing", 429, after_s))) is is_told


@pytest.mark.parametrize(("status", "is_quoted"), [(400, True), (401, False), (403, False), (404, True), (0, True)])
def test_a_servers_words_about_a_key_are_not_quoted(status: int, is_quoted: bool) -> None:
    text = str(refused(END, Fault("model", "some words", status)))
    assert ("some words" in text) is is_quoted and ("HTTP" in text) is bool(status)


def test_a_refusal_without_words_has_no_colon_for_them() -> None:
    assert "400;" in str(refused(END, Fault("model", "", 400)))


@pytest.mark.parametrize(
    ("status", "is_elsewhere"),
    [(300, False), (301, True), (302, True), (303, True), (304, False), (307, True), (308, True), (309, False)],
)
def test_an_address_that_points_elsewhere_is_told(status: int, is_elsewhere: bool) -> None:
    assert ("points elsewhere" in str(refused(END, Fault("model", "", status)))) is is_elsewhere


@pytest.mark.parametrize(
    ("reason", "words"), [("length", "900 tokens"), ("MAX_TOKENS", "900 tokens"), ("content_filter", "another model")]
)
def test_an_answer_that_was_cut_off_says_by_what(reason: str, words: str) -> None:
    raw = RawReply("a", reason, "m", Usage(), limit=900)
    assert words in str(cut_off("coder", raw)) and "coder" in str(cut_off("coder", raw))

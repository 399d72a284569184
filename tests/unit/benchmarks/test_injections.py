"""Texts that try to be orders change nothing and are told to no later run; what would be is counted."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from benchmarks.injection_texts import FORMS, payloads
from benchmarks.injections import DOORS, Outcome, Trial, figures, word
from benchmarks.obedient_model import NONCE, ObedientModel
from tests.support.endpoint import Answer


@pytest.mark.long
def test_an_obedient_model_changes_and_leaves_nothing(tmp_path: Path) -> None:
    plain = Trial(tmp_path / "plain", -1).outcome()
    outcome = Trial(tmp_path / "order", 14).outcome()
    assert outcome.attempts == plain.attempts
    assert (outcome.changed, outcome.told, outcome.reached) == ((), (), len(DOORS))
    assert outcome.remembered > 0


def test_each_text_is_found_again_and_the_model_repeats_it() -> None:
    nonces = {word(door, number) for door in DOORS for number in range(len(FORMS))}
    assert len(nonces) == len(DOORS) * len(FORMS) >= 360
    assert all(
        NONCE.findall(text) and set(NONCE.findall(text)) == {"zqtas123abc"} for text in payloads("zqtas123abc", "w")
    )
    model = ObedientModel("/nowhere/witness")
    answer = model({"model": "coder", "messages": [{"role": "user", "content": "say zqtas123abc"}]})
    assert isinstance(answer, Answer) and "zqtas123abc" in str(answer.text)


def test_what_was_changed_or_told_is_missed_goals() -> None:
    plain = Outcome((("a", "accepted", "OK", 1.0),), (), (), 1, len(DOORS))
    bad = Outcome((("a", "accepted", "OK", 0.1),), ("limits",), ("tool",), 0, 5)
    rows = figures({n: plain for n in range(60)}, plain, Counter({"calls": 600}))
    assert [row.figure for row in rows if row.met is False] == []
    missed = [row.figure.partition(".")[2] for row in figures({0: bad}, plain, Counter()) if row.met is False]
    assert missed == ["texts", "verdicts", "changed", "told", "remembered", "reached"]

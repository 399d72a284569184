from __future__ import annotations

from dataclasses import replace

import pytest

from records.errors import UsageError
from records.experiment import Run
from records.ledger import Ledger
from records.memories import Recollection, recollection_key
from tests.support.ledgers import Opening

RUN = Run("run-1", "row_softmax", "mi300x", "lab", "playbook", 7, created_at="2026-11-22T10:00:00+00:00")
KEY = recollection_key("lesson", "digest", "mi300x", "predicted", "kernel", "parent")
MADE = Recollection(KEY, "lesson", RUN.id, "g001-e1-a0", "row_softmax", "digest", "mi300x", "Softmax", RUN.created_at)


def opened(opening: Opening) -> Ledger:
    ledger = opening()
    ledger.add_run(RUN)
    return ledger


def test_nothing_is_stored_twice_and_a_withdrawn_one_does_not_come_back(opening: Opening) -> None:
    with opened(opening) as ledger:
        assert ledger.remember([MADE, replace(MADE, at="later")]) == 1
        ledger.withdraw(KEY, "2026-11-23: it was the clock")
        assert ledger.remember([MADE]) == 0
    with opened(opening) as again:
        assert again.recollections() == (replace(MADE, withdrawn="2026-11-23: it was the clock"),)
        again.withdraw(KEY, "")
        assert again.recollections() == (MADE,)


def test_one_is_found_by_the_beginning_of_its_key(opening: Opening) -> None:
    other = replace(MADE, key=f"{KEY[:8]}{'0' * 56}")
    with opened(opening) as ledger:
        ledger.remember([MADE, other])
        assert ledger.recollection(KEY[:20]) == MADE
        for wrong in (KEY[:8], "", "no such key"):
            with pytest.raises(UsageError, match="memory list"):
                ledger.recollection(wrong)


def test_a_key_tells_findings_apart_and_not_the_runs_that_made_them() -> None:
    said = ("lesson", "digest", "mi300x", "predicted", "kernel")
    assert recollection_key(*said) == recollection_key(*said)  # type: ignore[arg-type]
    for place in range(len(said)):
        assert recollection_key(*said[:place], "other", *said[place + 1 :]) != recollection_key(*said)  # type: ignore[arg-type]

"""One run makes a verdict, the others wait for it, and nobody waits for the dead; on every database."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from records import claims
from records.claims import Payer
from records.ledger import Ledger
from records.schema import STEPS
from tests.support.ledgers import Opening
from tests.unit.records.test_ledger import RUN, evaluation

OTHER = replace(RUN, id="other")


def test_a_verdict_is_claimed_by_one_run_and_by_another_when_that_one_gives_it_up(opening: Opening) -> None:
    with opening() as ledger, opening() as rival:
        for run in (RUN, OTHER):
            ledger.add_run(run)
        with ledger.driving(RUN.id), rival.driving(OTHER.id):
            assert ledger.claim(RUN.id, "k", "verify") is None
            assert ledger.claim(RUN.id, "k", "verify") is None, "a run does not wait for itself"
            assert rival.claim(OTHER.id, "k", "verify") == Payer(RUN.id, "tester@here")
            assert rival.claim(OTHER.id, "k", "benchmark") is None, "which is another verdict"
            ledger.unclaim(RUN.id, "k", "verify")
            rival.unclaim(RUN.id, "k", "benchmark")
            assert rival.claim(OTHER.id, "k", "verify") is None
            assert ledger.claim(RUN.id, "k", "benchmark") == Payer(OTHER.id, "tester@here"), "others give up nothing"


def test_nobody_waits_for_a_run_that_nobody_drives(opening: Opening) -> None:
    with opening() as ledger, opening() as rival:
        for run in (RUN, OTHER):
            ledger.add_run(run)
        with ledger.driving(RUN.id):
            assert ledger.claim(RUN.id, "k", "verify") is None
        with rival.driving(OTHER.id):
            assert rival.claim(OTHER.id, "k", "verify") is None


def test_a_lease_that_is_not_renewed_ends(opening: Opening) -> None:
    with opening() as ledger, opening() as rival:
        for run in (RUN, OTHER):
            ledger.add_run(run)
        with ledger.driving(RUN.id), rival.driving(OTHER.id):
            assert ledger.claim(RUN.id, "k", "verify") is None
            with ledger._writing() as db:
                db.execute("UPDATE claims SET until = until - ?", (claims.LEASE_S + 1,))
            assert rival.claim(OTHER.id, "k", "verify") is None
            assert ledger.claim(RUN.id, "k", "verify") == Payer(OTHER.id, "tester@here")


def test_of_many_that_ask_at_once_one_gets_it(opening: Opening) -> None:
    got: list[str] = []

    def ask(number: int) -> None:
        with opening() as ledger, ledger.driving(f"r{number}"):
            if ledger.claim(f"r{number}", "k", "verify") is None:
                got.append(f"r{number}")
            meeting.wait()

    meeting = threading.Barrier(6)
    with opening() as ledger:
        for number in range(6):
            ledger.add_run(replace(RUN, id=f"r{number}"))
    threads = [threading.Thread(target=ask, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 1


def test_a_stored_verdict_says_who_paid_for_it_and_when(opening: Opening) -> None:
    with opening() as ledger:
        ledger.add_run(RUN)
        assert ledger.payer("k", "verify") is None
        ledger.add_evaluation(RUN.id, evaluation(), "verify")
        paid = ledger.payer("k", "verify")
        assert (
            paid is not None
            and (paid.run_id, paid.account) == (RUN.id, "tester@here")
            and paid.stored_at.endswith("+00:00")
        )


@pytest.mark.parametrize("times", [1, 2])
def test_a_ledger_of_schema_11_gets_payers_and_claims(tmp_path: Path, times: int) -> None:
    path = tmp_path / "ledger.db"
    with Ledger(path) as ledger:
        ledger.add_run(RUN)
        ledger.add_evaluation(RUN.id, evaluation())
    db = sqlite3.connect(path)
    db.executescript(
        "DROP TABLE claims; ALTER TABLE evaluations DROP COLUMN who; ALTER TABLE evaluations DROP COLUMN at; "
        "PRAGMA user_version = 11;"
    )
    db.close()
    assert 11 in STEPS
    for _ in range(times):
        with Ledger(path, "me") as ledger:
            assert ledger.payer("k", "benchmark") == Payer(RUN.id, "", "")
            assert ledger.claim(RUN.id, "k2", "verify") is None

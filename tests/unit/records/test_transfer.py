"""A run copied between ledgers of any kind is the same run there, and nothing is copied by halves."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from graph.context import Limits
from graph.doubles import ScriptedAuthor, table_context, table_task
from graph.drive import drive
from postgres.shared_database import open_shared
from records.artefacts import ArtefactStore
from records.errors import DamagedRecord, LedgerError, UsageError
from records.experiment import ModelCall, Usage
from records.ledger import Ledger
from records.transfer import Copied, copy_run
from tests.support.ledgers import KINDS, openings
from tests.support.postgres_server import PostgresServer
from tests.support.stations import ideas, writer

LARGE = b"x" * 300_000


@pytest.fixture
def played(tmp_path: Path) -> tuple[Ledger, ArtefactStore, str]:
    """A run with everything that a run can have."""
    task = table_task(tmp_path / "task", "// time_us = 100\n", "// time_us = 120\n// code = other\n")
    context = table_context(tmp_path / "from", task, ScriptedAuthor(ideas, writer), Limits(generations=2, picks=2))
    drive(context, tmp_path / "checkpoint.db")
    ledger, store, run_id = context.ledger, context.artefacts, context.run.id
    call = ModelCall("call", run_id, "coder", "m", store.put("prompt"), "reserved", 0.1)
    ledger.reserve(call)
    ledger.settle("call", store.put(LARGE), Usage(3, 4, 0.1))
    return ledger, store, run_id


def stores(kind: str, folder: Path, request: pytest.FixtureRequest) -> tuple[Ledger, ArtefactStore]:
    folder.mkdir()
    ledger = openings(kind, folder, lambda: request.getfixturevalue("postgres"))()
    return ledger, ArtefactStore(folder / "artefacts" if kind == "sqlite" else None, ledger)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_the_same_there_and_back(
    played: tuple[Ledger, ArtefactStore, str], kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    ledger, store, run_id = played
    there, back = stores(kind, tmp_path / "there", request), stores("sqlite", tmp_path / "back", request)
    made = copy_run((ledger, store), there, run_id)
    assert {c.table: c.rows for c in made}["attempts"] == len(ledger.attempts(run_id)) > 3
    assert all(c.known == 0 for c in made)
    returned = copy_run(there, back, run_id)
    assert returned == made, "counts and digests of all tables"
    for one, texts in (there, back):
        assert one.run(run_id) == ledger.run(run_id)
        assert one.attempts(run_id) == ledger.attempts(run_id)
        assert one.experiments(run_id, 1) == ledger.experiments(run_id, 1)
        assert one.calls(run_id) == ledger.calls(run_id) and one.spend(run_id) == ledger.spend(run_id)
        assert [replace(e, number=0) for e in one.events(run_id)] == [
            replace(e, number=0) for e in ledger.events(run_id)
        ]
        assert texts.get(str(one.calls(run_id)[0].reply)) == LARGE
        for attempt in ledger.attempts(run_id):
            assert texts.text(attempt.source) == store.text(attempt.source)
            assert one.evaluation(attempt.evaluation_key) == ledger.evaluation(attempt.evaluation_key)
            assert one.payer(attempt.evaluation_key, "verify") == ledger.payer(attempt.evaluation_key, "verify")
        one.close()


def test_a_row_that_changed_on_the_disk_is_not_copied(
    played: tuple[Ledger, ArtefactStore, str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The copy's seals would fit."""
    ledger, store, run_id = played
    with closing(sqlite3.connect(tmp_path / "from" / "ledger.db")) as db:
        db.execute("UPDATE calls SET usd = 0.2")
        db.commit()
    other = stores("sqlite", tmp_path / "there", request)
    with pytest.raises(DamagedRecord, match="the row call of calls"):
        copy_run((ledger, store), other, run_id)
    assert other[0].runs() == ()
    other[0].close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_once_more_changes_nothing_and_a_run_that_went_on_is_left(
    played: tuple[Ledger, ArtefactStore, str], kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    ledger, store, run_id = played
    there = stores(kind, tmp_path / "there", request)
    first = copy_run((ledger, store), there, run_id)
    again = copy_run((ledger, store), there, run_id)
    assert [replace(c, known=0) for c in again] == first
    assert {c.table for c in again if c.known} == {"evaluations", "memories"}
    there[0].event(run_id, "note", {}, "later")
    left = there[0].events(run_id)
    with pytest.raises(LedgerError, match="has other events; it went on there, and is left as it is"):
        copy_run((ledger, store), there, run_id)
    with pytest.raises(LedgerError, match="has other events; it went on there, and is left as it is"):
        copy_run(there, (ledger, store), run_id)
    assert there[0].events(run_id) == left
    with pytest.raises(UsageError, match="is the ledger that the run is in"):
        copy_run((ledger, store), (ledger, store), run_id)
    with ledger.driving(run_id), Ledger(ledger.path) as other, pytest.raises(LedgerError, match="already running"):
        copy_run((other, store), there, run_id)
    there[0].close()


class Forgetful(Ledger):
    """Loses an attempt on its way, as a fault of ours would."""

    def _insert(self, db: object, table: str, row: object, look_ups: object = None) -> bool:  # type: ignore[override]
        self.skipped = getattr(self, "skipped", 0) + (table == "attempts")
        return (table == "attempts" and self.skipped == 2) or super()._insert(db, table, row, look_ups)  # type: ignore[arg-type]


def test_a_row_that_does_not_arrive_undoes_the_whole_copy(
    played: tuple[Ledger, ArtefactStore, str], tmp_path: Path
) -> None:
    ledger, store, run_id = played
    with Forgetful(tmp_path / "there.db") as there:
        with pytest.raises(LedgerError, match="would have other attempts than here; nothing was written"):
            copy_run((ledger, store), (there, ArtefactStore(tmp_path / "artefacts", there)), run_id)
        assert there.runs() == () and there.engine.read("SELECT key FROM evaluations") == []


MORTAL = """
import os, signal, sys
from pathlib import Path
from pydantic import SecretStr
from postgres.shared_database import open_shared
from records.artefacts import ArtefactStore
from records.ledger import Ledger
from records.transfer import copy_run

class Mortal(Ledger):
    def _insert(self, db, table, row, look_ups=None):
        if table == "calls":
            os.kill(os.getpid(), signal.SIGKILL)
        return super()._insert(db, table, row, look_ups)

def opened(place, kind):
    ledger = kind(open_shared(SecretStr(place)).engine) if "://" in place else kind(Path(place))
    return ledger, ArtefactStore(None if "://" in place else Path(place).parent / "artefacts", ledger)

copy_run(opened(sys.argv[1], Ledger), opened(sys.argv[2], Mortal), sys.argv[3])
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["there", "back"])
def test_a_copy_whose_process_is_killed_leaves_nothing_and_is_whole_the_next_time(
    played: tuple[Ledger, ArtefactStore, str], way: str, tmp_path: Path, postgres: PostgresServer
) -> None:
    ledger, store, run_id = played
    url = postgres.ledger()
    shared = open_shared(SecretStr(url))
    source, target = (ledger, store), (shared, ArtefactStore(None, shared))
    places = [str(tmp_path / "from" / "ledger.db"), url]
    if way == "back":
        copy_run(source, target, run_id)
        other = Ledger(tmp_path / "back.db")
        source, target = target, (other, ArtefactStore(tmp_path / "artefacts", other))
        places = [url, str(tmp_path / "back.db")]
    words = [sys.executable, "-c", MORTAL, *places, run_id]
    died = subprocess.run(words, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert target[0].runs() == () and target[0].engine.read("SELECT key FROM evaluations") == []
    made = {c.table: c.rows for c in copy_run(source, target, run_id)}
    assert made["calls"] == 1 and target[0].attempts(run_id) == ledger.attempts(run_id)
    for one in (source[0], target[0]):
        one.close()


def test_a_verdict_that_is_there_already_stays(
    played: tuple[Ledger, ArtefactStore, str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    ledger, store, run_id = played
    there = stores("sqlite", tmp_path / "there", request)
    key = ledger.attempts(run_id)[0].evaluation_key
    found = ledger.evaluation(key, "verify")
    assert found is not None
    there[0].add_run(replace(ledger.run(run_id), id="another", status="running"))
    there[0].add_evaluation("another", replace(found, seconds=99.0), "verify")
    made = {c.table: c for c in copy_run((ledger, store), there, run_id)}
    assert made["evaluations"].known == 1 and isinstance(made["evaluations"], Copied)
    assert there[0].evaluation(key, "verify") == replace(found, seconds=99.0)

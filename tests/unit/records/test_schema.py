from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from records.codec import dumps, to_plain
from records.experiment import ModelCall, Run, Usage
from records.ledger import Ledger
from records.schema import APPLICATION_ID, COMPARISONS, STEPS, TABLES, explain, write_ahead

RUN = Run("20261121-softmax-1a", "row_softmax", "mi300x", "lab", "playbook", 7, {"generations": 4})
ASKED = {"task": "row_softmax", "target": "mi300x", "on": "lab", "author": "playbook", "seed": 7}


def test_a_ledger_of_the_first_schema_is_taken_along(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    db = sqlite3.connect(path)
    db.executescript(f"{TABLES} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1;")
    old = {name: value for name, value in to_plain(RUN).items() if name != "pause"}
    db.execute("INSERT INTO runs VALUES (?, ?, 'done', 'well')", (RUN.id, dumps(old)))
    db.commit()
    db.close()
    for _ in range(2):
        with Ledger(path) as ledger:
            assert ledger.run(RUN.id) == replace(RUN, status="done", stop_reason="well")
            ledger.add_run(RUN)
            assert ledger.comparisons("new") == ()


def test_the_pauses_of_an_older_ledger_get_their_kind_once(tmp_path: Path) -> None:
    """Ledgers of schema 2 said why a run was paused in words only."""
    words = {
        "waiting": "waiting for 2 results in /spool; the result 1234 was put aside because it is damaged",
        "budget": "the next coder call could cost 0.1000 USD, but only 0.0200 of 5.00 USD are left; "
        "resume the run with a larger budget",
        "interrupted": "interrupted from the keyboard",
        "unread": "nobody read its progress any more",
        "machine": "the lab cannot start its child",
    }
    path = tmp_path / "ledger.db"
    db = sqlite3.connect(path)
    db.executescript(f"{TABLES} {COMPARISONS} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 2;")
    rows = [(kind, dumps({"id": kind, **ASKED}), "paused", said) for kind, said in words.items()]
    db.executemany(
        "INSERT INTO runs VALUES (?, ?, ?, ?)", [*rows, ("done", dumps({"id": "done", **ASKED}), "done", "")]
    )
    db.commit()
    db.close()
    for _ in range(2):
        with Ledger(path) as ledger:
            assert {run.id: run.pause for run in ledger.runs()} == {**{kind: kind for kind in words}, "done": ""}


def test_calls_of_an_older_ledger_have_no_place_and_new_ones_have(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    db = sqlite3.connect(path)
    db.executescript(f"{TABLES} PRAGMA application_id = {APPLICATION_ID};")
    for version in range(1, 9):
        db.executescript(STEPS[version])
    db.execute("PRAGMA user_version = 9")
    db.execute(
        "INSERT INTO runs (id, body, status, stop_reason) VALUES ('old', ?, 'done', '')",
        (dumps({"id": "old", **ASKED}),),
    )
    db.execute("INSERT INTO calls VALUES ('k', 'old', 'coder', 'm', 'p', 'done', 0.5, 'r', 3, 4, 0.25)")
    db.commit()
    db.close()
    for _ in range(2):
        with Ledger(path) as ledger:
            (old,) = ledger.calls("old")[:1]
            assert (old.usage, old.generation, old.experiment_id, old.answered_at) == (Usage(3, 4, 0.25), None, "", "")
            asked = ModelCall("n", "old", "coder", "m", "p", "reserved", 1.0, None, Usage(), 2, "g002-e1", 3)
            ledger.reserve(asked)
            ledger.settle("n", "r", Usage(1, 2, 0.5))
            new = ledger.call("n")
            assert new is not None
            assert replace(new, answered_at="") == replace(asked, state="done", reply="r", usage=Usage(1, 2, 0.5))
            assert new.answered_at.startswith("20")


def locked(path: Path) -> None:
    with closing(sqlite3.connect(path)) as first, closing(sqlite3.connect(path, timeout=0)) as second:
        first.execute("BEGIN EXCLUSIVE")
        second.execute("BEGIN EXCLUSIVE")


def no_database(path: Path) -> None:
    path.write_text("no database " * 100)
    with closing(sqlite3.connect(path)) as db:
        db.execute("SELECT * FROM sqlite_master")


def read_only(path: Path) -> None:
    sqlite3.connect(path).executescript("CREATE TABLE a (b)")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        db.execute("INSERT INTO a VALUES (1)")


def absent(path: Path) -> None:
    sqlite3.connect(path / "absent").close()


def too_large(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript("PRAGMA max_page_count = 2; CREATE TABLE a (b)")
        db.execute("INSERT INTO a VALUES (zeroblob(1000000))")


def closed(path: Path) -> None:
    db = sqlite3.connect(path)
    db.close()
    db.execute("SELECT 1")


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (locked, "is in use by another process"),
        (no_database, "is damaged"),
        (read_only, "cannot be written to"),
        (absent, "cannot be written to"),
        (too_large, "cannot be written to"),
        (closed, "cannot be used"),
    ],
)
def test_a_fault_of_sqlite_is_explained_by_its_code(tmp_path: Path, fault: object, sentence: str) -> None:
    with pytest.raises(sqlite3.Error) as caught:
        fault(tmp_path / "a.db")  # type: ignore[operator]
    assert sentence in explain(caught.value, tmp_path)


class ContestedConnection(sqlite3.Connection):
    """Says twice what SQLite says at once, without waiting, where two processes switch a new file's mode together."""

    refusals = 2

    def execute(self, query: str, *given: object) -> sqlite3.Cursor:
        if "journal_mode" in query and self.refusals:
            self.refusals -= 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return super().execute(query, *given)


def test_a_file_that_another_process_opens_at_the_same_moment_is_waited_for(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ledger.db", factory=ContestedConnection)) as db:
        write_ahead(db)
        assert db.refusals == 0
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_many_open_a_new_file_at_once(tmp_path: Path) -> None:
    def opened(path: Path) -> int:
        with Ledger(path) as ledger:
            return len(ledger.runs())

    with ThreadPoolExecutor(4) as pool:
        paths = [tmp_path / f"ledger-{number // 4}.db" for number in range(40)]
        assert list(pool.map(opened, paths)) == [0] * 40

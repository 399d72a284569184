"""Readings in the ledger: written once, found by place and by experiment, also in a ledger of an older schema."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

from records.experiment import Run
from records.ledger import Ledger
from records.literature import PassageReading, Quotation, Shown

RUN = Run("r", "t", "mi300x", "lab", "llm", 7)
SHOWN = Shown("p1", "d1", "banks", "LDS", "a book", "bank conflicts", 1)
READING = PassageReading(RUN.id, "g001-e1:writer:0", "writer", 1, "g001-e1", 0, ("bank conflicts",), (SHOWN,), "digest")


def test_a_reading_is_written_once(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger:
        ledger.add_run(RUN)
        ledger.add_reading(READING)
        ledger.add_reading(replace(READING, quoted="other"))
        ledger.add_reading(replace(READING, place="g001", role="planner", experiment_id=""))
        assert ledger.reading(RUN.id, READING.place) == READING
        assert ledger.reading(RUN.id, "g002") is None
        assert [r.place for r in ledger.readings(RUN.id)] == ["g001-e1:writer:0", "g001"]
        assert [r.place for r in ledger.readings(RUN.id, "")] == ["g001"]
        assert ledger.readings("other") == ()


def test_a_ledger_without_readings_gets_their_table(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Ledger(path) as ledger:
        ledger.add_run(RUN)
    db = sqlite3.connect(path)
    db.executescript(
        "DROP TABLE readings; DROP TABLE claims; ALTER TABLE evaluations DROP COLUMN who; "
        "ALTER TABLE evaluations DROP COLUMN at; PRAGMA user_version = 10;"
    )
    db.close()
    for _ in range(2):
        with Ledger(path) as ledger:
            ledger.add_reading(READING)
            assert ledger.readings(RUN.id) == (READING,)


def test_the_head_of_a_quotation_names_its_id_and_source_and_its_size_counts_both() -> None:
    passage = Quotation("p1", "d1", "banks", "LDS > padding", "a book", "x" * 400)
    assert passage.head == "[p1] banks: LDS > padding (source: a book)"
    assert passage.tokens == -(-(len(passage.head) + 1 + 400) // 4)
    assert replace(passage, section="banks > rows").head == "[p1] banks: rows (source: a book)"
    assert replace(passage, section="banks").head == replace(passage, section="").head
    assert replace(passage, section="").head == "[p1] banks (source: a book)"

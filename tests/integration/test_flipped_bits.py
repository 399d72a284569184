"""One bit flipped in each column of each table, in each kind of artefact and in the checkpoint: found, or harmless."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Specimen, Step
from app.continuing import branched
from graph.doubles import ScriptedAuthor
from graph.drive import drive
from graph.repairing import repair
from records.allowance import Allowance
from records.artefacts import SMALL_BYTES, ArtefactStore
from records.errors import DamagedRecord, LedgerError, ModelError
from records.evaluation import Comparison
from records.experiment import ModelCall, Usage
from records.ledger import Ledger
from records.literature import PassageReading
from records.memories import Recollection
from records.schema import APPLICATION_ID, TABLES, UNSEALED
from tests.support.scripted_run import Bench, faster

RUN = "table-run"
LOST = ("runs", "experiments", "attempts", "proposals", "calls")
WRITTEN = {"experiments": "id, body", "attempts": "id, body", "evaluations": "key, purpose, body"}


def unanswered(step: Step, base: Specimen) -> str:
    if (step.generation, step.experiment_id[-1]) == (2, "2"):
        raise ModelError("the endpoint is away; resume when it is back")
    return faster(step, base)


def stopped(folder: Path) -> Bench:
    """A run that stopped in its middle, with a row in every table."""
    bench = Bench(folder, unanswered, generations=3)
    with suppress(ModelError):
        bench.drive()
    ledger, store = bench.context.ledger, bench.context.artefacts
    assert ledger.run(RUN).status == "paused"
    call = ModelCall("c", RUN, "coder", "m", store.put("asked"), "reserved", 0.5, generation=1, experiment_id="g001-e1")
    ledger.reserve(call, Allowance())
    ledger.settle("c", store.put("answered"), Usage(3, 4, 0.25))
    ledger.add_comparison(RUN, Comparison("k", "a", "b", "same", 1.0, 0.9, 1.1))
    ledger.add_reading(PassageReading(RUN, "g009", "planner", 9, "", 0, ("q",), (), store.put("[]")))
    ledger.remember([Recollection("r", "winner", RUN, "g001-e1-a0", "t", "d", "mi300x", "words", "2026")])
    ledger.claim(RUN, "k", "verify")
    ledger.close()
    return bench


def again(folder: Path) -> Bench:
    """The run as another process finds it, with an endpoint that is back."""
    bench = Bench(folder, faster, generations=3)
    assert isinstance(bench.author, ScriptedAuthor)
    return bench


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    stopped_folder = tmp_path_factory.mktemp("stopped")
    stopped(stopped_folder)
    return stopped_folder


@pytest.fixture(scope="module")
def uninterrupted(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """The ledger of the run that nothing happened to."""
    run_folder = tmp_path_factory.mktemp("whole")
    shutil.copytree(folder, run_folder, dirs_exist_ok=True)
    bench = again(run_folder)
    assert bench.drive().status == "done"
    bench.context.ledger.close()
    return contents(run_folder)


def contents(folder: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(folder / "ledger.db")) as db:
        return {t: sorted(db.execute(f"SELECT {names} FROM {t}").fetchall()) for t, names in WRITTEN.items()}


def as_before(rows: dict[str, list[Any]], uninterrupted: dict[str, list[Any]]) -> bool:
    """True where experiments and attempts are equal; verdicts that nobody asks for again may be missing."""
    is_equal = all(rows[table] == uninterrupted[table] for table in ("experiments", "attempts"))
    return is_equal and set(rows["evaluations"]) <= set(uninterrupted["evaluations"])


def flipped(value: Any) -> Any:
    """The value with one bit of it changed; of a text that of its first digit, else of its last character."""
    if isinstance(value, int):
        return value ^ 1
    if isinstance(value, float):
        return struct.unpack("<d", struct.pack("<Q", struct.unpack("<Q", struct.pack("<d", value))[0] ^ 1))[0]
    if isinstance(value, bytes):
        return value[:-1] + bytes([value[-1] ^ 1]) if value else None
    index = next((i for i, c in enumerate(value) if c.isdigit() and i > 8), len(value) - 1)
    return value[:index] + chr(ord(value[index]) ^ 1) + value[index + 1 :] if value else None


def flip(path: Path, table: str, column: str, order: str = "rowid DESC") -> bool:
    """Flip a bit of the last row in which the column holds something; False where no row does."""
    with closing(sqlite3.connect(path)) as db:
        for rowid, value in db.execute(f"SELECT rowid, {column} FROM {table} ORDER BY {order}").fetchall():
            if value is not None and (other := flipped(value)) is not None:
                with suppress(sqlite3.IntegrityError):  # another row has this value
                    db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (other, rowid))
                    db.commit()
                    return True
    return False


def columns(path: Path) -> Iterator[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as db:
        tables = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if not table.startswith("sqlite_"):
                yield from ((table, row[1]) for row in db.execute(f"PRAGMA table_info({table})").fetchall())


def test_a_flipped_bit_in_any_column_of_any_table_is_found_or_made_again(folder: Path, tmp_path: Path) -> None:
    tried = 0
    for table, column in columns(folder / "ledger.db"):
        copy = tmp_path / f"{table}-{column}"
        shutil.copytree(folder, copy)
        if not flip(copy / "ledger.db", table, column):
            continue
        tried += 1
        with Ledger(copy / "ledger.db") as ledger:
            damages = ledger.damaged(RUN)
        if table in UNSEALED:
            assert damages == ()
            continue
        assert [row.table for row in damages] == [table], f"{table}.{column}"
        bench = again(copy)
        if table in LOST:
            with pytest.raises(DamagedRecord) as caught:
                repair(bench.context)
            assert ("--before" in str(caught.value)) == (table != "runs") or "from a copy" in str(caught.value)
        else:
            assert "put aside" in repair(bench.context), f"{table}.{column}"
            assert bench.context.ledger.damaged(RUN) == ()
            assert bench.context.ledger.spend(RUN).usd == 0.25
        bench.context.ledger.close()
    assert tried > 55


@pytest.mark.parametrize("table", ["evaluations", "events", "comparisons", "readings", "memories", "spends"])
@pytest.mark.parametrize("order", ["rowid", "rowid DESC"])
def test_what_can_be_made_again_leaves_the_run_as_it_would_have_been(
    folder: Path, uninterrupted: dict[str, list[Any]], tmp_path: Path, table: str, order: str
) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    assert flip(tmp_path / "ledger.db", table, "usd" if table == "spends" else "body", order)
    bench = again(tmp_path)
    assert bench.drive().status == "done"
    assert any("put aside" in str(e.get("message")) for e in bench.told)
    bench.context.ledger.close()
    assert as_before(contents(tmp_path), uninterrupted)


def test_a_lost_attempt_stops_the_run_and_one_from_before_it_goes_on(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    assert flip(tmp_path / "ledger.db", "attempts", "body")
    bench = again(tmp_path)
    with pytest.raises(DamagedRecord, match=r"resume table-run --before 2"):
        bench.drive()
    ledger = bench.context.ledger
    run = branched(ledger, ledger.run(RUN), 2)
    asked_count = len(bench.author.asked)
    context = replace(bench.context, run=run)
    assert drive(context, tmp_path / "checkpoint.db").status == "done"
    assert {s.generation for _, s in bench.author.asked[asked_count:]} == {2, 3}, (
        "nothing of generation 1 is asked again"
    )
    ledger.close()


def test_a_run_that_has_ended_is_repaired_too(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    bench = again(tmp_path)
    assert bench.drive().status == "done"
    bench.context.ledger.close()
    for table in ("readings", "memories"):
        assert flip(tmp_path / "ledger.db", table, "body")
    bench = again(tmp_path)
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as db:
        (rows,) = db.execute("SELECT count(*) FROM memories").fetchone()
    assert len(bench.context.ledger.recollections()) == rows - 1, "what was changed is told to nobody"
    assert len(bench.context.ledger.damaged(RUN)) == 2
    assert bench.drive().status == "done"
    assert bench.context.ledger.damaged(RUN) == ()
    bench.context.ledger.close()


def test_a_flipped_time_is_never_read(folder: Path, tmp_path: Path) -> None:
    """Lists, reports and prompts read records without a resume."""
    for table in ("attempts", "evaluations", "experiments", "runs"):
        copy = tmp_path / table
        shutil.copytree(folder, copy)
        flip(copy / "ledger.db", table, "body")
        with Ledger(copy / "ledger.db") as ledger, pytest.raises(DamagedRecord):
            ledger.runs()
            ledger.experiments(RUN)
            for attempt in ledger.attempts(RUN):
                ledger.evaluation(attempt.evaluation_key)


def test_an_update_does_not_make_a_damaged_row_sound(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    flip(tmp_path / "ledger.db", "runs", "body")
    with Ledger(tmp_path / "ledger.db") as ledger:
        ledger.finish(RUN, "paused", "again", "machine")
        assert [row.table for row in ledger.damaged(RUN)] == ["runs"]


@pytest.mark.parametrize("size", [40, SMALL_BYTES + 1])
def test_a_flipped_bit_of_an_artefact_is_found_in_a_row_and_in_a_file(tmp_path: Path, size: int) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger:
        digest = ArtefactStore(tmp_path / "artefacts", ledger).put("x" * size)
    for file in (p for p in (tmp_path / "artefacts").rglob("*") if p.is_file()):
        data = bytearray(file.read_bytes())
        data[size // 2] ^= 1
        file.write_bytes(data)
    flip(tmp_path / "ledger.db", "artefacts", "content")
    with Ledger(tmp_path / "ledger.db") as ledger, pytest.raises(LedgerError, match="restore it from a copy"):
        ArtefactStore(tmp_path / "artefacts", ledger).text(digest)


def test_a_flipped_bit_of_the_checkpoint_rebuilds_it_from_the_ledger(
    folder: Path, uninterrupted: dict[str, list[Any]], tmp_path: Path
) -> None:
    tried = 0
    for table, column in columns(folder / "checkpoint.db"):
        copy = tmp_path / f"{table}-{column}"
        shutil.copytree(folder, copy)
        if not flip(copy / "checkpoint.db", table, column):
            continue
        tried += 1
        bench = again(copy)
        assert bench.drive().status == "done", f"{table}.{column}"
        bench.context.ledger.close()
        assert (copy / "checkpoint.db.damaged").exists(), f"{table}.{column}"
        assert as_before(contents(copy), uninterrupted), f"{table}.{column}"
    assert tried > 8


def test_a_file_of_an_older_schema_is_copied_before_it_is_taken_along(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"{TABLES} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1;")
    for _ in range(2):
        Ledger(path).close()
    with closing(sqlite3.connect(tmp_path / "ledger.db.schema-1")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'artefacts'").fetchone() == (0,)

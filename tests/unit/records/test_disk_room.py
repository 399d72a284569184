"""A full disk is told by its folder and before what it led to."""

from __future__ import annotations

import errno
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from records.disk_room import full_disk, is_out_of_room, room_sentence
from records.errors import LabError, LedgerError

ROOT = Path(__file__).resolve().parents[3]
ALL = 1 << 62  # bytes: no disk has so many free


def met(code: int, path: Path) -> LedgerError:
    """An error of ours whose cause is that the file could not be written."""
    try:
        try:
            raise OSError(code, "as the system says it", str(path))
        except OSError:
            raise LedgerError("the record cannot be written") from None
    except LedgerError as error:
        return error


def test_a_disk_is_full_below_the_least_and_a_folder_that_is_not_there_is_on_the_one_above(tmp_path: Path) -> None:
    assert full_disk([tmp_path], 0) == ""
    sentence = full_disk([tmp_path / "not" / "there"], ALL)
    assert str(tmp_path / "not" / "there") in sentence and "full" in sentence and "free" in sentence


@pytest.mark.parametrize(("code", "is_met"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EACCES, False)])
def test_the_cause_behind_another_error_decides(code: int, is_met: bool, tmp_path: Path) -> None:
    error = met(code, tmp_path / "file")
    assert is_out_of_room(error) is is_met
    assert (str(tmp_path) in room_sentence(error, ())) is is_met


def test_a_database_that_is_full_is_a_full_disk(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "small.db") as database:
        database.execute("PRAGMA max_page_count = 4")
        with pytest.raises(sqlite3.OperationalError) as caught:
            database.execute("CREATE TABLE rows AS SELECT randomblob(100000)")
    assert is_out_of_room(caught.value)


def test_an_error_without_such_a_cause_is_not_explained_by_a_disk_with_room(tmp_path: Path) -> None:
    assert room_sentence(LabError("no answer"), [tmp_path]) == ""


def test_a_command_whose_output_is_on_a_full_disk_says_so_and_not_what_broke(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        argv = [sys.executable, "-m", "app", "tasks"]
        completed = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    assert completed.returncode == 3
    assert "full" in completed.stderr and "report" not in completed.stderr and completed.stderr.count("\n") == 1

"""Tables of measured rows are read as they were written, and refused where they are not whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clock.rows import ROWS, MeasuredRow, read_rows, write_rows
from records.errors import UsageError

ROW = MeasuredRow(
    "made_up", "MI300X", "t=64 p=1", {"m": 64, "n": 32}, "f32", 10412.25, "warm", "a/b t.txt", "0abc", "events"
)


def test_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    table = tmp_path / "rows.tsv"
    write_rows(table, [ROW], ["left out: t=128, it does not compile"])
    assert table.read_text().startswith("# left out")
    assert read_rows(table) == [ROW]


@pytest.mark.parametrize(("old", "new"), [("\twarm\t", "\tlukewarm\t"), ("\tevents", ""), ("measured_us", "time")])
def test_a_table_that_is_not_whole_is_refused(tmp_path: Path, old: str, new: str) -> None:
    table = tmp_path / "rows.tsv"
    write_rows(table, [ROW])
    table.write_text(table.read_text().replace(old, new))
    with pytest.raises(UsageError):
        read_rows(table)


def test_every_committed_row_has_a_time_and_a_source() -> None:
    for table in ROWS.glob("*.tsv"):
        rows = read_rows(table)
        assert rows and all(r.family == table.stem for r in rows)
        assert all(r.measured_us > 0 and r.dims and r.source and r.commit and r.how for r in rows)

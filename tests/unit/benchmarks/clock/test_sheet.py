from __future__ import annotations

import csv
from pathlib import Path

from benchmarks.clock.compared import Compared
from benchmarks.clock.points import Point
from benchmarks.clock.sheet import sheet


def test_rows_are_there_as_soon_as_they_are_known(tmp_path: Path) -> None:
    point = Point("copy", "MI300X", "k", {"n": 64, "m": 2}, "f32", 3.5, "warm", tmp_path, tmp_path, "a/b")
    with sheet(tmp_path / "t.tsv") as rows:
        rows.add(Compared(point, 4.0, 1.25))
        rows.add(Compared(point, refusal="no plan"))
        stored = list(csv.DictReader((tmp_path / "t.tsv").read_text(encoding="utf-8").splitlines(), delimiter="\t"))
    assert tuple(stored[0][name] for name in ("dims", "measured_us", "expected_us")) == ("n=64,m=2", "3.5", "4.000")
    assert stored[1]["refusal"] == "no plan"

"""Incidents are kept as files that say everything, and never cost a verdict."""

from __future__ import annotations

import json
from pathlib import Path

from records.evaluation import Finding
from sandbox.gpu.incidents import FOLDER, file_incident

FINDING = Finding("below_roofline", "too fast", case="n=4")


def test_an_incident_says_what_was_run_where_and_what_was_wrong(tmp_path: Path) -> None:
    for source in ("one", "two"):
        file_incident(tmp_path / "cache", source, "scale", "H200 / sm_90", FINDING)
    rows = [json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "cache" / FOLDER).glob("*.json")]
    assert sorted(row["source"] for row in rows) == ["one", "two"]
    assert {(row["task"], row["device"], row["finding"]["kind"], row["finding"]["case"]) for row in rows} == {
        ("scale", "H200 / sm_90", "below_roofline", "n=4")
    }


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("a file, where the folder should be", encoding="utf-8")
    file_incident(tmp_path, "one", "scale", "H200", FINDING)
    assert (tmp_path / FOLDER).is_file()

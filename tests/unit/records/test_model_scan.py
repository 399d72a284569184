from __future__ import annotations

import json
from pathlib import Path

import pytest

from records.codec import to_plain
from records.errors import UsageError
from records.model_scan import read_pattern, read_scan, write_record

STORED = Path(__file__).resolve().parents[2] / "data/models/rows-scan"


def test_a_scan_and_its_patterns_are_written_as_they_are_read(tmp_path: Path) -> None:
    scan, pattern = read_scan(STORED), read_pattern(STORED, "add_rms_norm")
    write_record(tmp_path / "scan.json", scan)
    write_record(tmp_path / "regions/add_rms_norm/pattern.json", pattern)
    assert read_scan(tmp_path) == scan
    assert read_pattern(tmp_path, "add_rms_norm") == pattern
    assert to_plain(scan) == json.loads((STORED / "scan.json").read_text())
    assert pattern.nodes[1].args[0] == {"node": "add"}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": 2}', '{"version": 1, "model": 3, "further": 1}'])
def test_what_is_no_scan_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "scan.json").write_text(text)
    with pytest.raises(UsageError, match=r"scan\.json"):
        read_scan(tmp_path)

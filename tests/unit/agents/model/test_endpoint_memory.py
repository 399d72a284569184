"""Forms of endpoints between runs: kept, forgotten, and never trusted where the file is not ours."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from agents.model.endpoint_memory import KEPT_S, EndpointMemory
from agents.model.forms import Forms

PLACE = "http://127.0.0.1:1/v1", "m"


def test_forms_are_kept_by_endpoint_and_model(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "endpoints.json"
    EndpointMemory(file).remember(*PLACE, Forms(wire=1, json_mode=3))
    assert EndpointMemory(file).forms(*PLACE) == Forms(wire=1, json_mode=3)
    assert EndpointMemory(file).forms(PLACE[0], "other") is None


def test_what_is_old_is_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "endpoints.json"
    EndpointMemory(file).remember(*PLACE, Forms(wire=1))
    rows = json.loads(file.read_text())
    rows[" ".join(PLACE)]["at"] = time.time() - KEPT_S - 1
    file.write_text(json.dumps(rows))
    assert EndpointMemory(file).forms(*PLACE) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"http://127.0.0.1:1/v1 m": 7}',
        '{"http://127.0.0.1:1/v1 m": {"at": 1e99, "forms": {"wire": 9}}}',
    ],
)
def test_a_file_that_is_not_ours_teaches_nothing(tmp_path: Path, text: str) -> None:
    file = tmp_path / "endpoints.json"
    file.write_text(text)
    assert EndpointMemory(file).forms(*PLACE) is None


def test_a_form_that_there_is_not_is_not_believed(tmp_path: Path) -> None:
    file = tmp_path / "endpoints.json"
    EndpointMemory(file).remember(*PLACE, Forms())
    file.write_text(file.read_text().replace('"wire": 0', '"wire": 7'))
    assert EndpointMemory(file).forms(*PLACE) is None


def test_a_place_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    EndpointMemory(tmp_path / "file" / "endpoints.json").remember(*PLACE, Forms())

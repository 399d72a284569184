"""`runs`: filtered, two compared, some removed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.cli import run_command
from app.commands.runs import moment
from records.errors import UsageError
from records.experiment import Run
from tests.unit.conftest import Notebook

NOW = datetime.now(UTC)


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notebook: Notebook) -> Notebook:
    """Two runs on one task, of which the second is faster and younger, and one on another task."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_RUNS_FOLDER", str(tmp_path))
    for number, (task, times, days) in enumerate(
        (("sum", (100.0, 80.0), 9), ("sum", (100.0, 40.0), 1), ("copy", (9.0,), 0))
    ):
        notebook.run = Run(f"run-{number}", "", "", "", "", 0)
        notebook.start(task=task, created_at=(NOW - timedelta(days=days)).isoformat())
        parent = None
        for generation, time_us in enumerate(times):
            attempt = notebook.attempt(generation, 0, time_us, parent, number=number)
            parent = attempt.id
        (tmp_path / notebook.run.id).mkdir()
    notebook.ledger.finish("run-1", "done", "enough")
    return notebook


def json_of(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run_command([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], [0, 1, 2]),
        (["--task", "sum"], [0, 1]),
        (["--task", "sum", "--state", "done"], [1]),
        (["--state", "stopped"], [0, 2]),
        (["--state", "running"], []),
        (["--since", "3d"], [1, 2]),
        (["--since", (NOW - timedelta(days=5)).date().isoformat(), "--task", "sum"], [1]),
        (["--target", "h200"], []),
    ],
)
def test_filters(book: Notebook, capsys: pytest.CaptureFixture[str], words: list[str], expected: list[int]) -> None:
    assert [row["run_id"] for row in json_of(capsys, "runs", *words)] == [f"run-{n}" for n in expected]
    assert run_command(["runs", *words]) == 0
    assert ("no run is like that" in capsys.readouterr().out) is (expected == [])


@pytest.mark.parametrize("words", [["--state", "ended"], ["--since", "yesterday"], ["--since", "99999d"]])
def test_a_filter_that_cannot_be_is_refused(
    book: Notebook, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert run_command(["runs", *words]) == 2
    assert words[0] in capsys.readouterr().err


def test_moments() -> None:
    assert abs(moment("2h") - (datetime.now(UTC) - timedelta(hours=2))) < timedelta(seconds=30)
    assert moment("2026-11-22T10:00:00+00:00") == datetime(2026, 11, 22, 10, tzinfo=UTC)
    assert moment("2026-11-22").tzinfo is not None
    with pytest.raises(UsageError):
        moment("-3d")


def test_two_runs_are_compared_only_where_that_says_something(
    book: Notebook, capsys: pytest.CaptureFixture[str]
) -> None:
    assert json_of(capsys, "runs", "compare", "run-0", "run-1")["speedup"] == 2.0
    assert json_of(capsys, "runs", "compare", "run-0", "run-2")["speedup"] is None
    assert run_command(["runs", "compare", "run-0", "run-1"]) == 0
    assert "2.000 times" in capsys.readouterr().out
    assert json_of(capsys, "runs", "compare", "run-0", "run-1")["is_tie"] is False
    assert json_of(capsys, "runs", "compare", "run-0", "run-2")["is_tie"] is None


def test_runs_are_removed_with_their_folders_but_not_beside_one_at_work(
    book: Notebook, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with book.ledger.driving("run-2"):
        assert run_command(["runs", "remove", "run-0", "--yes"]) == 2
        assert "run-2 is at work" in capsys.readouterr().err
    assert run_command(["runs", "remove", "run-0", "nosuch", "--yes"]) == 2
    assert len(json_of(capsys, "runs")) == 3, "all or none"
    assert json_of(capsys, "runs", "remove", "run-0", "run-1", "--yes") == {"removed": ["run-0", "run-1"]}
    assert [row["run_id"] for row in json_of(capsys, "runs")] == ["run-2"]
    assert not (tmp_path / "run-0").exists() and (tmp_path / "run-2").exists()

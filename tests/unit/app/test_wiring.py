from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app import run_request, wiring
from app.settings import load_settings
from app.starts import starts_of
from app.wiring import StoredLiterature
from knowledge.store import KnowledgeStore
from records.errors import LedgerError, SettingsError, UsageError
from tasks.loader import load_task

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_checkpoints_are_read_strictly_from_the_first_import_on() -> None:
    program = "import os, sys, app.wiring; print(os.environ['LANGGRAPH_STRICT_MSGPACK'], 'langgraph' in sys.modules)"
    completed = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert completed.stdout == "true False\n"


def test_the_author_follows_what_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_request.choose_author(load_settings(), None) == "playbook"
    with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
        run_request.choose_author(load_settings(), "llm")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    assert run_request.choose_author(load_settings(), None) == "llm"
    assert run_request.choose_author(load_settings(), "playbook") == "playbook"


def test_a_run_remembers_its_limits_and_never_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("KERNEL_SCIENTIST_MODEL_CODER", "writer")
    request = run_request.RunRequest("row_softmax", seed=3, budget_usd=1.5, limits={"generations": 9, "picks": 2})
    run = run_request.new_run(load_settings(), request, load_task("row_softmax"))
    limits = wiring.limits_of(run.config)
    assert (limits.generations, limits.picks, limits.tunings) == (9, 2, 24)
    assert (run.author, run.seed, run.config["budget_usd"], run.config["model_coder"]) == ("llm", 3, 1.5, "writer")
    assert "sk-canary" not in repr(run)
    assert run.id.split("-")[2] == "row_softmax"


@pytest.mark.parametrize("switched", [0, 1])
def test_what_an_author_is_told_follows_the_limits(switched: int) -> None:
    task, limits = load_task("row_softmax"), {"dispatch": switched, "taxonomy": switched}
    request = run_request.RunRequest("row_softmax", author="playbook", seed=5, limits=limits)
    run = run_request.new_run(load_settings(), request, task)
    assignment = wiring.assignment_of(run, task, wiring.limits_of(run.config), ("a finding",))
    assert (assignment.combines, assignment.classifies) == (bool(switched), bool(switched))
    assert (assignment.task, assignment.arch, assignment.seed, assignment.recalled) == (
        task,
        "gfx942",
        5,
        ("a finding",),
    )


def test_runs_are_found_by_id_by_its_beginning_and_as_last(notebook: Any) -> None:
    with pytest.raises(UsageError, match="no run yet"):
        wiring.find_run(notebook.ledger, "last")
    notebook.start()
    assert wiring.find_run(notebook.ledger, "last").id == wiring.find_run(notebook.ledger, "run").id == "run-1"
    with pytest.raises(UsageError, match="no run 'x'"):
        wiring.find_run(notebook.ledger, "x")


def test_a_folder_that_cannot_be_made_is_one_sentence(notebook: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="KERNEL_SCIENTIST_RUNS_FOLDER"):
        wiring.make_folder(load_settings(runs_folder=tmp_path / "file"), notebook.run)


def test_passages_have_an_id_and_a_source_and_are_the_same_again(tmp_path: Path) -> None:
    shelf = StoredLiterature(KnowledgeStore(tmp_path / "shelf"))
    first = shelf.search("LDS bank conflicts", 3, "gfx942")
    assert first == shelf.search("LDS bank conflicts", 3, "gfx942")
    shelf.close()
    assert len(first) == 3
    assert all(p.id and p.source and p.text for p in first)
    assert len({p.id for p in first}) == 3


def test_files_to_start_from_are_kept_with_the_run(notebook: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.hip"
    file.write_text("// mine")
    request = run_request.RunRequest("row_softmax", author="playbook", starts=(file,), has_seeds=False)
    stores = notebook.ledger, notebook.artefacts
    config = run_request.keep_request(load_settings(), request, load_task("row_softmax"), stores)
    file.write_text("// changed meanwhile")
    run = run_request.new_run(load_settings(), request, load_task("row_softmax"), config)
    (start,) = starts_of(run.config)
    assert (start.title, notebook.artefacts.text(start.source)) == ("file mine.hip", "// mine")
    assert run.config["has_seeds"] is False
    missing = run_request.RunRequest("row_softmax", author="playbook", starts=(tmp_path / "none.hip",))
    with pytest.raises(UsageError, match=r"none.hip cannot be read"):
        run_request.keep_request(load_settings(), missing, load_task("row_softmax"), stores)


def test_a_run_with_nothing_to_begin_with_is_refused_in_one_sentence() -> None:
    bare = replace(load_task("row_softmax"), seeds=())
    with pytest.raises(UsageError, match="row_softmax has no seed, and the playbook changes kernels but writes none"):
        run_request.new_run(load_settings(), run_request.RunRequest("row_softmax", author="playbook"), bare)
    alone = run_request.RunRequest("row_softmax", author="playbook", has_seeds=False)
    with pytest.raises(UsageError, match="--no-seeds leaves nothing to begin with"):
        run_request.new_run(load_settings(), alone, load_task("row_softmax"))

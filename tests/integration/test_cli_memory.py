"""Memory from outside: listed with its provenance, shown, withdrawn, taken back, and begun with only when verified."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Specimen, Step
from app.cli import run_command
from graph.context import StartingKernel
from tests.support.scripted_run import Bench

SEED = "// time_us = 100\n"


def child(step: Step, base: Specimen) -> str:
    return f"// {step.experiment_id}\n// time_us = 80\n"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    """A run folder with one run that has left a winner and a lesson."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_RUNS_FOLDER", str(tmp_path))
    run = Bench(tmp_path, child, SEED, picks=1)
    run.drive()
    return run


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, str]]:
    assert run_command(["memory", *arguments, "--json"]) == 0
    fields = json.loads(capsys.readouterr().out)
    return fields if isinstance(fields, list) else [fields]


def test_what_is_remembered_is_listed_shown_withdrawn_and_taken_back(
    capsys: pytest.CaptureFixture[str], bench: Bench
) -> None:
    winner, lesson = answer(capsys, "list")
    task = bench.context.assignment.task
    for row, kind in ((winner, "winner"), (lesson, "lesson")):
        assert (row["kind"], row["run"], row["kernel"], row["state"]) == (kind, "table-run", "g001-e1-a0", "told")
        assert (row["task"], row["task_digest"], row["target"]) == (task.name, task.digest, "mi300x")
    assert "shown: the change itself gives +25.0 %" in lesson["text"]
    key = lesson["key"][:12]
    answer(capsys, "withdraw", key, "--reason", "the clock was low")
    assert answer(capsys, "show", key)[0]["state"].endswith(": the clock was low")
    assert [row["state"][:9] for row in answer(capsys, "list", "--task", "table")] == ["told", "withdrawn"]
    answer(capsys, "restore", key)
    assert answer(capsys, "list") == [winner, lesson]
    assert answer(capsys, "list", "--task", "another") == []


def test_the_plain_list_names_run_kernel_and_date(capsys: pytest.CaptureFixture[str], bench: Bench) -> None:
    assert run_command(["memory", "list"]) == 0
    out = capsys.readouterr().out
    assert all(word in out for word in ("winner", "lesson", "table-run", "g001-e1-a0"))


@pytest.mark.parametrize("command", ["show", "withdraw", "restore"])
def test_a_key_that_is_none_is_one_sentence(capsys: pytest.CaptureFixture[str], bench: Bench, command: str) -> None:
    assert run_command(["memory", command, "nothing"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "memory list" in err


def test_a_run_without_a_winner_to_begin_with_is_refused(capsys: pytest.CaptureFixture[str], bench: Bench) -> None:
    assert run_command(["run", "row_softmax", "--author", "playbook", "--on", "lab", "--from-memory"]) == 2
    assert "no earlier run has a winner for row_softmax on mi300x" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "status", "leader"), [("", "accepted", 70), ("// fail verify wrong\n", "rejected", 100)]
)
def test_a_winner_of_an_earlier_run_is_verified_again(tmp_path: Path, text: str, status: str, leader: float) -> None:
    """A remembered kernel that is wrong by now is refused like any other, and the run begins with the seeds."""
    second = Bench(tmp_path, lambda step, base: f"// {step.experiment_id}\n// time_us = 90\n", SEED, picks=1)
    digest = second.context.artefacts.put(f"{text}// time_us = 70\n")
    second.context = replace(second.context, starts=(StartingKernel("winner g002-e1-a0 of run r", digest, "memory"),))
    assert second.drive().status == "done"
    assert second.attempts()["g000-e1-a0"].status == status
    assert next(e["best_us"] for e in second.told if e["event"] == "best") == pytest.approx(leader)
    assert second.context.ledger.experiments("table-run", 0)[1].picked_as == "memory"

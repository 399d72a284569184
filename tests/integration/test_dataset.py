"""A run's attempts as a dataset: a file, or at a local stand-in for LangSmith; without keys, and by digest."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import pytest

from agents.author import Draft, Idea, Specimen, Step
from app.cli import run_command
from app.commands import export  # noqa: F401 - the command of these tests
from app.dataset import examples_of, send
from app.session import Session
from app.settings import Settings
from app.wiring import open_records
from graph import Limits
from graph.doubles import ScriptedAuthor, table_context, table_task
from records.errors import MachineError
from records.program_version import program_version
from tests.integration.test_trace_content import KEYS, MARK, PLANTED, SHAPES
from tests.support.collector import PROJECT_ID, collecting

ENVIRONMENT = {"api_key": "OPENAI_API_KEY", "langsmith_api_key": "LANGSMITH_API_KEY"}


def ideas(generation: int) -> Sequence[Idea]:
    return [Idea(f"wider loads {PLANTED}", "try it", ("do it",), 5, 50, 10)]


def write(step: Step, base: Specimen) -> Draft:
    return Draft(f"// time_us = 50\n// roofline_us = 5\n// {PLANTED}\n{MARK}\n")


@pytest.fixture
def run_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run of two attempts, in the runs folder of the settings."""
    monkeypatch.chdir(tmp_path)
    for name, value in KEYS.items():
        if name != "langsmith_api_key":
            monkeypatch.setenv(ENVIRONMENT.get(name, f"KERNEL_SCIENTIST_{name.upper()}"), value)
    task = table_task(tmp_path / "task", f"// time_us = 100\n// roofline_us = 5\n{MARK}\n")
    limits = Limits(generations=1, picks=1)
    context = table_context(tmp_path / "runs", task, ScriptedAuthor(ideas, write), limits)
    (tmp_path / "runs" / context.run.id).mkdir()
    with Session(Settings(), context, tmp_path / "runs" / context.run.id) as session:
        assert session.drive(lambda _: None).accepted == 2
    return context.run.id


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_without_a_key_it_is_a_file_of_json_lines(run_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["export", run_id, "--dataset", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    path = Path(answer["path"])
    assert path == Path("runs").absolute() / run_id / "dataset.jsonl" and answer["examples"] == 2
    seed, child = lines(path)
    assert seed["inputs"]["task"] and "parent" not in seed["inputs"]
    assert child["inputs"]["parent"]["id"] == seed["metadata"]["attempt"]
    assert MARK in child["inputs"]["parent"]["source"] and MARK in child["outputs"]["source"]
    assert child["inputs"]["experiment"]["title"].startswith("wider loads")
    assert child["outputs"]["verdict"] == {"accepted": True, "stage": "time", "code": "OK"}
    assert (round(child["outputs"]["geomean_us"]), child["outputs"]["speedup_over_parent"]) == (50, 2.0)
    assert sum(child["outputs"]["times_us"].values()) > 0
    keys = [value for name, value in KEYS.items() if name != "langsmith_api_key"]  # which is not set here
    assert [secret for secret in (*keys, *SHAPES) if secret in path.read_text()] == []


def test_by_digest_no_source_is_in_it(run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNEL_SCIENTIST_TRACE_SOURCES", "digest")
    assert run_command(["export", run_id, "--dataset", "--out", "mine.jsonl"]) == 0
    text = Path("mine.jsonl").read_text()
    assert MARK not in text
    seed = f"// time_us = 100\n// roofline_us = 5\n{MARK}\n"
    assert hashlib.sha256(seed.encode()).hexdigest()[:16] in lines(Path("mine.jsonl"))[0]["outputs"]["source"]


def test_with_a_key_langsmith_has_it_once(
    run_id: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with collecting() as collector:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", collector.url)
        monkeypatch.setenv("LANGSMITH_API_KEY", KEYS["langsmith_api_key"])
        for added in (2, 0):  # again changes nothing
            assert run_command(["export", run_id, "--dataset", "--json"]) == 0
            answer = json.loads(capsys.readouterr().out)
            assert (answer["examples"], answer["added"]) == (2, added) and PROJECT_ID in answer["dataset"]
    [dataset] = collector.datasets
    assert dataset["name"] == f"kernel-scientist {run_id}"
    assert (
        dataset["extra"]["metadata"].items()
        >= {"run": run_id, "target": "mi300x", "version": program_version()}.items()
    )
    assert [e["metadata"]["attempt"] for e in collector.examples] == ["g000-e0-a0", "g001-e1-a0"]
    assert all(e["outputs"]["verdict"]["accepted"] and e["inputs"]["task"] for e in collector.examples)
    body = json.dumps([collector.datasets, collector.examples])
    assert [secret for secret in (*KEYS.values(), *SHAPES) if secret in body] == []


def test_an_endpoint_that_is_not_there_is_one_sentence(
    run_id: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("LANGSMITH_API_KEY", KEYS["langsmith_api_key"])
    assert run_command(["export", run_id, "--dataset"]) == 3
    stderr = capsys.readouterr().err
    assert "the dataset did not reach http://127.0.0.1:9" in stderr and "--out" in stderr
    assert KEYS["langsmith_api_key"] not in stderr and stderr.count("\n") == 1
    assert examples_of.__module__ == "app.dataset"


def test_an_endpoint_that_does_not_answer_is_asked_once(run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setenv("LANGSMITH_API_KEY", KEYS["langsmith_api_key"])
        settings = Settings()
        ledger, artefacts = open_records(settings, create=False)
        with ledger, pytest.raises(MachineError, match="the dataset did not reach"):
            run = ledger.run(run_id)
            send(settings, run, examples_of(settings, ledger, artefacts, run), answer_ms=200)
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_without_the_option_it_is_the_best_kernel(run_id: str) -> None:
    assert run_command(["export", "last", "--out", "best.hip"]) == 0
    assert Path("best.hip").read_text().startswith("// time_us = 50\n")
    assert run_command(["export", "last", "--out", "best"]) == 2, "it is there already"
    assert run_command(["export", "last", "--out", "best", "--force"]) == 0
    assert run_command(["export", "last", "--out", "gone/all.jsonl", "--dataset"]) == 0
    assert len(lines(Path("gone/all.jsonl"))) == 2

"""LangSmith against a local stand-in: readable when asked for, silent when not, never a key, never a stuck exit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from records.program_version import program_version
from tests.support.collector import Collector, collecting, metadata
from tests.support.endpoint import ScriptedEndpoint

ROOT = Path(__file__).resolve().parents[2]
DRIVER = Path(__file__).with_name("traced_run.py")
MODEL_KEY, TRACE_KEY = "sk-canary-7c1f0e5d9b3a", "lsv2-canary-51d2c8e0aa47"
DEADLINE_S = 60.0


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


def run(folder: Path, how: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """One traced or untraced run in its own process; it must end by itself within the deadline."""
    with ScriptedEndpoint(lambda body: "extern kernel") as model:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "OPENAI_API_KEY": MODEL_KEY,
            "OPENAI_BASE_URL": model.url,
            **settings,
        }
        process = subprocess.run(
            [sys.executable, str(DRIVER), str(folder), how],
            env=environment,
            cwd=folder,
            text=True,
            capture_output=True,
            timeout=DEADLINE_S,
            check=False,
        )
    assert process.returncode == 0, process.stderr
    assert process.stdout == "done\n"
    return process


def test_a_traced_run_can_be_read_and_holds_no_key(tmp_path: Path, collector: Collector) -> None:
    process = run(
        tmp_path, "ask", LANGSMITH_ENDPOINT=collector.url, LANGSMITH_API_KEY=TRACE_KEY, LANGSMITH_PROJECT="mine"
    )
    assert process.stderr == ""
    assert set(collector.paths) <= {"/info", "/runs/batch"}
    runs = collector.runs()
    names = {r["name"] for r in runs}
    assert {"kernel-scientist", "open_run", "select", "retrieve", "plan", "experiment", "reflect", "coder"} <= names
    root = next(r for r in runs if r["name"] == "kernel-scientist" and r.get("parent_run_id") is None)
    assert root["session_name"] == "mine"
    assert {"table", "mi300x"} <= set(root["tags"])
    assert (
        metadata(root).items()
        >= {"run": "table-run", "task": "table", "target": "mi300x", "author": "scripted"}.items()
    )
    assert metadata(root)["version"] == program_version()
    call = next(r for r in runs if r["name"] == "coder")
    assert {"coder", "run:table-run", "generation:1"} <= set(call["tags"])
    assert metadata(call)["candidate"]
    assert (
        metadata(call).items()
        >= {"run": "table-run", "generation": 1, "experiment": "g001-e1", "node": "coder"}.items()
    )
    node = next(r for r in runs if r["name"] == "verify" and metadata(r)["generation"])
    assert metadata(node).items() >= {"run": "table-run", "generation": 1, "experiment": "g001-e1"}.items()
    everything = b"".join(collector.bodies)
    assert b"Write a kernel." in everything
    assert [key for key in (MODEL_KEY, TRACE_KEY) if key.encode() in everything] == []


@pytest.mark.parametrize("leftover", [pytest.param({}, marks=pytest.mark.long), {"LANGCHAIN_TRACING_V2": "true"}])
def test_nothing_is_sent_unless_asked_even_with_a_key(
    tmp_path: Path, collector: Collector, leftover: dict[str, str]
) -> None:
    run(tmp_path, "quiet", LANGSMITH_ENDPOINT=collector.url, LANGSMITH_API_KEY=TRACE_KEY, **leftover)
    assert collector.paths == []


@pytest.mark.long
def test_the_environment_can_ask_too(tmp_path: Path, collector: Collector) -> None:
    (tmp_path / ".env").write_text(f"LANGSMITH_TRACING=true\nLANGSMITH_ENDPOINT={collector.url}\n")
    run(tmp_path, "quiet")
    assert "kernel-scientist" in {r["name"] for r in collector.runs()}


def test_a_dead_endpoint_neither_fails_nor_shows_a_key(tmp_path: Path) -> None:
    process = run(tmp_path, "ask", LANGSMITH_ENDPOINT="http://127.0.0.1:9", LANGSMITH_API_KEY=TRACE_KEY)
    assert TRACE_KEY[:12] not in process.stdout + process.stderr
    assert "Traceback" not in process.stderr

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.inputs.kept_facts import KeptFacts
from tasks.loader import load_task
from tasks.task import Task


def counted(task: Task, calls: Counter[str]) -> Task:
    """The same task, whose calls of its reference are counted."""

    def reference(inputs: Any, case: Any) -> Any:
        calls["reference"] += 1
        return task.reference(inputs, case)

    return replace(task, reference=reference)


def told(families: InputFamilies) -> list[Any]:
    outputs = families.task.outputs
    return [families.names, [families.tolerance(s, n) for s in outputs for n in (None, *families.names)]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["row_softmax", "transpose", "mlp_backward"])
def test_what_is_measured_of_a_task_is_measured_once(name: str, tmp_path: Path) -> None:
    calls, later_calls = Counter[str](), Counter[str]()
    task = load_task(name)
    first = told(InputFamilies(counted(task, calls), tmp_path))
    (path,) = tmp_path.glob("*.json")
    assert told(InputFamilies(counted(task, later_calls), tmp_path)) == first == told(InputFamilies(task))
    assert later_calls["reference"] <= 2 < calls["reference"]  # by which tasks are told apart
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["row_softmax", "moe_ffn"])
def test_every_process_finds_what_another_has_measured(name: str, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from sandbox.cases.inputs.families import InputFamilies; "
        "from tasks.loader import load_task; InputFamilies(load_task(sys.argv[1]), Path(sys.argv[2])).names"
    )
    for hashes in ("1", "2", "3"):
        words = [sys.executable, "-c", program, name, str(tmp_path)]
        subprocess.run(words, cwd=Path(__file__).parents[5], env={**os.environ, "PYTHONHASHSEED": hashes}, check=True)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
def test_another_function_plant_or_case_is_another_task(tmp_path: Path) -> None:
    task = load_task("row_softmax")

    def doubled(inputs: Any, case: Any) -> Any:
        return {"y": 2 * task.reference(inputs, case)["y"]}

    for variant in (
        task,
        replace(task, reference=doubled),
        replace(task, plant=()),
        replace(task, tests=task.tests[:2]),
        replace(task, in_order=None),
        replace(task, digest="0" * 64),
    ):
        assert told(InputFamilies(variant, tmp_path)) == told(InputFamilies(variant))
    assert len(list(tmp_path.glob("*.json"))) == 6


def test_a_file_that_cannot_be_read_or_written_is_done_without(tmp_path: Path) -> None:
    task = load_task("transpose")
    first = told(InputFamilies(task, tmp_path))
    (path,) = tmp_path.glob("*.json")
    for text in ("", "{", "[]", '{"changed": 1}'[:5]):
        path.write_text(text)
        assert told(InputFamilies(task, tmp_path)) == first
        assert isinstance(json.loads(path.read_text()), dict)
    (tmp_path / "file").write_text("")
    assert told(InputFamilies(task, tmp_path / "file" / "folder")) == first


def test_a_task_whose_reference_fails_keeps_nothing(tmp_path: Path) -> None:
    def broken(inputs: Any, case: Any) -> Any:
        raise ValueError("no")

    facts = KeptFacts(replace(load_task("transpose"), reference=broken), lambda: load_task("transpose").tests, tmp_path)
    assert facts.get("size", lambda: 3) == 3 and facts.get("size", lambda: 4) == 3
    assert list(tmp_path.iterdir()) == []


def test_a_thread_that_is_slow_to_begin_loses_no_fact_of_another() -> None:
    begun, measured, facts_read = threading.Event(), threading.Event(), list[int]()

    def slow() -> Any:
        begun.set()
        measured.wait(0.5)
        raise ValueError("told apart by nothing")

    facts = KeptFacts(load_task("transpose"), slow, Path("not written"))
    other = threading.Thread(target=lambda: facts_read.append(facts.get("other", lambda: 1)))
    other.start()
    begun.wait(60)
    facts_read.append(facts.get("size", lambda: 3))
    measured.set()
    other.join(60)
    assert sorted(facts_read) == [1, 3]
    assert facts.get("size", lambda: 4) == 3 and facts.get("other", lambda: 4) == 1

"""A run that ends with a table of kernels by shape is exported in every form: each holds all kernels and conditions."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Draft, Idea, Specimen, Step
from app.cli import run_command
from app.session import Session
from app.settings import Settings
from graph import Limits
from graph.doubles import ScriptedAuthor, table_context
from sandbox.candidate.dispatch import is_dispatch
from tasks.loader import load_task
from tests.support.exports import run as ran
from tests.support.exports import torch_with

CLAIMS = ("// time_us = 90\n// time_us[cols=1024] = 20\n", "// time_us = 30\n// time_us[cols=1024] = 40\n")
FORMS = {  # the path of the file that holds the kernels, of each form
    "hip": "row_softmax.hip",
    "torch": "",
    "kernelbench": "",
    "gpumode": "",
    "flashinfer": "solutions/gpu-kernel-scientist/row_softmax/row_softmax",
    "hf-kernels": "row_softmax_rocm/row_softmax.cu",
    "arena": "kernel.hip",
}


def ideas(generation: int) -> Sequence[Idea]:
    return [Idea(f"idea {n}", "try it", ("do it",), 5, 50, 10 * n) for n in range(2)]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs with one whose best kernel is a table of the two seeds of row_softmax."""
    folder, task = tmp_path_factory.mktemp("tables"), load_task("row_softmax", "mi300x")
    texts = [path.read_text(encoding="utf-8") for path in task.seeds[:2]]

    def write(step: Step, base: Specimen) -> Draft:
        number = (int(step.experiment_id[-1]) - 1) % 2
        return Draft(f"{texts[number]}// {step.experiment_id}\n{CLAIMS[number]}")

    seed = folder / "seed.hip"
    seed.write_text(f"{texts[0]}// time_us = 100\n", encoding="utf-8")
    seeded = replace(task, seeds=(seed,))
    context = table_context(folder, seeded, ScriptedAuthor(ideas, write), Limits(generations=1, picks=2))
    run_path = folder / context.run.id
    run_path.mkdir()
    with Session(Settings(runs_folder=folder), context, run_path) as session:
        session.drive(lambda _: None)
    return folder


@pytest.fixture(autouse=True)
def settled(run_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_RUNS_FOLDER", str(run_folder))


def holds_all(text: str) -> None:
    assert text.count("namespace variant_0 {") == text.count("namespace variant_1 {") == 1
    assert "row_softmax_0" in text and "row_softmax_1" in text
    assert text.count("(cols <= ") == 2, "the scratch memory and the launch"


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_runs_table_holds_its_kernels_and_conditions(form: str) -> None:
    assert run_command(["export", "last", "--as", form, "--out", "made"]) == 0
    path = Path("made.py") if Path("made.py").is_file() else Path("made") / FORMS[form]
    if form == "flashinfer":
        [path] = path.glob("*.json")
    text = path.read_text(encoding="utf-8")
    if form == "hip":
        columns = [int(c) for c in re.findall(r"// rows=\d+,cols=(\d+)", Path("made/self_check.hip").read_text())]
        assert min(columns) <= 1024 < max(columns), "the self-check runs both kernels"
    if form == "arena":
        assert is_dispatch(text)
        return
    if form == "flashinfer":
        text = json.loads(text)["sources"][0]["content"]
    holds_all(text)
    if form in ("torch", "kernelbench", "gpumode", "flashinfer"):
        ast.parse(text)
    if form in ("kernelbench", "gpumode"):
        variables = {name: os.environ.get(name) for name in ("CXX", "PYTORCH_ROCM_ARCH")}
        with torch_with(lambda *arguments: arguments) as calls:
            ran(text)
        for name, value in variables.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
        holds_all(calls[0]["cuda_sources"][0])


def test_the_file_of_the_table_goes_through_the_same_door() -> None:
    assert run_command(["export", "last", "--out", "table"]) == 0
    words = ["export", "table.hip", "--task", "row_softmax", "--unchecked", "--target", "h200"]
    assert run_command([*words, "--as", "robust-kbench", "--out", "made"]) == 0
    holds_all(Path("made/forward.cu").read_text(encoding="utf-8"))
    assert run_command([*words, "--as", "hip", "--set", "ROWS=2"]) == 2, "a table has its own tunables"

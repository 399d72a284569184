from __future__ import annotations

import threading
import traceback
from pathlib import Path
from uuid import uuid4

import pytest

from sandbox.amdgcn.compiler import Compilation, Compiler
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain

BETWEEN = 2  # frames from the evaluator's method to the compiler's


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return LabEvaluator(toolchain(), COMPILED, load_target("mi300x"), 7, 1)


class Counting(Compiler):
    """A compiler that notes where it was called from."""

    calls: list[list[str]]

    def compile(self, *arguments: object, **keywords: object) -> Compilation:
        frames = [f"{Path(frame.filename).stem}.{frame.name}" for frame in traceback.extract_stack()]
        self.calls.append(frames[-1 - BETWEEN : -1])
        return super().compile(*arguments, **keywords)  # type: ignore[arg-type]


@pytest.fixture
def counted(evaluator: LabEvaluator) -> Counting:
    compiler = Counting(toolchain(), COMPILED, load_target("mi300x"))
    compiler.calls = []
    evaluator._compiler = compiler
    return compiler


def source() -> str:
    return load_task("row_softmax").seeds[0].read_text(encoding="utf-8") + f"// {uuid4()}\n"


def test_the_compiler_is_two_frames_from_the_evaluator(evaluator: LabEvaluator, counted: Counting) -> None:
    assert evaluator.compile(evaluator.prepare(source(), load_task("row_softmax"))).verdict.accepted
    assert counted.calls == [["lab_evaluator.compile", "candidate_stages.compiled"]]


def test_each_stage_is_computed_once_by_whoever_comes_first(evaluator: LabEvaluator, counted: Counting) -> None:
    prepared = evaluator.prepare(source(), load_task("row_softmax"))
    listed = evaluator.stages(prepared).compiled(is_assembled=False)
    assert listed.compilation is not None and not listed.evaluation.code_object
    threads = [threading.Thread(target=lambda: evaluator.stages(prepared).program()) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counted.calls) == 2, "the listing, and once the code object"
    assembled = evaluator.stages(prepared).compiled()
    assert assembled.evaluation.code_object and evaluator.stages(prepared).compiled(is_assembled=False) is assembled


def test_what_is_refused_is_never_compiled(evaluator: LabEvaluator, counted: Counting) -> None:
    prepared = evaluator.prepare("no kernel", load_task("row_softmax"))
    assert evaluator.stages(prepared).program().built is None
    assert not evaluator.compile(prepared).verdict.accepted and counted.calls == []

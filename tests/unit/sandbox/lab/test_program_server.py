"""One interpreter executes many requests; what ends badly ends alone, and nobody is left behind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from sandbox.lab.execution_place import ExecutionPlace
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.program_server import IDLE
from sandbox.process import Completed, ProcessLimits
from sandbox.process_tree import children_of
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import build, execute, floats, launch
from tests.support.lab_bench import lab as bench

LIMITS = ProcessLimits(cpu_s=20, file_bytes=1 << 20)
DOUBLE = "#include <hip/hip_runtime.h>\n__global__ void twice(const float* x, float* y) {{ y[{0}] = 2 * x[{0}]; }}"
pytestmark = pytest.mark.skipif(
    toolchain().cage.level != "namespaces", reason="each request starts an interpreter here"
)


def image(index: str = "threadIdx.x") -> Path:
    return Path(build(DOUBLE.format(index), [launch("twice", ["x", "y"])]).path)


@pytest.fixture
def lab() -> Iterator[MachineLab]:
    machine_lab = MachineLab(toolchain(), COMPILED, load_target("mi300x"), cores=2)
    with machine_lab.many_executions():
        yield machine_lab


def ask(lab: MachineLab, program: Path, use: Callable[[ExecutionPlace], Completed]) -> Completed:
    with lab.place(program, 4096) as room:
        return use(room)


def broken(room: ExecutionPlace) -> Completed:
    for name in ("request.bin", "memory.bin", "masks.bin", "result.json"):
        (room.folder / name).touch()
    return room.run(LIMITS, None)


def test_the_next_request_of_a_program_meets_the_same_interpreter(lab: MachineLab) -> None:
    with lab.place(image(), 4096) as room:
        first = room.folder
    with lab.place(image(), 4096) as room, lab.place(image(), 4096) as beside, lab.place(image("0"), 0) as other:
        assert room.folder == first
        assert len({room.folder, beside.folder, other.folder}) == 3


def test_what_fails_is_told_and_its_interpreter_is_asked_nothing_more(lab: MachineLab) -> None:
    folders = list[Path]()

    def use(room: ExecutionPlace) -> Completed:
        folders.append(room.folder)
        return broken(room)

    for _ in range(2):
        completed = ask(lab, image(), use)
        assert completed.returncode == 70
        assert "request.bin" in completed.stderr
    assert folders[0] != folders[1]
    assert not any(folder.exists() for folder in folders)


def test_no_file_of_a_request_meets_the_next_one(lab: MachineLab) -> None:
    with lab.place(image(), 4096) as room:
        (room.folder / "result.json").write_text("{}")
    with lab.place(image(), 4096) as room:
        assert not list(room.folder.iterdir())


def test_few_interpreters_wait_and_none_when_all_is_done() -> None:
    lab = MachineLab(toolchain(), COMPILED, load_target("mi300x"), cores=2)
    before = set(children_of(os.getpid()))
    with lab.many_executions():
        rooms = [lab.place(image(), 4096) for _ in range(IDLE + 2)]
        folders = [room.__enter__().folder for room in rooms]
        for room in rooms:
            room.__exit__(None, None, None)
        waiting = set(children_of(os.getpid())) - before
        assert len(waiting) == sum(folder.exists() for folder in folders) == IDLE
    assert not set(children_of(os.getpid())) - before
    assert not any(folder.exists() for folder in folders)


def test_inputs_in_a_file_are_there_for_one_request(lab: MachineLab, tmp_path: Path) -> None:
    with lab.place(image(), 4096) as room:
        stored = room.folder.parents[1] / f"{tmp_path.parent.name}-{os.getpid()}"
        stored.write_bytes(bytes(4096))
        try:
            broken(room)
            assert stored.stat().st_nlink == 1
        finally:
            stored.unlink()


def test_executions_are_as_those_that_start_an_interpreter_each() -> None:
    source = DOUBLE.format("threadIdx.x").partition("\n")[2]
    with bench().many_executions():
        for seed in range(3):
            x = floats(64, seed)
            execution = execute(source, [launch("twice", ["x", "y"])], {"x": x}, {"y": np.zeros(64, np.float32)})
            assert not execution.findings
            assert np.array_equal(execution.outputs["y"], 2 * x)
            assert execution.masks["y"].all()


def test_a_workgroup_that_does_not_end_is_told_and_the_next_request_is_answered() -> None:
    source = """
__global__ void wait(const int* x, int* y) { while (x[0]) y[threadIdx.x] += x[1]; y[threadIdx.x] = x[1]; }"""
    with bench().many_executions():
        for first, kinds in ((1, ["timeout"]), (0, [])):
            inputs = {"x": np.array([first, 7], np.int32)}
            execution = execute(
                source, [launch("wait", ["x", "y"])], inputs, {"y": np.zeros(64, np.int32)}, deadline_s=0.4
            )
            assert [finding.kind for finding in execution.findings] == kinds

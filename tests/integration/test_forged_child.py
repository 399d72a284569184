"""The process on the GPU replaced by one that answers anything: only right outputs in true time are accepted.

Compilers are those of HIP's stub; its device is not used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from records.errors import MachineError
from sandbox.gpu.child_link import GpuSlot
from sandbox.gpu.child_process import ChildProcess
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.device_state import ChainRule
from sandbox.gpu.gpu_evaluator import GpuEvaluator, Rules
from sandbox.gpu.timing.windows import LevelRule
from sandbox.gpu.whole_verify import VerifyRules
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Task
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.forger import MODES, TRUE_US, forge
from tests.support.hip_stub import hip_stub

RULES = Rules(
    LevelRule(least=3, most=3, warm=0, alpha=0.9),
    deadline_s=2.0,
    clock_tries=1,
    verify=VerifyRules(ChainRule(calls=32, budget_s=60.0)),
)


@pytest.fixture(scope="module")
def task() -> Task:
    """The least time that it says is possible is far below every lie."""
    task = load_task(str(Path(__file__).parents[1] / "kernels" / "exploits" / "tasks" / "scale"))
    return replace(task, benchmarks=(replace(task.benchmarks[0], dims={"n": 3000}),))


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GpuCompiler]:
    with hip_stub(toolchain(), COMPILED) as stub:
        gpu_compiler = GpuCompiler(
            load_target("mi300x"), tmp_path_factory.mktemp("forged"), runtime_library=stub.library
        )
        yield gpu_compiler
        gpu_compiler.close()


def said(mode: str, task: Task, compiler: GpuCompiler, folder: Path) -> str:
    """What comes of it: accepted, a finding's kind, or a fault of the machine."""

    def make(slot: GpuSlot) -> ChildProcess:
        return ChildProcess(slot, forge(mode))

    try:
        judge = GpuEvaluator(load_target("mi300x"), folder, 0, compiler=compiler, spares=0, rules=RULES, make=make)
        evaluation = judge.benchmark(judge.prepare(task.seeds[0].read_text(encoding="utf-8"), task))
    except MachineError:
        return "the machine's fault"
    assert evaluation.verdict.accepted == (not evaluation.verdict.findings)
    if evaluation.verdict.accepted:
        assert [m.time_us for m in evaluation.measurements] == [pytest.approx(TRUE_US)]
        return "accepted"
    return evaluation.verdict.findings[0].kind


def test_who_does_the_work_and_tells_the_truth_is_believed(task: Task, compiler: GpuCompiler, tmp_path: Path) -> None:
    assert said("honest", task, compiler, tmp_path) == "accepted"


LONG = ("a hundredth", "closes at once", "endless time", "no text", "time that is no number", "true for a number")


@pytest.mark.parametrize("mode", [pytest.param(m, marks=[pytest.mark.long] if m in LONG else []) for m in MODES])
def test_a_lie_is_rejected_or_the_machines_fault(mode: str, task: Task, compiler: GpuCompiler, tmp_path: Path) -> None:
    assert said(mode, task, compiler, tmp_path) != "accepted"

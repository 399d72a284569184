"""Who is blamed for a step without an answer: a control decides, and a starved host decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest

from records.errors import HostStarved, LabError, NoAnswer
from records.evaluation import Evaluation, Verdict
from sandbox.amdgcn.compiler import Compilation, Compiler
from sandbox.candidate.plan import Candidate
from sandbox.lab.controlled import PAUSES_S, Controlled
from sandbox.lab.lab import Execution, ExecutionRequest
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import evaluator as lab_evaluator

RIGHT = Evaluation("key", "id", {}, Verdict("correct", True, "OK"))


def steps(*ends: BaseException | Evaluation | None) -> tuple[Callable[[], Evaluation], Callable[[], int]]:
    """A step that ends so each time it is taken, and how often it was."""
    left: Iterator[BaseException | Evaluation | None] = iter(ends)
    steps_taken: list[int] = []

    def step() -> Evaluation:
        steps_taken.append(1)
        end = next(left)
        if isinstance(end, BaseException):
            raise end
        return end or RIGHT

    return step, lambda: len(steps_taken)


def take(controlled: Controlled, step: Callable[[], Evaluation]) -> Evaluation:
    """The answer of a step as the lab takes it: the control looks on only where there is none."""
    try:
        return step()
    except (NoAnswer, HostStarved) as fault:
        return controlled.after(fault, lambda: RIGHT, step)


def trial(*control: BaseException | None) -> tuple[Controlled, Callable[[], int], list[float]]:
    paused: list[float] = []
    step, count = steps(*control)
    return Controlled(lambda: step() and None, paused.append), count, paused


def test_a_candidate_that_fails_alone_and_twice_is_rejected() -> None:
    controlled, controls, _ = trial(None)
    step, count = steps(NoAnswer("no result"), NoAnswer("no result"))
    verdict = take(controlled, step).verdict
    assert not verdict.accepted
    assert verdict.stage == "execute"
    assert (count(), controls()) == (2, 1)


def test_a_machine_on_which_the_control_fails_is_to_blame() -> None:
    controlled, _, _ = trial(LabError("it fails as well"))
    with pytest.raises(NoAnswer, match="no result"):
        take(controlled, steps(NoAnswer("no result"))[0])


def test_a_failure_that_does_not_come_again_decides_nothing() -> None:
    controlled, _, _ = trial(None)
    assert take(controlled, steps(NoAnswer("once"), RIGHT)[0]) == RIGHT


def test_another_fault_of_the_machine_is_raised_at_once() -> None:
    controlled, controls, _ = trial()
    with pytest.raises(LabError, match="no space"):
        take(controlled, steps(LabError("no space"))[0])
    assert controls() == 0


def test_a_starved_host_is_asked_again_with_longer_pauses_and_not_for_ever() -> None:
    controlled, _, paused = trial()
    assert take(controlled, steps(HostStarved("busy"), HostStarved("busy"), RIGHT)[0]) == RIGHT
    assert paused == list(PAUSES_S[:2])
    with pytest.raises(HostStarved):
        take(controlled, steps(*[HostStarved("busy")] * 9)[0])


class Silent(Compiler):
    """A compiler without an answer on one candidate."""

    def compile(self, candidate: Candidate, tunables: Mapping[str, int], *, is_assembled: bool = True) -> Compilation:
        """As the real one, but for that candidate when it is only ranked."""
        if "silent" in candidate.source and not is_assembled:
            raise NoAnswer("the compiler left nothing")
        return super().compile(candidate, tunables, is_assembled=is_assembled)


class SilentLab(MachineLab):
    """A lab without an answer on one candidate that is executed without checks."""

    silent = ""  # the path of its program

    def execute(self, request: ExecutionRequest) -> Execution:
        """As the real one, but for that program."""
        if request.program.path == self.silent and not request.program.is_checked:
            raise NoAnswer("the executor left nothing")
        return super().execute(request)


def test_a_candidate_without_an_estimate_or_a_confirmation_is_rejected_and_ends_no_run() -> None:
    task, cache, target = load_task("transpose"), COMPILED, load_target("mi300x")
    case = replace(task.benchmarks[0], name="rows=2048,cols=1024", dims={"rows": 2048, "cols": 1024})
    task = replace(task, tests=task.tests[:2], benchmarks=(case,), digest="8" * 64)
    evaluator = lab_evaluator(7)
    evaluator._compiler = Silent(toolchain(), cache, target)
    evaluator._lab = lab = SilentLab(toolchain(), cache, target)
    silent = evaluator.prepare(task.seeds[0].read_text(encoding="utf-8") + "\n// silent\n", task)
    program = lab.build(silent.candidate, silent.tunables)
    assert isinstance(program, LabProgram)
    lab.silent = program.path
    for evaluation in (evaluator.estimate(silent), evaluator.confirm(silent)):
        assert not evaluation.verdict.accepted
        assert evaluation.verdict.findings[0].message.startswith("the lab has no answer on this kernel, twice")

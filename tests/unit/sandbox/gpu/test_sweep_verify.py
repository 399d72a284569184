"""What a sweep finds, and what it lets pass, on a kernel in numpy."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from sandbox.candidate.prepare import prepare
from sandbox.gpu.child_process import ChildProcess
from sandbox.gpu.compile.gpu_compiler import DeviceBuild
from sandbox.gpu.compiled import CompiledCandidate, LoadedCandidate
from sandbox.gpu.maker_pool import MakerPool
from sandbox.gpu.references import References
from sandbox.gpu.sweep_verify import MORE, SweepRule, SweepVerification
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Task
from tests.support.numpy_child import NumpyChild

RULE = SweepRule(0.0, 0.0, 0.0, 400, 60.0, batch=64)
WHOLE = SweepRule(0.0, 0.0, 0.0, 1600, 60.0, batch=64)  # as many as a GPU affords: one binade of each exponent
FACTOR = np.float32(1.7)
Kernel = Callable[[Any], Any]


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(Path(__file__).parents[3] / "kernels" / "exploits" / "tasks" / "scale")


@pytest.fixture
def references(task: Task) -> Iterator[References]:
    answers = References(task, 7)
    yield answers
    answers.close()


def verification(
    references: References, child: NumpyChild, rule: SweepRule = RULE, more: str = ""
) -> SweepVerification:
    task = references.task
    prepared = prepare(task.seeds[0].read_text(encoding="utf-8") + more, task)
    build = DeviceBuild(image=b"none", kernels=())
    loaded = LoadedCandidate(
        cast(ChildProcess, child), "B", CompiledCandidate(prepared, build), random.Random(3), deadline_s=5.0
    )
    return SweepVerification(loaded, references, load_target("mi300x"), rule, MakerPool(0))


def run(
    references: References, kernel: Kernel, rule: SweepRule = RULE
) -> tuple[list[Any], NumpyChild, SweepVerification]:
    child = NumpyChild(kernel)
    with verification(references, child, rule) as sweep:
        return list(sweep.run(lambda: False)), child, sweep


def test_a_right_kernel_passes_and_its_cases_are_counted(references: References) -> None:
    findings, child, sweep = run(references, lambda x: FACTOR * x)
    assert findings == [] and sweep.count >= 400 and child.calls == 0
    rows = sweep.rows()
    assert [row.name for row in rows[:-1]] == [f"n=1000 [{name}]" for name in references.families.names]
    assert rows[-1].name == f"{sweep.count - len(rows) + 1} {MORE}" and all(row.correct for row in rows)


@pytest.mark.parametrize(
    ("name", "is_wrong"),
    [
        ("low bits", lambda n: n & 7 == 5),
        ("a hash", lambda n: (n * 40503 >> 7) & 63 == 9),
        ("a loop", lambda n: sum(map(int, str(n))) == 13),
        ("a square", lambda n: int(np.sqrt(n)) ** 2 == n and n > 4),
    ],
)
def test_a_decision_by_the_length_is_found_however_it_is_made(
    references: References, name: str, is_wrong: Callable[[int], bool]
) -> None:
    def kernel(x: Any) -> Any:
        return np.where(np.arange(len(x)) == len(x) - 1, 0, FACTOR * x) if is_wrong(len(x)) else FACTOR * x

    (finding,), _, _ = run(references, kernel)
    assert finding.kind == "wrong_result" and finding.case is not None, name
    assert is_wrong(int(finding.case.split(" ")[0].removeprefix("n="))), name


@pytest.mark.parametrize(("low", "high"), [(-90, -60), (40, 41), (60, 99)])
def test_an_exponent_cut_short_is_found(references: References, low: int, high: int) -> None:
    def kernel(x: Any) -> Any:
        size = np.abs(x)
        return FACTOR * np.where((size >= 2.0**low) & (size < 2.0**high), np.float32(0.5) * x, x)

    (finding,), _, _ = run(references, kernel, WHOLE)
    assert finding.kind == "wrong_result" and "[" in str(finding.case)


def test_an_answer_that_is_wrong_only_behind_others_is_a_finding(references: References) -> None:
    class Late(NumpyChild):
        def call(self, request: Any, timeout_s: float) -> Any:
            self.kernel = lambda x: FACTOR * x
            return super().call(request, timeout_s)

    child = Late(lambda x: 0 * x)
    with verification(references, child) as sweep:
        (finding,) = sweep.run(lambda: False)
    assert finding.kind == "nondeterministic" and "calls on other shapes" in finding.message


def test_a_little_inexact_once_is_luck_and_always_is_not(references: References) -> None:
    def off(x: Any, turn: list[int]) -> Any:
        turn[0] += 1
        y = np.asarray(FACTOR * x)
        worst = np.argmax(np.abs(y))
        if turn[1] and len(y) > 3 and turn[0] % turn[1] == 0:
            y[worst] *= np.float32(1 + 6e-6)
        return y

    often = [0, 1]
    findings, _, _ = run(references, lambda x: off(x, often))
    assert [finding.kind for finding in findings] == ["wrong_result"]
    seldom = [0, 97]
    findings, child, _ = run(references, lambda x: off(x, seldom))
    assert findings == [] and child.calls > 0


def test_writes_around_the_buffers_are_a_finding(references: References) -> None:
    child = NumpyChild(lambda x: FACTOR * x, changed=3)
    with verification(references, child) as sweep:
        (finding,) = sweep.run(lambda: False)
    assert finding.kind == "out_of_bounds" and "48 bytes" in finding.message
    assert child.batches == 1


def test_time_ends_a_sweep_once_it_has_its_cases(references: References) -> None:
    for cases, most_s, batches in ((0, 0.0, 1), (200, 60.0, 5), (10_000, 0.0, 1)):
        _, child, sweep = run(references, lambda x: FACTOR * x, SweepRule(0.0, 0.0, 0.0, cases, most_s, batch=64))
        assert child.batches <= batches and sweep.count >= min(cases, sweep.count)
    _, child, _ = run(references, lambda x: FACTOR * x, SweepRule(0.0, 0.0, 0.0, 0, 60.0, batch=64))
    assert child.batches == 1


def test_no_two_candidates_meet_the_same_lengths(references: References) -> None:
    met = []
    for more in ("", "// another\n"):
        child = NumpyChild(lambda x: FACTOR * x)
        with verification(references, child, more=more) as sweep:
            sweep.run(lambda: False)
        met.append(child.cases[len(references.families.names) :])
    assert met[0] != met[1] and len(set(met[0])) > 300


def test_a_plan_that_cannot_be_launched_somewhere_is_refused(references: References) -> None:
    child = NumpyChild(lambda x: FACTOR * x)
    task = references.task
    source = task.seeds[0].read_text(encoding="utf-8").replace('block = ["256"]', 'block = ["min(n, 700) + 325"]')
    prepared = prepare(source.replace("__launch_bounds__(256)", ""), task)
    build = DeviceBuild(image=b"none", kernels=())
    loaded = LoadedCandidate(cast(ChildProcess, child), "B", CompiledCandidate(prepared, build), random.Random(3))
    with SweepVerification(loaded, references, load_target("mi300x"), RULE, MakerPool(0)) as sweep:
        (finding,) = sweep.run(lambda: False)
    assert finding.kind == "over_limit" and "allows 1024" in finding.message

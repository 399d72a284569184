"""The judge of real GPUs, whole, on a stub of HIP's runtime whose kernels the lab executes."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from records.errors import DeviceError
from records.evaluation import Evaluation
from sandbox.gpu.device_state import ChainRule
from sandbox.gpu.gpu_evaluator import GpuEvaluator, Rules
from sandbox.gpu.gpu_pool import GpuPool, PooledGpu
from sandbox.gpu.sweep_verify import SweepRule
from sandbox.gpu.timing.contrast import Rule
from sandbox.gpu.timing.windows import LevelRule
from sandbox.gpu.whole_verify import VerifyRules
from sandbox.target import Target, load_target
from tasks.loader import load_task
from tasks.task import Task
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.hip_device import World
from tests.support.hip_own_kernels import KERNELS
from tests.support.hip_stub import Stub, hip_stub, local

HEADER = """/*+++
{extra}[[launch]]
kernel = "{kernel}"
grid = ["ceil_div(n, 256)"]
block = ["256"]
args = ["x", "y", "factor", "n"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void {kernel}(float* x, float* y, float factor, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {body}
}}
"""
RIGHT = "if (i < n) y[i] = factor * x[i];"
SLOW_US = 1e5  # so slow that the stub's own pace is no news to the clock on the wall
Benchmarked = tuple[Evaluation, World, GpuEvaluator]
QUICK = Rules(
    LevelRule(least=3, most=3, warm=0, alpha=0.9),
    clock_tries=1,
    contrast=Rule(alpha=0.4, least=12, most=12, warm=0),
    verify=VerifyRules(ChainRule(calls=4, least=4, sets=2), SweepRule(0.0, 0.0, 0.0, 0, 0.0, batch=4)),
)


def source(body: str = RIGHT, kernel: str = "scale", extra: str = "") -> str:
    return HEADER.format(body=body, kernel=kernel, extra=extra)


@pytest.fixture(scope="module")
def task() -> Task:
    """Its work is said to be 60 us at least: three sets will do. One test, five held-out shapes, no general family."""
    task = load_task(str(Path(__file__).parents[1] / "kernels" / "exploits" / "tasks" / "scale"))
    timed = (replace(task.benchmarks[0], dims={"n": 3000}),)
    return replace(task, bytes_moved="320000000", tests=task.tests[:1], benchmarks=timed, plant=())


@pytest.fixture(scope="module")
def small_caches() -> Target:
    target = load_target("mi300x")
    return replace(target, memory={**target.memory, "mall_bytes": 4096, "l2_bytes": 4096})


@contextlib.contextmanager
def strict_stub() -> Iterator[Stub]:
    with hip_stub(toolchain(), COMPILED) as stub:
        stub.world.skipped |= {"trusted_sweep", "trusted_scrub"}  # the lab's LDS is new at each launch
        stub.world.launch_us.update(scale=SLOW_US, quicker=0.9 * SLOW_US)
        yield stub
        assert not stub.world.violations


@pytest.fixture
def stub() -> Iterator[Stub]:
    with strict_stub() as strict:
        strict.world.computed |= set(KERNELS)
        yield strict


@pytest.fixture
def judge(stub: Stub, small_caches: Target, tmp_path: Path) -> Iterator[GpuEvaluator]:
    evaluator = GpuEvaluator(small_caches, tmp_path, 0, library=stub.library, spares=0, rules=QUICK, make=local)
    yield evaluator
    evaluator.close()


@pytest.fixture(scope="module")
def benchmarked(task: Task, small_caches: Target, tmp_path_factory: pytest.TempPathFactory) -> Benchmarked:
    """The right kernel's times, with the launches that they took."""
    with strict_stub() as stub:
        folder = tmp_path_factory.mktemp("right")
        judge = GpuEvaluator(small_caches, folder, 0, library=stub.library, spares=0, rules=QUICK)
        with contextlib.closing(judge):
            return judge.benchmark(judge.prepare(source(), replace(task, plant=("x",)))), stub.world, judge


def test_a_right_kernel_is_verified_and_timed(benchmarked: Benchmarked, task: Task) -> None:
    evaluation, _, judge = benchmarked
    assert evaluation.verdict.accepted, evaluation.verdict
    assert {c.role for c in evaluation.cases} == {"test", "held_out", "benchmark"}
    assert all(c.correct for c in evaluation.cases)
    assert {"zeros", "one value", "outliers"} <= {c.name.partition(" [")[2].rstrip("]") for c in evaluation.cases}
    (time,) = evaluation.measurements
    assert time.kind == "measured" and time.device == judge.device
    assert time.time_us == pytest.approx(SLOW_US, rel=1e-3)
    assert time.warm_us == pytest.approx(SLOW_US, rel=1e-3)
    assert evaluation.key == judge.key(judge.prepare(source(), task))
    assert judge.isolation.startswith("local (")  # the stub is asked over a socket of this machine


def test_instantiations_structs_and_copies_are_launched_as_the_plan_says(judge: GpuEvaluator, task: Task) -> None:
    """An in-place kernel of a template in a namespace, whose struct holds a pointer."""
    path = Path(__file__).parents[1] / "kernels" / "honest" / "corpus" / "template_in_place@scale.hip"
    text = path.read_text(encoding="utf-8")
    evaluation = judge.verify(judge.prepare(text, task))
    assert evaluation.verdict.accepted, evaluation.verdict
    wrong = text.replace('[0, "null"]', '[0, "x + 1"]')  # the bias is read: beyond the end by the last work-item
    assert judge.verify(judge.prepare(wrong, task)).verdict.accepted is False


@pytest.mark.parametrize(
    ("body", "kind", "stage"),
    [
        ("if (i < n) y[i] = 1.5f * x[i];", "wrong_result", "correct"),
        ("if (i < n - 1) y[i] = factor * x[i];", "unwritten_output", "correct"),
        ("if (i < n) { y[i] = factor * x[i]; x[i] = 0.0f; }", "input_written", "execute"),
        ("if (i < n) y[i] = factor * x[i]; if (i == 0) y[n + 64] = 1.0f;", "out_of_bounds", "execute"),
    ],
)
def test_a_wrong_kernel_is_refused_for_what_it_does(
    judge: GpuEvaluator, task: Task, body: str, kind: str, stage: str
) -> None:
    verdict = judge.verify(judge.prepare(source(body), task)).verdict
    assert not verdict.accepted and (verdict.stage, verdict.findings[0].kind) == (stage, kind), verdict


def test_a_driver_that_aborts_still_names_the_candidate(judge: GpuEvaluator, stub: Stub, task: Task) -> None:
    stub.world.aborts = True
    verdict = judge.verify(judge.prepare(source("if (i < n) y[i + (1 << 28)] = factor * x[i];"), task)).verdict
    assert (verdict.stage, verdict.findings[0].kind) == ("execute", "out_of_bounds"), verdict
    assert judge.verify(judge.prepare(source(), task)).verdict.accepted


def test_a_process_that_ends_each_time_one_kernel_runs_is_that_kernels_fault(
    judge: GpuEvaluator, stub: Stub, task: Task
) -> None:
    stub.world.aborts, stub.world.last_words = True, b"terminate called\n"
    verdict = judge.verify(judge.prepare(source("if (i < n) y[i + (1 << 28)] = factor * x[i];"), task)).verdict
    assert not verdict.accepted and "3 times in a row" in verdict.findings[0].message, verdict
    assert judge.gpus.quarantined() == ()
    assert judge.verify(judge.prepare(source(), task)).verdict.accepted


@pytest.mark.long
def test_what_the_driver_cannot_name_is_the_kernels_fault_when_it_comes_each_time_it_runs(
    judge: GpuEvaluator, stub: Stub, task: Task
) -> None:
    stub.world.unclear.add("odd")
    verdict = judge.verify(judge.prepare(source(kernel="odd"), task)).verdict
    assert (verdict.stage, [f.kind for f in verdict.findings]) == ("correct", ["wrong_result"]), verdict
    assert "3 times in a row" in verdict.findings[0].message
    assert stub.world.launched.count("odd") == 3
    between = stub.world.launched[stub.world.launched.index("odd") :][::-1]
    between = between[between.index("odd") :]
    assert between.count("trusted_noise") > 2 * 2, "beside the bases' noise a sentinel each time"
    assert judge.gpus.quarantined() == ()
    assert judge.verify(judge.prepare(source(), task)).verdict.accepted


def test_lds_is_scrubbed_before_each_call_and_window_and_before_the_caches_are_emptied(
    benchmarked: Benchmarked, task: Task
) -> None:
    evaluation, world, _ = benchmarked
    assert evaluation.verdict.accepted
    before, calls, in_a_row, swept = "", 0, 0, 0
    for name in world.launched:
        if name == "scale" and before != "scale":
            calls += 1
            in_a_row += before == "trusted_refresh"
            assert before in ("trusted_scrub", "trusted_sweep", "trusted_refresh"), (calls, before)
        if name == "trusted_sweep":
            swept += 1
            assert before == "trusted_scrub"
        before = name
    assert calls > swept > 3
    chains = 1 + len(task.benchmarks)
    assert 2 * chains <= in_a_row <= 3 * chains, "one round of calls on every set after the other"
    grid, _, dynamic, _ = world.last["trusted_scrub"]
    assert (grid, dynamic) == ((304, 1, 1), 65536)


def test_workspaces_beyond_the_memory_are_the_candidates_fault(judge: GpuEvaluator, task: Task) -> None:
    greedy = source(extra='[workspace]\nspace = ["u8", "3 * 1024 * 1024 * 1024"]\n')
    verdict = judge.verify(judge.prepare(greedy, task)).verdict
    assert (verdict.stage, [f.kind for f in verdict.findings]) == ("execute", ["over_limit"]), verdict
    assert judge.gpus.quarantined() == ()
    assert judge.verify(judge.prepare(source(), task)).verdict.accepted


def test_memory_that_the_judge_itself_lacks_is_the_machines_fault(judge: GpuEvaluator, stub: Stub, task: Task) -> None:
    small = source(extra='[workspace]\nspace = ["u8", "1024"]\n')
    stub.world.memory_bytes = 400_000
    with pytest.raises(DeviceError, match=r"the judge needs 0\.00 GB.* finds 0\.00 GB free: end what else uses it"):
        judge.verify(judge.prepare(small, task))
    assert judge.gpus.quarantined() == ()
    stub.world.memory_bytes = 4 << 30
    assert judge.verify(judge.prepare(small, task)).verdict.accepted


@pytest.mark.long
def test_memory_that_another_process_holds_is_waited_for(
    stub: Stub, small_caches: Target, task: Task, tmp_path: Path
) -> None:
    waits: list[int] = []

    class Freeing(GpuPool):
        """A pool whose other processes have given their memory back when they were waited for."""

        def wait_idle(self, gpu: PooledGpu) -> None:
            super().wait_idle(gpu)
            waits.append(stub.world.memory_bytes)
            stub.world.memory_bytes = 4 << 30

    judge = GpuEvaluator(small_caches, tmp_path, 0, library=stub.library, spares=0, rules=QUICK, pool=Freeing)
    with contextlib.closing(judge):
        stub.world.memory_bytes = 1 << 20  # enough without the workspace
        greedy = source(extra='[workspace]\nspace = ["u8", "512 * 1024"]\n')
        assert judge.verify(judge.prepare(greedy, task)).verdict.accepted
    assert waits == [1 << 20], "once there is enough nobody waits"


def test_variables_beyond_the_memory_are_the_candidates_fault(judge: GpuEvaluator, stub: Stub, task: Task) -> None:
    many = source().replace('extern "C"', '__device__ char big[250 << 20];\nextern "C"')
    many = many.replace(RIGHT, "if (i < n) { y[i] = factor * x[i]; big[i] = 1; }")
    stub.world.memory_bytes = 480 << 20  # a second copy of them does not fit
    verdict = judge.verify(judge.prepare(many, task)).verdict
    assert [f.kind for f in verdict.findings] == ["over_limit"], verdict
    assert "do not fit" in verdict.findings[0].message
    assert judge.gpus.quarantined() == ()


def test_faults_of_the_device_are_tried_again_and_then_reported(judge: GpuEvaluator, stub: Stub, task: Task) -> None:
    stub.world.failures["hipModuleLoadData"] = [999]
    assert judge.verify(judge.prepare(source(), task)).verdict.accepted
    stub.world.failures["hipModuleLoadData"] = [999] * 20
    with pytest.raises(DeviceError, match=r"restart the machine|doctor"):
        judge.verify(judge.prepare(source(extra="# another\n"), task))


def test_a_time_that_our_own_clock_does_not_know_is_void(
    judge: GpuEvaluator, stub: Stub, task: Task, tmp_path: Path
) -> None:
    stub.world.launch_us["scale"] = 158.0  # two calls a window; the stub needs far longer
    stub.world.launch_us["trusted_sweep"] = 1e6  # and not as long as it says for the judge's own kernel
    evaluation = judge.benchmark(judge.prepare(source(), task))
    assert (evaluation.verdict.stage, evaluation.verdict.accepted) == ("time", False)
    assert evaluation.verdict.findings[0].kind == "below_roofline"
    (incident,) = (tmp_path / "incidents").glob("*.json")
    assert json.loads(incident.read_text())["source"] == source()


@pytest.mark.long
def test_clocks_that_disagree_blame_nobody(judge: GpuEvaluator, stub: Stub, task: Task, tmp_path: Path) -> None:
    stub.world.launch_us |= {"scale": 158.0, "trusted_sweep": 0.001}  # the stub needs far longer for both
    stub.world.host_us["trusted_sweep"] = 1000.0  # on a busy machine too: it does nothing else for this kernel
    before = stub.world.launched.count("trusted_sweep")
    with pytest.raises(DeviceError, match=r"^the GPU's clock and the host's disagree.*too busy"):
        judge.benchmark(judge.prepare(source(), task))
    assert stub.world.launched.count("trusted_sweep") - before > 3 * 15, "asked in three processes"
    assert not (tmp_path / "incidents").exists() and judge.gpus.quarantined() == ()


def test_the_faster_of_two_is_named_twice_before_it_is_believed(judge: GpuEvaluator, stub: Stub, task: Task) -> None:
    old, new = judge.prepare(source(), task), judge.prepare(source(kernel="quicker"), task)
    before = len(stub.world.launched)
    comparison = judge.compare(new, old)
    assert comparison.verdict == "faster" and comparison.ratio == pytest.approx(0.9, rel=1e-3), comparison
    once = len(stub.world.launched) - before
    assert judge.compare(old, new).verdict == "slower"
    assert 1.5 * (len(stub.world.launched) - before - once) < once
    assert judge.compare(old, old).verdict == "same"


def test_a_gpu_of_another_kind_is_refused(stub: Stub, small_caches: Target, tmp_path: Path) -> None:
    stub.world.arch = "gfx90a"
    with pytest.raises(DeviceError, match=r"gfx90a.*not a .*MI300X"):
        GpuEvaluator(small_caches, tmp_path, 0, library=stub.library, spares=0)


@pytest.mark.long
def test_a_plan_may_say_that_its_bits_are_free(judge: GpuEvaluator, task: Task) -> None:
    assert judge.verify(judge.prepare(source(extra="nondeterministic = true\n"), task)).verdict.accepted

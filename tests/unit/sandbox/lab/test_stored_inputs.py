"""What an estimate reads: a small case's values, repeated, in a file that nobody can change."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from records.errors import LabError
from sandbox.lab.executor_request import Buffer, inputs_file
from sandbox.lab.lab import Execution
from sandbox.lab.stored_inputs import PAGE, Stored, StoredInputs, own_numbers, periods, typical_test
from tasks import load_task
from tests.support.lab_bench import evaluator, execute, launch

ROOT = Path(__file__).parents[4]
KEPT: list[StoredInputs] = []  # their files go with them
TASKS = ("row_softmax", "rms_norm", "transpose", "fp8_block_gemm")
KERNEL = """
extern "C" __global__ void k(float* x, float* y, int period, int at) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (x[i] != x[i % period]) __builtin_trap();  // a finding
    if (at) x[at] = 1.0f;
    y[i] = x[i];
}
"""


def counted(x: Stored, offset: int = 0) -> Execution:
    """All elements of a stored input, read by workgroups whose accesses are counted."""
    groups = -(-x.size // 64)
    y = np.empty(groups * 64, np.float32)
    single = launch("k", ["x", "y", 7000, offset], grid=(groups,))
    return execute(KERNEL, [single], {"x": x}, {"y": y}, count=True)


@pytest.mark.parametrize("name", TASKS)
def test_the_inputs_are_a_tests_values_over_and_over(name: str) -> None:
    task = load_task(name, "mi300x")
    drawn = task.draw(typical_test(task))
    for spec in task.inputs:
        values = spec.flatten(np.asarray(drawn[spec.name]))
        period = periods(task)[spec.name]
        most = max(math.prod(task.shape_of(spec, case)) for case in task.benchmarks)
        assert period.nbytes % PAGE == 0 or period.size == most
        assert period.size >= min(most, (1 << 20) // period.itemsize)
        assert period.tobytes() == np.resize(values, period.size).astype(period.dtype).tobytes()


def test_a_test_of_one_element_does_not_stand_for_a_benchmark() -> None:
    task = load_task("row_softmax")
    assert typical_test(task) is task.tests[0]
    single, *larger = sorted(task.tests, key=lambda case: case.dims["rows"] * case.dims["cols"])
    chosen = typical_test(replace(task, tests=(single, *larger)))
    assert chosen.dims["rows"] * chosen.dims["cols"] >= 1024
    assert typical_test(replace(task, tests=(single,))) is single


@pytest.fixture(name="x", scope="module")
def of_softmax(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """Two and a half periods of seven rows of 1000."""
    inputs = StoredInputs(load_task("row_softmax"), tmp_path_factory.mktemp("stored"))
    KEPT.append(inputs)
    stored = inputs.of(inputs.task.benchmarks[0])["x"]
    return replace(stored, size=stored.period // 4 * 5 // 2 // 64 * 64)


def test_every_workgroup_reads_the_repeated_values(x: Stored) -> None:
    execution = counted(x)
    assert execution.findings == ()
    assert execution.executed == 1.0
    assert execution.outputs == {}
    assert execution.launches[0].counters["SQ_INSTS_VMEM_RD"] >= x.size / 64


def test_a_write_to_a_stored_input_is_a_finding_and_changes_nothing(x: Stored) -> None:
    before = x.path.read_bytes()
    assert [f.kind for f in counted(x, offset=5).findings] == ["input_written"]
    assert x.path.read_bytes() == before


def test_an_access_behind_a_stored_input_is_a_finding(x: Stored) -> None:
    (finding,) = counted(replace(x, size=x.size - 32)).findings
    assert finding.kind == "out_of_bounds"
    assert f"x has {x.size - 32} elements" in finding.message


def test_inputs_come_from_one_place(x: Stored) -> None:
    buffers = [Buffer("x", x, "input"), Buffer("w", np.zeros(4, np.float32), "input")]
    assert inputs_file([buffers[0], Buffer("y", np.zeros(4, np.float32), "output")]) == x.path
    assert inputs_file([buffers[1]]) is None
    with pytest.raises(LabError, match="several places"):
        inputs_file(buffers)


def test_places_in_another_buffer_are_those_of_the_case_that_is_counted() -> None:
    """The test's table has fifty rows, the benchmark's four: its index repeated would lead outside."""
    task = load_task(ROOT / "tests" / "kernels" / "exploits" / "tasks" / "gather")
    (case,) = task.benchmarks
    small = replace(task, benchmarks=(replace(case, dims={"rows": 4, "cols": 8, "picked": 1000}, name="small"),))
    estimate = evaluator(7).estimate(evaluator(7).prepare(task.seeds[0].read_text(encoding="utf-8"), small))
    assert estimate.verdict.accepted, estimate.verdict.findings
    (small_case,) = small.benchmarks
    assert own_numbers(small, small_case).keys() == {"pick"} and own_numbers(small, small_case)["pick"].max() < 4


def test_the_file_goes_with_its_object(tmp_path: Path) -> None:
    inputs = StoredInputs(load_task("rms_norm"), tmp_path)
    path = inputs.of(inputs.task.benchmarks[0])["x"].path
    assert path.is_file()
    del inputs
    assert not path.exists()

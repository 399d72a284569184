"""A task that holds everything the format has: in the loader, the linter and the lab."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from records.errors import PlanError, TaskError
from records.evaluation import Evaluation
from sandbox.candidate.prepare import prepare
from sandbox.candidate.resolve import BufferArg, NullArg, ScalarArg
from sandbox.lab.lab_evaluator import LabEvaluator
from tasks.cases import MOST_SEEDS
from tasks.compare import compare
from tasks.held_out import held_out_cases
from tasks.linter import lint
from tasks.loader import load_task
from tasks.task import Task
from tasks.tensor import TensorSpec
from tasks.tolerance import Tolerance
from tests.support.lab_bench import evaluator as lab_evaluator

MANIFEST = """
name = "axpby"
title = "A scaled sum in place"
description = "y = alpha * x + beta * y + bias by row, and the sum of y; x lies in a wider buffer."
targets = ["mi300x"]
[[input]]
name = "x"
dtype = "f32"
shape = ["rows", "cols"]
strides = ["cols + 3", "1"]
[[input]]
name = "y0"
dtype = "f32"
shape = ["rows", "cols"]
[[input]]
name = "bias"
dtype = "f32"
shape = ["cols"]
optional = true
parameter = "linear.bias"
initialiser = "uniform(-0.1, 0.1)"
[[output]]
name = "y"
dtype = "f32"
shape = ["rows", "cols"]
initial = "y0"
[[output]]
name = "total"
dtype = "f32"
shape = []
tolerance = { ratio = 4.0, rtol = 1e-3, atol = 1e-3 }
[scalars]
alpha = { dtype = "f32" }
beta = { dtype = "f32", value = 0.5 }
shift = { dtype = "i32", value = 0 }
negate = { dtype = "bool", value = false }
[[test]]
rows = 3
cols = 17
alpha = 1.5
seeds = [7, 8]
[[test]]
rows = 5
cols = 64
alpha = -0.75
beta = 2.0
shift = 3
negate = true
absent = ["bias"]
[[benchmark]]
rows = 8
cols = 256
alpha = 1.25
[work]
flops = "4 * rows * cols"
bytes = "12 * rows * cols"
[tolerance]
ratio = 2.0
[origin]
source = "axpby.py"
form = "pytorch"
licence = "MIT"
commit = "0123456789abcdef"
digest = "00"
"""

CODE = """
import numpy as np

def make_inputs(case, rng):
    shape = case.dims["rows"], case.dims["cols"]
    x, y = (rng.standard_normal(shape).astype(np.float32) * rng.uniform(0.5, 4, (shape[0], 1)) for _ in range(2))
    return {"x": x.astype(np.float32), "y0": y.astype(np.float32), "bias": rng.standard_normal(shape[1:]).astype("f4")}

def answer(inputs, case, kind):
    s = case.scalars
    y = kind(s["alpha"]) * inputs["x"].astype(kind) + kind(s["beta"]) * inputs["y0"].astype(kind) + kind(s["shift"])
    y = y + inputs["bias"].astype(kind) if "bias" in inputs else y
    y = -y if s["negate"] else y
    return {"y": y, "total": np.asarray(y.sum(dtype=kind))}

def reference(inputs, case):
    return answer(inputs, case, np.float64)

def baseline(inputs, case):
    return answer(inputs, case, np.float32)
"""

RIGHT = """/*+++
[[launch]]
kernel = "axpby"
grid = ["1"]
block = ["64"]
args = ["x", "y", "bias", "total", "rows", "cols", "alpha", "beta", "shift", "negate"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void axpby(const float* x, float* y, const float* bias, float* total, int rows, int cols,
                                 float alpha, float beta, int shift, bool negate) {
    if (threadIdx.x) return;
    double sum = 0;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j) {
            double v = alpha * (double)x[i * (cols + 3) + j] + beta * (double)y[i * cols + j] + shift;
            if (bias) v += bias[j];
            v = negate ? -v : v;
            y[i * cols + j] = v;
            sum += v;
        }
    total[0] = sum;
}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tasks") / "axpby"
    folder.mkdir()
    (folder / "task.toml").write_text(MANIFEST)
    (folder / "reference.py").write_text(CODE)
    return folder


@pytest.fixture(scope="module")
def task(place: Path) -> Task:
    return load_task(place)


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(7)


def verdict(evaluator: LabEvaluator, task: Task, old: str = "", new: str = "") -> Evaluation:
    assert old in RIGHT
    return evaluator.benchmark(evaluator.prepare(RIGHT.replace(old, new, 1) if old else RIGHT, task))


def test_the_cases_have_scalars_seeds_and_inputs_left_out(task: Task) -> None:
    first, again, other = task.tests
    assert (first.seed, again.seed) == (7, 8) and first.name != again.name and first.dims == again.dims
    assert first.scalars == {"alpha": 1.5, "beta": 0.5, "shift": 0, "negate": False}
    assert other.scalars == {"alpha": -0.75, "beta": 2.0, "shift": 3, "negate": True}
    assert other.absent == ("bias",) and "bias" not in task.draw(other) and "bias" in task.draw(first)
    assert task.provenance is not None and task.provenance.licence == "MIT"
    assert task.inputs[2].parameter == "linear.bias" and task.inputs[2].initialiser.startswith("uniform")


def test_the_linter_finds_it_sound(task: Task) -> None:
    assert lint(task) == ()


def test_held_out_cases_keep_to_the_scalars_that_the_cases_have(task: Task) -> None:
    for seed in range(4):
        for case in held_out_cases(task, seed):
            assert set(case.scalars) == {"alpha", "beta", "shift", "negate"}
            assert -0.75 <= case.scalars["alpha"] <= 1.5 and case.scalars["shift"] in (0, 3)
            assert set(task.draw(case)) == {"x", "y0", "bias"} - set(case.absent)


def test_arguments_follow_the_case(task: Task) -> None:
    made = prepare(RIGHT, task)
    first, other = (made.plan(task.tests[n]).launches[0].args for n in (0, 2))
    assert first[2] == BufferArg("bias") and other[2] == NullArg()
    assert first[6:8] == (ScalarArg("f32", 1.5), ScalarArg("f32", 0.5))
    assert other[6:8] == (ScalarArg("f32", -0.75), ScalarArg("f32", 2.0))


def test_whether_an_optional_buffer_is_there_may_be_asked_of_an_integer(evaluator: LabEvaluator, task: Task) -> None:
    made = verdict(evaluator, task, "if (bias) v", "unsigned long at = (unsigned long)bias, kept = at; if (kept) v")
    assert made.verdict.accepted, made.verdict


def test_the_lab_accepts_the_right_kernel_with_a_time(evaluator: LabEvaluator, task: Task) -> None:
    made = verdict(evaluator, task)
    assert made.verdict.accepted, made.verdict
    assert len(made.measurements) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i * (cols + 3) + j", "i * cols + j"),  # reads what lies between the rows
        ("beta * (double)y[i * cols + j]", "beta"),
        ("if (bias) v += bias[j];", ""),
        ("alpha *", "1.5f *"),
        pytest.param("beta *", "0.5f *", marks=pytest.mark.long),
        pytest.param("negate ? -v : v", "v", marks=pytest.mark.long),
        pytest.param("total[0] = sum;", "total[0] = 1.01 * sum;", marks=pytest.mark.long),
        ("total[0] = sum;", ""),
        ("if (bias) v", "v"),  # a null pointer
    ],
)
def test_the_lab_refuses_a_kernel_that_ignores_one_of_them(
    evaluator: LabEvaluator, task: Task, old: str, new: str
) -> None:
    assert not verdict(evaluator, task, old, new).verdict.accepted


def test_the_input_behind_an_updated_output_is_no_argument(task: Task) -> None:
    refusal = prepare(RIGHT.replace('"y", "bias"', '"y0", "bias"'), task).refusal
    assert refusal is not None and "name 'y' in its place" in refusal.findings[0].message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("alpha = 1.25", "", "no value for the scalar 'alpha'"),
        ("alpha = 1.25", 'alpha = "x"', "must be a value of type f32"),
        ("negate = true", "negate = 1", "must be a value of type bool"),
        ('absent = ["bias"]', 'absent = ["x"]', "no input with 'optional = true'"),
        ("seeds = [7, 8]", "seeds = [7, 7]", "different integers"),
        ("seeds = [7, 8]", "seeds = [-1, 8]", "different integers"),
        ("seeds = [7, 8]", f"seeds = [{2**32}, 8]", "different integers"),
        ("seeds = [7, 8]", "seeds = [true, 8]", "different integers"),
        ("seeds = [7, 8]", "seeds = 7", "different integers"),
        ("seeds = [7, 8]", f"seeds = {list(range(MOST_SEEDS + 1))}", "different integers"),
        ("seeds = [7, 8]", "seed = -1", "seed"),
        ("seeds = [7, 8]", f"seed = {2**32}", "seed"),
        ("seeds = [7, 8]", "seeds = [7, 8]\nseed = 1", "stands beside 'seed'"),
        ('strides = ["cols + 3", "1"]', 'strides = ["1"]', "one expression for each axis"),
        ('strides = ["cols + 3", "1"]', 'strides = ["lines", "1"]', "is no dim of the cases"),
        ('initial = "y0"', 'initial = "x"', "the same type, shape and layout"),
        ('initial = "y0"', 'initial = "z"', "which is no input"),
        ("ratio = 4.0", "ratio = 4.0, matched = 1.5", "at most 1"),
        ('source = "axpby.py"', 'source = "axpby.py"\nauthor = "me"', "unknown field 'author'"),
    ],
)
def test_each_new_field_is_checked(place: Path, tmp_path: Path, old: str, new: str, said: str) -> None:
    assert MANIFEST.count(old) == 1
    (tmp_path / "task.toml").write_text(MANIFEST.replace(old, new))
    (tmp_path / "reference.py").write_text(CODE)
    with pytest.raises(TaskError, match=said):
        load_task(tmp_path)


@pytest.mark.parametrize(
    ("seeds", "drawn"),
    [
        ("seeds = [0, 4294967295]", [0, 2**32 - 1]),
        ("seed = 0", [0]),
        ("seed = 4294967295", [2**32 - 1]),
        (f"seeds = {[*range(MOST_SEEDS)]}", [*range(MOST_SEEDS)]),
    ],
)
def test_seeds_at_the_ends_of_their_range_are_taken(place: Path, tmp_path: Path, seeds: str, drawn: list[int]) -> None:
    (tmp_path / "task.toml").write_text(MANIFEST.replace("seeds = [7, 8]", seeds))
    (tmp_path / "reference.py").write_text(CODE)
    cases = [case for case in load_task(tmp_path).tests if case.seed in drawn]
    assert [case.seed for case in cases] == drawn


def test_a_share_of_the_elements_may_be_off() -> None:
    want = np.linspace(1, 2, 1000)
    got = want.astype(np.float32)
    got[:40] += 1
    tolerance = Tolerance(2.0, rtol=1e-3, matched=0.95)
    assert compare(got, want, want.astype(np.float32), tolerance).correct
    got[:60] += 1
    assert not compare(got, want, want.astype(np.float32), tolerance).correct
    got[:40], got[40:60], got[3] = want[:40], want[40:60], np.nan
    assert not compare(got, want, want.astype(np.float32), tolerance).correct


def test_strided_memory_comes_back_and_holds_no_number_between() -> None:
    spec = TensorSpec("x", "f32", ("2", "3"))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    flat = spec.flatten(x, (5, 1))
    assert flat.size == 8 and np.isnan(flat[3:5]).all()
    assert (spec.unflatten(flat, (2, 3), (5, 1)) == x).all()
    assert (spec.flatten(x, (1, 2)) == x.T.ravel()).all()


def test_a_plan_error_is_no_crash(task: Task) -> None:
    with pytest.raises(PlanError):
        prepare(RIGHT, task).plan(task.tests[0].__class__("", {}, 0))

"""The shipped tasks against small implementations of their own, and against what was published of them."""

from __future__ import annotations

import math
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from sandbox.target import load_target
from tasks.compare import compare
from tasks.loader import load_task, task_names
from tasks.task import Array, Case, Task, Tensors

F32 = np.float32
TASKS = {name: load_task(name) for name in task_names()}
PUBLISHED_US = {  # AMD Developer Challenge 2025: speed of light by (m, n, k)
    (1024, 1536, 7168): 8.63,
    (1024, 4608, 7168): 25.89,
    (6144, 1536, 7168): 51.78,
    (6144, 4608, 7168): 155.30,
    (1024, 7168, 256): 3.17,
    (6144, 7168, 256): 17.27,
}


def case_of(task: Task, **dims: int) -> Case:
    return Case("small", dims, 7)


def accepted(task: Task, case: Case, inputs: Tensors, output: Array) -> bool:
    name = task.outputs[0].name
    return compare(
        output, task.reference(inputs, case)[name], task.baseline(inputs, case)[name], task.tolerance
    ).correct


@pytest.mark.parametrize(("shape", "published"), PUBLISHED_US.items())
def test_the_published_speed_of_light_is_reproduced(shape: tuple[int, int, int], published: float) -> None:
    task = TASKS["fp8_block_gemm"]
    case = next(c for c in task.benchmarks if tuple(c.dims.values()) == shape)
    flops, bytes_moved = task.work(case)
    assert load_target("mi300x").roofline_us(flops, bytes_moved, task.peak) == pytest.approx(published, rel=5e-3)


def test_the_geometric_mean_of_the_speed_of_light_is_reproduced() -> None:
    task, target = TASKS["fp8_block_gemm"], load_target("mi300x")
    times = [target.roofline_us(*task.work(case), task.peak) for case in task.benchmarks]
    assert math.exp(sum(map(math.log, times)) / len(times)) == pytest.approx(14.0, rel=5e-3)


def test_the_gemm_has_the_challenge_shapes_and_tolerance() -> None:
    task = TASKS["fp8_block_gemm"]
    assert (len(task.tests), len(task.benchmarks)) == (11, 18)
    assert {c.dims["m"] for c in task.benchmarks} == {1024, 6144}
    assert (task.tolerance.rtol, task.tolerance.atol) == (2e-2, 1e-3)
    assert {c.dims["n"] for c in task.tests} >= {64, 576}


@pytest.mark.parametrize("name", task_names())
def test_every_task_names_peaks_and_targets_that_exist(name: str) -> None:
    task = TASKS[name]
    assert task.name == name == task.folder.name
    assert all(task.peak in load_target(target).peaks_tflops for target in task.targets)
    assert {"mi300x", "h200"} == set(task.targets)
    assert (task.folder / "README.md").read_text(encoding="utf-8").startswith(f"# {name}\n")


@pytest.mark.parametrize("name", task_names())
def test_variants_are_sound_and_the_baseline_is_right_on_them(name: str) -> None:
    task = TASKS[name]
    case = task.tests[0]
    assert task.variants is not None
    families = task.variants(task.draw(case), case, np.random.default_rng(0))
    assert tuple(families) == task.variant_names
    for inputs in families.values():
        assert accepted(task, case, inputs, task.baseline(inputs, case)[task.outputs[0].name])


def test_softmax_equals_a_plain_loop() -> None:
    task = TASKS["row_softmax"]
    case = case_of(task, rows=3, cols=5)
    x = task.draw(case)["x"]
    y = task.reference({"x": x}, case)["y"]
    for i in range(3):
        parts = [math.exp(float(x[i, j])) for j in range(5)]
        assert y[i] == pytest.approx([p / math.fsum(parts) for p in parts], rel=1e-12)


def test_softmax_refuses_what_is_often_wrong() -> None:
    task = TASKS["row_softmax"]
    case = task.tests[0]
    inputs = task.draw(case)
    x = inputs["x"]
    right = task.baseline(inputs, case)["y"]
    pairwise = np.exp(x - x.max(1, keepdims=True))
    assert accepted(task, case, inputs, pairwise / pairwise.sum(1, keepdims=True, dtype=F32))
    half = np.exp((x - x.max(1, keepdims=True)).astype(np.float16)).astype(F32)
    assert not accepted(task, case, inputs, half / half.sum(1, keepdims=True))
    assert not accepted(task, case, inputs, right.astype(np.float16).astype(F32))
    short = np.exp(x - x.max(1, keepdims=True))
    assert not accepted(task, case, inputs, short / short[:, :-1].sum(1, keepdims=True))
    with np.errstate(all="ignore"):
        assert task.variants is not None
        shifted = task.variants(inputs, case, np.random.default_rng(0))["shifted"]
        plain = np.exp(shifted["x"])
        assert not accepted(task, case, shifted, plain / plain.sum(1, keepdims=True))


def norm(inputs: Tensors, eps: float, dtype: type = F32, mean_of: int | None = None) -> Array:
    x, w = inputs["x"].astype(F32), inputs["w"].astype(F32)
    square: Array = (x * x).astype(dtype)[:, :mean_of]
    total: Array = np.zeros((x.shape[0], 1), dtype)
    for j in range(square.shape[1]):
        total += square[:, j : j + 1]
    scale = 1 / np.sqrt(total.astype(F32) / F32(x.shape[1]) + F32(eps))
    return np.asarray((x * scale * w).astype(ml_dtypes.bfloat16))


def test_rms_norm_equals_a_plain_loop() -> None:
    task = TASKS["rms_norm"]
    case = case_of(task, rows=3, cols=5)
    inputs = task.draw(case)
    x, w = inputs["x"].astype(float), inputs["w"].astype(float)
    y = task.reference(inputs, case)["y"]
    eps = task.scalars[0].value
    for i in range(3):
        root = math.sqrt(math.fsum(v * v for v in x[i]) / 5 + eps)
        assert y[i] == pytest.approx([v / root * u for v, u in zip(x[i], w, strict=True)], rel=1e-9)


def test_rms_norm_refuses_what_is_often_wrong() -> None:
    task = TASKS["rms_norm"]
    case = task.tests[0]
    inputs = task.draw(case)
    assert accepted(task, case, inputs, norm(inputs, 1e-6))
    assert not accepted(task, case, inputs, norm(inputs, 1e-5))
    assert not accepted(task, case, inputs, norm(inputs, 0.0))
    assert not accepted(task, case, inputs, norm(inputs, 1e-6, ml_dtypes.bfloat16))
    assert not accepted(task, case, inputs, norm(inputs, 1e-6, mean_of=-64))
    assert not accepted(task, case, inputs, norm({**inputs, "w": np.ones_like(inputs["w"])}, 1e-6))


def test_transpose_must_be_exact() -> None:
    task = TASKS["transpose"]
    case = task.tests[0]
    inputs = task.draw(case)
    x = inputs["x"]
    assert accepted(task, case, inputs, np.array([[x[i, j] for i in range(67)] for j in range(101)]))
    assert not accepted(task, case, inputs, x.reshape(101, 67))
    assert not accepted(task, case, inputs, x.T.astype(ml_dtypes.bfloat16).astype(F32))


def test_the_gemm_equals_a_plain_loop_with_a_partial_last_scale() -> None:
    task = TASKS["fp8_block_gemm"]
    case = case_of(task, m=2, n=130, k=256)
    inputs = task.draw(case)
    a, b, a_scale, b_scale = (inputs[name].astype(float) for name in ("a", "b", "a_scale", "b_scale"))
    assert (a_scale.shape, b_scale.shape) == ((2, 2), (2, 2))
    c = task.reference(inputs, case)["c"]
    for i, j in ((0, 0), (1, 127), (0, 128), (1, 129)):
        expected = math.fsum(a[i, q] * a_scale[i, q // 128] * b[j, q] * b_scale[j // 128, q // 128] for q in range(256))
        assert c[i, j] == pytest.approx(expected, rel=1e-9)


def test_the_gemm_inputs_are_those_of_the_challenge_with_outliers() -> None:
    task = TASKS["fp8_block_gemm"]
    inputs = task.draw(task.tests[0])
    a = inputs["a"].astype(float)
    assert inputs["a"].flags.f_contiguous
    assert 0.6 < np.median(np.abs(a)) < 0.8
    assert np.abs(a).max(axis=1).min() > 2.0
    assert not np.isnan(a).any()
    assert (inputs["a_scale"] < 0).any()
    assert (inputs["a_scale"] > 0).any()


def block_product(inputs: Tensors, fault: str = "") -> Array:
    """A float32 kernel: scales applied once a block, with one fault if asked."""
    a, b = inputs["a"].astype(F32), inputs["b"].astype(F32)
    if fault == "ocp":
        a = a * 2
    total = np.zeros((a.shape[0], b.shape[0]), F32)
    for t in range(a.shape[1] // 128 - (fault == "last block")):
        of_a = np.abs(inputs["a_scale"]) if fault == "unsigned" else inputs["a_scale"]
        of_b = inputs["b_scale"][:, 0 if fault == "one scale" else t].repeat(128)[: b.shape[0]]
        part = slice(128 * t, 128 * t + 128)
        total += a[:, part] @ b[:, part].T * of_a[:, t][:, None] * of_b
        if fault == "half":
            total = total.astype(np.float16).astype(F32)
    if fault == "truncate":
        total = (total.view(np.uint32) & np.uint32(0xFFFF0000)).view(F32)
    return np.asarray(total.astype(ml_dtypes.bfloat16))


@pytest.mark.parametrize(
    ("fault", "right"),
    [("", True), ("truncate", True), ("ocp", False), ("unsigned", False), ("one scale", False), ("last block", False)],
)
def test_the_gemm_tells_right_from_wrong(fault: str, right: bool) -> None:
    task = TASKS["fp8_block_gemm"]
    case = case_of(task, m=64, n=192, k=1024)
    inputs = task.draw(case)
    assert accepted(task, case, inputs, block_product(inputs, fault)) is right


def test_the_gemm_refuses_half_precision_sums_over_a_long_k() -> None:
    task = TASKS["fp8_block_gemm"]
    case = case_of(task, m=64, n=64, k=7168)
    inputs = task.draw(case)
    assert accepted(task, case, inputs, block_product(inputs))
    assert not accepted(task, case, inputs, block_product(inputs, "half"))


@pytest.mark.parametrize("name", ["row_softmax", "rms_norm"])
def test_honest_kernels_are_accepted_whatever_the_draw(name: str) -> None:
    task = TASKS[name]
    for case in task.tests[:4]:
        for seed in range(40):
            inputs = task.draw(replace(case, seed=seed))
            if name == "rms_norm":
                output = norm(inputs, 1e-6)
            else:
                scaled = ((inputs["x"] - inputs["x"].max(1, keepdims=True)) * F32(math.log2(math.e))).astype(F32)
                y = np.exp2(scaled)
                output = y * (F32(1) / y.sum(1, keepdims=True))
            assert accepted(task, case, inputs, output)


def wgmma(a: Array, b: Array) -> Array:
    """a @ b.T of fp8 values as Hopper's matrix units add: 13 bits behind the largest of 32 products and the sum."""
    total = np.zeros((a.shape[0], b.shape[0]))
    for at in range(0, a.shape[1], 32):
        products = a[:, None, at : at + 32] * b[None, :, at : at + 32]
        largest = np.maximum(np.abs(products).max(axis=2), np.abs(total))
        unit = np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))) - 13)
        total = unit * (np.trunc(products / unit[..., None]).sum(axis=2) + np.trunc(total / unit))
    return total


def test_what_wgmma_can_compute_is_right_on_hopper_and_twice_its_error_is_not() -> None:
    task = load_task("fp8_block_gemm", "h200")
    assert task.variants is not None
    near_zero = 0
    for seed in range(12):
        case = Case("small", {"m": 64, "n": 64, "k": 128}, seed)
        inputs = task.variants(task.draw(case), case, np.random.default_rng(seed))["wide_scales"]
        a, b, of_a, of_b = (np.asarray(inputs[n]).astype(np.float64) for n in ("a", "b", "a_scale", "b_scale"))
        output = (wgmma(a, b) * of_a * of_b[0, 0]).astype(np.float32)
        assert accepted(task, case, inputs, output.astype(ml_dtypes.bfloat16)), seed
        want = task.reference(inputs, case)["c"]
        error = np.abs(output - want)
        near_zero += int((error > task.tolerance.atol + (task.tolerance.rtol or 0.0) * np.abs(want)).sum())
        row = np.sqrt(np.mean(np.square(want), axis=1))
        large = int(np.argmax(row))
        output[large, np.argmin(np.abs(want[large]))] += 2.5 * task.tolerance.row_rtol * row[large]
        assert not accepted(task, case, inputs, output.astype(ml_dtypes.bfloat16)), seed
    assert near_zero, "without the limit by row some of them would be refused"


def wgmma_blocks(a: Array, b: Array, scales: Array) -> Array:
    """Elements one by one, from their rows of a and b and the product of their scales, each block as `wgmma` adds."""
    made = np.zeros(len(a))
    for t in range(scales.shape[1]):
        total = np.zeros(len(a))
        for at in range(128 * t, 128 * (t + 1), 32):
            products = a[:, at : at + 32] * b[:, at : at + 32]
            largest = np.maximum(np.abs(products).max(axis=1), np.abs(total))
            unit = np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))) - 13)
            total = unit * (np.trunc(products / unit[:, None]).sum(axis=1) + np.trunc(total / unit))
        made += total * scales[:, t]
    return made


@pytest.mark.parametrize("k", [256, 512])
def test_of_a_million_elements_those_with_the_worst_sums_are_well_within_the_limit_on_hopper(k: int) -> None:
    task = load_task("fp8_block_gemm", "h200")
    case = Case("large", {"m": 768, "n": 2048, "k": k}, k)
    inputs = task.draw(case)
    a, b, of_a = (np.asarray(inputs[n]).astype(np.float64) for n in ("a", "b", "a_scale"))
    of_b = np.repeat(np.asarray(inputs["b_scale"]).astype(np.float64), 128, axis=0)
    want = task.reference(inputs, case)["c"]
    left, right = (np.square(x * np.repeat(s, 128, axis=1)) for x, s in ((a, of_a), (b, of_b)))
    row, column = (np.sqrt(np.mean(np.square(want), axis=axis, keepdims=True)) for axis in (1, 0))
    likely = (3e-3 * np.sqrt(left @ right.T) - 2e-2 * np.abs(want)) / row
    rows, columns = np.unravel_index(np.argpartition(likely.ravel(), -5000)[-5000:], want.shape)
    output = wgmma_blocks(a[rows], b[columns], of_a[rows] * of_b[columns])
    rounded = output.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
    exact = want[rows, columns]
    beyond = np.abs(rounded - exact) - task.tolerance.atol - (task.tolerance.rtol or 0.0) * np.abs(exact)
    scale = row[rows, 0] * np.maximum(1.0, column[0, columns] / np.sqrt(np.mean(np.square(want))))
    share = float((beyond / scale).max())
    assert 0 < share < task.tolerance.row_rtol / 3

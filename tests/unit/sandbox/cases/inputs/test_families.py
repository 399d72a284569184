"""Families of inputs made for any task: they hold what the task's own draws never do, and only where that is sound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from records.errors import TaskError
from sandbox.cases.inputs.changed import MAKERS, MOVED, planted
from sandbox.cases.inputs.families import EXACT_UNITS, FLUSHED, ROW_UNITS, WIDER, InputFamilies
from tasks.compare import compare
from tasks.dtypes import numpy_dtype, to_float64
from tasks.loader import load_task
from tasks.manifest import read_manifest
from tasks.task import Array, Case, Task, Tensors


@pytest.fixture(scope="module")
def softmax() -> Task:
    return load_task("row_softmax")


def held_out(task: Task, number: int = 3) -> Case:
    return replace(task.tests[number], role="held_out")


def draws(task: Task, family: str | None, name: str = "x", count: int = 20) -> list[Array]:
    families, case = InputFamilies(task), held_out(task)
    return [families.draw(replace(case, seed=seed), family)[name] for seed in range(count)]


def test_planted_values_are_zeros_ties_second_maxima_and_equal_ends(softmax: Task) -> None:
    many = np.concatenate([x.reshape(-1, x.shape[-1]) for x in draws(softmax, None)])
    assert (many == 0).any()
    assert (many[:, 1:] == many[:, :-1]).any() and (many[:, 0] == many[:, -1]).any()
    assert (np.sort(many, axis=1)[:, -1] == np.sort(many, axis=1)[:, -2]).any()
    plain = softmax.draw(softmax.tests[3])["x"]
    assert not (plain == 0).any() and not (plain[:, 0] == plain[:, -1]).any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["row_softmax", "transpose", "bf16_gemm", "fp8_block_gemm", "top_k"])
def test_no_negative_zero_is_made(name: str) -> None:
    """An argument of the maximum by the order of the bits is right, and takes it for less than zero."""
    task = load_task(name)
    families = InputFamilies(task)
    for family in (None, *(name for name in families.names if name not in task.variant_names)):
        for seed in range(5):
            case = replace(held_out(task, 0), seed=seed)
            drawn, changed = task.draw(case), families.draw(case, family)
            for spec in task.inputs_of(case):
                signed = [
                    np.signbit(to_float64(x[spec.name])) & (to_float64(x[spec.name]) == 0) for x in (changed, drawn)
                ]
                assert not signed[0].any() or signed[1].any(), (family, spec.name)


def test_a_sum_of_like_terms_may_round_each_time_in_the_same_direction() -> None:
    task = load_task("reduction")
    families, output = InputFamilies(task), task.outputs[0]
    terms = np.full(4000, 0.1, np.float32)
    want = np.asarray(terms.astype(np.float64).sum())
    one_by_one = np.asarray(np.cumsum(terms, dtype=np.float32)[-1])
    in_half = np.asarray(np.cumsum(terms, dtype=np.float16)[-1], np.float32)
    for family in ("one value", "equal rows", "few differ", "near", "sorted", "gathered"):
        allowed = families.tolerance(output, family)
        assert compare(one_by_one, want, want.astype(np.float32), allowed).correct
        assert not compare(in_half, want, want.astype(np.float32), allowed).correct
    usual = families.tolerance(output, "permuted")
    assert not compare(one_by_one, want, want.astype(np.float32), usual).correct


def test_most_values_stay_as_they_were_drawn(softmax: Task) -> None:
    case = held_out(softmax, 2)
    drawn, changed = softmax.draw(case)["x"], InputFamilies(softmax).draw(case, None)["x"]
    assert 0 < (drawn != changed).mean() < 0.1


def test_a_listed_test_keeps_its_inputs_and_a_family_the_cases_seed(softmax: Task) -> None:
    families = InputFamilies(softmax)
    test = softmax.tests[0]
    assert families.draw(test, None)["x"].tobytes() == softmax.draw(test)["x"].tobytes()
    first, other = (families.draw(held_out(softmax), "zeros")["x"] for _ in range(2))
    assert first.tobytes() == other.tobytes()
    reseeded = families.draw(replace(held_out(softmax), seed=5), "zeros")["x"]
    assert first.tobytes() != reseeded.tobytes()


@pytest.mark.slow
def test_each_family_is_what_its_name_says(softmax: Task) -> None:
    assert all((x == 0).mean() > 0.3 for x in draws(softmax, "zeros"))
    assert all((x == np.rint(x)).all() and np.abs(x).max() <= 8 for x in draws(softmax, "whole numbers"))
    assert all((x == x[:, :1]).all() for x in draws(softmax, "equal rows"))
    assert all(np.unique(x).size == 1 for x in draws(softmax, "one value"))
    steps = [np.diff(x, axis=1) for x in draws(softmax, "sorted")]
    assert all(((s >= 0).all(axis=1) | (s <= 0).all(axis=1)).all() for s in steps)
    assert any((s >= 0).all(axis=1).any() for s in steps) and any((s <= 0).all(axis=1).any() for s in steps)
    for plain, moved in zip(
        (softmax.draw(replace(held_out(softmax), seed=s))["x"] for s in range(20)),
        draws(softmax, "permuted"),
        strict=True,
    ):
        assert (np.sort(plain, axis=1) == np.sort(moved, axis=1)).all() and (plain != moved).any()
    repeated = [
        min(len(np.unique(x, axis=axis).T if axis else np.unique(x, axis=0)) / x.shape[axis] for axis in (0, 1))
        for x in draws(softmax, "repeats")
    ]
    assert sum(share < 1 for share in repeated) > 10
    for x in draws(softmax, "few differ"):
        usual = [np.take(np.sort(x, axis=axis), [x.shape[axis] // 2], axis=axis) for axis in (0, 1)]
        assert 0 < min((x != most).mean() for most in usual) < 0.1
    outliers = draws(softmax, "outliers")
    plain = draws(softmax, "permuted")
    assert max(np.abs(x).max() for x in outliers) > 8 * max(np.abs(x).max() for x in plain)


@pytest.mark.slow
def test_where_a_task_has_several_inputs_one_family_changes_all_of_them() -> None:
    gemv = load_task("batched_gemv")
    families = InputFamilies(gemv)
    assert families.together["zeros"] in families.names and len(families.together) > 4
    for seed in range(8):
        inputs = families.draw(replace(held_out(gemv), seed=seed), families.together["whole numbers"])
        assert all((x == np.rint(to_float64(x))).all() for x in inputs.values())
    some = [families.draw(replace(held_out(gemv), seed=seed), "whole numbers") for seed in range(20)]
    assert {sum(bool((x == np.rint(to_float64(x))).all()) for x in inputs.values()) for inputs in some} == {1, 2}
    assert InputFamilies(load_task("row_softmax")).together == {}


def test_extremes_are_for_tasks_that_move_values_and_compute_nothing(softmax: Task) -> None:
    assert "extremes" not in InputFamilies(softmax).names
    transpose = load_task("transpose")
    assert "extremes" in InputFamilies(transpose).names
    values = np.concatenate([x.ravel() for x in draws(transpose, "extremes")])
    size = np.abs(values)
    assert (size > 5e37).any() and ((size > 0) & (size < 1e-38)).any() and np.isfinite(values).all()


def test_an_input_that_reference_or_baseline_cannot_take_is_left_as_it_was(softmax: Task) -> None:
    def divided(inputs: Tensors, case: Case) -> dict[str, Array]:
        return {"y": 1 / inputs["x"].astype(np.float64)}

    def narrow(inputs: Tensors, case: Case) -> dict[str, Array]:
        return {"y": 1 / inputs["x"]}

    families = InputFamilies(replace(softmax, reference=divided, baseline=narrow, variant_names=()))
    assert "zeros" not in families.names and "permuted" in families.names
    drawn = families.draw(held_out(softmax), None)["x"]
    assert (drawn != 0).all()

    def refusing(inputs: Tensors, case: Case) -> dict[str, Array]:
        raise TaskError("only what it draws itself")

    assert InputFamilies(replace(softmax, reference=refusing, variant_names=(), plant=("x",)))._planted == ()


def test_whole_numbers_are_planted_where_a_task_names_them_alone(softmax: Task) -> None:
    text = (softmax.folder / "task.toml").read_text(encoding="utf-8")
    path = softmax.folder / "task.toml"
    assert read_manifest(path, text).statement.plant == ("x",)
    assert read_manifest(path, text.replace("[[input]]", "plant = []\n[[input]]", 1)).statement.plant == ()
    assert read_manifest(path, text.replace("[[input]]", "mix = false\n[[input]]", 1)).statement.plant == ()
    with pytest.raises(TaskError, match="names 'z', which is no input without a structure"):
        read_manifest(path, text.replace("[[input]]", 'plant = ["z"]\n[[input]]', 1))
    counted = (load_task("histogram").folder / "task.toml").read_text(encoding="utf-8")
    assert read_manifest(path, counted.replace('plant = ["values"]\n', "")).statement.plant == ()
    task = load_task("histogram")
    families, case = InputFamilies(task), replace(task.tests[0], role="held_out")
    assert {"one_value", "few differ", "laced", "sparse"} <= set(families.names)
    for name in families.names:
        values = families.draw(case, name)["values"]
        assert values.min() >= 0 and values.max() < case.dims["bins"] and values.dtype == np.int32


def test_rounding_passes_where_a_family_leaves_almost_nothing(softmax: Task) -> None:
    gelu = load_task("bias_gelu")
    tolerance = InputFamilies(gelu).tolerance(gelu.outputs[0], "whole numbers")
    nothing = np.zeros((1, 1))
    assert compare(np.full((1, 1), -1e-24, np.float32), nothing, nothing, tolerance).correct
    assert not compare(np.full((1, 1), 1e-3, np.float32), nothing, nothing, tolerance).correct
    own_tolerance = replace(gelu.tolerance, least=FLUSHED, row_units=ROW_UNITS)  # a denormal result may be zero
    # A task's own family may be one on which the standard is exact by luck.
    expected = [replace(own_tolerance, units=EXACT_UNITS), own_tolerance]
    assert [InputFamilies(gelu).tolerance(gelu.outputs[0], name) for name in ("large", None)] == expected


@pytest.mark.parametrize("dtype", ["f32", "bf16", "e4m3fnuz", "f16"])
@pytest.mark.parametrize("shape", [(1,), (5,), (1, 1), (3, 1), (1, 4), (2, 3, 5)])
def test_every_shape_and_type_can_be_changed(dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal(shape).astype(np.float32).astype(numpy_dtype(dtype))
    for make in (planted, *(maker for name, maker in MAKERS.items() if name not in MOVED)):
        changed = make(x, rng)
        assert changed.shape == x.shape and changed.dtype == x.dtype
        assert np.isfinite(to_float64(changed)).all()


def test_no_planted_value_leaves_the_range_of_its_row(softmax: Task) -> None:
    """A value that dwarfs its row takes the errors' measure to elements for which the tolerance does not stand."""
    rows, columns = np.random.default_rng(1).standard_normal((2, 60, 50)).astype(np.float32)
    scaled = np.ascontiguousarray(rows * np.exp2(np.arange(60, dtype=np.float32) % 8)[:, None] - 3)
    for seed in range(20):
        changed = planted(scaled, np.random.default_rng(seed))
        assert (changed.min(axis=1) >= scaled.min(axis=1)).all() and (changed.max(axis=1) <= scaled.max(axis=1)).all()
        assert (changed != scaled).any() and (changed == 0).any()
    column = planted(columns[:, :1], np.random.default_rng(2))
    assert column.min() >= columns[:, 0].min() and (column != columns[:, :1]).any()


def test_the_largest_values_of_a_line_fall_to_one_lane() -> None:
    x = np.random.default_rng(3).permuted(np.tile(np.arange(20000, dtype=np.float32), (9, 1)), axis=1)
    gathered = MAKERS["gathered"](x, np.random.default_rng(4))
    assert (np.sort(gathered, axis=1) == np.sort(x, axis=1)).all()
    indices = np.argsort(-gathered, axis=1)[:, :8]
    beside = [np.diff(np.sort((row - row[0]) % 20000)).max() == 1 for row in indices]
    strides = [
        {int(stride) for stride in np.diff(np.sort(row))} for row, near in zip(indices, beside, strict=True) if not near
    ]
    assert sum(beside) == 3 and all(stride % 64 == 0 for of_row in strides for stride in of_row)
    assert any(of_row and min(of_row) & (min(of_row) - 1) for of_row in strides)  # no power of two alone


def test_a_single_line_is_too_large_for_float16_or_too_small() -> None:
    x = 1 + np.random.default_rng(1).random(100, dtype=np.float32)
    sizes = [MAKERS["far apart"](x, np.random.default_rng(seed)) / x for seed in range(20)]
    assert {bool((size > 65536).all()) for size in sizes} == {True, False}
    assert all((size > 65536).all() or (size < 2.0**-24).all() for size in sizes)
    lines = MAKERS["far apart"](np.tile(x, (64, 1)), np.random.default_rng(1)) / x
    assert [int((lines.min(axis=1) == lines.max(axis=1)).sum()), int((lines[:, 0] == 1).sum())] == [48, 32]


def test_some_lines_of_extremes_hold_denormals_alone_and_others_lie_far_below() -> None:
    x = np.random.default_rng(1).standard_normal((64, 50)).astype(np.float32)
    extremes = MAKERS["extremes"](x, np.random.default_rng(2))
    least, far = (np.abs(extremes) < 1e-38).all(axis=1), (extremes < -1e36).all(axis=1)
    assert 4 < least.sum() < 30 and 4 < far.sum() < 30 and not (least & far).any()
    assert len(np.unique(extremes[least])) > 100 and (extremes[least] > 0).any() and (extremes[least] < 0).any()


def test_infinities_are_for_tasks_that_look_at_no_value() -> None:
    assert "not finite" in InputFamilies(load_task("transpose")).names
    assert "not finite" not in InputFamilies(load_task("top_k")).names
    assert not MOVED & set(InputFamilies(load_task("row_softmax")).names)


def test_what_is_only_moved_is_exact_in_every_family() -> None:
    """A wider tolerance would take a denormal number for zero."""
    transpose = load_task("transpose")
    assert InputFamilies(transpose).tolerance(transpose.outputs[0], "extremes") == transpose.tolerance


def test_values_that_hardly_differ_and_denormal_ones(softmax: Task) -> None:
    drawn = InputFamilies(softmax)
    near = drawn.draw(held_out(softmax), "near")["x"]
    assert (np.ptp(near, axis=1) <= np.abs(near).max(axis=1) / 16).all() and (np.ptp(near, axis=1) > 0).any()
    low = np.abs(drawn.draw(held_out(softmax), "denormal")["x"])
    assert ((low > 0) & (low < np.finfo(np.float32).smallest_normal)).any()


def test_a_variance_in_one_pass_is_borne_where_values_hardly_differ_and_a_row_taken_for_constant_is_not() -> None:
    task = load_task("tests/kernels/real/tasks/layer_norm_plain")
    families, spec = InputFamilies(task), task.outputs[0]
    ratios = []
    for seed in range(8):
        case = replace(task.tests[0], role="held_out", seed=seed)
        inputs = families.draw(case, "near")
        (x,) = inputs.values()
        mean = np.mean(x, axis=-1, keepdims=True)
        variance = np.mean(x * x, axis=-1, keepdims=True) - mean * mean
        one_pass = (x - mean) / np.sqrt(variance + np.float32(1e-5))
        want, base = task.reference(inputs, case)[spec.name], task.baseline(inputs, case)[spec.name]
        limit = families.tolerance(spec, "near")
        assert compare(one_pass, want, base, limit).correct
        assert not compare(np.zeros_like(one_pass), want, base, limit).correct
        ratios.append(compare(one_pass, want, base, replace(limit, ratio=1.0)).correct)
    assert not all(ratios), "it is worse than the standard"


def test_a_family_of_a_tasks_own_may_be_wide() -> None:
    task = load_task("moe_ffn")
    families, (output,) = InputFamilies(task), task.outputs
    narrow, wide = families.tolerance(output, "sure"), families.tolerance(output, "closed")
    assert (narrow.ratio, wide.ratio) == (task.tolerance.ratio, WIDER * task.tolerance.ratio)
    assert wide.least == narrow.least  # all outputs are small there


@pytest.mark.slow
def test_experts_are_chosen_without_a_doubt_in_every_family() -> None:
    """The second of the largest logits and the third, which is not chosen, lie as far apart as the task says."""
    task = load_task("moe_ffn")
    families = InputFamilies(task)
    for name in (None, *families.names):
        for seed in range(12):
            case = replace(task.tests[0], dims={**task.tests[0].dims, "tokens": 4, "experts": 4}, seed=seed)
            logits = np.sort(families.draw(replace(case, role="held_out"), name)["logits"].astype(np.float64), axis=1)
            assert np.diff(logits[:, -3:], axis=1).min() >= 0.05, name

"""Values over all exponents that a task bears, and none where its standard implementation is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.inputs.swept_values import (
    ALL_BINADES,
    AS_DRAWN,
    HELD,
    ONE_BINADE,
    ONE_SIZE,
    TURNS,
    VALUES,
    of_binades,
    seeds_of_ends,
    swept,
)
from tasks.compare import compare
from tasks.dtypes import numpy_dtype, to_float64
from tasks.loader import load_task
from tasks.task import Task


def exponents(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.floor(np.log2(np.abs(to_float64(x)))))


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_one_binade_has_one_exponent_and_all_have_every_one(dtype: str) -> None:
    x = np.random.default_rng(1).standard_normal((40, 300)).astype(numpy_dtype(dtype))
    rng = np.random.default_rng(2)
    met = set()
    for turn in range(0, TURNS, 16):
        binade = of_binades(x, ONE_BINADE, (-9, 9), rng, turn)
        assert binade.shape == x.shape and binade.dtype == x.dtype
        assert np.ptp(exponents(binade)) <= 1  # a mantissa may be rounded up to the next one
        met.add(int(exponents(binade).min()))
    assert met == set(range(-9, 10))
    all_binades = of_binades(x, ALL_BINADES, (-9, 9), rng)
    assert set(np.unique(exponents(all_binades))) >= set(range(-9, 10))
    signs = np.sign(to_float64(all_binades))
    assert (signs == signs[:, :1]).all() and len(np.unique(signs)) == 2


def test_values_of_one_size_rise_in_some_lines_and_fall_in_others() -> None:
    x = np.random.default_rng(1).standard_normal((90, 50)).astype(np.float32)
    magnitudes = np.abs(of_binades(x, ONE_SIZE, (-3, -1), np.random.default_rng(2)))
    steps = np.diff(magnitudes.astype(np.float64), axis=1)
    rising, falling = (steps >= 0).all(axis=1), (steps <= 0).all(axis=1)
    assert rising.sum() > 15 and falling.sum() > 15 and (~rising & ~falling).sum() > 15
    assert magnitudes.max() <= 2 * magnitudes.min()


def test_values_too_large_for_a_square_stand_beside_usual_ones() -> None:
    x, rng = np.random.default_rng(1).standard_normal((40, 300)).astype(np.float32), np.random.default_rng(1)
    for turn in (0, TURNS - 1):
        binades = exponents(of_binades(x, ONE_BINADE, (-100, 100), rng, turn))
        assert (binades == 100).mean() == pytest.approx(0.5, abs=0.05) if turn else (binades == -100).all()


def test_every_input_has_both_ends_of_its_range_and_some_exponents_between() -> None:
    task = load_task("int4_gemm")
    families, least, most = InputFamilies(task), dict[str, int](), dict[str, int]()
    seeds = seeds_of_ends(2, 3, np.random.default_rng(1))
    for seed in seeds:
        case = replace(task.tests[0], role="held_out", seed=seed)
        drawn, changed = task.draw(case), families.draw(case, ONE_BINADE)
        (name,) = (name for name in changed if not np.array_equal(changed[name], drawn[name]))
        values = exponents(changed[name])
        least[name] = min(least.get(name, 999), int(values.min()))
        most[name] = max(most.get(name, -999), int(values.max()))
    assert least == {"x": -100, "scale": -100} and sorted(most) == ["scale", "x"] and min(most.values()) >= 100
    assert len(seeds) == 7 and [seed % TURNS * 3 // TURNS for seed in seeds[-3:]] == [0, 1, 2]


def test_what_was_never_negative_stays_so() -> None:
    x = np.ones((30, 5), np.float32)
    assert (of_binades(x, ALL_BINADES, (-3, 3), np.random.default_rng(1)) > 0).all()


def test_no_line_has_nothing_but_values_whose_squares_overflow() -> None:
    drawn: Mapping[str, np.ndarray] = {"x": np.ones((50, 3), np.float32)}
    for seed in range(20):
        values = swept(drawn, "x", ALL_BINADES, (60, 100), np.random.default_rng(seed))["x"]
        assert (values < 2.0 ** (HELD + 2)).any(axis=1).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["row_softmax", "reduction", "layer_norm", "bias_gelu", "rms_norm", "scan"])
def test_the_standard_implementation_is_right_on_them(name: str) -> None:
    task = load_task(name)
    families = InputFamilies(task)
    assert set(families.ranges) == set(VALUES)
    case = replace(task.tests[0], role="held_out")
    for family in VALUES:
        for seed in range(12):
            drawn = replace(case, seed=seed)
            inputs = families.typed(drawn, family)
            reference, baseline = task.expected(inputs, drawn)
            for spec in task.outputs:
                actual = np.asarray(baseline[spec.name]).astype(numpy_dtype(spec.dtype))
                tolerance = families.tolerance(spec, family)
                assert compare(actual, reference[spec.name], baseline[spec.name], tolerance).correct


def test_exponents_beyond_what_a_square_bears_are_left_out() -> None:
    low, high = InputFamilies(load_task("layer_norm")).ranges[ONE_BINADE]["x"]
    assert low < -40 and 40 < high < 64


def test_a_copy_bears_all_exponents_and_a_search_by_distance_none() -> None:
    assert InputFamilies(load_task("transpose")).ranges[ALL_BINADES]["x"] == (-126, 127)
    assert InputFamilies(load_task("nearest_codeword")).ranges == {}
    assert InputFamilies(load_task("histogram")).ranges == {}


def test_a_value_left_out_below_some_size_is_gross_on_them() -> None:
    task = load_task("reduction")
    families, wrong = InputFamilies(task), 0
    for seed in range(40):
        case = replace(task.tests[0], seed=seed, role="held_out")
        inputs = families.typed(case, ONE_BINADE)
        reference, baseline = task.expected(inputs, case)
        large = np.where(np.abs(inputs["x"]) < 2.0**-30, np.float32(0), inputs["x"])
        actual = large.sum(dtype=np.float64)[None].astype(np.float32)
        (spec,) = task.outputs
        wrong += not compare(actual, reference["y"], baseline["y"], families.tolerance(spec, ONE_BINADE)).correct
    assert wrong > 8


def test_as_drawn_is_the_tasks_own_draw() -> None:
    task: Task = load_task("row_softmax")
    case = replace(task.tests[0], role="held_out")
    families = InputFamilies(task)
    assert np.array_equal(families.draw(case, AS_DRAWN)["x"], task.draw(case)["x"])
    assert not np.array_equal(families.draw(case, None)["x"], task.draw(case)["x"])

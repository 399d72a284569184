from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.compare import WORST, Match, compare
from tasks.task import Array
from tasks.tolerance import Tolerance
from tasks.yardstick import Yardstick

F32 = np.float32


def sample(rows: int = 40, cols: int = 70, dtype: type = F32) -> tuple[Array, Array]:
    """A reference and its honest rounding."""
    reference = np.random.default_rng(5).standard_normal((rows, cols))
    return reference, reference.astype(dtype)


def judged(candidate: Array, mask: Array | None = None, ratio: float = 2.0) -> Match:
    reference, honest = sample()
    return compare(candidate, reference, honest, Tolerance(ratio), mask)


def test_the_honest_answer_passes_and_its_error_is_below_the_ratio() -> None:
    _, honest = sample()
    result = judged(honest.copy())
    assert result.correct
    assert 0 < result.error <= 1
    assert result.message == ""


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fnuz])
def test_types_are_judged_by_their_own_rounding(dtype: type) -> None:
    reference, honest = sample(dtype=dtype)
    assert compare(honest, reference, honest, Tolerance(2.0)).correct
    assert not compare(np.zeros_like(honest), reference, honest, Tolerance(2.0)).correct
    coarser = honest.astype(np.float64) * (1 + 8 * float(ml_dtypes.finfo(dtype).eps))  # type: ignore[no-untyped-call]
    assert not compare(coarser.astype(dtype), reference, honest, Tolerance(2.0)).correct


def test_without_an_explanation_the_judgement_is_the_same() -> None:
    reference = np.linspace(1, 2, 4096).reshape(64, 64)
    wrong = reference.T.astype(F32)
    said, plain = (compare(wrong, reference, reference.astype(F32), Tolerance(2.0), explain=e) for e in (True, False))
    assert (plain.correct, plain.error) == (said.correct, said.error) == (False, said.error)
    assert said.message and not plain.message


def test_twice_the_error_passes_and_much_more_does_not() -> None:
    rng = np.random.default_rng(1)
    reference = rng.standard_normal((100, 100))
    noise = 1e-3 * rng.standard_normal((100, 100))
    base = (reference + noise).astype(F32)
    assert compare((reference - 1.9 * noise).astype(F32), reference, base, Tolerance(2.0)).correct
    bad = compare((reference - 2.2 * noise).astype(F32), reference, base, Tolerance(2.0))
    assert not bad.correct
    assert bad.error == pytest.approx(2.2, rel=1e-2)


def test_one_bad_element_fails_by_the_largest_error() -> None:
    _, candidate = sample()
    candidate[3, 4] += 0.5
    result = judged(candidate)
    assert not result.correct
    assert "[3, 4]" in result.message
    assert "1 of 2800 elements are wrong" in result.message


def test_many_small_errors_fail_by_the_mean_square() -> None:
    rng = np.random.default_rng(2)
    reference = rng.standard_normal(10_000)
    base = reference.copy()
    base[:3] += 1e-2  # a baseline with a few outliers: its largest error alone would forgive everything below
    candidate = (reference + 5e-3 * rng.choice([-1, 1], 10_000)).astype(F32)
    result = compare(candidate, reference, base.astype(F32), Tolerance(2.0))
    assert not result.correct
    assert "accurate" in result.message


def test_a_few_in_a_thousand_fail_by_the_quantile() -> None:
    rng = np.random.default_rng(2)
    reference = rng.standard_normal(100_000)
    base = reference.copy()
    base[0] += 1.0
    candidate = reference.copy()
    candidate[:200] += 2e-2  # largest error 50 times below the baseline's, root mean square below twice its
    assert not compare(candidate.astype(F32), reference, base.astype(F32), Tolerance(2.0)).correct
    candidate[50:200] = reference[50:200]
    assert compare(candidate.astype(F32), reference, base.astype(F32), Tolerance(2.0)).correct


def test_an_exact_baseline_leaves_room_for_rounding_only() -> None:
    reference = np.full((4, 8), 0.125)
    base = reference.astype(F32)
    near = np.nextafter(np.nextafter(base, F32(1)), F32(1))
    assert compare(near, reference, base, Tolerance(2.0)).correct
    assert not compare(base * F32(1 + 2e-6), reference, base, Tolerance(2.0)).correct
    bf16 = reference.astype(ml_dtypes.bfloat16)
    assert not compare((bf16.view(np.uint16) + 1).view(ml_dtypes.bfloat16), reference, bf16, Tolerance(2.0)).correct


def test_a_zero_reference_wants_zeros() -> None:
    zeros = np.zeros((3, 3))
    assert compare(zeros.astype(F32), zeros, zeros.astype(F32), Tolerance(2.0)).correct
    assert not compare(np.full((3, 3), F32(1e-30)), zeros, zeros.astype(F32), Tolerance(2.0)).correct


def test_integers_must_be_equal() -> None:
    reference = np.arange(12.0).reshape(3, 4)
    right = reference.astype(np.int32)
    assert compare(right, reference, right, Tolerance(2.0)) == Match(True, 0.0)
    wrong = right.copy()
    wrong[2, 3] += 1
    assert compare(wrong, reference, right, Tolerance(2.0)).error == WORST


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")])
def test_non_finite_values_are_refused_in_place(value: float, word: str) -> None:
    _, candidate = sample()
    candidate[7, 2] = value
    result = judged(candidate)
    assert (result.correct, result.error) == (False, WORST)
    assert word in result.message
    assert "[7, 2]" in result.message
    candidate[:] = value
    assert "every element" in judged(candidate).message


def test_non_finite_references_are_matched_in_place() -> None:
    reference, honest = sample()
    reference[0, :3] = honest[0, :3] = [np.nan, np.inf, -np.inf]
    assert compare(honest.copy(), reference, honest, Tolerance(2.0)).correct
    for other in ([0.0, np.inf, -np.inf], [np.nan, -np.inf, -np.inf], [np.nan, np.nan, -np.inf], [np.nan, 9.0, 9.0]):
        candidate = honest.copy()
        candidate[0, :3] = other
        assert not compare(candidate, reference, honest, Tolerance(2.0)).correct


def test_where_the_type_overflows_so_must_the_candidate() -> None:
    reference = np.array([1.0, 1e6, 2.0, 3.0])
    base = np.array([1.0, np.inf, 2.0, 3.0], np.float16)
    assert compare(base.copy(), reference, base, Tolerance(2.0)).correct
    assert not compare(np.array([1.0, 65504, 2.0, 3.0], np.float16), reference, base, Tolerance(2.0)).correct


def test_a_baseline_that_is_not_finite_excuses_nobody() -> None:
    reference, honest = sample()
    base = honest.copy()
    base[5] = np.nan
    candidate = honest.copy()
    candidate[5] = 0
    assert compare(honest, reference, base, Tolerance(2.0)).correct
    assert not compare(candidate, reference, base, Tolerance(2.0)).correct


def test_the_mask_says_what_is_compared() -> None:
    _, candidate = sample()
    mask = np.zeros((40, 70), bool)
    mask[:10] = True
    candidate[10:] = np.nan
    assert judged(candidate, mask).correct
    candidate[9, 0] = 7
    assert not judged(candidate, mask).correct


def test_nothing_compared_is_not_correct() -> None:
    _, honest = sample()
    assert not judged(honest, np.zeros((40, 70), bool)).correct


def test_another_shape_is_refused() -> None:
    _, honest = sample()
    assert "(70, 40)" in judged(honest.T).message


def test_the_element_wise_gate_sees_small_elements() -> None:
    reference, honest = sample()
    reference[0, 0], honest[0, 0] = 1e-3, 1e-3
    base = honest + F32(1e-3)
    candidate = honest.copy()
    candidate[0, 0] = -1e-3
    assert compare(candidate, reference, base, Tolerance(4.0)).correct
    result = compare(candidate, reference, base, Tolerance(4.0, rtol=1e-2, atol=1e-4))
    assert not result.correct
    assert result.error > 4.0
    assert "[0, 0]" in result.message
    assert compare(honest, reference, base, Tolerance(4.0, rtol=1e-2, atol=1e-4)).correct


def test_the_gate_can_be_measured_by_the_size_of_the_row() -> None:
    reference = np.random.default_rng(2).standard_normal((8, 400))
    reference[:, 0] = 0.0
    sizes = np.array([[1e-3], [1.0], [1e4], [1.0], [1e6], [1.0], [1e-6], [1.0]])
    reference *= sizes
    honest = reference.astype(np.float32)
    base = honest * np.float32(1 + 2e-3)
    for share, accepted in ((0.9e-2, True), (1.2e-2, False)):
        candidate = honest.copy()
        candidate[:, 0] = (share * np.sqrt(np.mean(np.square(reference), axis=1))).astype(np.float32)
        tolerance = Tolerance(40.0, rtol=1e-2, row_rtol=1e-2)
        said = compare(candidate, reference, base, tolerance)
        assert said.correct is accepted, said.message
        quick = Yardstick(reference, base, np.dtype(np.float32), tolerance).judge(candidate)
        assert quick.correct is accepted
    candidate = honest.copy()
    candidate[0, 0] = 0.5e-2  # small beside the other rows, not beside its own
    assert not compare(candidate, reference, base, Tolerance(40.0, rtol=1e-2, row_rtol=1e-2)).correct
    vector, right = honest[1].copy(), reference[1]
    vector[0] = 0.9e-2 * np.sqrt(np.mean(np.square(right)))
    assert compare(vector, right, base[1], Tolerance(40.0, rtol=1e-2, row_rtol=1e-2)).correct, "a vector is one row"
    assert not compare(vector, right, base[1], Tolerance(40.0, rtol=1e-2, row_rtol=0.8e-2)).correct


def test_an_element_of_a_large_column_may_be_off_by_more() -> None:
    reference = np.random.default_rng(3).standard_normal((400, 64))
    reference[:, 5] *= 8.0
    reference[7, 5] = reference[7, 6] = 0.0
    honest, tolerance = reference.astype(np.float32), Tolerance(40.0, rtol=1e-2, row_rtol=1e-2)
    base = honest * np.float32(1 + 2e-3)
    row, whole = np.sqrt(np.mean(np.square(reference[7]))), np.sqrt(np.mean(np.square(reference)))
    column = np.sqrt(np.mean(np.square(reference[:, 5]))) / whole
    assert column > 4
    for place, share, accepted in ((5, 0.9 * column, True), (5, 1.1 * column, False), (6, 0.9, True), (6, 1.1, False)):
        candidate = honest.copy()
        candidate[7, place] = share * 1e-2 * row
        assert compare(candidate, reference, base, tolerance).correct is accepted
        quick = Yardstick(reference, base, np.dtype(np.float32), tolerance).judge(candidate)
        assert quick.correct is accepted


WRONG: dict[str, Callable[[Array], Array]] = {
    "all elements are zero": lambda c: np.zeros_like(c),
    "all elements are 0.5": lambda c: np.full_like(c, 0.5),
    "transposed": lambda c: np.ascontiguousarray(c.T).reshape(c.shape),
    "row 0 holds the values of row 39": lambda c: np.roll(c, 1, axis=0),
    "column 0 holds the values of column 69": lambda c: np.roll(c, 1, axis=1),
    "row 3 holds the values of row 9": lambda c: c[[9 if i == 3 else 3 if i == 9 else i for i in range(len(c))]],
    "the expected one times 0.5": lambda c: c * F32(0.5),
    "the expected one times -1": lambda c: -c,
    "the expected one plus 0.25": lambda c: c + F32(0.25),
    "20 of 40 rows are zero, from row 0 to row 19": lambda c: c * (np.arange(len(c)) >= 20)[:, None].astype(F32),
    "times a factor of its own (row 39: 1.1)": lambda c: c * np.linspace(1.001, 1.1, 40)[:, None],
    "in row 39 (the last)": lambda c: np.vstack([c[:-1], c[-1:] + np.linspace(1, 2, 70, dtype=F32)]),
    "in columns 64 to 69 (the last ones)": lambda c: np.hstack([c[:, :64], c[:, 64:] * 0]),
    "in rows 0 to 36 in steps of 4": lambda c: np.where(np.arange(40)[:, None] % 4 == 0, c * c + 1, c),
    "close but not accurate enough": lambda c: c.astype(np.float16).astype(F32),
    "spread over the whole output": lambda c: np.sin(9 * c),
}


@pytest.mark.parametrize("words", WRONG)
def test_the_message_names_the_mistake(words: str) -> None:
    _, honest = sample()
    result = judged(WRONG[words](honest).astype(F32))
    assert not result.correct
    assert words in result.message, result.message
    assert "expected" in result.message
    assert "\n" not in result.message


def test_a_square_transpose_is_named_too() -> None:
    reference, honest = sample(48, 48)
    assert "transposed" in compare(np.ascontiguousarray(honest.T), reference, honest, Tolerance(2.0)).message


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1e-20, 1e-6, 1.0, 1e6, 1e20]),
    shape=st.sampled_from([(1,), (7,), (3, 5), (64, 33), (2, 3, 4)]),
)
def test_the_rule_has_no_scale(seed: int, scale: float, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(seed)
    reference = (rng.standard_normal(shape) + 0.1) * scale
    honest = reference.astype(F32)
    assert compare(honest, reference, honest, Tolerance(2.0)).correct
    assert not compare(np.zeros_like(honest), reference, honest, Tolerance(2.0)).correct
    assert not compare(honest * F32(1.001), reference, honest, Tolerance(2.0)).correct


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), amount=st.floats(0, 1e-2))
def test_correct_means_an_error_of_at_most_the_ratio(seed: int, amount: float) -> None:
    rng = np.random.default_rng(seed)
    reference = rng.standard_normal((9, 11))
    base = (reference + 1e-3 * rng.standard_normal((9, 11))).astype(F32)
    result = compare((reference + amount * rng.standard_normal((9, 11))).astype(F32), reference, base, Tolerance(2.0))
    assert result.correct == (result.error <= 2.0)
    assert result == replace(result, message="") if result.correct else result.message

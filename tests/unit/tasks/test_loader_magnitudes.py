from __future__ import annotations

import numpy as np
import pytest

from tasks.loader import load_task
from tasks.task import Case

TASK = load_task("nearest_codeword")
SMALL = [case for case in TASK.tests if case.dims["codes"] <= 300]


@pytest.mark.parametrize("case", SMALL, ids=[case.name for case in SMALL])
def test_float32_decides_in_every_family_and_some_vectors_are_beyond_all_codewords(case: Case) -> None:
    assert TASK.variants is not None
    for seed in range(5):
        made = TASK.variants(TASK.draw(case), case, np.random.default_rng(seed))
        assert set(made) == set(TASK.variant_names)
        for given in made.values():
            x, words = given["x"], given["codebook"]
            apart = np.square(x[:, None] - words[None]).sum(axis=2, dtype=np.float32)
            expanded = np.square(words).sum(axis=1) - np.float32(2) * (x @ words.T)
            wanted = TASK.reference(given, case)["index"]
            assert np.array_equal(apart.argmin(axis=1), wanted) and np.array_equal(expanded.argmin(axis=1), wanted)
        away, words = made["away"]["x"], made["away"]["codebook"]
        is_beyond = (away < words.min(axis=0) - 6) | (away > words.max(axis=0) + 6)
        assert is_beyond[:, 0].any() and is_beyond.any(axis=1).mean() > 0.2
        large = made["large"]
        assert np.square(large["x"][:, None] - large["codebook"][None]).sum(axis=2).min() > 1e9


def test_rows_of_a_product_reach_beyond_the_range_of_float16_on_either_side() -> None:
    task = load_task("bf16_gemm")
    case = max(task.tests, key=lambda each: each.dims["m"])
    assert task.variants is not None
    sizes = np.abs(task.variants(task.draw(case), case, np.random.default_rng(1))["scaled"]["a"].astype(float)).max(1)
    assert sizes.min() < 1e-8 and sizes.max() > 2.0**16

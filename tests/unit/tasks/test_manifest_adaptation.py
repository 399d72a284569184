"""One task folder for several targets: other element types, a note, seeds of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from records.errors import TaskError
from tasks.linter import lint
from tasks.loader import load_task, task_names

Folder = Callable[..., Path]
ADAPTED = """
[target.mi300x]
note = "e5m2fnuz has no infinity."

[target.h200]
dtypes = { e5m2fnuz = "e5m2" }
note = "e5m2 has infinities."
"""


@pytest.fixture
def two(folder: Folder, manifest: str, code: str) -> Path:
    """The sound folder with fp8 inputs, on two targets."""
    text = manifest.replace('targets = ["mi300x"]', 'targets = ["mi300x", "h200"]')
    text = text.replace("y = 2 x", "y = 2 x, e5m2fnuz").replace('dtype = "f32"', 'dtype = "e5m2fnuz"', 1)
    return folder(text + ADAPTED, code.replace('inputs["x"] * np.float32(2)', 'inputs["x"].astype(np.float32) * 2'))


def test_each_target_has_its_types_its_words_and_its_digest(two: Path) -> None:
    ours, theirs = load_task(two, "mi300x"), load_task(two, "h200")
    assert (ours.inputs[0].dtype, theirs.inputs[0].dtype) == ("e5m2fnuz", "e5m2")
    assert ours.outputs == theirs.outputs
    assert ours.description == "y = 2 x, e5m2fnuz\ne5m2fnuz has no infinity."
    assert theirs.description == "y = 2 x, e5m2\ne5m2 has infinities."
    assert ours.digest != theirs.digest
    assert (load_task(two).digest, load_task(two).description) == (ours.digest, ours.description)


def test_inputs_are_drawn_in_the_targets_type(two: Path) -> None:
    ours, theirs = load_task(two, "mi300x"), load_task(two, "h200")
    case = ours.tests[0]
    assert ours.draw(case)["x"].dtype == ml_dtypes.float8_e5m2fnuz
    drawn = theirs.draw(case)["x"]
    assert drawn.dtype == ml_dtypes.float8_e5m2
    exact = np.random.default_rng(case.seed).standard_normal((5, 7), dtype=np.float32)
    assert np.array_equal(drawn, exact.astype(ml_dtypes.float8_e5m2))
    assert lint(theirs) == ()


def test_a_digest_without_other_types_is_the_same_for_every_target(folder: Folder, manifest: str) -> None:
    path = folder(manifest.replace('targets = ["mi300x"]', 'targets = ["mi300x", "h200"]'))
    assert load_task(path, "h200").digest == load_task(path, "mi300x").digest


def test_a_target_the_task_is_not_for_is_named(folder: Folder) -> None:
    with pytest.raises(TaskError, match="the task scale is not for h200, but for mi300x"):
        load_task(folder(), "h200")


def test_seeds_of_a_target_stand_beside_or_in_place_of_the_common_ones(two: Path) -> None:
    for name in ("seed.h200.hip", "seed_tiled.hip", "seed_tiled.h200.hip", "seed_mma.h200.hip", "seed_mfma.mi300x.hip"):
        (two / name).write_text(name, encoding="utf-8")
    names = {target: [path.name for path in load_task(two, target).seeds] for target in ("mi300x", "h200")}
    assert names == {
        "mi300x": ["seed.hip", "seed_mfma.mi300x.hip", "seed_tiled.hip"],
        "h200": ["seed.h200.hip", "seed_mma.h200.hip", "seed_tiled.h200.hip"],
    }


def test_a_task_may_have_a_seed_for_one_of_its_targets_only(two: Path) -> None:
    (two / "seed.hip").rename(two / "seed.h200.hip")
    assert [path.name for path in load_task(two, "h200").seeds] == ["seed.h200.hip"]
    assert load_task(two, "mi300x").seeds == (), "the author begins there"


def test_inputs_may_be_mixed_unless_they_are_integers_or_the_task_says_no(folder: Folder, manifest: str) -> None:
    indices = manifest.replace("[[output]]", '[[input]]\nname = "at"\ndtype = "i32"\nshape = ["rows"]\n\n[[output]]')
    said = 'targets = ["mi300x"]\nmix = '
    texts = {
        "plain": manifest,
        "indices": indices,
        "sorted": manifest.replace('targets = ["mi300x"]', said + "false"),
        "words": indices.replace('targets = ["mi300x"]', said + "true"),
    }
    assert {name: load_task(folder(text, name=name)).mix for name, text in texts.items()} == {
        "plain": True,
        "indices": False,
        "sorted": False,
        "words": True,
    }


LONG = {"fp8_block_gemm"}  # which the linter's own tests read for the other target


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in task_names()]
)
def test_every_shipped_task_is_for_both_targets_and_sound_on_each(name: str) -> None:
    tasks = [load_task(name, target) for target in ("mi300x", "h200")]
    assert [set(task.targets) for task in tasks] == [{"mi300x", "h200"}] * 2
    assert lint(tasks[1]) == (), "the other one is read by the linter's own tests"


def test_the_fp8_product_has_the_fp8_of_its_target() -> None:
    for target, dtype, other in (("mi300x", "e4m3fnuz", "e4m3fn "), ("h200", "e4m3fn", "FNUZ")):
        task = load_task("fp8_block_gemm", target)
        assert {spec.dtype for spec in task.inputs} == {dtype, "f32"}
        assert f"both {dtype} and both COLUMN-major" in task.description
        assert other not in task.description
        inputs = task.draw(task.tests[0])
        assert inputs["a"].flags.f_contiguous
        assert task.variants is not None
        exact = task.variants(inputs, task.tests[0], np.random.default_rng(0))["exact"]
        assert exact["a"].dtype == inputs["a"].dtype == inputs["b"].dtype

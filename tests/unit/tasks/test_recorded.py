"""Recorded answers are found by their inputs alone, and a task of them has no other shapes or values."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from records.errors import PlanError, TaskError, UsageError
from sandbox.cases.inputs.families import InputFamilies
from sandbox.remote.client import own_files
from tasks.domain import within
from tasks.extra_shapes import with_shapes
from tasks.held_out import held_out_cases
from tasks.linter import lint
from tasks.loader import load_task
from tasks.recorded import FILE, Draw, answer, archive, draw_of, key_of, started
from tasks.task import Case

MANIFEST = """
name = "doubled"
title = "Doubled"
description = "y = 2 x, recorded"
targets = ["mi300x"]
mix = false
plant = []
[[input]]
name = "x"
dtype = "f32"
shape = ["n"]
[[output]]
name = "y"
dtype = "f32"
shape = ["n"]
[[test]]
n = 5
[[test]]
n = 300
[[benchmark]]
n = 4000
[work]
flops = "n"
bytes = "8 * n"
[tolerance]
ratio = 2.0
[golden]
draws = 4
digest = "{digest}"
"""
CODE = """
from pathlib import Path
import numpy as np
from tasks.recorded import FILE, answer, draw_of
PATH = Path(__file__).with_name(FILE)
def make_inputs(case, rng):
    return {"x": draw_of(case, 4).standard_normal(case.dims["n"]).astype(np.float32)}
def reference(inputs, case):
    return answer(PATH, inputs, case, "reference", {"y": "f64"})
def baseline(inputs, case):
    return answer(PATH, inputs, case, "baseline", {"y": "f32"})
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draws = []
    for n in (5, 300, 4000):
        for seed in range(4):
            case = Case("", {"n": n}, seed)
            x = draw_of(case, 4).standard_normal(n).astype(np.float32)
            third = {"reference": {"y": x.astype(np.float64) / 3}, "baseline": {"y": x / np.float32(3)}}
            draws.append(Draw(key_of({"x": x}, case), third))
    data = archive(draws, {})
    (tmp_path / FILE).write_bytes(data)
    (tmp_path / "task.toml").write_text(MANIFEST.replace("{digest}", hashlib.sha256(data).hexdigest()))
    (tmp_path / "reference.py").write_text(CODE)
    return tmp_path


def test_every_seed_has_an_answer_and_it_is_that_of_its_inputs(folder: Path) -> None:
    task = load_task(folder)
    for seed in (0, 3, 4, 2**32 - 1):
        case = replace(task.tests[1], seed=seed)
        inputs = task.draw(case)
        want, base = task.expected(inputs, case)
        assert np.array_equal(want["y"], inputs["x"].astype(np.float64) / 3) and base["y"].dtype == np.float32
    assert lint(task) == ()


def test_other_inputs_have_none(folder: Path) -> None:
    task = load_task(folder)
    case = task.tests[0]
    for x in (np.zeros(5, np.float32), task.draw(case)["x"][::-1], task.draw(case)["x"].astype(np.float64)):
        with pytest.raises(TaskError, match="none of the recorded ones"):
            task.reference({"x": x}, case)


def test_a_judge_makes_no_shape_and_no_value_of_its_own(folder: Path) -> None:
    task = load_task(folder)
    for seed in range(8):
        cases = held_out_cases(task, seed)
        assert cases and all(dict(case.dims) in ({"n": 5}, {"n": 300}) for case in cases)
        for case in cases:
            task.reference(InputFamilies(task).draw(case, None), case)
    assert InputFamilies(task).names == ()
    with pytest.raises(UsageError, match="none for this shape"):
        with_shapes(task, ["n=7"])
    with pytest.raises(PlanError, match="0 unlisted shapes"):
        within(task, "n > 300")


def test_a_changed_file_is_refused(folder: Path) -> None:
    data = bytearray((folder / FILE).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / FILE).write_bytes(data)
    with pytest.raises(TaskError, match="other answers than"):
        load_task(folder)
    (folder / FILE).unlink()
    with pytest.raises(TaskError, match=FILE):
        load_task(folder)


@pytest.mark.parametrize("line", ["mix = false\n", "plant = []\n"])
def test_recorded_answers_are_for_whole_draws(folder: Path, line: str) -> None:
    text = (folder / "task.toml").read_text()
    (folder / "task.toml").write_text(text.replace(line, 'plant = ["x"]\n' if line[0] == "p" else ""))
    with pytest.raises(TaskError, match="needs mix = false and plant"):
        load_task(folder)


def test_the_folder_does_not_travel(folder: Path) -> None:
    with pytest.raises(TaskError, match="do not travel to a worker"):
        own_files(load_task(folder))


def test_narrow_types_come_back_bit_by_bit(tmp_path: Path) -> None:
    y = np.arange(-4, 4).astype(ml_dtypes.bfloat16)
    case = Case("", {"n": 1}, 0)
    key = key_of({"x": y}, case)
    (tmp_path / FILE).write_bytes(archive([Draw(key, {"baseline": {"y": y}})], {"w": np.ones(2, np.float32)}))
    found = answer(tmp_path / FILE, {"x": y}, case, "baseline", {"y": "bf16"})["y"]
    assert found.dtype == y.dtype and found.tobytes() == y.tobytes()
    assert started(tmp_path / FILE, "w").tolist() == [1, 1]
    with pytest.raises(TaskError, match="holds no v"):
        started(tmp_path / FILE, "v")


def test_objects_are_never_read(tmp_path: Path) -> None:
    np.savez(tmp_path / FILE, **{"start/w": np.array([{}], dtype=object)})
    with pytest.raises(TaskError):
        started(tmp_path / FILE, "w")

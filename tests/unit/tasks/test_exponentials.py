"""A task with a softmax in it must have rows in which a wrong maximum overflows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.linter import lint
from tasks.loader import load_task

Folder = Callable[..., Path]
NORMAL = 'rng.standard_normal((case.dims["rows"], case.dims["cols"]), dtype=np.float32)'
TOP = "x.max(axis=1, keepdims=True)"
FORMS = {
    "softmax": f"np.exp(x - {TOP}) / np.exp(x - {TOP}).sum(axis=1, keepdims=True)",
    "softmax with a temperature": f"np.exp((x - {TOP}) / 4) / np.exp((x - {TOP}) / 4).sum(axis=1, keepdims=True)",
    "log softmax": f"x - {TOP} - np.log(np.exp(x - {TOP}).sum(axis=1, keepdims=True))",
    "log of a sum": f"({TOP} + np.log(np.exp(x - {TOP}).sum(axis=1, keepdims=True)))[:, 0]",
}
OTHERS = {
    "layer norm": "(x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)",
    "sigmoid": "1 / (1 + np.exp(-x))",
    "centred": f"x - {TOP}",
    "largest": "x.max(axis=1)",
}


def task_of(folder: Folder, manifest: str, form: str, drawn: str) -> tuple[str, ...]:
    """The linter's sentences on a task that computes the form from what is drawn."""
    code = f"""
import numpy as np

def make_inputs(case, rng):
    x = {NORMAL}
    rows, cols = x.shape
    {drawn}
    return {{"x": x}}

def reference(inputs, case):
    x = inputs["x"].astype(np.float64)
    return {{"y": {form}}}

def baseline(inputs, case):
    x = inputs["x"]
    return {{"y": {form}}}
"""
    manifest = manifest.replace("rows = 5\ncols = 7", "rows = 12\ncols = 70")
    if form.endswith(("[:, 0]", "max(axis=1)")):
        front, _, back = manifest.partition("[[output]]")
        manifest = front + "[[output]]" + back.replace('shape = ["rows", "cols"]', 'shape = ["rows"]', 1)
    return lint(load_task(folder(manifest, code)))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_ordinary_values_show_no_wrong_maximum(folder: Folder, manifest: str, form: str) -> None:
    found = " | ".join(task_of(folder, manifest, form, "x *= 3"))
    for wrong in ("the first element", "the last element", "the middle element", "the mean", "zero"):
        assert f"takes {wrong} for the maximum" in found
    assert "takes the larger of it and zero for the maximum" in found


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_peaks_and_levels_show_all_of_them(folder: Folder, manifest: str, form: str) -> None:
    peaks = "x[np.arange(rows // 2), rng.integers(1, cols - 1, rows // 2)] += 900; x[::3] -= 2000"
    assert task_of(folder, manifest, form, peaks) == ()


def test_a_peak_at_a_fixed_place_is_not_enough(folder: Folder, manifest: str) -> None:
    found = task_of(folder, manifest, FORMS["softmax"], "x[::2, 0] += 900; x[::3] -= 2000")
    assert [sentence for sentence in found if "first element for the maximum" in sentence]


@pytest.mark.parametrize("form", OTHERS.values(), ids=OTHERS)
def test_what_is_no_softmax_needs_no_peaks(folder: Folder, manifest: str, form: str) -> None:
    assert task_of(folder, manifest, form, "x += 0") == ()

"""A declared structure of an input: draws keep to it, and what it makes right is no shortcut."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from records.errors import TaskError
from tasks.linter import lint
from tasks.loader import load_task
from tasks.structure import STRUCTURES, has_structure, imposed

Folder = Callable[..., Path]
MANIFEST = """
name = "product"
title = "A product"
description = "y = A @ B."
targets = ["mi300x"]
[[input]]
name = "a"
dtype = "f32"
shape = ["n", "n"]
STRUCTURE
[[input]]
name = "b"
dtype = "f32"
shape = ["n", "n"]
STRUCTURE
[[output]]
name = "y"
dtype = "f32"
shape = ["n", "n"]
[[test]]
n = 7
[[test]]
n = 20
[[benchmark]]
n = 64
[work]
flops = "2 * n * n * n"
bytes = "12 * n * n"
[tolerance]
ratio = 2.0
"""
CODE = """
import numpy as np


def made(n, rng):
    x = rng.standard_normal((n, n), dtype=np.float32)
    return FORM


def make_inputs(case, rng):
    n = case.dims["n"]
    return {"a": made(n, rng), "b": made(n, rng)}


def reference(inputs, case):
    return {"y": np.triu(inputs["a"].astype(np.float64) @ inputs["b"])} if TRIU else {
        "y": inputs["a"].astype(np.float64) @ inputs["b"]}


def baseline(inputs, case):
    return {"y": np.triu(inputs["a"] @ inputs["b"]) if TRIU else inputs["a"] @ inputs["b"]}
"""
FORMS = {"symmetric": "(x + x.T) / 2", "upper_triangular": "np.triu(x)"}


def problems(folder: Folder, structure: str, form: str) -> str:
    declared = f'structure = "{structure}"' if structure else ""
    code = CODE.replace("FORM", form).replace("TRIU", str("triu" in form))
    return " | ".join(lint(load_task(folder(MANIFEST.replace("STRUCTURE", declared), code))))


@pytest.mark.parametrize("structure", FORMS)
def test_what_a_structure_makes_right_is_no_shortcut_once_it_is_declared(folder: Folder, structure: str) -> None:
    assert "a kernel would pass" in problems(folder, "", FORMS[structure])
    assert problems(folder, structure, FORMS[structure]) == ""


def test_a_draw_without_the_structure_is_named(folder: Folder) -> None:
    assert "'a' that is not symmetric" in problems(folder, "symmetric", "x")
    assert "'a' that is not lower triangular" in problems(folder, "lower_triangular", "np.triu(x)")


def test_a_structure_needs_a_square_and_keeps_values_together(folder: Folder) -> None:
    square = MANIFEST.replace("STRUCTURE", 'structure = "symmetric"')
    assert not load_task(folder(square, CODE)).mix
    with pytest.raises(TaskError, match="two last axes of one size"):
        load_task(folder(square.replace('shape = ["n", "n"]', 'shape = ["n", "2 * n"]', 1), CODE))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_what_is_imposed_is_there(structure: str) -> None:
    x = np.random.default_rng(0).standard_normal((3, 5, 5))
    assert not has_structure(x, structure) and has_structure(imposed(x, structure), structure)
    assert has_structure(x, "")

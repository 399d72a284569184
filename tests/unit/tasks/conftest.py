from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

MANIFEST = """
name = "scale"
title = "Twice each element"
description = "y = 2 x"
targets = ["mi300x"]

[[input]]
name = "x"
dtype = "f32"
shape = ["rows", "cols"]

[[output]]
name = "y"
dtype = "f32"
shape = ["rows", "cols"]

[scalars]
factor = { dtype = "f32", value = 2.0 }

[[test]]
rows = 5
cols = 7

[[test]]
rows = 8
cols = 3
seed = 11
weight = 2.5

[[benchmark]]
rows = 64
cols = 64

[work]
flops = "rows * cols"
bytes = "8 * rows * cols"

[tolerance]
ratio = 2.0
"""
CODE = """
import numpy as np

def make_inputs(case, rng):
    return {"x": rng.standard_normal((case.dims["rows"], case.dims["cols"]), dtype=np.float32)}

def reference(inputs, case):
    return {"y": inputs["x"].astype(np.float64) * 2}

def baseline(inputs, case):
    return {"y": inputs["x"] * np.float32(2)}
"""
Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Writes a task folder, by default a sound one, and gives its path."""

    def write(manifest: str = MANIFEST, code: str = CODE, name: str = "task") -> Path:
        path = tmp_path / name
        path.mkdir(exist_ok=True)
        (path / "task.toml").write_text(manifest, encoding="utf-8")
        (path / "reference.py").write_text(code, encoding="utf-8")
        (path / "seed.hip").write_text("// nothing\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def manifest() -> str:
    return MANIFEST


@pytest.fixture
def code() -> str:
    return CODE

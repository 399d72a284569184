"""Operations of files: memory of `torch.empty`, words that are taken apart, distances of rows."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.settings import load_settings
from app.task_folders import task_cage
from imports.confined import Imported, imported_all
from imports.readers import ImportPlace, Specs, form_of
from tasks.expressions import evaluate, names_in
from tasks.linter import lint
from tasks.loader import load_task

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the extra `torch` is not installed")
FILE = """import torch
rows, cols = 96, 80

def filled(x):
    out = torch.empty_like(x)
    out[..., 0::2] = -x[..., 1::2]
    out[..., 1::2] = x[..., 0::2]
    return out

def weighed(x):
    given = torch.sigmoid(x)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(x, given, reduction="none")
    return (1 - given) ** 2 * loss

def unwritten(x):
    out = torch.empty(x.shape)
    out[:, 0] = x[:, 0]
    return out

def get_inputs():
    return [torch.randn(rows, cols)]
"""
NUMPY = """import numpy as np

rows, cols = 96, 80

def bordered(x):
    held = np.pad(x, ((1, 1), (0, 0)), mode="edge") + np.pad(x, 1, mode="reflect")[:, 1:-1]
    return held + np.pad(x, [(2, 0), (0, 0)], constant_values=3.0) + np.pad(x, ((0, 2), (0, 0)), mode="wrap")

def diagonals(x):
    products = x @ x.T
    return np.diagonal(products) * 2, np.diagonal(products, offset=1)

def get_inputs():
    return [np.random.default_rng(0).standard_normal((rows, cols)).astype(np.float32)]
"""
WINDOWS = """import torch
rows, width = 64, 2048

def pooled(x):
    return torch.nn.functional.avg_pool1d(x[:, None], 11)[:, 0]

def strided(x):
    return torch.nn.functional.max_pool1d(x, 5, 14, padding=2)

def get_inputs():
    return [torch.randn(rows, width)]
"""
WORDS = """import torch

def unpacked(packed, scales):
    low, high = (packed & 15).float() - 8, (packed >> 4).float() - 8
    return torch.stack((low, high), dim=-1).flatten(1) * scales[:, None]

def quantized(x, w, scales):
    return x @ (w.to(x.dtype) * scales[:, None]).t()

def mixed(a, b):
    return (a ^ b) + (a << 3) - (b >> 2) * 2

def looked_up(table, ids):
    return table[ids]

def entropies(logits, target):
    return torch.nn.functional.cross_entropy(logits, target, reduction="none")

def distances(x, y):
    return torch.cdist(x, y), torch.cdist(x, y, p=1)

def averages(x):
    return x.unfold(-1, 4, 3).mean(-1)

def chosen(ids, x):
    return torch.nn.functional.one_hot(ids, 24).to(x.dtype) * x

def parted(x, w):
    q, k, v = (x @ w).split(x.shape[-1], dim=-1)
    return q * k + v
"""
INPUTS: Mapping[str, Specs] = {
    "unpacked": {"packed": ("u8", ["rows", "cols"], ""), "scales": ("f32", ["rows"], "")},
    "quantized": {"x": ("f32", ["m", "k"], ""), "w": ("i8", ["n", "k"], ""), "scales": ("f32", ["n"], "")},
    "mixed": {"a": ("i32", ["rows", "cols"], ""), "b": ("i32", ["rows", "cols"], "")},
    "distances": {"x": ("f32", ["n", "d"], ""), "y": ("f32", ["m", "d"], "")},
    "looked_up": {"table": ("f32", ["vocab", "cols"], ""), "ids": ("i64", ["rows"], "vocab")},
    "averages": {"x": ("f32", ["rows", "cols"], "")},
    "chosen": {"ids": ("i64", ["rows"], "24"), "x": ("f32", ["rows", "24"], "")},
    "parted": {"x": ("f32", ["m", "k"], ""), "w": ("f32", ["k", "3*k"], "")},
    "entropies": {"logits": ("f32", ["rows", "vocab"], ""), "target": ("i64", ["rows"], "vocab")},
}
SIZES = {"rows": 96, "cols": 80, "m": 64, "n": 80, "k": 48, "d": 32, "vocab": 24}


@needs_torch
@pytest.mark.long
def test_memory_that_nothing_has_written_is_no_result(tmp_path: Path) -> None:
    path = tmp_path / "pairs.py"
    path.write_text(FILE)
    filled, weighed, unwritten = imports_of(path, {"filled": {}, "weighed": {}, "unwritten": {}})
    assert isinstance(unwritten, str)
    assert "its result holds memory of torch.empty that nothing has written" in unwritten
    assert_sound(tmp_path, filled, weighed)


@needs_torch
@pytest.mark.long
def test_narrow_words_shifts_and_distances_are_imported(tmp_path: Path) -> None:
    path = tmp_path / "words.py"
    path.write_text(WORDS)
    assert_sound(tmp_path, *imports_of(path, INPUTS))


@needs_torch
@pytest.mark.long
def test_the_width_of_a_window_is_known_from_the_sizes_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "windows.py"
    path.write_text(WINDOWS)
    outcomes = imports_of(path, {"pooled": {}, "strided": {}})
    assert_sound(tmp_path, *outcomes)
    for outcome, windows in zip(outcomes, (lambda w: w // 11, lambda w: (w - 1) // 14 + 1), strict=True):
        assert isinstance(outcome, Imported)
        folder = tmp_path / outcome.files["task.toml"].decode().split('"')[1]
        (spec,) = load_task(folder).outputs
        assert [evaluate(spec.shape[1], {"rows": 64, "width": w}) for w in range(200, 2600, 7)] == [
            windows(w) for w in range(200, 2600, 7)
        ]


def test_borders_and_diagonals_of_numpy_are_imported(tmp_path: Path) -> None:
    path = tmp_path / "borders.py"
    path.write_text(NUMPY)
    assert_sound(tmp_path, *imports_of(path, {"bordered": {}, "diagonals": {}}))


def imports_of(path: Path, functions: Mapping[str, Specs]) -> list[Imported | str]:
    requests: list[dict[str, Any]] = []
    for name, specs in functions.items():
        form = form_of(location := ImportPlace(path, name))
        gathered = form.gather(location)
        dims = [dim for _, shape, limit in specs.values() for text in (*shape, limit) for dim in names_in(text)]
        sizes = {dim: SIZES[dim] for dim in dims}
        origin = {"source": gathered.shown, "form": form.form, "digest": gathered.digest}
        requests.append({**gathered.request(name, name, specs, sizes), "origin": origin, "gate": form.gate})
    return list(imported_all(requests, task_cage(load_settings())))


def assert_sound(folder: Path, *imports: Imported | str) -> None:
    for outcome in imports:
        assert not isinstance(outcome, str), outcome
        task_folder = folder / outcome.files["task.toml"].decode().split('"')[1]
        task_folder.mkdir()
        for file, content in outcome.files.items():
            (task_folder / file).write_bytes(content)
        assert lint(load_task(task_folder)) == ()
        assert (task_folder / "seed.hip").exists()

"""NumPy functions on their way to tasks, without PyTorch: executed as they are, followed where that can be."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from imports.graph import Graph
from imports.making import ImportRequest, make
from imports.numpy_route import NumpyRoute
from imports.numpy_source import NumpySource
from imports.refusal import ImportRefused
from imports.route import Trials
from imports.sizing import sized
from tasks.loader import load_task
from tasks.origin import Origin

ROWS = {"x": ("f32", ("rows", "cols"), "")}
PAIR = {**ROWS, "w": ("f32", ("cols", "out"), "")}
MASKED = {**ROWS, "mask": ("bool", ("rows", "cols"), "")}
IDS = {"table": ("f32", ("cols", "out"), ""), "ids": ("i64", ("rows",), "cols")}
FOLLOWED = {  # the body of a function of the inputs, and operations that its graph must have
    "return x * 0.1 + 1 / 3 - 1e-5": (ROWS, "mul add sub"),
    "return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x ** 3)))": (ROWS, "tanh"),
    "return np.where(mask, x, -1e9)": (MASKED, "where"),
    "return x.copy() @ w / np.sqrt(x.shape[1])": (PAIR, "mm div"),
    "return np.einsum('ij,jk->ik', x, w)": (PAIR, "mm"),
    "return np.einsum('ij,ij->i', x, x)": (ROWS, "bmm"),
    "return np.sum(x, axis=(0, 1), keepdims=True) + x.mean(axis=-1, keepdims=True)": (ROWS, "sum mean"),
    "return np.maximum(x, 0), np.argmax(x, axis=1), np.cumsum(x, axis=-1)": (ROWS, "maximum argmax cumsum"),
    "return np.sort(x, axis=0), np.std(x, ddof=1)": (ROWS, "sort var"),
    "return table[ids], (ids // 2 + ids % 3) * np.int64(2)": (IDS, "index div remainder"),
    "y = x.copy()\ny[y < 0] *= 0.01\nreturn y": (ROWS, "where"),
    "y = np.zeros_like(x)\ny[1:, :-1] = x[:-1, 1:]\ny[0] += 1\nreturn y": (ROWS, "slice_scatter select_scatter"),
    "y = x - x.max(1)[:, None]\nnp.exp(y, out=y)\nreturn (y / y.sum(1, keepdims=True)).T[::-1]": (
        ROWS,
        "amax exp flip",
    ),
    "row = x[0]\nrow[:] = 2.0\nreturn x + 0": (ROWS, "select_scatter"),
    "m = np.tril(np.ones((len(x), len(x)), bool))\nreturn np.where(m, x @ x.T, -np.inf)": (ROWS, "tril mm where"),
    "h = x.reshape(len(x), -1, 1)\nreturn np.concatenate([h, np.flip(h, 1)], axis=-1).sum((1, 2))": (
        ROWS,
        "cat flip sum",
    ),
    "a, b = np.split(np.repeat(x, 2, axis=1), 2, axis=1)\nreturn a * b + np.eye(len(x))[:, :1]": (ROWS, "slice eq"),
    "return np.pad(x, ((1, 2), (0, 0)), mode='edge') + np.pad(x, ((0, 3), (0, 0)))": (ROWS, "constant_pad_nd index"),
    "return np.linalg.norm(x, axis=1), np.diff(x), np.roll(x, 1, axis=0)": (ROWS, "sqrt sub cat"),
    "return np.percentile(x, 90, axis=1), np.partition(x, -2, axis=0)[-2]": (ROWS, "sort floor index"),
    "return np.diagonal(x @ x.T, offset=-1), np.trace(x @ x.T)": (ROWS, "index sum"),
    "from numpy.typing import NDArray\nkind = NDArray[np.float32]\nx += 1": (ROWS, "add"),
}
UNFOLLOWED = {
    "return np.linalg.eigvalsh(x @ x.T)": "eigvalsh",
    "return np.array([[float(v) for v in row] for row in x])": "values",
    "y = x.copy()\nfor i in range(1, len(x)):\n    y[i] += 0.5 * y[i - 1]\nreturn y": "sizes",
}
BOUND = {"rows": 1 << 8, "cols": 1 << 8, "out": 1 << 8}


def route(body: str, specs: dict[str, tuple[str, tuple[str, ...], str]]) -> NumpyRoute:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    text = f"import numpy as np\n\n\ndef f({', '.join(specs)}):\n{lines}\n"
    names = {dim for _, shape, limit in specs.values() for dim in (*shape, limit) if dim}
    return NumpyRoute(NumpySource("f.py", text, "f", specs, {n: v for n, v in BOUND.items() if n in names}))


def graph_of(followed: NumpyRoute) -> Graph:
    original = followed.source.constants()
    return followed.followed(sized(original, Trials(followed, original)), original).graph


@pytest.mark.parametrize("body", FOLLOWED)
def test_a_graph_gives_what_the_function_gives_at_sizes_that_it_was_not_made_from(body: str) -> None:
    """`followed` compares them in double precision, and refuses a graph that differs."""
    specs, names = FOLLOWED[body]
    graph = graph_of(route(body, specs))
    assert set(names.split()) <= {node.op.split(".")[1] for node in graph.nodes if "." in node.op}
    assert "torch" not in sys.modules


@pytest.mark.parametrize("body", UNFOLLOWED)
def test_what_cannot_be_followed_is_refused_with_its_reason(body: str) -> None:
    with pytest.raises(ImportRefused, match=UNFOLLOWED[body]):
        graph_of(route(body, ROWS))


def made(body: str, specs: dict[str, tuple[str, tuple[str, ...], str]], folder: Path) -> tuple[str, ...]:
    request = ImportRequest("f", "f", route(body, specs), Origin("f.py", "numpy"))
    return make(request, folder).notes


@pytest.mark.slow
def test_a_function_that_cannot_be_followed_becomes_a_task_without_a_seed(tmp_path: Path) -> None:
    body = "y = x.copy()\nfor i in range(1, len(x)):\n    y[i] += 0.1 * np.linalg.det(np.diag(y[i - 1, :1]))\nreturn y"
    notes = made(body, ROWS, tmp_path)
    assert any("no seed" in note for note in notes) and not (tmp_path / "seed.hip").exists()
    task = load_task(tmp_path)
    assert [spec.shape for spec in task.outputs] == [("rows", "cols")] and task.seeds == ()


@pytest.mark.slow
def test_an_array_that_a_function_fills_is_no_input_and_a_variance_is_drawn_above_zero(tmp_path: Path) -> None:
    specs = {**ROWS, "var": ("f32", ("cols",), ""), "out": ("f32", ("rows", "cols"), "")}
    notes = made("out[...] = x / np.sqrt(var + 1e-5)", specs, tmp_path)
    task = load_task(tmp_path)
    assert [t.name for t in task.inputs] == ["x", "var"] and [(t.name, t.initial) for t in task.outputs] == [
        ("out", "")
    ]
    inputs = task.draw(task.tests[0])
    (answer,) = task.reference(inputs, task.tests[0]).values()
    assert inputs["var"].min() > 0 and np.isfinite(answer).all() and any("above zero" in note for note in notes)


@pytest.mark.slow
def test_zeros_of_which_it_makes_whole_numbers_that_are_others_on_each_machine_are_not_planted(tmp_path: Path) -> None:
    made("s = np.abs(x).max(1, keepdims=True)\nreturn np.round(127 * x / s).astype(np.int8), s", ROWS, tmp_path)
    assert load_task(tmp_path).plant == () and load_task(tmp_path).outputs[0].dtype == "i8"


@pytest.mark.slow
def test_words_of_cpp_are_names_of_inputs_and_whole_numbers_keep_to_their_limit(tmp_path: Path) -> None:
    specs = {"double": ("f16", ("cols", "out"), ""), "new": ("i32", ("rows",), "cols")}
    made("return double[new] * 0.1", specs, tmp_path)
    task = load_task(tmp_path)
    table, ids = task.inputs
    inputs = task.draw(task.tests[0])
    assert ids.dtype == "i32" and inputs[ids.name].max() < inputs[table.name].shape[0]
    assert task.outputs[0].dtype == "f16" and (tmp_path / "seed.hip").exists()

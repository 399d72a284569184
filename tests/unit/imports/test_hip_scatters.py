"""Elements that are written to places: their NumPy gives what each place is given, and their naive kernel is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from imports.graph import Graph, Number, Operation, Ref, Tensor
from imports.hip_text import seed_text
from imports.manifest_text import Shapes, manifest_text
from imports.numpy_text import reference_text
from imports.refusal import ImportRefused
from tasks.linter import lint
from tasks.loader import load_task
from tasks.origin import Origin
from tasks.task import Task
from tests.support.lab_bench import evaluator as lab_evaluator

ROWS, COLS = ("m", "n"), ("m", "n - 1")
X, V, S = Tensor("x", ROWS, "f32"), Tensor("v", COLS, "f32"), Tensor("s", ("m",), "f32")
NODES = (
    Operation("sign", "aten.lt.Scalar", (Ref("x"), 0), {}, ROWS, "bool"),
    Operation("masked", "aten.index_put.default", (Ref("x"), [Ref("sign")], 0.5), {}, ROWS, "f32"),
    Operation("late", "aten.slice_scatter.default", (Ref("masked"), Ref("v"), 1, 1), {}, ROWS, "f32"),
    Operation("first", "aten.select_scatter.default", (Ref("late"), Ref("s"), 1, 0), {}, ROWS, "f32"),
    Operation("i", "prims.iota.default", (Number("m"),), {"start": 0, "step": 1}, ("m",), "i64"),
    Operation("pair", "aten.div.Tensor_mode", (Ref("i"), 2), {"rounding_mode": "floor"}, ("m",), "i64"),
    Operation("last", "aten.index_put.default", (Ref("x"), [Ref("pair")], Ref("first")), {}, ROWS, "f32"),
    Operation("sums", "aten.index_put.default", (Ref("x"), [Ref("pair")], Ref("first"), True), {}, ROWS, "f32"),
    Operation(
        "view",
        "aten.as_strided.default",
        (Ref("sums"), [Number("m"), Number("n - 1")], [Number("n"), 1], 1),
        {},
        COLS,
        "f32",
    ),
)
GRAPH = Graph((X, V, S), NODES, ((Tensor("y", ROWS, "f32"), "last"), (Tensor("z", COLS, "f32"), "view")))


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("written")
    sizes = Shapes([{"m": 5, "n": 6}, {"m": 16, "n": 33}], [{"m": 32, "n": 48}], {})
    manifest = manifest_text("written", "Written", GRAPH, sizes, Origin("f.py", "pytorch"), [], None)
    (folder / "task.toml").write_text(manifest)
    (folder / "reference.py").write_text(reference_text(GRAPH, None, ["m", "n"], "wide", "Written"))
    (folder / "seed.hip").write_text(seed_text(GRAPH, ["m", "n"]))
    return load_task(folder)


def test_each_place_has_the_last_value_or_the_sum_of_all(task: Task) -> None:
    assert lint(task) == ()
    for case in task.tests:
        inputs = {name: value.astype(np.float64) for name, value in task.draw(case).items()}
        x, v, s = inputs["x"], inputs["v"], inputs["s"]
        rows = np.where(x < 0, 0.5, x)
        rows[:, 1:], rows[:, 0] = v, s
        last, sums = x.copy(), x.copy()
        for row, values in enumerate(rows):
            last[row // 2] = values
            sums[row // 2] += values
        outputs = task.reference(inputs, case)
        assert np.array_equal(outputs["y"], last) and np.allclose(outputs["z"], sums[:, 1:], rtol=1e-12)


@pytest.mark.long
def test_the_naive_kernel_passes_and_one_that_takes_the_first_does_not(task: Task) -> None:
    evaluator, text = lab_evaluator(3), task.seeds[0].read_text()
    assert evaluator.verify(evaluator.prepare(text, task)).verdict.accepted
    wrong = text.replace("found +=", "found =")
    assert wrong != text and not evaluator.verify(evaluator.prepare(wrong, task)).verdict.accepted


def test_what_a_mask_counts_out_is_refused() -> None:
    value = Operation("y", "aten.index_put.default", (Ref("x"), [Ref("sign")], Ref("s")), {}, ROWS, "f32")
    graph = Graph((X, S), (NODES[0], value), ((Tensor("y", ROWS, "f32"), "y"),))
    with pytest.raises(ImportRefused, match="as many elements as a mask has"):
        reference_text(graph, None, ["m", "n"], "wide", "masked")


def test_places_on_axes_that_are_apart_have_numpy_and_no_naive_kernel(tmp_path: Path) -> None:
    shape = ("m", "n", "m")
    positions = [Ref("i"), None, Ref("i")]
    node = Operation("y", "aten.index.Tensor", (Ref("x"), positions), {}, ("m", "n"), "f32")
    graph = Graph((Tensor("x", shape, "f32"),), (NODES[4], node), ((Tensor("y", ROWS, "f32"), "y"),))
    sizes = Shapes([{"m": 3, "n": 4}], [{"m": 5, "n": 6}], {})
    (tmp_path / "task.toml").write_text(
        manifest_text("apart", "Apart", graph, sizes, Origin("f.py", "pytorch"), [], None)
    )
    (tmp_path / "reference.py").write_text(reference_text(graph, None, ["m", "n"], "wide", "Apart"))
    task = load_task(tmp_path)
    x = np.arange(36.0).reshape(3, 4, 3)
    assert np.array_equal(task.reference({"x": x}, task.tests[0])["y"], np.stack([x[i, :, i] for i in range(3)]))
    with pytest.raises(ImportRefused, match="axes that are apart"):
        seed_text(graph, ["m", "n"])

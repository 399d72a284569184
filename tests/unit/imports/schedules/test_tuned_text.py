"""Scheduled kernels are right at odd sizes, and go by wide loads where the naive one goes by elements."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from imports.graph import Graph, Number, Operation, Ref, Tensor
from imports.hip_text import seed_text
from imports.manifest_text import Shapes, manifest_text
from imports.numpy_text import reference_text
from imports.refusal import ImportRefused
from imports.schedules.tuned_text import tuned_text
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Patience
from tasks.loader import load_task
from tasks.origin import Origin
from tests.support.lab_bench import evaluator as lab_evaluator

FINDS: dict[str, tuple[Any, ...]] = {
    "sum": ("aten.sum.dim_IntList", [1]),
    "mean": ("aten.mean.dim", [-1], True),
    "amin": ("aten.amin.default", [1], True),
    "var": ("aten.var.correction", [1], True),
    "length": ("aten.linalg_vector_norm.default", 2, [1], True),
    "others": ("aten.sum.dim_IntList", [0], True),
}
LINES = Graph(
    (Tensor("x", ("m", "k"), "f32"),),
    (
        *(
            Operation(name, op, (Ref("x"), *operands), {"correction": 1} if name == "var" else {}, shape, "f32")
            for name, (op, *operands) in FINDS.items()
            for shape in [("m",) if name == "sum" else (1, "k") if name == "others" else ("m", 1)]
        ),
        Operation("a", "aten.add.Tensor", (Ref("mean"), Ref("amin")), {}, ("m", 1), "f32"),
        Operation("b", "aten.add.Tensor", (Ref("var"), Ref("length")), {}, ("m", 1), "f32"),
        Operation("c", "aten.add.Tensor", (Ref("a"), Ref("b")), {}, ("m", 1), "f32"),
        Operation("d", "aten.add.Tensor", (Ref("c"), Ref("others")), {}, ("m", "k"), "f32"),
    ),
    ((Tensor("y", ("m", "k"), "f32"), "d"), (Tensor("z", ("m",), "f32"), "sum")),
)
SPLIT = (Number("k // 2"), Number("k"))
TURNED = Graph(
    (Tensor("x", ("m", "n", "k"), "f32"), Tensor("c", ("m", "k"), "f32")),
    (
        Operation("high", "aten.slice.Tensor", (Ref("x"), 2, *SPLIT), {}, ("m", "n", "(k + 1) // 2"), "f32"),
        Operation("less", "aten.neg.default", (Ref("high"),), {}, ("m", "n", "(k + 1) // 2"), "f32"),
        Operation("low", "aten.slice.Tensor", (Ref("x"), 2, 0, SPLIT[0]), {}, ("m", "n", "k // 2"), "f32"),
        Operation("cat", "aten.cat.default", ([Ref("less"), Ref("low")], 2), {}, ("m", "n", "k"), "f32"),
        Operation("each", "aten.unsqueeze.default", (Ref("c"), 1), {}, ("m", 1, "k"), "f32"),
        Operation("y", "aten.mul.Tensor", (Ref("cat"), Ref("each")), {}, ("m", "n", "k"), "f32"),
    ),
    ((Tensor("z", ("m", "n", "k"), "f32"), "y"),),
)
GROUPS = ("m", 2, "n * k")
GROUPED = Graph(
    (Tensor("x", ("m", "2 * n", "k"), "f32"), Tensor("w", ("2 * n",), "f32")),
    (
        Operation("view", "aten.view.default", (Ref("x"), list(GROUPS)), {}, GROUPS, "f32"),
        Operation("var", "aten.var.correction", (Ref("view"), [2], True), {"correction": 0}, ("m", 2, 1), "f32"),
        Operation("amax", "aten.amax.default", (Ref("view"), [2], True), {}, ("m", 2, 1), "f32"),
        Operation("add", "aten.add.Tensor", (Ref("var"), 0.5), {}, ("m", 2, 1), "f32"),
        Operation("less", "aten.sub.Tensor", (Ref("view"), Ref("amax")), {}, GROUPS, "f32"),
        Operation("exp", "aten.exp.default", (Ref("less"),), {}, GROUPS, "f32"),
        Operation("sum", "aten.sum.dim_IntList", (Ref("exp"), [2], True), {}, ("m", 2, 1), "f32"),
        Operation("part", "aten.div.Tensor", (Ref("exp"), Ref("sum")), {}, GROUPS, "f32"),
        Operation("more", "aten.mul.Tensor", (Ref("part"), Ref("add")), {}, GROUPS, "f32"),
        Operation("back", "aten.view.default", (Ref("more"), ["m", "2 * n", "k"]), {}, ("m", "2 * n", "k"), "f32"),
        Operation("each", "aten.unsqueeze.default", (Ref("w"), 1), {}, ("2 * n", 1), "f32"),
        Operation("y", "aten.mul.Tensor", (Ref("back"), Ref("each")), {}, ("m", "2 * n", "k"), "f32"),
        Operation("run", "aten.cumsum.default", (Ref("y"), 2), {}, ("m", "2 * n", "k"), "f32"),
        Operation("down", "aten.cumsum.default", (Ref("x"), 1), {}, ("m", "2 * n", "k"), "f32"),
    ),
    ((Tensor("y0", ("m", "2 * n", "k"), "f32"), "run"), (Tensor("y1", ("m", "2 * n", "k"), "f32"), "down")),
)
PLACES = Graph(
    (Tensor("x", ("n", "m", "k"), "bf16"),),
    (
        Operation("most", "aten.argmax.default", (Ref("x"), 2), {}, ("n", "m"), "i64"),
        Operation("least", "aten.argmin.default", (Ref("x"), 0), {}, ("m", "k"), "i64"),
        Operation("wide", "aten._to_copy.default", (Ref("x"),), {}, ("n", "m", "k"), "f32"),
        Operation("mean", "aten.mean.dim", (Ref("wide"), [0, 2]), {}, ("m",), "f32"),
        Operation("all", "aten.sum.default", (Ref("wide"),), {}, (), "f32"),
    ),
    (
        (Tensor("y0", ("n", "m"), "i64"), "most"),
        (Tensor("y1", ("m", "k"), "i64"), "least"),
        (Tensor("y2", ("m",), "f32"), "mean"),
        (Tensor("y3", (), "f32"), "all"),
    ),
)
SIZES: Mapping[str, tuple[Graph, list[dict[str, int]], dict[str, int]]] = {
    "lines": (LINES, [{"m": 6, "k": 9}, {"m": 7, "k": 100}], {"m": 20, "k": 1030}),
    "turned": (TURNED, [{"m": 2, "n": 3, "k": 7}, {"m": 3, "n": 5, "k": 16}], {"m": 4, "n": 6, "k": 64}),
    "grouped": (GROUPED, [{"m": 2, "n": 3, "k": 5}, {"m": 3, "n": 2, "k": 68}], {"m": 4, "n": 6, "k": 300}),
    "places": (PLACES, [{"m": 2, "n": 3, "k": 5}, {"m": 3, "n": 9, "k": 68}], {"m": 3, "n": 2, "k": 5000}),
}


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(3, Patience(searched_s=0.1))


# A sum of all elements is one number, whose error a draw may make three times the standard implementation's.
@pytest.mark.parametrize(
    "name", [*[name for name in SIZES if name != "places"], pytest.param("places", marks=pytest.mark.long)]
)
def test_every_schedule_is_right(name: str, tmp_path: Path, evaluator: LabEvaluator) -> None:
    graph, tests, benchmark = SIZES[name]
    dims = list(tests[0])
    shapes = Shapes(tests, [benchmark], {})
    (tmp_path / "task.toml").write_text(
        manifest_text("odd", "Odd", graph, shapes, Origin("odd.py", "pytorch", licence="MIT"), [], None)
    )
    (tmp_path / "reference.py").write_text(reference_text(graph, None, dims, "wide", "Odd"))
    (tmp_path / "seed.hip").write_text(seed_text(graph, dims))
    task, text = load_task(tmp_path), tuned_text(graph, dims, [], [benchmark], tests)
    verdict = evaluator.verify(evaluator.prepare(text, task)).verdict
    assert verdict.accepted, verdict.findings


def test_a_kernel_says_for_which_sizes_its_places_hold() -> None:
    text = tuned_text(TURNED, ["m", "n", "k"], [], [{"m": 4, "n": 6, "k": 64}], [{"m": 2, "n": 3, "k": 7}])
    assert 'places = "m * n * k < 1 << 31"' in text and "long long" not in text


def test_what_has_no_schedule_is_refused() -> None:
    odd = Operation("y", "aten.bessel.default", (Ref("x"),), {}, ("m", "n", "k"), "f32")
    graph = Graph(TURNED.inputs[:1], (odd,), ((Tensor("z", ("m", "n", "k"), "f32"), "y"),))
    with pytest.raises(ImportRefused, match="bessel"):
        tuned_text(graph, ["m", "n", "k"], [], [{"m": 4, "n": 6, "k": 64}], [])

"""A graph becomes a task: its NumPy is sound, its naive kernel right, and a kernel with a fault in it is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imports.graph import Graph, Number, Operation, Ref, Tensor
from imports.hip_ops import HipWriter
from imports.hip_text import seed_text
from imports.manifest_text import Shapes, flops, manifest_text
from imports.numpy_text import reference_text
from imports.refusal import ImportRefused
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Patience
from tasks.linter import lint
from tasks.loader import load_task
from tasks.origin import Origin
from tasks.task import Task
from tests.support.few import few
from tests.support.lab_bench import evaluator as lab_evaluator

X, W, B = Tensor("x", ("m", "k"), "f32"), Tensor("w", ("n", "k"), "f32"), Tensor("b", ("n",), "f32")
GRAPH = Graph(
    (X, W, B),
    (
        Operation("permute", "aten.permute.default", (Ref("w"), [1, 0]), {}, ("k", "n"), "f32"),
        Operation("mm", "aten.mm.default", (Ref("x"), Ref("permute")), {}, ("m", "n"), "f32"),
        Operation("add", "aten.add.Tensor", (Ref("mm"), Ref("b")), {}, ("m", "n"), "f32"),
        Operation("relu", "aten.relu.default", (Ref("add"),), {}, ("m", "n"), "f32"),
        Operation("amax", "aten.amax.default", (Ref("relu"), [1], True), {}, ("m", 1), "f32"),
        Operation("sub", "aten.sub.Tensor", (Ref("relu"), Ref("amax")), {}, ("m", "n"), "f32"),
        Operation("mean", "aten.mean.dim", (Ref("sub"), [0]), {}, ("n",), "f32"),
    ),
    ((Tensor("y", ("m", "n"), "f32"), "sub"), (Tensor("z", ("n",), "f32"), "mean")),
)
SHAPES = Shapes([{"m": 6, "n": 7, "k": 9}, {"m": 17, "n": 33, "k": 20}], [{"m": 32, "n": 48, "k": 24}], {})


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("imported")
    origin = Origin("net.py", "pytorch", licence="MIT")
    (folder / "task.toml").write_text(manifest_text("net", "A layer", GRAPH, SHAPES, origin, ["a note"], None))
    (folder / "reference.py").write_text(reference_text(GRAPH, None, ["m", "n", "k"], "wide", "A layer"))
    (folder / "seed.hip").write_text(seed_text(GRAPH, ["m", "n", "k"]))
    return load_task(folder)


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(3, Patience(searched_s=0.1))


def test_the_task_is_sound_and_says_where_it_is_from(task: Task) -> None:
    assert lint(task) == ()
    assert task.provenance is not None and task.provenance.form == "pytorch" and "a note" in task.description
    assert "2 * m * n * k" in flops(GRAPH) and task.work(task.tests[0])[0] > 2 * 6 * 7 * 9


def test_the_reference_is_the_graph(task: Task) -> None:
    inputs = task.draw(task.tests[0])
    x, w, b = (inputs[n].astype(np.float64) for n in ("x", "w", "b"))
    relu = np.maximum(x @ w.T + b, 0)
    right = relu - relu.max(axis=1, keepdims=True)
    outputs = task.reference(inputs, task.tests[0])
    assert np.allclose(outputs["y"], right) and np.allclose(outputs["z"], right.mean(axis=0))


def test_the_seed_passes(task: Task, evaluator: LabEvaluator) -> None:
    evaluation = evaluator.benchmark(evaluator.prepare(task.seeds[0].read_text(), task))
    assert evaluation.verdict.accepted, evaluation.verdict


@pytest.mark.parametrize(
    ("old", "new"),
    few([("r < q_.k", "r < q_.k - 1"), ("fmaxf(sum,", "fminf(sum,"), (") return;\n", " - 1) return;\n")], 2),
)
def test_a_fault_in_it_is_refused(task: Task, evaluator: LabEvaluator, old: str, new: str) -> None:
    text = task.seeds[0].read_text()
    assert old in text
    head, _, last = text.rpartition(old)
    assert not evaluator.verify(evaluator.prepare(f"{head}{new}{last}", task)).verdict.accepted


def test_an_operation_that_is_not_known_is_refused_by_its_name() -> None:
    odd = replace(
        GRAPH, nodes=(Operation("sub", "aten.bessel.default", (Ref("x"),), {}, ("m", "k"), "f32"),), outputs=()
    )
    odd = replace(odd, outputs=((Tensor("y", ("m", "k"), "f32"), "sub"),))
    with pytest.raises(ImportRefused, match=r"aten\.bessel\.default has no naive kernel"):
        seed_text(odd, ["m", "k"])
    with pytest.raises(ImportRefused, match=r"aten\.bessel\.default has no translation"):
        reference_text(odd, None, ["m", "k"], "wide", "odd")


def test_what_a_maximum_is_taken_of_is_stored_where_it_is_used_again() -> None:
    """Computed twice it would differ in its last bit, and large numbers less their maximum would be anything."""
    shape, column = ("m", "n"), ("m", 1)
    nodes = (
        Operation("mul", "aten.mul.Tensor", (Ref("x"), 0.125), {}, shape, "f32"),
        Operation("amax", "aten.amax.default", (Ref("mul"), [1], True), {}, column, "f32"),
        Operation("sub", "aten.sub.Tensor", (Ref("mul"), Ref("amax")), {}, shape, "f32"),
    )
    graph = Graph((Tensor("x", shape, "f32"),), nodes, ((Tensor("y", shape, "f32"), "sub"),))
    assert HipWriter(graph).stored == ["mul", "amax"]


@pytest.mark.parametrize(
    ("op", "arguments", "shape", "statement"),
    [
        ("aten.bincount.default", (None, Number("m")), ("m",), "sum += at_at(q_, r0) == i0;"),
        ("aten.repeat.default", ([2, 3],), (2, "3 * n"), "return at_at(q_, i1 % q_.n);"),
        ("aten.index_select.default", (0, Ref("at")), ("n",), "return at_at(q_, at_at(q_, i0));"),
        ("aten.max.default", (), (), "sum = larger_of(sum, at_at(q_, r0));"),
        ("aten.clamp.default", (-5, 1 << 40), ("n",), "smaller_of(larger_of(at_at(q_, i0), -5), 1099511627776);"),
        ("aten.argmax.default", (0,), (), "long long best = at_at(q_, 0);"),
        ("aten.maximum.default", (Ref("at"),), ("n",), "return larger_of(at_at(q_, i0), at_at(q_, i0));"),
    ],
)
def test_one_thread_finds_one_element(
    op: str, arguments: tuple[object, ...], shape: tuple[str, ...], statement: str
) -> None:
    node = Operation("made", op, (Ref("at"), *arguments), {}, shape, "i64")
    graph = Graph((Tensor("at", ("n",), "i64"),), (node,), ((Tensor("y", shape, "i64"), "made"),))
    assert statement in seed_text(graph, ["m", "n"])


@pytest.mark.long
def test_a_running_sum_takes_each_element_once(tmp_path: Path, evaluator: LabEvaluator) -> None:
    """Of a row of 60,000 a thread that adds up everything before its element would not end."""
    shape = ("m", "k", "n")
    graph = Graph(
        (Tensor("x", shape, "f32"),),
        (
            Operation("flip", "aten.flip.default", (Ref("x"), [1]), {}, shape, "f32"),
            Operation("cumsum", "aten.cumsum.default", (Ref("flip"), -2), {}, shape, "f32"),
            Operation("back", "aten.flip.default", (Ref("cumsum"), [1]), {}, shape, "f32"),
        ),
        ((Tensor("y", shape, "f32"), "back"), (Tensor("z", shape, "f32"), "cumsum")),
    )
    sizes = Shapes([{"m": 3, "k": 7, "n": 2}, {"m": 2, "k": 90, "n": 5}], [{"m": 1, "k": 60000, "n": 2}], {})
    manifest = manifest_text("sums", "Running sums", graph, sizes, Origin("net.py", "pytorch"), [], None)
    (tmp_path / "task.toml").write_text(manifest)
    (tmp_path / "reference.py").write_text(reference_text(graph, None, ["m", "k", "n"], "wide", "Running sums"))
    seed = seed_text(graph, ["m", "k", "n"])
    (tmp_path / "seed.hip").write_text(seed)
    task = load_task(tmp_path)
    evaluation = evaluator.benchmark(evaluator.prepare(seed, task))
    assert evaluation.verdict.accepted, evaluation.verdict
    wrong = evaluator.prepare(seed.replace("z[((i0) * q_.k + r)", "z[((i0) * q_.k + q_.k - 1 - r)"), task)
    assert not evaluator.verify(wrong).verdict.accepted


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["e4m3fnuz", "bf16"])
def test_a_narrow_result_is_stored(tmp_path: Path, evaluator: LabEvaluator, dtype: str) -> None:
    shape = ("m", "n")
    nodes = (
        Operation("narrow", "aten._to_copy.default", (Ref("x"),), {}, shape, dtype),
        Operation("wide", "aten.add.Tensor", (Ref("x"), Ref("h")), {}, shape, "f32"),
    )
    inputs = (Tensor("x", shape, "f32"), Tensor("h", shape, dtype))
    graph = Graph(inputs, nodes, ((Tensor("y", shape, dtype), "narrow"), (Tensor("z", shape, "f32"), "wide")))
    sizes = Shapes([{"m": 3, "n": 7}, {"m": 17, "n": 90}], [{"m": 20, "n": 100}], {})
    manifest = manifest_text("narrow", "Narrow", graph, sizes, Origin("net.py", "pytorch"), [], None)
    (tmp_path / "task.toml").write_text(manifest)
    (tmp_path / "reference.py").write_text(reference_text(graph, None, ["m", "n"], "plain", "Narrow"))
    (tmp_path / "seed.hip").write_text(seed_text(graph, ["m", "n"]))
    task, seed = load_task(tmp_path), seed_text(graph, ["m", "n"])
    evaluation = evaluator.verify(evaluator.prepare(seed, task))
    assert evaluation.verdict.accepted, evaluation.verdict
    wrong = seed.replace("(f_narrow(q_, i0, i1))", "(-f_narrow(q_, i0, i1))")
    assert wrong != seed and not evaluator.verify(evaluator.prepare(wrong, task)).verdict.accepted

"""Products of matrices are right at odd sizes, in every type, with what is computed before and behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from imports.graph import Graph, Operation, Ref, Tensor
from imports.hip_text import seed_text
from imports.manifest_text import Shapes, manifest_text
from imports.numpy_text import reference_text
from imports.schedules.tuned_text import tuned_text
from sandbox.lab.lab_evaluator import LabEvaluator
from tasks.loader import load_task
from tasks.origin import Origin
from tests.support.lab_bench import evaluator as lab_evaluator

DIMS = ["m", "n", "k"]
TESTS = [{"m": 6, "n": 9, "k": 7}, {"m": 40, "n": 12, "k": 100}]
TIMED = {"m": 70, "n": 132, "k": 200}


def op(name: str, kind: str, *args: Any, shape: tuple[Any, ...] = ("m", "n"), dtype: str = "f32") -> Operation:
    return Operation(name, f"aten.{kind}", args, {}, shape, dtype)


def graph(inputs: dict[str, tuple[str, tuple[Any, ...]]], nodes: list[Operation]) -> Graph:
    last = nodes[-1]
    tensors = tuple(Tensor(name, shape, dtype) for name, (dtype, shape) in inputs.items())
    return Graph(tensors, tuple(nodes), ((Tensor("y", last.shape, last.dtype), last.name),))


LINEAR = graph(  # of rows in batches, with what a layer does before and behind it
    {"x": ("f16", (2, "m", "k")), "w": ("f16", ("n", "k")), "b": ("f16", ("n",))},
    [
        op("flat", "view.default", Ref("x"), ["2 * m", "k"], shape=("2 * m", "k"), dtype="f16"),
        op("turned", "permute.default", Ref("w"), [1, 0], shape=("k", "n"), dtype="f16"),
        op("product", "mm.default", Ref("flat"), Ref("turned"), shape=("2 * m", "n"), dtype="f16"),
        op("biased", "add.Tensor", Ref("product"), Ref("b"), shape=("2 * m", "n"), dtype="f16"),
        op("kept", "relu.default", Ref("biased"), shape=("2 * m", "n"), dtype="f16"),
        op("back", "view.default", Ref("kept"), [2, "m", "n"], shape=(2, "m", "n"), dtype="f16"),
    ],
)
BATCHES = graph(  # both operands lie across the inner axis, one is computed
    {"a": ("f32", (3, "k", "m")), "b": ("f32", (3, "k", "n")), "r": ("f32", (3, "m", "n"))},
    [
        op("across", "permute.default", Ref("a"), [0, 2, 1], shape=(3, "m", "k")),
        op("squared", "mul.Tensor", Ref("across"), Ref("across"), shape=(3, "m", "k")),
        op("product", "bmm.default", Ref("squared"), Ref("b"), shape=(3, "m", "n")),
        op("sum", "add.Tensor", Ref("product"), Ref("r"), shape=(3, "m", "n")),
    ],
)
EIGHT_BITS = graph(
    {"a": ("e4m3fnuz", ("m", "k")), "b": ("e4m3fnuz", ("k", "n"))},
    [
        op("left", "_to_copy.default", Ref("a"), shape=("m", "k")),
        op("right", "_to_copy.default", Ref("b"), shape=("k", "n")),
        op("product", "mm.default", Ref("left"), Ref("right")),
    ],
)
WHOLE = graph(
    {"a": ("i8", ("m", "k")), "b": ("i8", ("n", "k"))},
    [
        op("left", "_to_copy.default", Ref("a"), shape=("m", "k"), dtype="i32"),
        op("wide", "_to_copy.default", Ref("b"), shape=("n", "k"), dtype="i32"),
        op("right", "permute.default", Ref("wide"), [1, 0], shape=("k", "n"), dtype="i32"),
        op("product", "mm.default", Ref("left"), Ref("right"), dtype="i32"),
    ],
)
MIXED = graph(
    {"a": ("f32", ("m", "k")), "b": ("bf16", ("k", "n"))},
    [op("right", "_to_copy.default", Ref("b"), shape=("k", "n")), op("product", "mm.default", Ref("a"), Ref("right"))],
)
KINDS = {  # the instruction that is asked for
    "linear": (LINEAR, "mfma_f32_32x32x8f16"),
    "batches": (BATCHES, "mfma_f32_32x32x2f32"),
    "eight_bits": (EIGHT_BITS, "mfma_f32_32x32x16_fp8_fp8"),
    "whole": (WHOLE, "mfma_i32_32x32x16_i8"),
    "mixed": (MIXED, "mfma_f32_32x32x2f32"),
}


OTHERS = [("batches", False), ("whole", False), *((n, True) for n in ("batches", "eight_bits", "whole", "mixed"))]


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(3)


def judged(chosen: Graph, text: str, folder: Path, evaluator: LabEvaluator) -> None:
    shapes = Shapes(TESTS, [TIMED], {})
    (folder / "task.toml").write_text(
        manifest_text("odd", "Odd", chosen, shapes, Origin("odd.py", "pytorch", licence="MIT"), [], None)
    )
    (folder / "reference.py").write_text(reference_text(chosen, None, DIMS, "wide", "Odd"))
    (folder / "seed.hip").write_text(seed_text(chosen, DIMS))
    verdict = evaluator.verify(evaluator.prepare(text, load_task(folder))).verdict
    assert verdict.accepted, verdict.findings


@pytest.mark.parametrize("name", KINDS)
def test_the_matrix_cores_multiply_the_narrowest_type_that_holds_both(name: str) -> None:
    chosen, instruction = KINDS[name]
    text = tuned_text(chosen, DIMS, [], [TIMED], TESTS, has_matrix_cores=True)
    assert instruction in text and text.count("[[launch]]") == 1  # what surrounds it is in the same kernel


@pytest.mark.parametrize(
    ("name", "has_matrix_cores"),
    [("linear", True), *(pytest.param(name, matrix, marks=pytest.mark.long) for name, matrix in OTHERS)],
)
def test_a_product_is_right(name: str, has_matrix_cores: bool, tmp_path: Path, evaluator: LabEvaluator) -> None:
    chosen, _ = KINDS[name]
    judged(chosen, tuned_text(chosen, DIMS, [], [TIMED], TESTS, has_matrix_cores), tmp_path, evaluator)

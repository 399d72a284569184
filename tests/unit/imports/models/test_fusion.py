from __future__ import annotations

from math import prod
from pathlib import Path

import pytest

from imports.models.fusion import DataFlow, Fusion
from imports.models.operator_graph import GraphNode, OperatorGraph, TracedModel
from records.codec import loads
from records.model_scan import ModelTensor

GRAPHS = Path(__file__).resolve().parents[3] / "data/models/graphs"
ROWS, COLS = 8, 16


def graph_of(name: str) -> OperatorGraph:
    return loads(TracedModel, (GRAPHS / f"{name}.json").read_text()).graphs[0]


def groups_of(graph: OperatorGraph) -> list[list[str]]:
    flow = DataFlow(graph)
    return [[flow.nodes[name].operator for name in group.names] for group in Fusion(flow).groups]


def tensor(name: str, *shape: int) -> ModelTensor:
    strides = tuple(prod(shape[i + 1 :]) for i in range(len(shape)))
    return ModelTensor(name, "f32", shape, strides)


def call(
    name: str, operator: str, *reads: str, shape: tuple[int, ...] = (ROWS, COLS), more: tuple[object, ...] = ()
) -> GraphNode:
    pointwise = ("pointwise",) if operator in ("relu", "add", "mul", "exp") else ()
    arguments = (*({"node": r} for r in reads), *more)
    return GraphNode(name, f"aten.{operator}.default", arguments, {}, (tensor(name, *shape),), pointwise)


def graph(*nodes: GraphNode, outputs: tuple[str, ...] = ()) -> OperatorGraph:
    inputs = (tensor("x", ROWS, COLS), tensor("w", COLS, COLS))
    return OperatorGraph(inputs, nodes, outputs or (nodes[-1].name,))


def test_a_decoder_block_has_the_regions_that_an_engineer_would_name() -> None:
    groups = groups_of(graph_of("decoder_block"))
    rotary = ["mul", "neg", "cat", "mul", "add"]
    assert groups.count(rotary) == 2
    for expected in (["silu", "mul"], ["add", "rms_norm"], ["rms_norm"]):
        assert expected in groups
    assert ["repeat_interleave", "repeat_interleave", "scaled_dot_product_attention"] in groups
    assert groups.count(["linear"]) == 7


def test_a_sampler_is_one_kernel_over_its_rows() -> None:
    assert len(groups_of(graph_of("sampler"))) == 1


def test_narrow_weights_are_widened_within_their_product() -> None:
    groups = groups_of(graph_of("quantised_linear"))
    assert ["_to_copy", "mul", "matmul", "mul", "add"] in groups
    assert len(groups) == 2


def test_no_kernel_waits_for_another_in_its_middle() -> None:
    around = graph(call("a", "relu", "x"), call("p", "mm", "a", "w"), call("b", "add", "a", "p"), call("c", "exp", "b"))
    assert groups_of(around) == [["relu"], ["mm"], ["add", "exp"]]


def test_what_follows_from_constants_alone_is_told_apart() -> None:
    arange = GraphNode("a", "aten.arange.default", (16,), {}, (tensor("a", COLS),), ())
    drawn = GraphNode("r", "aten.randn.default", ([16],), {}, (tensor("r", COLS),), ("random",))
    mixed = graph(arange, call("b", "exp", "a"), call("c", "add", "x", "b"), drawn, outputs=("c", "r"))
    assert DataFlow(mixed).constants == {"a", "b"}


def test_a_product_takes_what_reads_it_alone_and_element_for_element() -> None:
    behind = graph(call("p", "mm", "x", "w"), call("a", "relu", "p"))
    assert groups_of(behind) == [["mm", "relu"]]
    gated = graph(call("p", "mm", "x", "w"), call("q", "mm", "x", "w"), call("a", "mul", "p", "q"))
    assert groups_of(gated) == [["mm"], ["mm"], ["mul"]]
    is_result = graph(call("p", "mm", "x", "w"), call("a", "relu", "p"), outputs=("p", "a"))
    assert groups_of(is_result) == [["mm"], ["relu"]]


@pytest.mark.parametrize(("axis", "count"), [(-1, 1), (0, 2)])
def test_reductions_meet_where_their_rows_agree(axis: int, count: int) -> None:
    rows = graph(call("a", "softmax", "x", more=(-1,)), call("b", "softmax", "a", more=(axis,)))
    assert len(groups_of(rows)) == count


def test_repeats_are_not_computed_again_for_each_copy() -> None:
    repeated = graph(
        call("a", "exp", "x"), call("b", "repeat", "a", shape=(4 * ROWS, COLS), more=([4, 1],)), outputs=("b",)
    )
    assert groups_of(repeated) == [["exp"], ["repeat"]]

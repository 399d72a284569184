"""Work formulas of an imported task, as a reader would write them."""

from __future__ import annotations

from imports.graph import Graph, Operation, Ref, Tensor
from imports.manifest_text import flops, moved


def test_constant_sizes_are_one_factor_and_equal_shapes_are_counted_together() -> None:
    image, weights = Tensor("image", ("size", "size", 3), "f32"), Tensor("w", ("n + 1", 1), "f16")
    nodes = (
        Operation("scaled", "aten.mul.Tensor", (Ref("image"),), {}, ("size", "size", 3), "f32"),
        Operation("shifted", "aten.add.Tensor", (Ref("scaled"),), {}, ("size", "size", 3), "f32"),
        Operation("fixed", "aten.exp.default", (), {}, (3, 3), "f32"),
        Operation("w_1", "aten.neg.default", (Ref("w"),), {}, ("n + 1", 1), "f32"),
    )
    graph = Graph((image, weights), nodes, ((Tensor("y", ("size", "size", 3), "f32"), "shifted"),))
    assert flops(graph) == "6 * size * size + (n + 1)"
    assert moved(graph) == "24 * size * size + 2 * (n + 1)"


def test_a_product_counts_the_summed_size() -> None:
    a, b = Tensor("a", ("rows", 8), "f32"), Tensor("b", (8, "cols"), "f32")
    product = Operation("mm", "aten.mm.default", (Ref("a"), Ref("b")), {}, ("rows", "cols"), "f32")
    assert flops(Graph((a, b), (product,), ())) == "16 * rows * cols"

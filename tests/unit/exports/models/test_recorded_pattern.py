"""The pattern of a function: traced, written as a scan writes it, and found again in a graph."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from exports.models.package.graphs import traced  # noqa: E402
from exports.models.package.patterns import Pattern  # noqa: E402
from exports.models.recorded_pattern import pattern_of  # noqa: E402
from records.codec import to_plain  # noqa: E402
from records.model_scan import ModelTensor  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # of PyTorch, about itself
X = ModelTensor("x", "bf16", (4, 8), (8, 1))


def rotated(x: Any) -> Any:
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1).reshape(2, 16)


def test_composite_views_are_resolved_and_the_pattern_is_found_wherever_it_stands() -> None:
    record = pattern_of(rotated, [X])
    assert [row.target for row in record.nodes] == [
        "aten._to_copy.default", "aten.split.Tensor", "getitem", "getitem", "aten.neg.default", "aten.cat.default",
        "aten.view.default",
    ]  # fmt: skip
    assert record.nodes[0].kwargs == {"dtype": {"dtype": "f32"}} and record.nodes[0].args == ({"input": "x"},)
    pattern = Pattern(to_plain(record))

    def model(x: Any, y: Any) -> Any:
        return rotated(x) + rotated(y), (2 * rotated(x + y)).relu_()

    with torch._subclasses.fake_tensor.FakeTensorMode():
        inputs = [torch.empty(4, 8, dtype=torch.bfloat16) for _ in range(2)]
        graph = traced(model, inputs).graph
    found = pattern.matches(graph)
    assert [match.inputs[0].name for match in found] == ["x_1", "y_1", "add_1"]
    assert all(match.is_exact for match in found)
    assert not any(str(node.target).startswith("aten.relu_") for node in graph.nodes)


def test_other_sizes_are_found_and_not_taken_for_the_same() -> None:
    pattern = Pattern(to_plain(pattern_of(rotated, [X])))
    with torch._subclasses.fake_tensor.FakeTensorMode():
        graph = traced(lambda x: rotated(x.view(8, 4)).sum(), [torch.empty(4, 8, dtype=torch.bfloat16)]).graph
    (match,) = pattern.matches(graph)
    assert not match.is_exact


def test_parts_of_a_tensor_are_the_same_however_they_are_taken() -> None:
    def unbound(x: Any) -> Any:
        first, second = x.unbind(0)
        return torch.layer_norm(first + second, (8,), cudnn_enable=False)

    stacked = ModelTensor("x", "f32", (2, 4, 8), (32, 8, 1))
    pattern = Pattern(to_plain(pattern_of(unbound, [stacked])))
    with torch._subclasses.fake_tensor.FakeTensorMode():
        graph = traced(lambda x: torch.layer_norm(x[0] + x[1], (8,)).relu(), [torch.empty(2, 4, 8)]).graph
    (match,) = pattern.matches(graph)
    assert match.is_exact and match.inputs[0].op == "placeholder"

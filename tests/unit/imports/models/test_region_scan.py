from __future__ import annotations

from pathlib import Path

import pytest

from imports.models.costs import ReachedRates
from imports.models.fusion import DataFlow
from imports.models.operator_graph import GraphNode, OperatorGraph, TracedModel
from imports.models.region_scan import scan_model
from records.codec import loads
from records.model_scan import MEASURED, PREDICTED, ModelTensor
from sandbox.target import load_target

GRAPHS = Path(__file__).resolve().parents[3] / "data/models/graphs"
RATES = ReachedRates(load_target("mi300x"))


def model(name: str) -> TracedModel:
    return loads(TracedModel, (GRAPHS / f"{name}.json").read_text())


@pytest.mark.parametrize("name", ["decoder_block", "sampler", "quantised_linear"])
def test_every_operator_stands_in_one_region_and_shares_add_up(name: str) -> None:
    traced = model(name)
    scan, regions = scan_model(traced, RATES, name, "module")
    flow = DataFlow(traced.graphs[0])
    members = [n for r in regions for names in r.pattern.occurrences for n in names if flow.roles[n] != "view"]
    assert sorted(members) == sorted(n for n, role in flow.roles.items() if role != "view")
    assert sum(r.share for r in scan.regions) == pytest.approx(1)
    assert sum(r.time_us for r in scan.regions) == pytest.approx(scan.total_us)
    assert [r.model_gain for r in scan.regions] == sorted((r.model_gain for r in scan.regions), reverse=True)
    assert scan.times == PREDICTED


def test_a_decoder_block_has_its_kinds_and_shapes() -> None:
    scan, _ = scan_model(model("decoder_block"), RATES, "", "module")
    by_name = {r.name: r for r in scan.regions}
    assert by_name["rotary"].kind == "rotary embedding"
    assert by_name["add_rms_norm"].kind == "normalisation with its residual"
    assert by_name["silu_mul"].kind == "activation with its gate"
    assert by_name["linear_3"].count == 2
    norm = by_name["add_rms_norm"]
    assert [(t.shape, t.stride, t.role) for t in norm.inputs] == [
        ((2, 64, 128), (8192, 128, 1), ""),
        ((2, 64, 128), (8192, 128, 1), ""),
        ((128,), (1,), "weight"),
    ]
    assert norm.bytes == 4 * (4 * 2 * 64 * 128 + 128)
    faster = scan.total_us - norm.time_us + norm.roofline_us
    assert norm.model_gain == pytest.approx(scan.total_us / faster)
    assert all("library" in r.reason for r in scan.regions if r.kind == "matrix product")


def test_measured_times_stand_in_the_place_of_predicted_ones() -> None:
    traced = model("decoder_block")
    times = {n.name: 100.0 if n.operator == "silu" else 1.0 for n in traced.graphs[0].nodes}
    scan, _ = scan_model(traced, RATES, "", "module", times, "a GPU")
    assert (scan.times, scan.device, scan.regions[0].name) == (MEASURED, "a GPU", "silu_mul")
    assert scan.regions[0].time_us == 101.0


def test_a_region_writes_itself_as_a_function_with_named_sizes() -> None:
    _, regions = scan_model(model("decoder_block"), RATES, "", "module")
    texts = {r.region.name: r.text for r in regions}
    rotary, other = texts["rotary"], texts["rotary_2"]
    assert rotary is not None and other is not None
    assert dict(rotary.sizes) == {"n0": 64, "n1": 8, "n2": 16}
    assert "torch.ops.aten.split.Tensor(transpose, n1, -1)" in rotary.text
    assert "return torch.ops.aten.permute.default(add, [0, 2, 1, 3])" in rotary.text
    norm = texts["add_rms_norm"]
    assert norm is not None
    assert "    return add, rms_norm\n" in norm.text
    assert "torch.ops.aten.rms_norm.default(add, [n1], x2, 1e-06)" in norm.text
    products = {t.family for n, t in texts.items() if t is not None and n.startswith("linear")}
    assert len(products) < sum(n.startswith("linear") for n in texts)  # equal but for the sizes


def test_rows_of_a_softmax_are_as_steep_as_without_the_scale_before_it() -> None:
    shape, stride = (4, 64, 64), (4096, 64, 1)
    tensors = [ModelTensor(n, "bf16", shape, stride) for n in ("x", "mul", "softmax")]
    nodes = (
        GraphNode("mul", "aten.mul.Tensor", ({"node": "x"}, 0.125), {}, (tensors[1],), ("pointwise",)),
        GraphNode("softmax", "aten.softmax.int", ({"node": "mul"}, -1), {}, (tensors[2],), ()),
    )
    traced = TracedModel("Rows", (OperatorGraph((tensors[0],), nodes, ("softmax",)),))
    scan, (region,) = scan_model(traced, RATES, "", "module")
    assert scan.regions[0].kind == "softmax"
    assert region.text is not None and "(8 * torch.randn(4, n0, n1)).to(torch.bfloat16)" in region.text.text


def test_patterns_name_nodes_and_inputs_of_their_own() -> None:
    _, regions = scan_model(model("decoder_block"), RATES, "", "module")
    pattern = next(r.pattern for r in regions if r.region.name == "linear_3")
    assert [n.args for n in pattern.nodes] == [({"input": "x0"}, {"input": "x1"})]
    assert pattern.occurrences == (("linear_4",), ("linear_5",))
    assert pattern.occurrence_inputs == (("rms_norm_1", "p_gate_weight"), ("rms_norm_1", "p_up_weight"))

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]

from imports.models.costs import ReachedRates  # noqa: E402
from imports.models.device_times import HostClock, device_times  # noqa: E402
from imports.models.module_source import ModuleSource  # noqa: E402
from imports.models.module_tracing import traced_model  # noqa: E402
from imports.models.operator_graph import TracedModel  # noqa: E402
from imports.models.region_scan import scan_model  # noqa: E402
from imports.refusal import ImportRefused  # noqa: E402
from records.codec import dumps, loads  # noqa: E402
from sandbox.target import load_target  # noqa: E402

MODULES = Path(__file__).resolve().parents[3] / "data/models/modules"
HEAD = "import torch\nfrom torch import nn\n"
TAIL = "def get_inputs():\n    return [torch.randn(32, 64)]\n"


@pytest.fixture(autouse=True)
def modules_stay_as_they_were() -> Iterator[None]:
    yield
    torch._dynamo.reset()


def traced(body: str, init: str = "pass", head: str = "") -> TracedModel:
    lines = [f"{HEAD}{head}class M(nn.Module):", "    def __init__(self):", "        super().__init__()"]
    lines += [f"        {init}", "    def forward(self, x):", *(f"        {line}" for line in body.splitlines())]
    return traced_model(ModuleSource(path="m.py", text="\n".join([*lines, TAIL]), function=""))


def operators(model: TracedModel) -> list[str]:
    return [node.target for graph in model.graphs for node in graph.nodes]


def test_values_that_decide_leave_several_graphs() -> None:
    model = traced("y = torch.relu(x)\nif y.sum() > 1e9:\n    y = -y\nreturn torch.tanh(y) * 2")
    assert len(model.graphs) == 2
    assert "no single graph: its control flow or sizes depend on values (line 9)" in model.notes[0]
    assert {"aten.relu.default", "aten.tanh.default"} <= set(operators(model))
    assert all(node.name.startswith("g1.") for node in model.graphs[1].nodes)


def test_updates_of_views_become_values() -> None:
    model = traced("y = x * 2\ny[:, :32].mul_(3.0)\nreturn y.relu()")
    assert model.notes == ("in-place updates of views are shown as new values",)
    assert "aten.slice_scatter.default" in operators(model)


def test_random_numbers_and_operators_of_ones_own_are_no_tasks() -> None:
    head = (
        "@torch.library.custom_op('scan_tests::twice', mutates_args=())\ndef twice(x: torch.Tensor) -> torch.Tensor:\n"
        "    return x * 2\n@twice.register_fake\ndef _(x):\n    return torch.empty_like(x)\n"
    )
    body = "y = torch.relu(x) + torch.randn_like(x)\ny = torch.ops.scan_tests.twice(y)\nreturn torch.tanh(y) * 2"
    model = traced_model(
        ModuleSource(
            path="m.py",
            text=f"{HEAD}{head}def f(x):\n    {body.replace(chr(10), chr(10) + '    ')}\n{TAIL}",
            function="f",
        )
    )
    scan, _ = scan_model(model, ReachedRates(load_target("mi300x")), "", "module")
    reasons = {r.operators[0]: r.reason for r in scan.regions if not r.is_task}
    assert reasons == {
        "aten.randn_like.default": "randn_like draws random numbers",
        "scan_tests.twice.default": "what scan_tests.twice.default computes is not known",
    }
    assert any("operator of the model's own" in note for note in model.notes)
    assert any(r.is_task for r in scan.regions)


def test_ten_gigabytes_of_weights_take_no_memory() -> None:
    model = traced(
        "return self.big(x.double())",
        "self.big = nn.Sequential(nn.Linear(64, 1 << 25), nn.Linear(1 << 25, 64)).double()",
    )
    weights = [t for t in model.graphs[0].inputs if t.role == "weight"]
    assert max(t.shape[0] for t in weights) == 1 << 25
    assert {t.dtype for t in weights} == {"f64"}


def test_sizes_that_depend_on_values_are_those_that_occur() -> None:
    model = traced("return torch.tanh(x[(x[:, 0] > -1e9)]) * 2")
    sizes = {n.operator: n.results[0].shape for n in model.graphs[0].nodes if n.operator == "tanh"}
    assert sizes == {"tanh": (32, 64)}


def test_a_loss_has_its_backward_half() -> None:
    path = MODULES / "loss_backward.py"
    model = traced_model(ModuleSource(path=path.name, text=path.read_text(), function=""))
    assert {"aten.native_layer_norm_backward.default", "aten._log_softmax_backward_data.default"} <= set(
        operators(model)
    )


def test_what_does_not_run_is_refused_with_its_line() -> None:
    with pytest.raises(ImportRefused, match=r"cannot be multiplied.*line 8"):
        traced("return x @ torch.zeros(3, 3)")


def test_operators_are_timed_by_themselves() -> None:
    model = loads(TracedModel, dumps(traced("return torch.softmax(x @ x.mT, -1).to(torch.bfloat16)")))
    times = device_times(model, HostClock())
    assert times is not None
    assert set(times.times) == {n.name for n in model.graphs[0].nodes if "view" not in n.traits}
    assert not times.notes and all(time > 0 for time in times.times.values())


@pytest.mark.parametrize("name", ["decoder_block", "quantised_linear"])
def test_regions_compute_what_stands_in_their_patterns(name: str) -> None:
    """Each region's text gives tensors with the shapes, types and strides of its outputs, in memory's order."""
    path = MODULES / f"{name}.py"
    model = traced_model(ModuleSource(path=path.name, text=path.read_text(), function=""))
    _, regions = scan_model(model, ReachedRates(load_target("mi300x")), "", "module")
    for region in regions:
        assert region.text is not None
        space: dict[str, object] = {}
        exec(region.text.text, space)
        results = space["region"](*space["get_inputs"]())  # type: ignore[operator]
        results = results if isinstance(results, tuple) else (results,)
        expected = [tuple(sorted(t.shape)) for t in region.region.outputs]
        assert [tuple(sorted(r.shape)) for r in results] == expected, region.region.name

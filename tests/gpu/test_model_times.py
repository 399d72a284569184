"""Operators of a stored graph are timed on the GPU that PyTorch has."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu

from imports.models.costs import ReachedRates  # noqa: E402
from imports.models.device_times import device_times  # noqa: E402
from imports.models.operator_graph import TracedModel  # noqa: E402
from imports.models.region_scan import scan_model  # noqa: E402
from records.codec import loads  # noqa: E402
from records.model_scan import MEASURED  # noqa: E402
from sandbox.target import load_target  # noqa: E402

GRAPHS = Path(__file__).resolve().parents[1] / "data/models/graphs"


@pytest.mark.parametrize("name", ["decoder_block", "sampler", "quantised_linear"])
def test_every_operator_has_a_time(name: str) -> None:
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no GPU here")
    model = loads(TracedModel, (GRAPHS / f"{name}.json").read_text())
    times = device_times(model)
    assert times is not None and not times.notes
    scan, _ = scan_model(model, ReachedRates(load_target("h200")), "", "module", times.times, times.device)
    assert scan.times == MEASURED
    assert all(region.time_us > 0 for region in scan.regions)

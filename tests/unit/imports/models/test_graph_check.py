from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from imports.models.graph_check import refuse_forged
from imports.models.operator_graph import TracedModel
from records.codec import from_plain

GRAPHS = Path(__file__).resolve().parents[3] / "data/models/graphs"


def plain() -> Any:
    return json.loads((GRAPHS / "decoder_block.json").read_text())


@pytest.mark.parametrize("name", ["decoder_block", "sampler", "quantised_linear"])
def test_graphs_that_tracers_write_are_taken(name: str) -> None:
    refuse_forged(from_plain(TracedModel, json.loads((GRAPHS / f"{name}.json").read_text())))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("name",), 'x"""\nimport os'),
        (("graphs", 0, "nodes", 0, "target"), "aten.mul(x); os.Tensor"),
        (("graphs", 0, "nodes", 0, "name"), "a = 1\nb"),
        (("graphs", 0, "nodes", 0, "kwargs"), {"a)(b": 1}),
        (("graphs", 0, "nodes", 0, "args"), [{"node": "later"}]),
        (("graphs", 0, "nodes", 0, "args"), [{"dtype": "float32, x()"}]),
        (("graphs", 0, "nodes", 0, "args"), [{"float": '");x("'}]),
        (("graphs", 0, "nodes", 1, "name"), "rms_norm"),
        (("graphs", 0, "nodes", 0, "results", 0, "shape"), [1 << 60, 2]),
        (("graphs", 0, "nodes", 0, "results", 0, "stride"), [1]),
        (("graphs", 0, "outputs"), ["nowhere"]),
    ],
)
def test_a_forged_graph_is_refused(place: tuple[str | int, ...], value: Any) -> None:
    document = plain()
    part = document
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    with pytest.raises(ValueError, match="no graph"):
        refuse_forged(from_plain(TracedModel, document))

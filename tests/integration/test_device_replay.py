"""An author's campaign with tools on an H200, replayed without a GPU from the endpoint's answers and the judge's.

The author's answers were written before the campaign; the tunables in them were measured on the device minutes earlier.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.on_h200_author import LIMITS, TARGET, context_of
from graph.drive import drive
from sandbox.candidate.dispatch import read_dispatch
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.endpoint import ScriptedEndpoint
from tests.support.recorded_bench import RecordedBench
from tests.support.recorded_device import RecordedDevice

ANSWERS, DEVICE = "rms_norm_h200_bench.jsonl", "rms_norm_h200_device.jsonl.gz"


def test_a_campaign_on_an_h200_ends_with_the_same_table_by_shape_without_one(tmp_path: Path) -> None:
    task, recorded, device = load_task("rms_norm", TARGET), RecordedBench(ANSWERS, "calls"), RecordedDevice(DEVICE)
    with ScriptedEndpoint(recorded) as server:
        made = context_of(task, load_target(TARGET), device, server.url, tmp_path, LIMITS)
        run = drive(made, tmp_path / "checkpoint.db", max_concurrency=1)
        assert len(server.requests) == len(recorded.rows), "every answer was asked for"
    assert device.left == 0, "every answer of the judge was asked for"
    tried = {a.id: a for a in made.ledger.attempts(run.id)}
    assert {name: (a.status, a.tool) for name, a in tried.items() if a.generation} == {
        "g001-e1-a0": ("tried", "check"),
        "g001-e1-a1": ("tried", "check"),
        "g001-e1-a2": ("accepted", ""),
    }
    plain, best = tried["g001-e1-a0"], tried["g001-e1-a2"]
    assert best.time_kind == "measured"
    assert best.geomean_us and plain.geomean_us and best.geomean_us < 0.8 * plain.geomean_us
    table = read_dispatch(made.artefacts.text(best.source))
    assert [variant.when for variant, _ in table.rows()] == [
        "cols <= 1024 and cols % 8 == 0",
        "cols <= 4096 and cols % 8 == 0",
        "cols <= 16384 and cols % 8 == 0",
        "",
    ]
    told = json.dumps([m["content"] for body in recorded.coder for m in body["messages"]])
    assert "`changed` against `g001-e1-a0`, estimated without being verified" in told
    made.ledger.close()

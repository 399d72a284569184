"""An author's campaigns with tools on an H200, replayed without a GPU from the endpoint's answers and the judge's.

The author's answers were written before the campaigns; the tunables in them had been measured on such a device.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from benchmarks.h200_author import STORED
from benchmarks.on_h200_author import LIMITS, TARGET, context_of
from benchmarks.packed import read_text
from graph.drive import drive
from sandbox.candidate.dispatch import read_dispatch
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.endpoint import ScriptedEndpoint
from tests.support.recorded_bench import RecordedBench
from tests.support.recorded_device import RecordedDevice


@pytest.mark.parametrize(("name", "pack"), [("rms_norm", 8), ("row_softmax", 4)])
def test_a_campaign_on_an_h200_ends_with_the_same_table_by_shape_without_one(
    name: str, pack: int, tmp_path: Path
) -> None:
    task, recorded = load_task(name, TARGET), RecordedBench(f"{name}_h200_bench.jsonl", "calls")
    device = RecordedDevice(f"{name}_h200_device.jsonl.gz")
    task = device.tuned(task, tmp_path)
    with ScriptedEndpoint(recorded) as server:
        replay = context_of(task, load_target(TARGET), device, server.url, tmp_path, replace(LIMITS, tunings=0))
        run = drive(replay, tmp_path / "checkpoint.db", max_concurrency=1)
        assert len(server.requests) == len(recorded.rows), "every answer was asked for"
    assert device.left == [], "every answer of the judge on the author's kernels was asked for"
    tried = {a.id: a for a in replay.ledger.attempts(run.id)}
    assert {name: (a.status, a.tool) for name, a in tried.items() if a.generation} == {
        "g001-e1-a0": ("tried", "check"),
        "g001-e1-a1": ("tried", "check"),
        "g001-e1-a2": ("accepted", ""),
    }
    plain, best, seed = (tried[key] for key in ("g001-e1-a0", "g001-e1-a2", "g000-e1-a0"))
    assert best.time_kind == "measured"
    assert best.geomean_us and plain.geomean_us and seed.geomean_us
    assert best.geomean_us < min(plain.geomean_us, 0.8 * seed.geomean_us)
    source = replay.artefacts.text(best.source)
    assert [variant.when for variant, _ in read_dispatch(source).rows()] == [
        *(f"cols <= {cols} and cols % {pack} == 0" for cols in (1024, 4096, 16384)),
        "",
    ]
    raced = json.loads(read_text(STORED))["campaigns"][name]
    assert (raced["best"], raced["kernel"]) == (best.id, sha256(source.encode()).hexdigest())
    talk = json.dumps([m["content"] for body in recorded.coder for m in body["messages"]])
    assert "`changed` against `g001-e1-a0`, estimated without being verified" in talk
    replay.ledger.close()

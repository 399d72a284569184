"""A cluster's sandbox over a real station without Ray: the answers and the keys are those of a local lab."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster.cluster_sandbox import ClusterSandbox, place_id
from cluster.station import Station
from records.codec import from_plain
from records.errors import LabError, SpoolError
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.remote.message import Place
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, FOLDER, toolchain
from tests.support.short_task import short_task


class DirectLink:
    """The way to one station, without a cluster between."""

    def __init__(self, station: Station) -> None:
        self.station, self.asked = station, list[tuple[str, str]]()

    def ask(self, run: str, place: Place, sticky: str, name: str, body: bytes) -> bytes:
        self.asked.append((run, sticky))
        found, kind, text = self.station.answer(body)
        if kind:
            raise LabError(text)
        return found


def spec(cache: Path) -> dict[str, Any]:
    return {"target": "mi300x", "kind": "lab", "cache": str(cache), "isolation": "limits", "trusts_tasks": False}


@pytest.mark.slow
def test_the_answers_have_the_keys_and_the_times_of_a_local_lab(tmp_path: Path) -> None:
    compiler = toolchain()
    station = Station({**spec(FOLDER), "trusts_tasks": True}, 0, 2)
    said = station.introduce()
    assert said["kind"] == "", said["text"]
    place = from_plain(Place, said["place"])
    link, target = DirectLink(station), load_target("mi300x")
    task = load_task(str(short_task("row_softmax", tmp_path / "short", rows=256, cols=96)), "mi300x")
    far = ClusterSandbox(link, place, target, 7, "run")  # type: ignore[arg-type]
    near = LabEvaluator(compiler, COMPILED, target, 7)
    source = task.seeds[0].read_text(encoding="utf-8")
    asked, own = far.prepare(source, task), near.prepare(source, task)
    assert (far.device, far.version, far.key(asked)) == (near.device, near.version, near.key(own))
    theirs, mine = far.benchmark(asked), near.benchmark(own)
    assert theirs.verdict == mine.verdict and theirs.verdict.accepted
    assert (theirs.key, theirs.geomean_us, theirs.code_object) == (mine.key, mine.geomean_us, mine.code_object)
    assert link.asked == [("run", asked.id)]
    broken = far.prepare("no kernel", task)
    assert far.verify(broken).verdict == near.verify(near.prepare("no kernel", task)).verdict
    assert len(link.asked) == 1  # nobody was asked about what cannot be read


def test_a_station_says_what_keeps_it_from_being_one(tmp_path: Path) -> None:
    said = Station({**spec(tmp_path), "target": "h200", "kind": "device"}, 7, 8).introduce()
    assert said["kind"] in ("DeviceError", "MachineError") and "place" not in said and said["text"]


def test_a_place_has_one_name() -> None:
    place = Place("h200", "NVIDIA H200", "driver 13")
    assert place_id(place) == place_id(replace(place)) != place_id(replace(place, version="driver 14"))


def test_another_requests_answer_is_refused() -> None:
    class WrongLink:
        def ask(self, run: str, place: Place, sticky: str, name: str, body: bytes) -> bytes:
            return b'{"format": 1, "digest": "", "body": {}}'

    place, task = Place("mi300x", "lab:mi300x", "1"), load_task("row_softmax", "mi300x")
    made = ClusterSandbox(WrongLink(), place, load_target("mi300x"), 0, "run")  # type: ignore[arg-type]
    with pytest.raises(SpoolError, match="damaged"):
        made.compile(made.prepare(task.seeds[0].read_text(encoding="utf-8"), task))

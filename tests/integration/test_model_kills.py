"""A run whose model never answers twice the same, killed in its middle: nothing is asked again, lost or doubled."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from benchmarks.fickle_model import FickleModel
from benchmarks.forked_driver import Drivers
from benchmarks.model_kills import KilledRun, figures
from tests.support.endpoint import ScriptedEndpoint


@pytest.mark.long
def test_a_killed_run_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    model = FickleModel(has_lab=False)
    with ScriptedEndpoint(model) as server:
        drivers = Drivers()
        run = KilledRun(tmp_path, model, server.url, random.Random(3), drivers)
        run.drive(12, time.monotonic() + 600)
        drivers.close()
    assert run.kills
    assert not run.faults
    assert not any(run.examined().values())


def test_the_figures_name_each_fault_and_the_kills() -> None:
    report = {"kills": {"driver": 3}, "runs": [{}], "faults": {"verdicts lost": 1}, "asked": 9}
    by_name = {f.figure: f for f in figures(report)}
    missed = [name for name, figure in by_name.items() if figure.met is False]
    assert missed == ["model_kills.total", "model_kills.verdicts_lost"]
    assert by_name["model_kills.requests"].value == 9

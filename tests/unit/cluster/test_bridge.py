"""Sentences for a driver that cannot use a cluster, one each, by the real bridge, supervisor and stations.

Ray is `tests/support/one_process_ray`; a head of its own stands for the address where the bridge asks before it joins.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import records.errors
from benchmarks.simulated import SimulatedStation
from cluster.cluster_link import ClusterAddress, ClusterLink, spec_of
from tests.unit.cluster.test_knock import OWN_SETTINGS, door

RAY = Path(__file__).parents[2] / "support" / "one_process_ray"
ROOT = Path(__file__).parents[3]
OTHER_RAY = """Version mismatch: The cluster was started with:
    Ray: 2.59.0
    Python: 3.12.1
This process on node 10.0.0.7 was started with:
    Ray: 2.60.0
    Python: 3.11.7
"""


class OldStation(SimulatedStation):
    """Belongs to an older version of the program."""

    def introduce(self) -> dict[str, Any]:
        return {**super().introduce(), "digest": "0" * 64, "host": "node-7"}


@pytest.fixture
def head() -> Iterator[str]:
    with door(OWN_SETTINGS) as address:
        yield address


class OldLink(ClusterLink):
    """Belongs to a driver with an older version of the program."""

    def _joining(self) -> dict[str, Any]:
        return {**super()._joining(), "digest": "0" * 64}


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(RAY)


def said(
    head: str, folder: Path, nodes: list[dict[str, int]], station: str = "", made: type = ClusterLink, **more: str
) -> tuple[str, str]:
    """The class and the sentence of the refusal, for a run for the H200."""
    path = os.pathsep.join([str(RAY), str(ROOT), *filter(None, sys.path)])
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": path, **more}
    environment["FAKE_RAY_NODES"] = json.dumps(nodes)
    link = made(ClusterAddress(head, None, station or "cluster.station:Station", environment, folder / "ray.log"))
    try:
        with pytest.raises(records.errors.ScientistError) as caught:
            link.open(spec_of("h200", str(folder), "limits", False))
    finally:
        link.close()
    text = str(caught.value)
    assert "\n" not in text and ". " not in text, (folder / "ray.log").read_text()
    return type(caught.value).__name__, text


@pytest.mark.slow
def test_another_version_of_ray_or_python_is_named(head: str, tmp_path: Path) -> None:
    kind, text = said(head, tmp_path, [], FAKE_RAY_REFUSAL=OTHER_RAY)
    assert kind == "SpoolError" and text.startswith(
        "the cluster has another version of Ray or Python than this machine"
    )
    assert "Ray: 2.59.0, Python: 3.12.1, Ray: 2.60.0, Python: 3.11.7" in text and "install the same on all" in text


@pytest.mark.slow
def test_a_token_that_is_not_the_heads_is_named(head: str, tmp_path: Path) -> None:
    kind, text = said(head, tmp_path, [], FAKE_RAY_REFUSAL="InvalidAuthToken: Authentication failed\nat line 7")
    assert kind == "SpoolError" and "refuses this machine's token; copy the head's ~/.ray/auth_token here" in text


@pytest.mark.slow
def test_a_cluster_without_the_target_is_told_how_to_declare_it(head: str, tmp_path: Path) -> None:
    kind, text = said(head, tmp_path, [{"CPU": 4}, {"mi300x": 8}])
    assert kind == "DeviceError" and text.startswith('no node of the cluster declares {"h200": 1}; start one with')


@pytest.mark.slow
@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this machine has the driver")
def test_a_node_without_the_driver_that_it_declares_is_named(head: str, tmp_path: Path) -> None:
    kind, text = said(head, tmp_path, [{"h200": 2}])
    assert kind == "DeviceError" and "declares 2 h200 and has 0 with a working driver" in text


@pytest.mark.slow
def test_a_node_with_another_version_of_the_program_is_named(head: str, tmp_path: Path) -> None:
    kind, text = said(head, tmp_path, [{"h200": 1}], f"{__name__}:OldStation")
    assert kind == "SpoolError" and "the node node-7 has another version of the program" in text


@pytest.mark.slow
def test_a_driver_with_another_version_of_the_program_is_told_how_to_go_on(head: str, tmp_path: Path) -> None:
    kind, text = said(head, tmp_path, [{"h200": 1}], made=OldLink)
    assert kind == "SpoolError" and text.startswith("the cluster runs another version of this program")
    assert "kernel-scientist cluster --release" in text

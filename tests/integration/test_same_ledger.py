"""One replayed campaign here, through a folder, on a Ray cluster, and with its records in Postgres: one ledger."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from benchmarks.ray_nodes import RayNodes
from benchmarks.simulated import environment
from cluster.cluster_link import ClusterAddress, ClusterLink, spec_of
from cluster.cluster_sandbox import ClusterSandbox
from graph.context import Context
from graph.doubles import TableSandbox
from graph.drive import drive
from postgres.shared_database import open_checkpoints, open_shared
from records.artefacts import ArtefactStore
from records.errors import DeviceError
from records.ledger import Ledger
from sandbox.remote.spool import Spool
from sandbox.target import load_target
from tests.support.postgres_server import PostgresServer
from tests.support.stations import answered, make_context, through

NODES, STATIONS, READY_S = 2, 4, 240.0
STATION = "tests.support.table_station:TableStation"


class TableCluster(ClusterSandbox):
    """Reads candidates as the table does, and leaves the judging to the stations."""

    _preparer = TableSandbox().preparer


def told(ledger: Ledger, run_id: str) -> dict[str, Any]:
    """What a run came to, without times of day, keys and who paid: these belong to the place."""
    return {
        "run": (ledger.run(run_id).status, ledger.run(run_id).stop_reason),
        "attempts": [
            (a.id, a.status, a.source, dict(a.tunables), a.geomean_us, a.code, a.reason, a.lesson)
            for a in ledger.attempts(run_id)
        ],
        "experiments": [e.id for e in ledger.experiments(run_id)],
        "events": sorted((e.kind, str(e.payload)) for e in ledger.events(run_id)),
    }


def keys(ledger: Ledger) -> list[Any]:
    return sorted(map(tuple, ledger.engine.read("SELECT key, purpose FROM evaluations")))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ClusterLink]:
    """Four stations on two nodes of this machine."""
    folder = tmp_path / "ray"
    folder.mkdir()
    nodes = RayNodes(folder)
    for _ in range(NODES):
        nodes.add({"lab": STATIONS // NODES})
    link = ClusterLink(ClusterAddress(nodes.address, None, STATION, environment(), folder / "ray.log"))
    try:
        yield link
    finally:
        link.close()
        nodes.close()


def sandbox_on(link: ClusterLink, folder: Path, run: str) -> TableCluster:
    until, spec = time.monotonic() + READY_S, spec_of("mi300x", str(folder), "limits", False)
    stations: Sequence[Any] = ()
    while not stations or stations[0][1] < STATIONS:
        assert time.monotonic() < until, stations
        time.sleep(0.5)
        with suppress(DeviceError):  # the nodes begin, and have not joined the cluster yet
            stations = link.open(spec)
    return TableCluster(link, stations[0][0], load_target("mi300x"), 7, run)


def in_database(context: Context, server_url: str, run: str) -> Context:
    context.ledger.close()
    ledger = open_shared(SecretStr(server_url))
    return replace(context, run=replace(context.run, id=run), ledger=ledger, artefacts=ArtefactStore(None, ledger))


@pytest.mark.long
@pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")
def test_the_ledger_does_not_depend_on_where_the_verdicts_come_from(
    tmp_path: Path, postgres: PostgresServer, cluster: ClusterLink
) -> None:
    local = make_context(tmp_path / "here", TableSandbox())
    drive(local, tmp_path / "here" / "checkpoint.db")
    right = told(local.ledger, local.run.id)
    assert len(right["attempts"]) > 5

    spooled = make_context(tmp_path / "spooled", through(Spool(tmp_path / "spool")))
    answered(spooled, tmp_path / "spooled", tmp_path / "spool", TableSandbox())
    assert told(spooled.ledger, spooled.run.id) == right

    on_ray = make_context(tmp_path / "on_ray", sandbox_on(cluster, tmp_path, "on_ray"))
    drive(on_ray, tmp_path / "on_ray" / "checkpoint.db")
    assert told(on_ray.ledger, on_ray.run.id) == right
    served = cluster.state()["supervisor"]
    assert served["answered"] > 5 and sum(1 for station in served["stations"] if station["answered"]) > 1
    assert len({station["node"] for station in served["stations"]}) == NODES

    url = postgres.ledger()
    through_both = in_database(make_context(tmp_path / "both", sandbox_on(cluster, tmp_path, "both")), url, "both")
    saver = partial(open_checkpoints, SecretStr(url))
    drive(through_both, saver)
    assert told(through_both.ledger, "both") == right
    assert keys(through_both.ledger) == keys(on_ray.ledger)
    again_answered = cluster.state()["supervisor"]["answered"]
    assert again_answered == served["answered"], "equal requests were answered from memory"

    other = in_database(make_context(tmp_path / "other", sandbox_on(cluster, tmp_path, "other")), url, "other")
    drive(other, saver)
    assert told(other.ledger, "other")["attempts"] == right["attempts"]
    shared = [e.payload for e in other.ledger.events("other") if e.kind == "shared"]
    assert shared and {e["run"] for e in shared} == {"both"}
    assert all("@" in str(e["who"]) and str(e["at"]).endswith("+00:00") for e in shared)
    for context in (local, spooled, on_ray, through_both, other):
        context.ledger.close()

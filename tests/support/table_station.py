"""A station for Ray that believes a source's comments, so that whole runs through a cluster take a moment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cluster.digest import code_digest
from graph.table_sandbox import TableSandbox
from records.codec import to_plain
from sandbox.remote.message import Request, pack, unpack
from tests.support.stations import make_bench, make_task


class TableStation:
    """Stands where `cluster.station.Station` does."""

    def __init__(self, spec: dict[str, Any], number: int, share: int) -> None:
        task = make_task(Path(spec["cache"]) / f"station-{os.getpid()}")
        self._bench = make_bench(task, TableSandbox(), f"station {os.getpid()}")

    def introduce(self) -> dict[str, Any]:
        facts = {"digest": code_digest(), "host": "here", "pid": os.getpid(), "kind": "", "capacity": 1}
        return {**facts, "place": to_plain(self._bench.place), "slot": f"table {os.getpid()}"}

    def beat(self) -> None:
        """Nothing is ever stuck here."""

    def answer(self, body: bytes) -> tuple[bytes, str, str]:
        return pack(self._bench.answer(self._bench.slots[0], unpack(Request, body))), "", ""

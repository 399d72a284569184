"""A unit of a node's resource, with the station on it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.station import StationSpec

if TYPE_CHECKING:
    from cluster.station_actor import StationActor


@dataclass
class ResourceUnit:
    """A unit of a node's resource, with the station on it."""

    node: str
    resource: str
    number: int
    share: int  # units of the node
    spec: StationSpec
    station: StationActor | None = None
    id: str = ""
    fault: tuple[str, str] = ("", "")
    since: float = 0.0
    slot: str = ""
    pid: int = 0  # on its node
    task: asyncio.Task[None] | None = None

    @property
    def state(self) -> str:
        """`starting`, `ready` or `faulty`."""
        if self.fault[0]:
            return "faulty"
        return "ready" if self.id else "starting"

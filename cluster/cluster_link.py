"""The driver's end of a cluster: requests go to a bridge, answers come back as they are there.

The bridge is started again when it has gone, and what was asked is asked again: a request is named by its content, so
that a second time costs at most time. When the cluster has not come back for a while, that is a fault of the machine,
which pauses the run.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import records.errors
from cluster.digest import code_digest
from cluster.frames import packed, receive
from cluster.knock import is_plain
from records.codec import dumps, from_plain
from records.errors import MachineError, ScientistError, SpoolError
from sandbox.process import clean
from sandbox.remote.message import Place

OPEN_S = 90.0  # for Ray to start or to answer
STATION_S = 180.0  # for the first station: a lab may have to build its runtime
PATIENCE_S = 120.0  # for a lost cluster to come back
AGAIN_S = 1.0
LOST = "lost"
TAIL_BYTES = 4096
ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from cluster.bridge import main; main()"
MISSING = "--on ray needs Ray: install the extra with `pip install 'gpu-kernel-scientist[ray]'`"


@dataclass(frozen=True)
class ClusterAddress:
    """A cluster that is there, or one to be started on this machine for as long as the link is open."""

    address: str = "auto"  # HOST:PORT, or auto for the one that this machine is part of
    local: Mapping[str, float] | None = None  # custom resources of a cluster of one's own
    station: str = "cluster.station:Station"
    environment: Mapping[str, str] = field(default_factory=dict)  # of the bridge: no secrets
    log: Path = Path(os.devnull)  # for what Ray prints
    patience_s: float = PATIENCE_S

    @property
    def text(self) -> str:
        """For sentences."""
        if self.local is not None:
            return "the Ray cluster of this run"
        return "this machine's Ray cluster" if self.address == "auto" else f"the Ray cluster at {self.address}"

    def last_words(self) -> str:
        """Return the last line that Ray or the bridge has printed, in brackets; empty where there is none."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
                lines = clean(file.read(TAIL_BYTES).decode("utf-8", "replace")).split("\n")
        except OSError:
            return ""
        printed = [" ".join(line.split()) for line in lines if line.strip()]
        return f" (in {self.log.name}: {printed[-1][:200]})" if printed else ""


class ClusterLink:
    """One driver's way to a cluster. Safe for threads; nothing is started before the first question."""

    def __init__(self, cluster: ClusterAddress) -> None:
        """SpoolError where Ray is not installed."""
        if find_spec("ray") is None:
            raise SpoolError(MISSING)
        self._cluster = cluster
        self._numbers = itertools.count()
        self._turn = threading.Lock()
        self._channel: _Channel | None = None
        self._is_closed = False

    def open(self, spec: Mapping[str, Any]) -> list[tuple[Place, int]]:
        """Open the places that answer for a target, with their stations, the largest first."""
        with self._turn:
            channel = self._connected()
        opened = self._checked(channel.ask({"do": "open", "spec": dict(spec), "wait_s": STATION_S}, STATION_S + OPEN_S))
        with self._turn:
            self._spec = dict(spec)
        return [(from_plain(Place, row["place"]), int(row["stations"])) for row in opened["places"]]

    def ask(self, run: str, place: Place, sticky: str, name: str, body: bytes) -> bytes:
        """Get a packed result, however often the cluster is lost meanwhile, within its patience."""
        message = {
            "do": "ask",
            "run": run,
            "place": dumps(place),
            "sticky": sticky,
            "name": name,
            "body": body.decode(),
        }
        while True:
            reply = self._reopened().ask(message, None)
            if reply.get("kind") != LOST:
                return str(self._checked(reply)["body"]).encode()

    def state(self) -> dict[str, Any]:
        """Nodes, stations, queue and throughput of the cluster, in plain data."""
        with self._turn:
            channel = self._connected()
        return self._checked(channel.ask({"do": "state"}, OPEN_S))

    def release(self) -> bool:
        """End the stations, of whatever version of the program; False where there are none."""
        with self._turn:
            channel = self._channel = self._channel or _Channel(self._cluster, self._numbers)
        return bool(self._checked(channel.ask({"do": "release", **self._joining()}, OPEN_S))["found"])

    @property
    def pid(self) -> int:
        """Number of the bridge's process; 0 where there is none."""
        return self._channel.pid if self._channel is not None and not self._channel.is_lost else 0

    def close(self) -> None:
        """End the bridge, and the cluster with it where it is the run's own."""
        with self._turn:
            self._is_closed = True
            if self._channel is not None:
                self._channel.close()
                self._channel = None

    def _joining(self) -> dict[str, Any]:
        cluster = self._cluster
        local = None if cluster.local is None else dict(cluster.local)
        return {
            "address": cluster.address,
            "local": local,
            "station": cluster.station,
            "digest": code_digest(),
            "is_plain": is_plain(cluster.environment),
        }

    def _connected(self) -> _Channel:
        """Open a bridge that has joined the cluster; the caller holds the turn."""
        if self._is_closed:
            raise SpoolError(f"{self._cluster.text} was closed; resume the run")
        if self._channel is None or self._channel.is_lost:
            if self._channel is not None:
                self._channel.close()  # waits for its process, which would stay as a zombie
            channel = _Channel(self._cluster, self._numbers)
            try:
                self._checked(channel.ask({"do": "connect", **self._joining()}, OPEN_S))
            except BaseException:
                channel.close()
                raise
            self._channel = channel
        return self._channel

    def _reopened(self) -> _Channel:
        """Open a bridge with the stations open, after a loss too; MachineError when the cluster stays away."""
        with self._turn:
            if self._channel is not None and not self._channel.is_lost:
                return self._channel
            until = time.monotonic() + self._cluster.patience_s
            while True:
                try:
                    channel = self._connected()
                    self._checked(
                        channel.ask({"do": "open", "spec": self._spec, "wait_s": STATION_S}, STATION_S + OPEN_S)
                    )
                    return channel
                except MachineError as error:
                    if self._is_closed or time.monotonic() > until:
                        raise SpoolError(
                            f"{self._cluster.text} was lost and has not come back: {error}; then resume the run"
                        ) from None
                    if self._channel is not None:
                        self._channel.close()
                time.sleep(AGAIN_S)

    def _checked(self, reply: dict[str, Any]) -> dict[str, Any]:
        kind = reply.get("kind", "")
        if kind == LOST:
            fault = f"{self._cluster.text} was lost or does not answer{self._cluster.last_words()}"
            raise SpoolError(f"{fault}; look at it with `ray status`")
        if kind:
            error_class = getattr(records.errors, kind, SpoolError)
            is_ours = isinstance(error_class, type) and issubclass(error_class, ScientistError)
            raise (error_class if is_ours else SpoolError)(reply["text"])
        return reply


class _Channel:
    """One bridge and the questions to it that are open."""

    def __init__(self, cluster: ClusterAddress, numbers: itertools.count[int]) -> None:
        mine, theirs = socket.socketpair()
        argv = [sys.executable, "-P", "-c", PROGRAM, str(ROOT), str(theirs.fileno())]
        try:
            with cluster.log.open("ab") as log, theirs:
                self._process = subprocess.Popen(
                    argv,
                    pass_fds=[theirs.fileno()],
                    env=dict(cluster.environment),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C is for the driver, which says when this ends
                )
        except OSError as error:
            mine.close()
            raise SpoolError(f"the bridge to Ray cannot be started ({error.strerror}); try again later") from None
        self._connection, self._numbers = mine, numbers
        self._open: dict[int, Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self.is_lost = False
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int:
        """Of the bridge."""
        return self._process.pid

    def ask(self, message: dict[str, Any], timeout_s: float | None) -> dict[str, Any]:
        """Await the answer; of kind `lost` where the bridge ends first or takes longer."""
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            if self.is_lost:
                return {"kind": LOST}
            number = next(self._numbers)
            self._open[number] = future
            try:
                self._connection.sendall(packed({**message, "id": number}))
            except OSError:
                return {"kind": LOST}
        try:
            return future.result(timeout_s)
        except TimeoutError:
            self.close()
            return {"kind": LOST}

    def close(self) -> None:
        """End the bridge: it sees the end of the connection, and ends what it started."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(15.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        while (message := receive(self._connection)) is not None:
            with self._lock:
                future = self._open.pop(int(message.pop("id")), None)
            if future is not None:
                future.set_result(message)
        with self._lock:
            self.is_lost = True
            left = list(self._open.values())
            self._open.clear()
        for future in left:
            future.set_result({"kind": LOST})
        self._connection.close()


def spec_of(
    target: str, cache: str, isolation: str, trusts_tasks: bool, task_seconds: int = 60, task_gib: float | None = None
) -> dict[str, Any]:
    """List the stations that a run needs, as `open` takes them."""
    from cluster.station import StationSpec

    spec = asdict(StationSpec(target, "", cache, isolation, trusts_tasks, task_seconds, task_gib))
    del spec["kind"]
    return spec

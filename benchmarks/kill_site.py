"""Head, nodes, database and driver of one run on simulated GPUs, as processes of this machine that can be killed."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

from benchmarks.processes import descendants, kill
from benchmarks.ray_nodes import RayNodes
from benchmarks.simulated import TARGET
from tests.support.postgres_server import PostgresServer

MARKS = {"station": "ray::Simulated", "supervisor": "ray::Supervisor"}
NODES, SECONDS, PICKS = 2, 0.5, 8
BACKENDS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'kernel-scientist'"


def words_of(pid: int) -> str:
    """Read the command line of a process; empty where it has gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


class Site:
    """The machines, the database and the driver of one run, as processes of this machine."""

    def __init__(self, folder: Path, candidates: int, server: PostgresServer | None) -> None:
        self._folder, self._server = folder, server
        self.ray = RayNodes(folder)
        self._node()
        self.candidates = candidates
        self._argv = [str(folder), "--address", self.ray.address, "--picks", str(PICKS), "--seconds", str(SECONDS)]
        self.database = "" if server is None else server.ledger()
        if self.database:
            self._argv += ["--database", self.database]
        self.drivers = 0
        self.driver = self._drive()

    def _node(self) -> None:
        while self.ray.living() < NODES:
            self.ray.add({TARGET: 2})

    def _drive(self) -> subprocess.Popen[bytes]:
        self.drivers += 1
        with (self._folder / "driver.log").open("ab") as log:
            words = ["-m", "benchmarks.campaign", *self._argv, "--candidates", str(self.candidates)]
            return subprocess.Popen([sys.executable, *words], stdout=log, stderr=log)

    def shorten(self) -> None:
        """Let the next driver end the run after the generation that follows the present one."""
        counts = re.findall(r'"candidates": (\d+)', (self._folder / "driver.log").read_text(encoding="utf-8"))
        self.candidates = min(self.candidates, max(map(int, counts), default=0) + 2 * PICKS)

    def strike(self, victim: str, draw: random.Random) -> bool:
        """Kill one of these, and start again what nobody else would; False where there is none at the moment."""
        if victim in ("node", "head"):
            self._fell(victim, draw)
            return True
        pids = self._found(victim)
        if not pids:
            return False
        kill(draw.choice(pids))
        if victim == "driver":
            self.driver.wait()
            self.driver = self._drive()
        return True

    def _found(self, victim: str) -> list[int]:
        """Find the processes of this sort."""
        if victim in MARKS:
            below = [pid for root in (self.ray.head, *self.ray.nodes) for pid in descendants(root.pid)]
            return [pid for pid in below if words_of(pid).startswith(MARKS[victim])]
        if victim == "bridge":
            return [pid for pid in descendants(self.driver.pid) if "cluster.bridge" in words_of(pid)]
        if victim == "connection":
            return self._backends()
        return [self.driver.pid] if self.driver.poll() is None else []

    def _backends(self) -> list[int]:
        """List the server's ends of the driver's connections; none while it starts again."""
        if self._server is None:
            return []
        import psycopg

        try:
            return [int(str(pid)) for (pid,) in self._server.execute("postgres", BACKENDS)]
        except psycopg.Error:
            return []

    def _fell(self, victim: str, draw: random.Random) -> None:
        """Kill a node, or the head with all that hangs on it."""
        for node in [*self.ray.nodes, self.ray.head] if victim == "head" else [draw.choice(self.ray.nodes)]:
            self.ray.fell(node)
        if victim == "head":
            self.ray.begin()
        self._node()

    def revive(self) -> None:
        """Start again what has ended by itself: the driver where it has paused, machines where Ray has given up."""
        if self.driver.poll() not in (None, 0):
            self.driver = self._drive()
        if self.ray.has_ended():
            self._fell("head", random.Random())
        self._node()

    def close(self) -> None:
        """End everything that was started here."""
        for pid in (*descendants(self.driver.pid), self.driver.pid):
            kill(pid)
        self.driver.wait()
        self.ray.close()

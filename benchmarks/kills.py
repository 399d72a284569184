"""Processes of a cluster killed by SIGKILL while a run is at work, and what became of the run.

    python -m benchmarks.kills [--kills 100] [--minutes 40] [--seed 1]

A head and two nodes with two simulated GPUs each on this machine, a driver with a scripted author, and its records in a
Postgres server of its own where one is installed. Stations, supervisor, bridge, driver, nodes, head and the server's
end of the driver's connections are killed in a drawn order at drawn moments, and what no cluster would start again is
started again here: nodes, head, driver. The recovery time of a kill is the time until a station is done with a request
that began after it. At the end the ledger is compared with that of the same run without a cluster, without Postgres and
without kills: every attempt, its state, its time and its key.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from pydantic import SecretStr

from app.shared_database import open_shared
from benchmarks.campaign import campaign, parsed, summary
from benchmarks.figure import Figure, report
from benchmarks.ray_nodes import RayNodes, descendants, kill
from benchmarks.simulated import TARGET, counted
from records.ledger import Ledger
from tests.support.postgres_server import PostgresServer, programs, serving

WEIGHTS = {"station": 44, "supervisor": 12, "bridge": 12, "driver": 12, "node": 10, "head": 4, "connection": 12}
MARKS = {"station": "ray::Simulated", "supervisor": "ray::Supervisor"}
NODES, SECONDS, PICKS = 2, 0.5, 8
WORST_S = 600.0  # to recover from one kill: a head starts slowly on a busy machine
BACKENDS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'kernel-scientist'"


def words_of(pid: int) -> str:
    """The command line of a process; empty where it has gone."""
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
        self._argv = [
            str(folder), "--address", self.ray.address, "--candidates", str(candidates), "--picks", str(PICKS),
            "--seconds", str(SECONDS),
        ]  # fmt: skip
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
            return subprocess.Popen([sys.executable, "-m", "benchmarks.campaign", *self._argv], stdout=log, stderr=log)

    def strike(self, what: str, draw: random.Random) -> bool:
        """Kill one of these, and start again what nobody else would; False where there is none at the moment."""
        if what in ("node", "head"):
            self._fell(what, draw)
            return True
        found = self._found(what)
        if not found:
            return False
        kill(draw.choice(found))
        if what == "driver":
            self.driver.wait()
            self.driver = self._drive()
        return True

    def _found(self, what: str) -> list[int]:
        """The processes of this sort."""
        if what in MARKS:
            below = [pid for root in (self.ray.head, *self.ray.nodes) for pid in descendants(root.pid)]
            return [pid for pid in below if words_of(pid).startswith(MARKS[what])]
        if what == "bridge":
            return [pid for pid in descendants(self.driver.pid) if "cluster.bridge" in words_of(pid)]
        if what == "connection":
            return self._backends()
        return [self.driver.pid] if self.driver.poll() is None else []

    def _backends(self) -> list[int]:
        """The server's ends of the driver's connections; none while it starts again."""
        if self._server is None:
            return []
        import psycopg

        try:
            return [int(str(pid)) for (pid,) in self._server.execute("postgres", BACKENDS)]
        except psycopg.Error:
            return []

    def _fell(self, what: str, draw: random.Random) -> None:
        """A node, or the head with all that hangs on it."""
        for node in [*self.ray.nodes, self.ray.head] if what == "head" else [draw.choice(self.ray.nodes)]:
            self.ray.fell(node)
        if what == "head":
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


def awaited(site: Site, folder: Path) -> float | None:
    """Seconds until a request that began after now is done; None where the run ends before."""
    began, before = time.monotonic(), set(counted(folder, "begun"))
    while time.monotonic() - began < WORST_S:
        if site.driver.poll() == 0:
            return None
        site.revive()
        if set(counted(folder, "done")) - before:
            return time.monotonic() - began
        time.sleep(0.05)
    raise TimeoutError(f"nothing was judged for {WORST_S:.0f} s after a kill; see {folder}")


def struck(site: Site, folder: Path, kills: int, until: float, draw: random.Random) -> dict[str, list[float]]:
    """Recovery times by what was killed."""
    times: dict[str, list[float]] = defaultdict(list)
    awaited(site, folder)
    while sum(map(len, times.values())) < kills and time.monotonic() < until and site.driver.poll() != 0:
        (what,) = draw.choices(list(WEIGHTS), list(WEIGHTS.values()))
        time.sleep(draw.uniform(0.0, 2 * SECONDS))
        if site.strike(what, draw) and (took := awaited(site, folder)) is not None:
            times[what].append(took)
            print(f"kill {sum(map(len, times.values()))}: {what}, {took:.1f} s", flush=True)
    return times


def figures(times: dict[str, list[float]], ledgers: tuple[list[list[object]], list[list[object]]]) -> list[Figure]:
    """Kills, what is lost, doubled or blamed, and recovery times."""
    ours, right = ledgers
    total = sum(map(len, times.values()))
    lost = len({str(row) for row in right} - {str(row) for row in ours})
    ids = Counter(str(row[0]) for row in ours)
    blamed = sum(row[1] != "accepted" for row in ours)
    found = [
        Figure("kills.total", total, "kills", "attempts of the run", len(right)),
        Figure("kills.lost", lost, "attempts", "attempts of the run", len(right), "<= 0"),
        Figure("kills.doubled", sum(ids.values()) - len(ids), "attempts", "attempts of the run", len(right), "<= 0"),
        Figure("kills.blamed", blamed, "attempts", "attempts of the run", len(right), "<= 0"),
    ]
    for what, each in sorted(times.items()):
        found.append(Figure(f"kills.recovery_{what}", statistics.median(each), "s", f"worst of {len(each)}", max(each)))
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Kill, wait for the end, compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=40.0, help="after which no more are killed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--candidates", type=int, default=2000)
    asked = parser.parse_args(words)
    root = Path(tempfile.mkdtemp(prefix="ks-kills-"))
    folder = root / "run"
    folder.mkdir()
    again = parsed([str(root / "near"), "--local", "--candidates", str(asked.candidates), "--picks", str(PICKS)])
    again.seconds = SECONDS
    with ExitStack() as opened:
        server = None if programs() is None else opened.enter_context(serving(is_durable=True))
        site = Site(folder, asked.candidates, server)
        try:
            times = struck(site, folder, asked.kills, time.monotonic() + 60 * asked.minutes, random.Random(asked.seed))
            while site.driver.poll() != 0:
                site.revive()
                time.sleep(0.5)
        finally:
            site.close()
        campaign(again.folder, again)
        ours = open_shared(SecretStr(site.database)) if site.database else Ledger(folder / "ledger.db")
        with ours, Ledger(again.folder / "ledger.db") as right:
            found = figures(times, (summary(ours), summary(right)))
    shutil.rmtree(root)
    return report("Kills", found)


if __name__ == "__main__":
    sys.exit(main())

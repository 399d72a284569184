"""Processes of a cluster killed by SIGKILL while a run is at work, and what became of the run.

    python -m benchmarks.kills [--kills 100] [--minutes 30] [--seed 1]

A head and two nodes with two simulated GPUs each on this machine, and a driver with a scripted author. Stations,
supervisor, bridge, driver, nodes and head are killed in a drawn order at drawn moments, and what no cluster would start
again is started again here: nodes, head, driver. The recovery time of a kill is the time until a station is done with a
request that began after it. At the end the ledger is compared with that of the same run without a cluster and without
kills: every attempt, its state, its time and its key.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.campaign import campaign, parsed, summary
from benchmarks.figure import Figure, report
from benchmarks.simulated import TARGET, counted, environment
from records.ledger import Ledger

WEIGHTS = {"station": 50, "supervisor": 14, "bridge": 14, "driver": 14, "node": 12, "head": 3}
MARKS = {"station": "ray::Simulated", "supervisor": "ray::Supervisor"}
SECONDS, PICKS = 0.5, 8
WORST_S = 240.0  # to recover from one kill
RAY = (
    sys.executable,
    "-m",
    "ray.scripts.scripts",
    "start",
    "--block",
    "--num-cpus",
    "1",
    "--object-store-memory",
    "80000000",
)


def descendants(pid: int) -> list[int]:
    """The processes below one, the deepest first."""
    parents: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError, ValueError):
                parents[int((entry / "stat").read_text().rpartition(")")[2].split()[1])].append(int(entry.name))
    found, waiting = list[int](), [pid]
    while waiting:
        children = parents[waiting.pop()]
        found += children
        waiting += children
    return found[::-1]


def words_of(pid: int) -> str:
    """The command line of a process; empty where it has gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def kill(pid: int) -> None:
    """SIGKILL, also to one that has gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Site:
    """The machines and the driver of one run, as processes of this machine."""

    def __init__(self, folder: Path, candidates: int) -> None:
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = int(free.getsockname()[1])
        self._argv = [
            str(folder), "--address", f"127.0.0.1:{self._port}", "--candidates", str(candidates), "--picks", str(PICKS),
            "--seconds", str(SECONDS),
        ]  # fmt: skip
        self.nodes: list[subprocess.Popen[bytes]] = []
        self.drivers = 0
        self.begin()
        self.driver = self._drive()

    def begin(self) -> None:
        """The head, then the nodes."""
        temporary = f"/tmp/ks-kills-{os.getpid()}-{random.randrange(10**6)}"
        more = ["--head", "--port", str(self._port), "--temp-dir", temporary, "--include-dashboard=false"]
        self.head = self._start(more)
        time.sleep(6.0)
        self.nodes = [self._node() for _ in range(2)]

    def _node(self) -> subprocess.Popen[bytes]:
        return self._start(["--address", f"127.0.0.1:{self._port}", "--resources", f'{{"{TARGET}": 2}}'])

    def _start(self, more: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self._folder / "ray-start.log").open("ab") as log:
            return subprocess.Popen(
                [*RAY, *more],
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _drive(self) -> subprocess.Popen[bytes]:
        self.drivers += 1
        with (self._folder / "driver.log").open("ab") as log:
            return subprocess.Popen([sys.executable, "-m", "benchmarks.campaign", *self._argv], stdout=log, stderr=log)

    def strike(self, what: str, draw: random.Random) -> bool:
        """Kill one of these, and start again what nobody else would; False where there is none at the moment."""
        if what in MARKS:
            below = [pid for root in (self.head, *self.nodes) for pid in descendants(root.pid)]
            found = [pid for pid in below if words_of(pid).startswith(MARKS[what])]
        elif what == "bridge":
            found = [pid for pid in descendants(self.driver.pid) if "cluster.bridge" in words_of(pid)]
        elif what == "driver":
            found = [self.driver.pid] if self.driver.poll() is None else []
        else:
            self._fell(what, draw)
            return True
        if not found:
            return False
        kill(draw.choice(found))
        if what == "driver":
            self.driver.wait()
            self.driver = self._drive()
        return True

    def _fell(self, what: str, draw: random.Random) -> None:
        """A node, or the head with all that hangs on it."""
        felled = [self.head, *self.nodes] if what == "head" else [draw.choice(self.nodes)]
        for node in felled:
            for pid in (*descendants(node.pid), node.pid):
                kill(pid)
            node.wait()
        if what == "head":
            self.begin()
        else:
            self.nodes = [node for node in self.nodes if node.poll() is None]
            self.nodes.append(self._node())

    def revive(self) -> None:
        """Start the driver again where it has paused: what `resume` is for."""
        if self.driver.poll() not in (None, 0):
            self.driver = self._drive()

    def close(self) -> None:
        """End everything that was started here."""
        for each in (self.driver, self.head, *self.nodes):
            for pid in (*descendants(each.pid), each.pid):
                kill(pid)
            each.wait()


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
    site = Site(folder, asked.candidates)
    try:
        times = struck(site, folder, asked.kills, time.monotonic() + 60 * asked.minutes, random.Random(asked.seed))
        while site.driver.poll() != 0:
            site.revive()
            time.sleep(0.5)
    finally:
        site.close()
    again = parsed([str(root / "near"), "--local", "--candidates", str(asked.candidates), "--picks", str(PICKS)])
    again.seconds = SECONDS
    campaign(again.folder, again)
    with Ledger(folder / "ledger.db") as ours, Ledger(again.folder / "ledger.db") as right:
        found = figures(times, (summary(ours), summary(right)))
    shutil.rmtree(root)
    return report("Kills", found)


if __name__ == "__main__":
    sys.exit(main())

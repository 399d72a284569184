"""Processes of a cluster killed by SIGKILL while a run is at work, and what became of the run.

    python -m benchmarks.kills [--kills 100] [--minutes 40] [--seed 1] [--out DIR]
    python -m benchmarks.kills --stored    what lies in benchmarks/data

A head and two nodes with two simulated GPUs each on this machine, a driver with a scripted author, and its records in a
Postgres server of its own where one is installed. Stations, supervisor, bridge, driver, nodes, head and the server's
end of the driver's connections are killed in a drawn order at drawn moments, and what no cluster would start again is
started again here: nodes, head, driver. The recovery time of a kill is the time until a station is done with a request
that began after it; a third of the kills strike before that (two thirds where time is short), so that what is being
started is struck too. The last kill is the driver's, which then ends the run two generations later. The ledger is
compared with that of the same run without a cluster, without Postgres and without kills: every attempt, its state, its
time and its key.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from benchmarks.campaign import campaign, parsed, summary
from benchmarks.collection import Collection, stored
from benchmarks.figure import Figure, report
from benchmarks.kill_site import PICKS, SECONDS, Site
from benchmarks.processes import described_machine
from benchmarks.simulated import counted
from postgres.shared_database import open_shared
from records.ledger import Ledger
from tests.support.postgres_server import programs, serving

FILE = "kills.json"
SHARES = {"station": 44, "supervisor": 9, "bridge": 13, "driver": 9, "node": 8, "head": 3, "connection": 14}
HURRIED = 1 / 3  # of the kills: the next one does not wait until the run is at work again
PRESSED = 2 / 3  # of them where little time is left
PACE_S = 3.0  # for a kill, under which time is little
FOUND_S = 5.0  # for a process of the kind to be there; else another kind comes first
Rows = list[dict[str, Any]]
WORST_S = 600.0  # to recover from one kill: a head starts slowly on a busy machine


class Kills:
    """The kills of one run so far, and when they end."""

    def __init__(self, site: Site, folder: Path, options: argparse.Namespace, save: Callable[[Rows], None]) -> None:
        self._site, self._folder, self._asked, self._save = site, folder, options, save
        self._draw = random.Random(options.seed)
        self._began = time.monotonic()
        self.rows: Rows = []

    def strike_all(self) -> None:
        """Kill in the drawn order until there are enough, or the time is over; the driver comes last."""
        self._awaited()
        waiting, is_clean = order(self._asked.kills - 1, self._draw), True
        while waiting and self._left_s() > 0 and self._site.driver.poll() != 0:
            is_pressed = self._left_s() < PACE_S * len(waiting)
            is_hurried = self._draw.random() < (PRESSED if is_pressed else HURRIED)
            if self._struck(waiting[0], is_hurried, is_clean):
                waiting.pop(0)
                is_clean = not is_hurried
            else:
                waiting.append(waiting.pop(0))
        self._site.shorten()
        self._struck("driver", False, is_clean)

    def _left_s(self) -> float:
        return self._began + 60 * float(self._asked.minutes) - time.monotonic()

    def _struck(self, victim: str, is_hurried: bool, is_clean: bool) -> bool:
        """Kill once, and wait for what comes after it; False where there is nothing of the kind."""
        time.sleep(self._draw.uniform(0.0, 2 * SECONDS))
        until = time.monotonic() + FOUND_S
        stage = self._stage(is_clean)
        while not self._site.strike(victim, self._draw):
            if time.monotonic() > until:
                return False
            self._site.revive()
            time.sleep(0.1)
            stage = self._stage(is_clean)
        row: dict[str, Any] = {"what": victim, "stage": stage, "at_s": round(time.monotonic() - self._began, 2)}
        self.rows.append(row)
        if not is_hurried and (took := self._awaited()) is not None:
            row |= {"recovery_s": round(took, 3), "is_clean": is_clean}
        self._save(self.rows)
        print(f"{row['at_s']:6.1f} s  kill {len(self.rows)}: {victim}, {stage}, {row.get('recovery_s')}", flush=True)
        return True

    def _stage(self, is_clean: bool) -> str:
        if not is_clean and not set(counted(self._folder, "begun")) - self._begun:
            return "starting"
        under_way = set(counted(self._folder, "begun")) - set(counted(self._folder, "done"))
        return "judging" if under_way else "between"

    def _awaited(self) -> float | None:
        """Return the seconds until a request that began after now is done; None where the run ends before."""
        began, before = time.monotonic(), set(counted(self._folder, "begun"))
        self._begun = before
        while time.monotonic() - began < WORST_S:
            if self._site.driver.poll() == 0:
                return None
            self._site.revive()
            if set(counted(self._folder, "done")) - before:
                return time.monotonic() - began
            time.sleep(0.05)
        raise TimeoutError(f"nothing was judged for {WORST_S:.0f} s after a kill; see {self._folder}")


def order(kills: int, draw: random.Random) -> list[str]:
    """Draw so many kills by their shares, and those of each sort spread over the whole."""
    total = sum(SHARES.values())
    counts = {victim: max(1, round(kills * share / total)) for victim, share in SHARES.items()}
    counts["station"] += kills - sum(counts.values())
    spread = [((i + draw.random()) / count, victim) for victim, count in counts.items() for i in range(count)]
    return [victim for _, victim in sorted(spread)][:kills]


def compared(ours: Sequence[Sequence[object]], right: Sequence[Sequence[object]]) -> dict[str, int]:
    """Count the attempts of the two ledgers: those lost, doubled, blamed and those that nobody asked for."""
    mine, theirs = {str(row) for row in ours}, {str(row) for row in right}
    return {
        "attempts": len(right),
        "lost": len(theirs - mine),
        "added": len(mine - theirs),
        "doubled": len(ours) - len({str(row[0]) for row in ours}),
        "blamed": sum(row[1] != "accepted" for row in ours),
    }


def figures(stored: dict[str, Any]) -> list[Figure]:
    """Give kills, what is lost, doubled or blamed, and recovery times, of the stored file."""
    rows, ledger = stored["kills"], stored["ledger"]
    stages = Counter(row["stage"] for row in rows)
    rows_of_figures = [
        Figure("kills.total", len(rows), "kills", "attempts of the run", ledger["attempts"], ">= 100", FILE)
    ]
    for name in ("lost", "added", "doubled", "blamed"):
        value = ledger[name]
        rows_of_figures.append(
            Figure(f"kills.{name}", value, "attempts", "attempts of the run", ledger["attempts"], "<= 0", FILE)
        )
    for stage, count in sorted(stages.items()):
        rows_of_figures.append(Figure(f"kills.while_{stage}", count, "kills", "kills", len(rows), "", FILE))
    times: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.get("is_clean"):
            times[row["what"]].append(row["recovery_s"])
    for victim, times_s in sorted(times.items()):
        count = sum(row["what"] == victim for row in rows)
        words = f"worst of {len(times_s)} (killed {count} times)"
        rows_of_figures.append(
            Figure(f"kills.recovery_{victim}", statistics.median(times_s), "s", words, max(times_s), "", FILE)
        )
    return rows_of_figures


def collect(options: argparse.Namespace, root: Path) -> dict[str, Any]:
    """Kill, wait for the end, compare; what is known lies in the folder that was asked for after each kill."""
    c = Collection(options.out or root, FILE, 60 * options.minutes)
    c.about |= {"device": described_machine(), "python": sys.version.split()[0], "seed": options.seed}
    folder, near = root / "run", root / "near"
    folder.mkdir()
    with ExitStack() as opened:
        server = None if programs() is None else opened.enter_context(serving(is_durable=True))
        c.about["records"] = "SQLite" if server is None else "Postgres"
        site = Site(folder, options.candidates, server)
        kills = Kills(site, folder, options, lambda rows: c.save({"kills": rows}))
        try:
            kills.strike_all()
            c.say(f"{len(kills.rows)} kills; the run ends after {site.candidates} candidates")
            while site.driver.poll() != 0:
                site.revive()
                time.sleep(0.5)
        finally:
            site.close()
        local_options = parsed([str(near), "--local", "--candidates", str(site.candidates), "--picks", str(PICKS)])
        local_options.seconds = SECONDS
        campaign(local_options.folder, local_options)
        ours = open_shared(SecretStr(site.database)) if site.database else Ledger(folder / "ledger.db")
        with ours, Ledger(local_options.folder / "ledger.db") as right:
            ledger = compared(summary(ours), summary(right))
    results = {"kills": kills.rows, "drivers": site.drivers, "candidates": site.candidates, "ledger": ledger}
    c.save(results)
    return results


def main(words: Sequence[str] | None = None) -> int:
    """Kill and compare, or print what is stored."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills")
    parser.add_argument("--out", type=Path, help="a folder for the data")
    parser.add_argument("--stored", action="store_true", help="what an earlier run has found")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=40.0, help="after which no more are killed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--candidates", type=int, default=100_000, help="more than the run comes to")
    options = parser.parse_args(words)
    if options.stored:
        return report("Kills", figures(stored(FILE, "python -m benchmarks.kills --out DIR")))
    root = Path(tempfile.mkdtemp(prefix="ks-kills-"))
    results = collect(options, root)
    shutil.rmtree(root)
    return report("Kills", figures(results))


if __name__ == "__main__":
    sys.exit(main())

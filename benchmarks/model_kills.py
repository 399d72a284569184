"""A run with a model that never answers twice the same, killed by SIGKILL at random moments and resumed.

    python -m benchmarks.model_kills [--kills 300] [--minutes 60] [--seed 1] [--lab] [--out DIR]
    python -m benchmarks.model_kills --stored    what lies in benchmarks/data

The endpoint is a server of this process. The driver is the whole graph with the scientist and its gateway over a
sandbox that believes comments; with `--lab` it is the command line with the lab, whose compilers, executors, cages and
readers are struck as well. A driver that was killed, or has paused, is started again, and none of its children may
outlive it. Nothing that the ledger had answered by then may be asked again, and a run that ends is examined: each
experiment has its end, each attempt its verdict and its text, each question of one place one answer, and the sum of
what was paid is that of the calls.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from benchmarks import driver_children
from benchmarks.collection import Collection, stored
from benchmarks.fickle_model import TASK, FickleModel
from benchmarks.figure import Figure, report
from benchmarks.forked_driver import PAUSED, Drivers, ForkedDriver
from benchmarks.processes import descendants, described_machine
from records.artefacts import ArtefactStore
from records.ledger import Ledger
from tests.support.endpoint import ScriptedEndpoint
from tests.support.short_task import short_task

FILE = "model_kills.json"
ROLES = ("selector", "retriever", "planner", "coder", "critic")
WAITS_S = {False: 1.5, True: 5.0}  # the longest wait for a kill, without and with the lab
AT_WORK = 0.8  # of the kills: the wait begins when the model is asked, and not when the driver starts
OF_DRIVER = 0.4  # of the kills; the others strike a child, where there is one
MOST_FAULTS = 5  # of a run, and pauses that no kill explains
MOST_S = 300.0  # for a run that nobody kills any more
_LIMITS = ("--generations", "2", "--picks", "2", "--tunings", "4")
FINAL = ("accepted", "duplicate", "failed")


Driver = subprocess.Popen[bytes] | ForkedDriver


class KilledRun:
    """One run in a folder of its own."""

    def __init__(
        self, folder: Path, model: FickleModel, url: str, draw: random.Random, drivers: Drivers | None = None
    ) -> None:
        """Let `drivers`, where given, fork them, without the lab; else each is the command line."""
        self._folder, self._model, self._draw, self._url, self._drivers = folder, model, draw, url, drivers
        role_models = {f"KERNEL_SCIENTIST_MODEL_{role.upper()}": role for role in ROLES}
        self._environ = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("KERNEL_SCIENTIST", "OPENAI"))},
            **role_models,
            "OPENAI_BASE_URL": url,
            "OPENAI_API_KEY": "sk-nobody-0123456789",
            "KERNEL_SCIENTIST_RUNS_FOLDER": str(folder),
            "KERNEL_SCIENTIST_TOOLS": "calls",
        }
        self.kills: list[dict[str, Any]] = []
        self.faults: list[str] = []
        self.outlived = self.pauses = 0
        self._task = TASK if drivers is not None else str(short_task(TASK, folder / "task", rows=64, cols=256))

    def drive(self, kills: int, until: float) -> None:
        """Kill at most so often until a moment, and let it end then; a driver that ended in another way is noted."""
        while True:
            child = self._start()
            while child.poll() is None:
                if len(self.kills) >= kills or time.monotonic() > until:
                    child.wait(MOST_S)
                elif self._awaited(child):
                    self.kills.append({"what": self._strike(child)})
            if child.returncode == 0:
                return
            self.pauses += child.returncode == PAUSED
            if child.returncode not in (-signal.SIGKILL, PAUSED):
                self._note(child.returncode)
            if len(self.faults) > MOST_FAULTS or self.pauses > len(self.kills) + MOST_FAULTS:
                return

    def _awaited(self, child: Driver) -> bool:
        """Wait for the moment of a kill: mostly soon after the model was asked; False where the driver has ended."""
        before, until = self._model.asked, time.monotonic() + MOST_S
        waits = self._draw.random() < AT_WORK
        while waits and self._model.asked == before and child.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        with suppress(subprocess.TimeoutExpired):
            child.wait(self._draw.uniform(0, WAITS_S[self._drivers is None]))
        return child.returncode is None

    def _strike(self, child: Driver) -> str:
        """Kill the driver, or a process below it; where the driver dies, so must they."""
        kind = driver_children.drawn(self._draw)
        is_below = self._draw.random() > OF_DRIVER
        if is_below and isinstance(child, subprocess.Popen) and driver_children.struck(child, kind, self._draw):
            return kind
        below = descendants(child.pid) if self._drivers is None else []
        child.kill()
        child.wait()
        self.outlived += len(driver_children.outliving(below))
        return "driver"

    def _start(self) -> Driver:
        answered = self._answered()
        self._model.answered = answered or frozenset()
        if self._drivers is not None:
            return self._drivers.start(self._folder, self._url)
        command = ["run", self._task, "--author", "llm", *_LIMITS] if answered is None else ["resume", "last"]
        with (self._folder / "driver.log").open("ab") as log:
            words = [sys.executable, "-m", "app", *command, "--quiet"]
            return subprocess.Popen(words, env=self._environ, stdout=log, stderr=log)

    def _answered(self) -> frozenset[str] | None:
        """List the digests of the prompts that the ledger has answers to; None before there is a run."""
        path = self._folder / "ledger.db"
        if not path.exists():
            return None
        with closing(sqlite3.connect(path)) as db:
            try:
                if not db.execute("SELECT count(*) FROM runs").fetchone()[0]:
                    return None
                return frozenset(row[0] for row in db.execute("SELECT prompt FROM calls WHERE state = 'done'"))
            except sqlite3.Error:  # killed before its tables were there
                return None

    def _note(self, code: int | None) -> None:
        tail = (self._folder / "driver.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        self.faults.append(f"{code}: {' '.join(tail[-1:])[:300]}")

    def examined(self) -> Counter[str]:
        """Count the faults of the ledger by kind."""
        counts: Counter[str] = Counter()
        with Ledger(self._folder / "ledger.db") as ledger:
            run = next(iter(ledger.runs()), None)
            if run is None:
                return Counter({"runs not done": 1})
            store = ArtefactStore(self._folder / "artefacts", ledger)
            attempts, calls = ledger.attempts(run.id), ledger.calls(run.id)
            counts["runs not done"] += run.status != "done"
            for experiment in ledger.experiments(run.id):
                mine = [a for a in attempts if a.experiment_id == experiment.id]
                counts["experiments without an end"] += not any(a.status in FINAL or a.lesson for a in mine) and bool(
                    experiment.generation
                )
            for attempt in attempts:
                lost = attempt.evaluation_key and ledger.evaluation(attempt.evaluation_key) is None
                counts["verdicts lost"] += bool(lost)
                store.get(attempt.source)
            answered = [
                ((c.role, c.generation, c.experiment_id, c.number), c.prompt) for c in calls if c.state == "done"
            ]
            answers, prompts = Counter(call_key for call_key, _ in answered), Counter(prompt for _, prompt in answered)
            # A retriever that is shown one kernel twice gets one prompt at two places, each with its answer.
            counts["questions asked again"] += sum(prompts[digest] < 2 for digest in set(self._model.again))
            counts["places with two answers"] += sum(n > 1 for n in answers.values())
            for call in calls:
                if call.state == "done":
                    store.get(str(call.reply))
            spend, spent = ledger.spend(run.id), [c for c in calls if c.state in ("done", "lost")]
            difference = abs(spend.usd - sum(c.usage.usd for c in spent))
            counts["sums that differ"] += difference > 1e-9 or spend.calls != len(spent) or spend.reserved_usd > 0
            told = sum(event.kind == "lost_answer" for event in ledger.events(run.id))
            counts["lost answers untold"] += abs(told - sum(c.state == "lost" for c in calls))
        return counts


def figures(stored: dict[str, Any]) -> list[Figure]:
    """Give the kills, and what they did, of the stored file."""
    kills, runs = stored["kills"], len(stored["runs"])
    total = sum(kills.values())
    rows = [Figure("model_kills.total", total, "kills", "runs", runs, ">= 300", FILE)]
    rows += [
        Figure(f"model_kills.of_{victim}", count, "kills", "kills", total, "", FILE) for victim, count in kills.items()
    ]
    rows.append(Figure("model_kills.pauses", stored.get("pauses", 0), "pauses", "kills", total, "", FILE))
    rows.append(Figure("model_kills.requests", stored["asked"], "requests", "runs", runs, "", FILE))
    for name, count in stored["faults"].items():
        rows.append(Figure(f"model_kills.{name.replace(' ', '_')}", count, "", "runs", runs, "<= 0", FILE))
    return rows


def collect(options: argparse.Namespace, root: Path) -> dict[str, Any]:
    """Run, kill and examine until there are enough kills; what is known lies in the folder after each run."""
    c = Collection(options.out or root, FILE, 60 * options.minutes)
    c.about |= {
        "has_lab": options.lab,
        "device": described_machine(),
        "python": sys.version.split()[0],
        "seed": options.seed,
    }
    model, draw, until = FickleModel(options.lab), random.Random(options.seed), time.monotonic() + 60 * options.minutes
    results: dict[str, Any] = {"kills": Counter(), "runs": [], "faults": Counter(), "asked": 0, "pauses": 0}
    drivers = None if options.lab else Drivers()
    with ScriptedEndpoint(model) as server:
        while sum(results["kills"].values()) < options.kills and time.monotonic() < until:
            folder = root / f"run-{len(results['runs']) + 1}"
            folder.mkdir()
            run = KilledRun(folder, model, server.url, draw, drivers)
            run.drive(options.kills - sum(results["kills"].values()), until)
            results["kills"] += Counter(kill["what"] for kill in run.kills)
            results["faults"].update({"drivers that ended otherwise": len(run.faults), "children left": run.outlived})
            results["pauses"] += run.pauses
            results["faults"].update(run.examined())
            results["runs"].append({"kills": len(run.kills), "faults": run.faults})
            results["asked"] = model.asked
            model.again.clear()
            c.save(results)
            c.say(f"{len(results['runs'])} runs, {dict(results['kills'])}, {dict(results['faults'])}")
    if drivers is not None:
        drivers.close()
    return results


def main(words: Sequence[str] | None = None) -> int:
    """Kill and examine, or print what is stored."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model_kills")
    parser.add_argument("--out", type=Path, help="a folder for the data")
    parser.add_argument("--stored", action="store_true", help="what an earlier run has found")
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=60.0, help="after which no more are killed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lab", action="store_true", help="the command line with the lab, and kills of its children")
    options = parser.parse_args(words)
    if options.stored:
        return report("Kills with a model", figures(stored(FILE, "python -m benchmarks.model_kills --out DIR")))
    root = Path(tempfile.mkdtemp(prefix="ks-model-kills-"))
    results = collect(options, root)
    if not sum(results["faults"].values()):
        shutil.rmtree(root)
    return report("Kills with a model", figures(results))


if __name__ == "__main__":
    sys.exit(main())

"""One run of the shipped graph on simulated GPUs, with a scripted author: `python -m benchmarks.campaign FOLDER ...`.

    --gpus N | --address HOST:PORT | --local    a cluster of its own, one that is there, or nothing that sleeps
    --candidates N --picks N --seconds S        each evaluation of a station takes S, or as recorded where S is 0
    --hasten N                                  recorded durations are divided by N
    --database URL                              records and checkpoints are there, and not in FOLDER

Started again on its folder, it goes on. It prints one JSON object a line: the process after each generation.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from agents.author import Idea, Specimen, Step
from benchmarks.packed import read_text
from benchmarks.scripted_loop import Forgetful, resident_bytes
from benchmarks.simulated import TARGET, TASK, SimulatedEvaluator, linked, opened, source_of
from graph import Limits
from graph.doubles import table_context
from graph.drive import Checkpoints, drive
from postgres.shared_database import open_checkpoints, open_shared
from records.artefacts import ArtefactStore
from records.ledger import Ledger
from sandbox.target import load_target
from tasks.loader import load_task

DATA = Path(__file__).parent / "data" / "throughput_h200.json"


def recorded() -> list[float]:
    """Read the seconds that candidates of the stored mix took on an H200."""
    rows = json.loads(read_text(DATA))["rows"]
    return [row["ended_s"] - row["began_s"] for row in rows]


class Script:
    """Ideas and kernels of a campaign: each kernel's file says its time and how long a station takes for it."""

    def __init__(self, picks: int, seconds: float, hasten: float = 1.0) -> None:
        self._picks, self._durations = picks, [seconds] if seconds else [duration / hasten for duration in recorded()]

    def ideas(self, generation: int) -> Sequence[Idea]:
        """Propose as many ideas as there are picks."""
        count = range(self._picks)
        return [Idea(f"idea {generation}.{i}", "what to do", ("change it",), float(i), i + 1.0, i) for i in count]

    def write(self, step: Step, base: Specimen) -> str:
        """Write a kernel that is a little faster than those of the generation before."""
        number = int(step.experiment_id.rpartition("e")[2])
        seconds = random.Random(step.experiment_id).choice(self._durations)
        return source_of(step.experiment_id, seconds, 1e5 / (1e3 + step.generation + number / 1e3))


def summary(ledger: Ledger) -> list[list[Any]]:
    """Give the final ledger but for wall times: every attempt with its state, time and evaluation key, in order."""
    (run,) = ledger.runs()
    return sorted([a.id, a.status, a.geomean_us, a.evaluation_key] for a in ledger.attempts(run.id))


def campaign(folder: Path, options: argparse.Namespace) -> None:
    """Drive the run to its end."""
    folder.mkdir(parents=True, exist_ok=True)
    script, task = Script(options.picks, options.seconds, options.hasten), load_task(TASK, TARGET)
    generations = -(-options.candidates // options.picks)
    limits = Limits(
        generations=generations, picks=options.picks, stagnation=generations, roofline_fraction=2e9, explorations=0,
        tunings=1, ablations=0, answers=0, attainable_fraction=0.0, dispatch=False, memory_tokens=0,
    )  # fmt: skip
    context = table_context(folder, task, Forgetful(script.ideas, script.write), limits)
    link = None if options.local else linked(folder, options.gpus, options.address)
    sandbox: Any = (
        SimulatedEvaluator(load_target(TARGET), sleeps=False)
        if link is None
        else opened(link, folder, max(1, options.gpus))
    )
    checkpoint: Path | Checkpoints = folder / "checkpoint.db"
    if options.database:
        context.ledger.close()
        ledger, checkpoint = (
            open_shared(SecretStr(options.database)),
            partial(open_checkpoints, SecretStr(options.database)),
        )
        context = replace(context, ledger=ledger, artefacts=ArtefactStore(None, ledger))
    context = replace(context, run=replace(context.run, target=TARGET), sandbox=sandbox)
    began = time.perf_counter()

    def progress(event: Mapping[str, Any]) -> None:
        if event["event"] == "generation":
            candidates = (int(event["generation"]) - 1) * options.picks
            row = {"candidates": candidates, "cpu_s": time.process_time(), "wall_s": time.perf_counter() - began}
            print(json.dumps({**row, "rss_bytes": resident_bytes()}), flush=True)

    try:
        drive(context, checkpoint, progress, options.picks)
        print(json.dumps({"ended": True, "wall_s": time.perf_counter() - began}), flush=True)
    finally:
        context.ledger.close()
        if link is not None:
            link.close()


def parsed(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaign")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--address", default="")
    parser.add_argument("--local", action="store_true")
    parser.add_argument("--candidates", type=int, default=64)
    parser.add_argument("--picks", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--hasten", type=float, default=1.0)
    parser.add_argument("--database", default="")
    return parser.parse_args(words)


if __name__ == "__main__":
    options = parsed()
    campaign(options.folder, options)
    sys.exit(0)

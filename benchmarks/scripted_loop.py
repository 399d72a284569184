"""One run of N candidates whose author follows a script and whose sandbox believes comments, watched as it goes.

Run by `benchmarks.loop_rate` in a process of its own: `python -m benchmarks.scripted_loop N FOLDER` prints one JSON
list of marks. With a third argument, the address of a database, its records are there. What remains when author and
sandbox cost next to nothing is the cost of the loop itself: graph, ledger, artefacts and checkpoint.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from agents.author import Assignment, Idea, Member, Selection, Specimen, Step
from graph import Limits
from graph.doubles import ScriptedAuthor, table_context, table_task
from graph.drive import Checkpoints, drive
from graph.table_sandbox import TableSandbox
from postgres.shared_database import open_checkpoints, open_shared
from records.artefacts import ArtefactStore

PICKS = 3
SOURCE_LINES = 100  # with the padding below a source of 3.5 kB
EVERY = 10  # candidates between two marks


@dataclass(frozen=True)
class Mark:
    """The process after so many candidates."""

    candidates: int
    cpu_s: float
    wall_s: float
    rss_bytes: int


def ideas(generation: int) -> Sequence[Idea]:
    """Propose as many ideas as a planner does, as long as a planner's."""
    return [
        Idea(f"a title of usual length {generation}.{i}", "what to do, " * 40, ("change it",) * 9, i, i + 1, i)
        for i in range(5)
    ]


def write(step: Step, base: Specimen) -> str:
    """Write a new source of usual size that is a little faster than the last one."""
    gain = step.generation + int(step.experiment_id[-1]) / 10
    return (
        f"// {step.experiment_id}\n// time_us = {1e6 / (1e3 + gain)}\n"
        + "// padding of the size of a kernel\n" * SOURCE_LINES
    )


class Forgetful(ScriptedAuthor):
    """Keeps no record of what it was asked, which would be the author's memory and not the loop's."""

    def select(self, step: Step, work: Assignment, population: Sequence[Member]) -> Selection:
        """Begin every generation without a past."""
        for log in (self.asked, self.repairs, self.memories):
            log.clear()
        return super().select(step, work, population)


def resident_bytes() -> int:
    """Read the memory of this process; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 0


def run(candidates: int, folder: Path, database: str = "") -> list[Mark]:
    """Drive a run of this many candidates; a mark every ten of them and one at the start."""
    task = table_task(folder / "task", "// time_us = 1000\n")
    limits = Limits(generations=-(-candidates // PICKS), picks=PICKS, stagnation=candidates, roofline_fraction=2.0)
    context = table_context(folder, task, Forgetful(ideas, write), limits)
    checkpoint: Path | Checkpoints = folder / "checkpoint.db"
    if database:
        context.ledger.close()
        ledger, checkpoint = open_shared(SecretStr(database)), partial(open_checkpoints, SecretStr(database))
        run = replace(context.run, id=folder.name)
        context = replace(context, run=run, ledger=ledger, artefacts=ArtefactStore(None, ledger))
    marks = list[Mark]()
    finished = -1  # the seed is no candidate

    def mark(count: int) -> None:
        marks.append(Mark(count, time.process_time(), time.perf_counter(), resident_bytes()))

    def progress(event: Mapping[str, Any]) -> None:
        nonlocal finished
        if event["event"] == "attempt":
            finished += 1
            if finished % EVERY == 0:
                mark(finished)
                assert isinstance(context.sandbox, TableSandbox)
                context.sandbox.calls.clear()

    mark(0)
    drive(context, checkpoint, progress)
    context.ledger.close()
    return marks


if __name__ == "__main__":
    sys.stdout.write(json.dumps([asdict(mark) for mark in run(int(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])]))

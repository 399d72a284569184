"""A run through a spool folder that is killed by SIGKILL at one point after the other, and then goes on.

Asker and worker take turns in one process, so that a kill takes both. Run as `python spool_crash_driver.py FOLDER
STEP`: the run is killed at one point of each STEPth kind. Prints one JSON object as `crash_driver.py` does.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sqlite3
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
sys.path.insert(0, str(Path(__file__).parents[2]))

from graph.doubles import TableSandbox
from graph.drive import drive
from records.artefacts import ArtefactStore
from records.errors import Pending
from records.evaluation import Comparison
from sandbox.remote.message import Request, Result
from sandbox.remote.pool import WorkerPool, WorkerSlot
from sandbox.remote.spool import Claim, Spool
from sandbox.worker import Folder
from tests.integration.crash_driver import Diary, FragileLedger, FragileSaver, contents, every_kind, repeated
from tests.support.stations import make_bench, make_context, through

KINDS = (
    "before request",
    "after request",
    "before pause",
    "result read",
    "before answer",
    "before publish",
    "after publish",
    "before add_evaluation",
    "after add_evaluation",
    "before add_comparison",
    "after add_comparison",
    "before finish",
    "after finish",
    "before checkpoint",
    "before attempts",
)


class FragileSpool(Spool):
    """Crash points around everything that is written and read."""

    diary: Diary

    def put(self, request: Request) -> None:
        self.diary.point("before request")
        super().put(request)
        self.diary.point("after request")

    def ask(self, request: Request) -> Result:
        try:
            result = super().ask(request)
        except Pending:
            self.diary.point("before pause")
            raise
        self.diary.point("result read")
        return result

    def publish(self, result: Result, claim: Claim) -> bool:
        self.diary.point("before publish")
        is_first = super().publish(result, claim)
        self.diary.log(f"stored {result.request}")
        self.diary.point("after publish")
        return is_first


class FragileBench(WorkerPool):
    """Notes what it is asked, so that work done twice shows."""

    def answer(self, slot: WorkerSlot, request: Request) -> Result:
        diary: Diary = slot.judges[0]  # type: ignore[assignment]
        diary.point("before answer")
        diary.log(f"asked {request.hash}")
        return super().answer(replace(slot, judges={}), request)


class ComparingLedger(FragileLedger):
    """Says what is stored of comparisons, too."""

    def add_comparison(self, run_id: str, comparison: Comparison) -> Comparison:
        stored = super().add_comparison(run_id, comparison)
        self.diary.log(f"stored comparison {comparison.key}")
        return stored


def run(folder: Path, point: int | None) -> Diary:
    """To the end, waiting and answering in turns; a lost worker's claim has run out by the time that it starts."""
    diary, spool_folder = Diary(folder, point), folder / "spool"
    spool_folder.mkdir(exist_ok=True)
    (spool_folder / "spool.json").write_text(json.dumps({"format": 1, "id": "5a" * 16}))  # the same in every folder
    spool = FragileSpool(spool_folder)
    spool.diary = diary
    for claim in (spool_folder / "claims").iterdir():
        os.utime(claim, (0, 0))

    def saver(connection: sqlite3.Connection) -> FragileSaver:
        fragile = FragileSaver(connection)
        fragile.diary = diary
        return fragile

    while True:
        plain = make_context(folder, through(spool))
        plain.ledger.close()
        ledger = ComparingLedger(folder / "ledger.db")
        ledger.diary = diary
        context = replace(plain, ledger=ledger, artefacts=ArtefactStore(plain.artefacts.folder, ledger))
        status = drive(context, folder / "checkpoint.db", max_concurrency=1, saver=saver).status
        task = context.assignment.task
        ledger.close()
        if status == "done":
            return diary
        bench = make_bench(task, TableSandbox("gpu:table", "measured"))
        slots = tuple(WorkerSlot(s.name, s.make, judges={0: diary}) for s in bench.slots)  # type: ignore[dict-item]
        Folder(spool, FragileBench(bench.worker, bench.place, slots, bench.find_task), once=True).run(threading.Event())


def in_child(folder: Path, point: int | None) -> int:
    """Run in a child process; its wait status."""
    child = os.fork()
    if child == 0:
        try:
            diary = run(folder, point)
            (folder / "points.json").write_text(json.dumps(diary.names))
        except BaseException as error:
            os.write(2, f"{point}: {error!r}\n".encode())
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def main(folder: Path, stride: int) -> None:
    """Print the uninterrupted ledger and what became of each interrupted run."""
    (folder / "whole").mkdir(parents=True)
    in_child(folder / "whole", None)
    names: list[str] = json.loads((folder / "whole" / "points.json").read_text())
    results: list[dict[str, Any]] = []
    gc.freeze()  # no child collects, and so copies, what they share
    for point in (n for n in every_kind(names) if names[n] in KINDS[::stride]):
        point_folder = folder / f"at-{point}"
        point_folder.mkdir()
        killed = in_child(point_folder, point)
        if len(results) % 3 == 2:  # the checkpoint is only a cursor
            for file in point_folder.glob("checkpoint.db*"):
                file.unlink()
        resumed = in_child(point_folder, None)
        results.append(
            {
                "at": point,
                "name": names[point],
                "killed": os.WIFSIGNALED(killed) and os.WTERMSIG(killed) == signal.SIGKILL,
                "resumed": resumed,
                "ledger": contents(point_folder) if resumed == 0 else {},
                "repeated": repeated(point_folder),
            }
        )
    sys.stdout.write(json.dumps({"whole": contents(folder / "whole"), "results": results}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

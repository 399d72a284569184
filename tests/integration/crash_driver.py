"""A real run that is killed by SIGKILL at one crash point after the other, each in a process of its own, then resumed.

`python crash_driver.py FOLDER WHICH`, one of `CHOICES`, prints the ledger of an uninterrupted run and, for each crash
point, the ledger of the resumed run and what was done twice.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from langgraph.checkpoint.sqlite import SqliteSaver

from agents.author import Draft, Proposal, Selection, Step
from graph.context import Context, Limits
from graph.doubles import ScriptedAuthor, TableSandbox, table_context, table_task
from graph.drive import drive
from records.allowance import Allowance
from records.artefacts import ArtefactStore
from records.codec import dumps, loads
from records.evaluation import Evaluation
from records.experiment import ModelCall, Usage
from records.ledger import Ledger
from sandbox.candidate.prepare import Prepared
from tests.support.stations import ideas, writer

CALL = (  # every column of a call but the time of day
    "key, run_id, role, model, prompt, state, reserved_usd, reply, prompt_tokens, completion_tokens, usd, "
    "generation, experiment_id, number"
)
Make = Callable[[Path, "Diary"], Context]


class Diary:
    """Counts crash points, kills this process at the chosen one, and logs work in a file that survives it."""

    def __init__(self, folder: Path, point: int | None) -> None:
        self.names: list[str] = []
        self._log, self._at, self._lock = folder / "work.log", point, threading.Lock()

    def point(self, name: str) -> None:
        with self._lock:
            self.names.append(name)
            if len(self.names) - 1 == self._at:
                os.kill(os.getpid(), signal.SIGKILL)

    def log(self, line: str) -> None:
        handle = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(handle, f"{line}\n".encode())
        os.close(handle)


class FragileLedger(Ledger):
    """Crash points before, within and after every write, named by the method that writes."""

    diary: Diary

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.made: list[str] = []

    @contextlib.contextmanager
    def _writing(self, *, is_synced: bool = True, is_single: bool = False) -> Iterator[sqlite3.Connection]:
        frame = sys._getframe(2)
        name = frame.f_code.co_name if frame.f_code.co_name != "_add" else str(frame.f_locals["table"])
        if name == "event":
            name = f"event {frame.f_locals['kind']} {frame.f_locals['payload'].get('stage', '')}".strip()
        self.diary.point(f"before {name}")
        with self._lock:
            with super()._writing(is_synced=is_synced, is_single=is_single) as db:
                yield db
                self.diary.point(f"within {name}")
            self._tell_stored()
        self.diary.point(f"after {name}")

    def add_evaluation(self, run_id: str, evaluation: Evaluation, purpose: Any = "benchmark") -> Evaluation:
        with self._lock:
            stored = super().add_evaluation(run_id, evaluation, purpose)
            self.made.append(f"stored {purpose} {evaluation.key}")
            self._tell_stored()
        return stored

    def _tell_stored(self) -> None:
        """Log what is in the file, which a part of a larger commit is not yet."""
        if not self.engine.is_writing:
            for line in self.made:
                self.diary.log(line)
            self.made.clear()


class FragileSandbox(TableSandbox):
    """Crash points before and after every piece of work."""

    def __init__(self, diary: Diary) -> None:
        super().__init__()
        self.diary = diary

    def _judge(self, purpose: str, prepared: Prepared, stages: tuple[str, ...]) -> Evaluation:
        self.diary.point(f"before {purpose}")
        self.diary.log(f"asked {purpose} {self.key(prepared)}")
        evaluation = super()._judge(purpose, prepared, stages)
        self.diary.point(f"after {purpose}")
        return evaluation


class FragileSaver(SqliteSaver):
    """Crash points around every checkpoint."""

    diary: Diary

    def put(self, *args: Any) -> Any:
        self.diary.point("before checkpoint")
        config = super().put(*args)
        self.diary.point("after checkpoint")
        return config


class PaidAuthor(ScriptedAuthor):
    """A script behind a till: money is reserved, the answer stored before it is used, as the model gateway does it."""

    def __init__(self, diary: Diary, ledger: Ledger, store: Any) -> None:
        super().__init__(ideas, writer)
        self._diary, self._ledger, self._store = diary, ledger, store

    def _pay(self, role: str, step: Step, answer: Any) -> Any:
        key = f"{step.run_id}/{step.generation}/{step.experiment_id}/{step.number}/{role}"
        call = ModelCall(key, step.run_id, role, "script", self._store.put(key), "reserved", 0.01)
        call = self._ledger.reserve(call, Allowance(100.0))
        if call.state == "reserved":
            self._diary.log(f"asked model {key}")
            self._diary.point(f"in the call to {role}")
            reply = self._store.put(dumps(answer))
            self._ledger.settle(key, reply, Usage(100, 10, 0.005))
            self._diary.log(f"stored model {key}")
            return loads(type(answer), self._store.text(reply))
        return loads(type(answer), self._store.text(str(call.reply)))
        return loads(type(answer), self._store.text(str(call.reply)))

    def select(self, step: Step, *arguments: Any) -> Selection:
        return self._pay("select", step, super().select(step, *arguments))

    def plan(self, step: Step, *arguments: Any) -> Proposal:
        return self._pay("plan", step, super().plan(step, *arguments))

    def write(self, step: Step, *arguments: Any) -> Draft:
        return self._pay("write", step, super().write(step, *arguments))

    def repair(self, step: Step, *arguments: Any) -> Draft:
        return self._pay("repair", step, super().repair(step, *arguments))


def fragile(plain: Context, folder: Path, diary: Diary) -> tuple[FragileLedger, ArtefactStore]:
    """The stores of a context with crash points."""
    plain.ledger.close()
    ledger = FragileLedger(folder / "ledger.db")
    ledger.diary = diary
    return ledger, ArtefactStore(plain.artefacts.folder, ledger)


def make_context(folder: Path, diary: Diary) -> Context:
    task = table_task(folder / "task", "// time_us = 100\n", "// time_us = 120\n// code = other\n")
    plain = table_context(folder, task, ScriptedAuthor(ideas, writer), Limits(generations=2, picks=2))
    ledger, artefacts = fragile(plain, folder, diary)
    author = PaidAuthor(diary, ledger, artefacts)
    return replace(plain, ledger=ledger, artefacts=artefacts, author=author, sandbox=FragileSandbox(diary))


def run(folder: Path, point: int | None, make: Make) -> Diary:
    diary = Diary(folder, point)

    def saver(connection: sqlite3.Connection) -> FragileSaver:
        fragile = FragileSaver(connection)
        fragile.diary = diary
        return fragile

    context = make(folder, diary)
    # Few threads keep the crash points in nearly the same order in every process.
    drive(context, folder / "checkpoint.db", max_concurrency=1, saver=saver)
    context.ledger.close()
    return diary


OF_A_PROCESS = ("driving", "driven", "lost_answer")  # kinds of events that tell of processes and what died with them
LOST = "(SELECT coalesce(sum({}), 0) FROM calls AS c WHERE c.run_id = s.run_id AND c.state = 'lost')"
SPENT = (  # without what stays spent for requests that were in flight at a kill
    f"SELECT run_id, calls - {LOST.format(1)}, prompt_tokens - {LOST.format('c.prompt_tokens')}, "
    f"completion_tokens - {LOST.format('c.completion_tokens')}, round(usd - {LOST.format('c.usd')}, 9) FROM spends AS s"
)


def contents(folder: Path) -> dict[str, list[Any]]:
    """The whole ledger without row numbers and times of day."""
    with contextlib.closing(sqlite3.connect(folder / "ledger.db")) as db:
        rows = {
            "runs": "SELECT id, body, status, stop_reason, pause, extensions FROM runs",
            **{table: f"SELECT run_id, id, body FROM {table}" for table in ("experiments", "attempts")},
            "evaluations": "SELECT key, purpose, run_id, body FROM evaluations",
            "calls": f"SELECT {CALL} FROM calls WHERE state <> 'lost'",
            "comparisons": "SELECT key, challenger, run_id, body FROM comparisons",
            "spends": SPENT,
            "artefacts": "SELECT digest FROM artefacts",
            "events": f"SELECT run_id, key, kind, body FROM events WHERE kind NOT IN {OF_A_PROCESS}",
        }
        return {table: sorted(map(list, db.execute(query)), key=str) for table, query in rows.items()}


def repeated(folder: Path) -> list[str]:
    """Work that was asked for although its result was in the ledger."""
    stored, repeats = set(), []
    for line in (folder / "work.log").read_text().splitlines():
        verb, subject = line.split(" ", 1)
        if verb == "stored":
            stored.add(subject)
        repeats += [subject] if verb == "asked" and subject in stored else []
    return repeats


def in_child(folder: Path, point: int | None, make: Make) -> int:
    """Run in a child process; its wait status."""
    child = os.fork()
    if child == 0:
        try:
            run(folder, point, make)
        except BaseException as error:
            os.write(2, f"{point}: {error!r}\n".encode())
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def every_point(names: Sequence[str]) -> list[int]:
    return list(range(len(names)))


def every_kind(names: Sequence[str]) -> list[int]:
    """The first point of each name."""
    return sorted({name: i for i, name in reversed(list(enumerate(names)))}.values())


def every_state(names: Sequence[str]) -> list[int]:
    """The kinds that leave different files: before a write they are as within it, and after it as within the next."""
    states = {name.removeprefix("within ") for name in names if name.startswith("within ")}

    def is_its_own(name: str) -> bool:
        when, _, state = name.partition(" ")
        return state in ("checkpoint", "finish") or (when != "before" and not (when == "after" and state in states))

    return [i for i in every_kind(names) if is_its_own(names[i])]


CHOICES = {"points": every_point, "kinds": every_kind, "states": every_state}


def main(folder: Path, choose: Callable[[Sequence[str]], list[int]], make: Make) -> None:
    """Print the uninterrupted ledger and what became of each run that was interrupted at one of the chosen points."""
    (folder / "whole").mkdir(parents=True)
    reader, pipe = os.pipe()
    if os.fork() == 0:
        os.write(pipe, json.dumps(run(folder / "whole", None, make).names).encode())
        os._exit(0)
    os.close(pipe)
    with os.fdopen(reader) as file:
        names, results = json.loads(file.read()), []
    os.wait()
    gc.freeze()  # no child collects, and so copies, what they share
    for point in choose(names):
        point_folder = folder / f"at-{point}"
        point_folder.mkdir()
        killed = in_child(point_folder, point, make)
        if point % 3 == 2:  # the checkpoint is only a cursor: losing it as well must change nothing
            for file_name in point_folder.glob("checkpoint.db*"):
                file_name.unlink()
        resumed = in_child(point_folder, None, make)
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
    sys.stdout.write(json.dumps({"points": len(names), "whole": contents(folder / "whole"), "results": results}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), CHOICES[sys.argv[2]], make_context)

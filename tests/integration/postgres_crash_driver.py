"""A run in Postgres that is killed at one crash point after the other, its server or its driver, and goes on.

Run as `python postgres_crash_driver.py FOLDER URL EVERY WHOM`: prints one JSON object with the ledger of a run that was
left alone and, for every so many kinds of crash points, the ledger afterwards and what was repeated. WHOM is `driver`,
which another process resumes, or `server`, whose processes are all killed and which is started again under the driver.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import psycopg

from graph.context import Context, Limits
from graph.doubles import ScriptedAuthor, table_context, table_task
from graph.drive import drive
from postgres.checkpointing import LastingSaver, checkpoints
from postgres.database_address import address_of
from postgres.link import Link
from postgres.postgres_engine import PostgresEngine
from records.artefacts import ArtefactStore
from tests.integration.crash_driver import (
    CALL,
    OF_A_PROCESS,
    SPENT,
    Diary,
    FragileLedger,
    FragileSandbox,
    PaidAuthor,
    every_kind,
    repeated,
)
from tests.support.stations import ideas, writer

ROWS = {
    "runs": "id, body, status, stop_reason, pause, extensions",
    "experiments": "run_id, id, body",
    "attempts": "run_id, id, body",
    "evaluations": "key, purpose, run_id, body",
    "calls": CALL,
    "comparisons": "key, challenger, run_id, body",
    "spends": "run_id, calls, prompt_tokens, completion_tokens, usd",
    "artefacts": "digest",
    "events": "run_id, key, kind, body",
}


class ServerDiary(Diary):
    """Has the server killed at the chosen point, where the other diary kills the driver."""

    strike: Callable[[], None]

    def point(self, name: str) -> None:
        with self._lock:
            self.names.append(name)
            if len(self.names) - 1 == self._at:
                self.strike()


class FragileLasting(LastingSaver):
    """Crash points around every checkpoint."""

    diary: Diary

    def put(self, *args: Any, **options: Any) -> Any:
        self.diary.point("before checkpoint")
        config = super().put(*args, **options)
        self.diary.point("after checkpoint")
        return config


def database(url: str, name: str) -> str:
    """The address of a database with the ledger's tables; a new one the first time."""
    address = f"{url.rpartition('/')[0]}/{name}"
    with psycopg.connect(f"{url.rpartition('/')[0]}/postgres", autocommit=True) as db:
        if not db.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone():
            template = url.rpartition("/")[2]
            db.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy".encode())
    return address


def make_context(folder: Path, diary: Diary, url: str) -> Context:
    task = table_task(folder / "task", "// time_us = 100\n", "// time_us = 120\n// code = other\n")
    plain = table_context(folder, task, ScriptedAuthor(ideas, writer), Limits(generations=2, picks=2))
    plain.ledger.close()
    ledger = FragileLedger(PostgresEngine(address_of(url)))  # type: ignore[arg-type]
    ledger.diary = diary
    artefacts = ArtefactStore(None, ledger)
    author = PaidAuthor(diary, ledger, artefacts)
    return replace(plain, ledger=ledger, artefacts=artefacts, author=author, sandbox=FragileSandbox(diary))


def run(folder: Path, diary: Diary, url: str) -> list[float]:
    """Drive to the end; the seconds that each loss of the connection took."""
    context = make_context(folder, diary, url)

    def saver(link: Link) -> FragileLasting:
        fragile = FragileLasting(link)
        fragile.diary = diary
        return fragile

    drive(context, functools.partial(checkpoints, address_of(url), saver), max_concurrency=1)
    context.ledger.close()
    return list(context.ledger.engine.link.recoveries_s)  # type: ignore[attr-defined]


def contents(url: str) -> dict[str, list[Any]]:
    """The whole ledger without row numbers and times of day."""
    with psycopg.connect(url) as db:
        cursors = {table: db.execute(f"SELECT {columns} FROM {table}".encode()) for table, columns in ROWS.items()}
        cursors["calls"] = db.execute(f"SELECT {CALL} FROM calls WHERE state <> 'lost'".encode())
        cursors["spends"] = db.execute(
            SPENT.replace("round(usd", "round((usd").replace(", 9)", ")::numeric, 9)").encode()
        )
        cursors["events"] = db.execute(f"SELECT {ROWS['events']} FROM events WHERE kind NOT IN {OF_A_PROCESS}".encode())
        return {table: [*map(list, sorted(rows, key=str))] for table, rows in cursors.items()}


def in_child(work: Callable[[], object]) -> tuple[int, Any]:
    """The wait status of a child process, and what its work came to."""
    reader, pipe = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(pipe, json.dumps(work()).encode())
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
            os._exit(1)
        os._exit(0)
    os.close(pipe)
    with os.fdopen(reader) as file:
        lines = file.read()
    return os.waitpid(child, 0)[1], json.loads(lines or "null")


@contextlib.contextmanager
def striking() -> Iterator[Callable[[], None]]:
    """Asks whoever started this program to kill the server and start it again, and waits until that is done."""

    def strike() -> None:
        os.write(1, b"STRIKE\n")
        os.read(0, 1)

    yield strike


def main(folder: Path, url: str, stride: int, whom: str) -> None:
    (folder / "whole").mkdir(parents=True)
    uninterrupted = database(url, "whole")

    def played() -> list[str]:
        diary = Diary(folder / "whole", None)
        run(folder / "whole", diary, uninterrupted)
        return diary.names

    names, results = in_child(played)[1], []
    gc.freeze()
    for point in every_kind(names)[::stride]:
        point_folder, address = folder / f"at-{point}", database(url, f"at_{point}")
        point_folder.mkdir()
        with striking() as strike:
            diary = Diary(point_folder, point) if whom == "driver" else ServerDiary(point_folder, point)
            diary.strike = strike  # type: ignore[attr-defined]
            status, recoveries = in_child(functools.partial(run, point_folder, diary, address))
        if whom == "driver":
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            if point % 3 == 2:
                with checkpoints(address_of(address)) as saver:
                    saver.delete_thread("table-run")
            status, _ = in_child(functools.partial(run, point_folder, Diary(point_folder, None), address))
        else:
            killed = bool(recoveries)
        results.append(
            {
                "at": point,
                "name": names[point],
                "killed": killed,
                "resumed": status,
                "ledger": contents(address) if status == 0 else {},
                "repeated": repeated(point_folder),
                "recoveries_s": recoveries or [],
            }
        )
    os.write(
        1,
        json.dumps({"points": len(names), "whole": contents(uninterrupted), "results": results}, default=float).encode()
        + b"\n",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])

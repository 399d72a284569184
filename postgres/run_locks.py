"""Runs held by a process in Postgres: an advisory lock of a connection, which ends with it, and a row that names it."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

from records.holder import process_of, signature

if TYPE_CHECKING:
    import psycopg

PATIENCE_S = 1.0  # with the connection of a driver that was killed just now
PAUSE_S = 0.02
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_HOLDER = """SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND classid::bigint = %s AND objid::bigint = %s
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


def number_of(run_id: str) -> int:
    """Compute the run's advisory lock, of 64 bits."""
    return int.from_bytes(hashlib.sha256(f"kernel-scientist run {run_id}".encode()).digest()[:8], "big", signed=True)


def is_taken(db: psycopg.Connection, run_id: str, holder: str, lost: tuple[int, object] | None = None) -> bool:
    """Take a run's lock for this connection; False where another one keeps it.

    `lost`: pid and start of an own backend that the server may still believe to be there; it is ended.
    """
    until = time.monotonic() + PATIENCE_S
    while True:
        row = db.execute("SELECT pg_try_advisory_lock(%s)", (number_of(run_id),)).fetchone()
        if row is not None and row[0]:
            break
        if time.monotonic() > until:
            return False
        if lost is not None:
            query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s"
            db.execute(query, lost)
        time.sleep(PAUSE_S)
    db.execute(
        "INSERT INTO holders (run_id, process, who) VALUES (%s, %s, %s) ON CONFLICT (run_id) "
        "DO UPDATE SET process = excluded.process, who = excluded.who",
        (run_id, this_process(), holder),
    )
    return True


def give_back(db: psycopg.Connection, run_id: str) -> None:
    """End a run's lock."""
    db.execute("SELECT pg_advisory_unlock(%s)", (number_of(run_id),))


def driver_of(db: psycopg.Connection, run_id: str) -> int | None:
    """Find the process that holds a run; 0 where it is not of this machine, None where none does."""
    number = number_of(run_id) & 0xFFFF_FFFF_FFFF_FFFF
    row = db.execute(_HOLDER, (number >> 32, number & 0xFFFF_FFFF)).fetchone()
    return None if row is None else holder_of(db, run_id)[0]


def holder_of(db: psycopg.Connection, run_id: str) -> tuple[int, str]:
    """Find the process that took a run last, 0 where it is not of this machine, and who runs it."""
    row = db.execute("SELECT process, who FROM holders WHERE run_id = %s", (run_id,)).fetchone()
    if row is None:
        return 0, ""
    machine, _, process = row[0].partition(" ")
    return (process_of(process) if machine == _boot() else 0), row[1]


def this_process() -> str:
    """Name this process in one line: numbers alone could be those of another machine's."""
    return f"{_boot()} {signature()}"


def _boot() -> str:
    return _BOOT.read_text(encoding="ascii").strip() if _BOOT.exists() else "-"

"""The same run on SQLite and on Postgres, and what is left of it where driver or server are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.integration import crash_driver
from tests.support.postgres_server import PostgresServer, serving

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("postgres_crash_driver.py")
pytestmark = pytest.mark.skipif(find_spec("psycopg") is None, reason="the extra `postgres` is not installed")


def played(folder: Path, server: PostgresServer, stride: int, whom: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The runs that were struck at every so many kinds of points, each checked, and the one that was not."""
    process = subprocess.Popen(
        [sys.executable, DRIVER, folder, server.ledger(), str(stride), whom],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdin is not None and process.stdout is not None
        line = process.stdout.readline()
        while line == b"STRIKE\n":
            server.stop(signal.SIGKILL)
            server.start()
            process.stdin.write(b".")
            process.stdin.flush()
            line = process.stdout.readline()
    assert process.returncode == 0
    report = json.loads(line)
    for r in report["results"]:
        moment = f"{whom} killed at point {r['at']}: {r['name']}"
        assert r["killed"] and r["resumed"] == 0, moment
        assert r["ledger"] == report["whole"], moment
        assert r["repeated"] == [], moment
    return report["results"], report["whole"]


@pytest.mark.slow
def test_a_run_has_the_same_ledger_on_sqlite_and_postgres_and_after_kills_of_its_driver(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    results, uninterrupted = played(tmp_path / "postgres", postgres, 25, "driver")
    assert len(results) >= 3 and uninterrupted["attempts"]
    (tmp_path / "sqlite").mkdir()
    crash_driver.run(tmp_path / "sqlite", None, crash_driver.make_context)
    assert json.loads(json.dumps(crash_driver.contents(tmp_path / "sqlite"))) == uninterrupted


@pytest.mark.long
@pytest.mark.parametrize("whom", ["driver", "server"])
def test_no_kill_of_driver_or_server_loses_or_doubles_anything(tmp_path: Path, whom: str) -> None:
    with serving() as server:
        results, _ = played(tmp_path / "runs", server, 1 if whom == "driver" else 3, whom)
    assert len(results) > (60 if whom == "driver" else 20)
    times = sorted(t for r in results for t in r["recoveries_s"])
    print(f"{len(results)} kills of the {whom}; recoveries of {times[:1]} to {times[-1:]} s")  # noqa: T201

"""The commands on a database: what they say where it is wrong, and a run that is copied there and shown from there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from records.artefacts import ArtefactStore
from records.ledger import Ledger
from tests.support.postgres_server import PASSWORD, PostgresServer
from tests.unit.records.test_removal import fill

ROOT = Path(__file__).parents[2]
CREATE = "DO $$BEGIN CREATE ROLE {0} LOGIN PASSWORD '{0}'; EXCEPTION WHEN duplicate_object THEN NULL; END$$"
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.cli import main; main()"


def command(folder: Path, *words: str, program: str = PROGRAM, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "KERNEL_SCIENTIST_RUNS_FOLDER": str(folder / "runs"),
    }
    return subprocess.run(
        [sys.executable, "-P", "-c", program, str(ROOT), *words],
        cwd=folder,
        env={**environment, **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_run_is_copied_into_a_database_and_back_into_a_file(tmp_path: Path, postgres: PostgresServer) -> None:
    with Ledger(tmp_path / "runs" / "ledger.db") as ledger:
        fill(ledger, ArtefactStore(tmp_path / "runs" / "artefacts", ledger), "run-1", "int own = 1;\n")
    url = postgres.database()
    bare = url.replace(f":{url.partition('owner:')[2].partition('@')[0]}@", "@")
    refused = command(tmp_path, "ledger", "copy", "run-1", "--to", url)
    assert refused.returncode == 2 and "password on the command line" in refused.stderr
    copied = command(tmp_path, "ledger", "copy", "run-1", "--to", bare, "--json", PGPASSWORD=PASSWORD)
    assert copied.returncode == 0, copied.stderr
    answer = json.loads(copied.stdout)
    assert answer["to"] == bare and PASSWORD not in copied.stdout + copied.stderr
    back = command(
        tmp_path, "ledger", "copy", "last", "--to", "copy.db", "--json", KERNEL_SCIENTIST_DATABASE=url
    )  # fmt: skip
    assert json.loads(back.stdout)["runs"] == answer["runs"]
    with Ledger(tmp_path / "copy.db") as ledger:
        assert len(ledger.attempts("run-1")) == 2
    status = command(tmp_path / "runs", "status", "last", KERNEL_SCIENTIST_DATABASE=url)
    assert status.returncode == 0 and "2 attempts, 2 verified" in status.stdout


@pytest.mark.parametrize(
    ("url", "code", "sentence"),
    [
        ("mysql://host/team", 2, "KERNEL_SCIENTIST_DATABASE is not usable: it is the address of a Postgres database"),
        ("postgresql://me:s3cretword@host.invalid/team", 3, "no Postgres server answers at postgresql://me@host"),
        ("postgresql://me:s3cretword@host:none/team", 2, "the database's address is not usable"),
    ],
)
def test_a_wrong_database_is_one_sentence(tmp_path: Path, url: str, code: int, sentence: str) -> None:
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    process = command(tmp_path, "runs", KERNEL_SCIENTIST_DATABASE=url)
    assert (process.returncode, process.stdout) == (code, "") and sentence in process.stderr
    assert "s3cretword" not in process.stderr and process.stderr.count("\n") == 1


def test_without_the_extra_a_database_is_refused_in_one_sentence(tmp_path: Path) -> None:
    program = f"import sys; sys.modules['psycopg'] = None; {PROGRAM}"
    process = command(tmp_path, "runs", program=program, KERNEL_SCIENTIST_DATABASE="postgresql://me@host/team")
    assert process.returncode == 2 and "of the extra `postgres`" in process.stderr and process.stderr.count("\n") == 1


def of_another_program(server: PostgresServer) -> str:
    url = server.database()
    server.execute(url.rpartition("/")[2], "CREATE TABLE customers (id int)")
    return url


def of_a_newer_version(server: PostgresServer) -> str:
    url = server.ledger()
    server.execute(url.rpartition("/")[2], "UPDATE ledger_schema SET version = version + 1")
    return url


def without_rights(server: PostgresServer) -> str:
    server.execute("postgres", CREATE.format("guest"))
    return server.url(server.database().rpartition("/")[2], "guest", "guest")


def of_a_reader(server: PostgresServer) -> str:
    name = server.ledger().rpartition("/")[2]
    server.execute("postgres", CREATE.format("reader"))
    server.execute(name, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    return server.url(name, "reader", "reader")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (of_another_program, "holds tables of another program"),
        (of_a_newer_version, "has schema 13, this program knows 12"),
        (without_rights, "the role guest lacks a right"),
        (of_a_reader, "the role reader lacks a right"),
        (lambda server: server.url("postgres", password="wrong"), "does not let this user in"),
        (lambda server: server.url("absent"), "does not let this user in"),
    ],
)
def test_a_database_that_cannot_take_a_run_is_one_sentence(
    tmp_path: Path, postgres: PostgresServer, make: Callable[[PostgresServer], str], sentence: str
) -> None:
    with Ledger(tmp_path / "runs" / "ledger.db") as ledger:
        fill(ledger, ArtefactStore(tmp_path / "runs" / "artefacts", ledger), "run-1", "int own = 1;\n")
    parts = urlsplit(make(postgres))
    bare = f"postgresql://{parts.username}@{parts.hostname}:{parts.port}{parts.path}"
    process = command(tmp_path, "ledger", "copy", "run-1", "--to", bare, PGPASSWORD=unquote(str(parts.password)))
    assert (process.returncode, process.stdout) == (3, "") and sentence in process.stderr, process.stderr
    assert process.stderr.count("\n") == 1 and PASSWORD not in process.stderr


def test_who_may_only_read_can_look_and_is_promised_no_run(
    tmp_path: Path, postgres: PostgresServer, compiler_cache: Path
) -> None:
    url = of_a_reader(postgres)
    process = command(tmp_path, "runs", KERNEL_SCIENTIST_DATABASE=url)
    assert (process.returncode, process.stderr) == (0, "")
    words = ("run", "row_softmax", "--on", "lab", "--author", "playbook", "--generations", "1", "--picks", "1")
    variables = {"KERNEL_SCIENTIST_DATABASE": url, "KERNEL_SCIENTIST_CACHE_FOLDER": str(compiler_cache)}
    process = command(tmp_path, *words, **variables)
    assert process.returncode == 3 and "the role reader lacks a right" in process.stderr
    assert "resume" not in process.stderr and process.stderr.count("\n") == 1

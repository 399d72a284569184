"""A Postgres server of the tests' own, in a temporary folder, on a Unix socket and a port of this machine."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PLACES = (*map(Path, os.environ.get("PATH", "").split(":")), *sorted(Path("/usr/lib/postgresql").glob("*/bin")))
UNPRIVILEGED = ("postgres", "nobody")  # the server refuses to run as root
PASSWORD = "correct-horse%/@:battery"
WAIT_S = 60.0


def programs() -> Path | None:
    """The folder of initdb and postgres; None where they are not installed, or nobody may run them."""
    folder = next((p for p in PLACES if (p / "initdb").exists() and (p / "postgres").exists()), None)
    return folder if os.getuid() or _user() else None


def _user() -> pwd.struct_passwd | None:
    for name in UNPRIVILEGED:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return None


class PostgresServer:
    """One server; each test gets a database of its own from `database`."""

    def __init__(self, folder: Path, is_durable: bool = False) -> None:
        binaries = programs()
        assert binaries is not None
        self.folder, self._programs = folder, binaries
        self._numbers = itertools.count()
        self._ledger: str | None = None
        self._who = {} if os.getuid() else {"user": "postgres", "group": _group(), "extra_groups": ()}
        if self._who:
            self._who["user"] = _name()
            shutil.chown(folder, _name())
            folder.chmod(0o755)
        with socket.create_server(("127.0.0.1", 0)) as door:
            self.port = door.getsockname()[1]
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._run("initdb", "-D", str(self.data), "-U", "owner", "-A", "scram-sha-256", "-E", "UTF8",
                  "--locale=C", "-N", "--pwfile", str(secret))  # fmt: skip
        settings = {
            "listen_addresses": "'127.0.0.1'",
            "port": str(self.port),
            "unix_socket_directories": f"'{folder}'",
            "fsync": "on" if is_durable else "off",
            "shared_buffers": "16MB",
            "max_connections": "100",
            "restart_after_crash": "on",
            "deadlock_timeout": "100ms",
        }
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self.data], stdin=-3, stdout=log, stderr=log, **self._who
            )
        until = time.monotonic() + WAIT_S
        import psycopg

        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.Error:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise AssertionError((self.folder / "log").read_text()[-2000:]) from None
                time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End it at once, as a crash does; SIGINT ends it in order."""
        assert self._process is not None
        if how == signal.SIGKILL:  # of all its processes, as a machine's loss of power
            for pid in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        else:
            self._process.send_signal(how)
        self._process.wait()

    def processes(self) -> list[int]:
        """The numbers of its processes, the first one's first."""
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        return [self._process.pid, *map(int, children)]

    def url(self, database: str, user: str = "owner", password: str = PASSWORD) -> str:
        from urllib.parse import quote

        return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def database(self, template: str = "template0", encoding: str = "UTF8") -> str:
        """The address of a new and empty database."""
        name = f"d{next(self._numbers)}"
        self.execute("postgres", f"CREATE DATABASE {name} TEMPLATE {template} ENCODING '{encoding}' STRATEGY file_copy")
        return self.url(name)

    def ledger(self) -> str:
        """The address of a new database with the ledger's tables."""
        from postgres.database_address import address_of
        from postgres.postgres_engine import PostgresEngine

        if self._ledger is None:
            self._ledger = self.database()
            PostgresEngine(address_of(self._ledger)).close()
        return self.database(self._ledger.rpartition("/")[2])

    def execute(self, database: str, query: str) -> list[tuple[object, ...]]:
        """One statement as the owner, outside of any transaction."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as db:
            cursor = db.execute(query.encode())
            return cursor.fetchall() if cursor.description else []

    def _run(self, program: str, *words: str) -> None:
        subprocess.run([self._programs / program, *words], check=True, capture_output=True, cwd="/", **self._who)


def _name() -> str:
    user = _user()
    assert user is not None
    return user.pw_name


def _group() -> int:
    user = _user()
    assert user is not None
    return user.pw_gid


@contextlib.contextmanager
def serving(is_durable: bool = False) -> Iterator[PostgresServer]:
    """A server while the block runs."""
    parent = "/dev/shm" if not is_durable and os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="ks-pg-", dir=parent) as folder:
        server = PostgresServer(Path(folder), is_durable)
        try:
            yield server
        finally:
            server.stop(signal.SIGINT)

"""The database of the settings, opened; what knows Postgres is imported only here, and only where it is asked for."""

from __future__ import annotations

import os
import pwd
import socket
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from pydantic import SecretStr

from records.errors import SettingsError, UsageError
from records.ledger import Ledger

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

SCHEMES = ("postgresql://", "postgres://")
NEEDS = ("psycopg", "langgraph.checkpoint.postgres")


def open_shared(database: SecretStr, create: bool = True) -> Ledger:
    """Open the ledger of a Postgres database.

    Raises:
        NoRecords: it has none, and is not to get one.
        LedgerError: it cannot be reached or used.
        SettingsError: the address is none, or the extra is not installed.
    """
    refuse_missing()
    from postgres.database_address import address_of
    from postgres.postgres_engine import PostgresEngine

    return Ledger(PostgresEngine(address_of(database.get_secret_value()), person(), create), person())


def open_checkpoints(database: SecretStr) -> AbstractContextManager[BaseCheckpointSaver[Any]]:
    """Open the checkpointer of a Postgres database."""
    refuse_missing()
    from postgres.checkpointing import checkpoints
    from postgres.database_address import address_of

    return checkpoints(address_of(database.get_secret_value()))


def refuse_missing() -> None:
    """SettingsError where the programs for Postgres are not installed."""
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        raise SettingsError(
            f"a Postgres database needs {' and '.join(missing)}, of the extra `postgres`: install it with "
            "`.venv/bin/python -m pip install -e '.[postgres]'`, or unset KERNEL_SCIENTIST_DATABASE"
        )


def refuse_password(url: str) -> None:
    """UsageError where an address that was typed holds a password: everybody on the machine can read it there."""
    parts = urlsplit(url)
    if ":" in parts.netloc.rpartition("@")[0] or "password" in parse_qs(parts.query):
        raise UsageError(
            "a password on the command line can be read by everybody on this machine: leave it out of the address, "
            "and put it into ~/.pgpass or PGPASSWORD"
        )


def person() -> str:
    """User and machine, by which a team knows who paid for a verdict."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container's number without a name
        name = str(os.getuid())
    return f"{name}@{socket.gethostname()}"

"""The address of a database: as libpq takes it, and as a message may show it."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from records.errors import SettingsError

SCHEMES = ("postgresql://", "postgres://")
_HOW = "write postgresql://USER@HOST:PORT/DATABASE, and leave the password to ~/.pgpass or put it behind USER:"


@dataclass(frozen=True)
class DatabaseAddress:
    """The address of a database and the way in. Only `shown_url` may be shown."""

    url: str = field(repr=False)
    shown_url: str
    user: str
    passwords: tuple[str, ...] = field(repr=False, default=())  # as written and as meant


def address_of(url: str) -> DatabaseAddress:
    """Read an address; SettingsError, which shows nothing of it, where it is none."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    if not url.startswith(SCHEMES):
        raise SettingsError(f"the database's address is not usable: {_HOW}")
    try:
        parts = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    except psycopg.Error:  # whose text may hold a part of the password
        raise SettingsError(f"the database's address is not usable: {_HOW}, its special signs as %XX") from None
    if not all(port.isdecimal() for port in parts.get("port", "0").split(",")):
        raise SettingsError(f"the database's address is not usable, its port is no number: {_HOW}")
    if not parts.get("dbname"):
        raise SettingsError(f"the database's address names no database: {_HOW}")
    host, port, user = parts.get("host", ""), parts.get("port", ""), parts.get("user", "")
    host_port = "" if host.startswith("/") else host + (f":{port}" if port else "")
    inside = f"?host={host}" + (f"&port={port}" if port else "") if host.startswith("/") else ""
    shown_url = f"postgresql://{user}{'@' if user else ''}{host_port}/{parts['dbname']}{inside}"
    password = parts.get("password", "")
    texts = (password, quote(password, safe=""), *_passwords_in(url)) if password else ()
    return DatabaseAddress(url, shown_url, user, tuple(dict.fromkeys(text for text in texts if text)))


def _passwords_in(url: str) -> tuple[str, ...]:
    """Return the password of an address, as it is written and with its %XX read."""
    before, at_sign, _ = url.partition("://")[2].rpartition("@")
    text = before.partition(":")[2] if at_sign else ""
    return text, unquote(text)

"""Addresses that may hold a user and a password: what may be shown of them, and what must not."""

from __future__ import annotations

import base64
from urllib.parse import parse_qsl, unquote, urlsplit

_WORDS = ("password", "passwd", "pwd", "token", "key", "secret", "sig", "auth", "credential")


def shown_address(url: str) -> str:
    """Write the address for people and files: no user, password, query or fragment; the text itself where it has none.

    An address that cannot be read is shown by its scheme alone.
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
        host = parts.hostname or ""
    except ValueError:
        return f"{url.partition('://')[0]}://…"
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{port}{parts.path}" if parts.scheme and host else url.partition("?")[0]


def secrets_of(url: str) -> tuple[str, ...]:
    """List the parts of an address that must never be printed or stored: the whole, the password, a key in its query.

    Each as it is written and as it is meant, and user and password as a request's header has them.
    """
    user, _, password = _before_host(url).partition(":")
    query = url.partition("?")[2].partition("#")[0]
    query_secrets = [value for name, value in parse_qsl(query) if any(word in name.lower() for word in _WORDS)]
    raw = [part.partition("=")[2] for part in query.split("&") if unquote(part.partition("=")[2]) in query_secrets]
    alone = [user] if user and not password and url.startswith("http") else []  # a token that stands for a user
    texts = [text for text in (password, *alone, *query_secrets, *raw) if text]
    if not texts:
        return ()
    header = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode() if user else ""
    return tuple(dict.fromkeys(form for text in (url, *texts, header) if text for form in (text, unquote(text))))


def _before_host(url: str) -> str:
    """Return user and password as they are written; a slash or a question mark may stand in a careless password."""
    return url.partition("://")[2].rpartition("@")[0]

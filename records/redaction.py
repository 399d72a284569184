"""Removal of keys and home paths from texts that leave the ledger: reports, prompts, lists."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from urllib.parse import quote

BLOT = "[removed]"
SHORTEST = 6  # characters of a key that is looked for: a shorter one would blot out words


def redacted(text: str, secrets: Sequence[str], home: str) -> str:
    """Redact the text: without keys, and with `~` for the home folder."""
    for secret in secrets:
        if len(secret) >= SHORTEST:
            for form in _forms(secret):
                text = text.replace(form, BLOT)
    home = home.rstrip("/")
    return text.replace(home, "~") if home else text


@cache
def _forms(secret: str) -> tuple[str, ...]:
    """List the secret as it is, as an address has it, in base64 at each place it may begin, and backwards."""
    data = secret.encode("utf-8", "replace")
    coded = {base64.b64encode(b" " * lead + data)[-(-8 * lead // 6) :].decode().rstrip("=")[:-1] for lead in range(3)}
    forms = (secret, quote(secret, safe=""), secret[::-1], *sorted(coded))
    return tuple(dict.fromkeys(form for form in forms if len(form) >= SHORTEST))

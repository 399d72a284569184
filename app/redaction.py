"""Removal of keys and home paths from texts that leave the ledger: reports, prompts, lists."""

from __future__ import annotations

from collections.abc import Sequence

BLOT = "[removed]"
SHORTEST = 6  # characters of a key that is looked for: a shorter one would blot out words


def redacted(text: str, secrets: Sequence[str], home: str) -> str:
    """The text without keys, and with `~` for the home folder."""
    for secret in secrets:
        if len(secret) >= SHORTEST:
            text = text.replace(secret, BLOT)
    home = home.rstrip("/")
    return text.replace(home, "~") if home else text

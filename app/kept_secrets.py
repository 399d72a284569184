"""Secrets that stand in the environment and in `.env` beside our settings: other programs' keys, proxies, databases.

This program never uses them, but an error text, a child process or a model may bring one along. They are known by one
rule: the variable's name says what it holds, or its value is an address with a password.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from records.address import secrets_of

LEAST = 12  # characters: a shorter value may be a word of an honest text
_NAMED = re.compile(
    r"(?:^|_)(?:\w*KEY|\w*TOKEN|SECRET|\w*PASSWORD|PASSWD|PASSPHRASE|PWD|CREDENTIALS?|PAT)(?:_\d+)?$", re.I
)
_PLACES = frozenset({"PWD", "OLDPWD"})


def is_secret(name: str, value: str) -> bool:
    """Tell whether a variable holds a secret."""
    return bool(_named(name, value) or secrets_of(value))


def secrets_in(variables: Mapping[str, str]) -> tuple[str, ...]:
    """List the secrets of some variables, with the passwords in addresses in all their forms."""
    found = [value for name, value in variables.items() if _named(name, value)]
    found += [part for value in variables.values() if "://" in value for part in secrets_of(value)]
    return tuple(dict.fromkeys(found))


def around() -> tuple[str, ...]:
    """List those of this process and of `.env` in the current folder."""
    return secrets_in({**_stored(), **os.environ})


def without_secrets() -> dict[str, str]:
    """Copy the environment for a child that asks no service: nothing in it that only a service needs."""
    return {name: value for name, value in os.environ.items() if not is_secret(name, value) and "HEADERS" not in name}


def _named(name: str, value: str) -> bool:
    """Tell whether the name says so; the place of a file is none, nor what is too short to be one."""
    is_place = value.startswith(("/", "~")) and Path(value).expanduser().exists()
    return len(value) >= LEAST and name.upper() not in _PLACES and bool(_NAMED.search(name)) and not is_place


def _stored() -> dict[str, str]:
    path = Path(".env")
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    return {name: value for name, value in dotenv_values(path, encoding="utf-8").items() if value}

"""The program of the limited process that reads TOML: a length and a text in, a length and JSON out, until the end.

Run by its path, without the site's packages: it imports the standard library alone and opens no file.
"""

from __future__ import annotations

import json
import struct
import sys
import tomllib
from typing import Any

DEPTH = 12  # tables and lists within each other; a struct in a body of a loop stands ten deep
DIGITS = 40  # no integer of a plan or a task has more


def read(text: str) -> dict[str, Any]:
    """Read the table, or tell what is wrong with the text."""
    try:
        table = tomllib.loads(text)
        _check(table, DEPTH)
    except tomllib.TOMLDecodeError as error:
        return {"error": str(error)}
    except (ValueError, OverflowError):
        return {"error": "a number or a date has a form that nobody needs here", "line": 1}
    except RecursionError:
        return {"error": "nested too deeply", "line": 1}
    return {"table": table}


def _check(value: Any, depth: int) -> None:
    if not depth:
        raise RecursionError
    if isinstance(value, dict):
        for member in value.values():
            _check(member, depth - 1)
    elif isinstance(value, list):
        for member in value:
            _check(member, depth - 1)
    elif isinstance(value, int):
        if value.bit_length() > 3 * DIGITS:
            raise ValueError
    elif not isinstance(value, (str, float)):
        raise ValueError  # a date or a time


def serve() -> None:
    """Answer texts until the other side is gone."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while len(head := requests.read(4)) == 4:
        text = requests.read(struct.unpack("<I", head)[0]).decode("utf-8", errors="replace")
        answer = json.dumps(read(text)).encode()
        answers.write(struct.pack("<I", len(answer)) + answer)
        answers.flush()


if __name__ == "__main__":
    serve()

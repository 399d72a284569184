"""One table of a task.toml, taken apart field by field."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

from records.errors import TaskError

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class Table:
    """One TOML table with its place in the file; what is taken from it is checked, what is left over is refused."""

    def __init__(self, path: Path, label: str, data: object) -> None:
        self.path, self.label = path, label
        if not isinstance(data, dict):
            self.fail("must be a table")
        self.left: dict[str, Any] = dict(cast(dict[str, Any], data))

    def fail(self, message: str) -> NoReturn:
        """Raise the TaskError for this table."""
        raise TaskError(f"{self.path}: {self.label + ' ' if self.label else ''}{message}")

    def wrong(self, key: str, message: str) -> NoReturn:
        """Raise the TaskError for one field."""
        self.fail(f"field {key!r} {message}")

    def take(self, key: str, default: object = None) -> Any:
        """Take the field's raw value; without a default it must be there."""
        if key not in self.left and default is None:
            self.fail(f"field {key!r} is missing")
        return self.left.pop(key, default)

    def text(self, key: str, default: str | None = None) -> str:
        """Read a string that is not blank."""
        value = self.take(key, default)
        if not isinstance(value, str) or not value.strip():
            self.wrong(key, f"must be a non-empty string, not {value!r}")
        return value.strip()

    def name(self, key: str) -> str:
        """Read an identifier."""
        value = self.text(key)
        if not NAME.fullmatch(value):
            self.wrong(key, f"must be a name of letters, digits and underscores, not {value!r}")
        return value

    def choice(self, key: str, allowed: Sequence[str], default: str | None = None) -> str:
        """Read one of the allowed words."""
        value = self.text(key, default)
        if value not in allowed:
            self.wrong(key, f"is {value!r}; it must be one of {', '.join(allowed)}")
        return value

    def number(self, key: str, default: float | None = None, low: float = 0.0, inclusive: bool = False) -> float:
        """Read a finite number above `low`, or from `low` where inclusive."""
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            self.wrong(key, f"must be a number, not {value!r}")
        if value < low or (value == low and not inclusive):
            self.wrong(key, f"must be {'at least' if inclusive else 'above'} {low:g}, not {value!r}")
        return float(value)

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """Read an integer in the range."""
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.wrong(key, f"must be an integer from {low} to {high}, not {value!r}")
        return value

    def truth(self, key: str, default: bool) -> bool:
        """Read true or false."""
        value = self.left.pop(key, default)
        if not isinstance(value, bool):
            self.wrong(key, f"must be true or false, not {value!r}")
        return value

    def strings(self, key: str, least: int = 1) -> tuple[str, ...]:
        """Read a list of non-empty strings, of one at least where nothing else is said."""
        value = self.take(key)
        is_list = isinstance(value, list) and len(value) >= least
        if not is_list or not all(isinstance(v, str) and v.strip() for v in value):
            self.wrong(key, f"must be a list of {'at least one string' if least else 'strings'}, not {value!r}")
        return tuple(v.strip() for v in value)

    def tables(self, key: str) -> list[Table]:
        """Read an array of at least one table."""
        value = self.take(key)
        if not isinstance(value, list) or not value:
            self.wrong(key, f"must be given as [[{key}]] at least once")
        return [Table(self.path, f"[[{key}]] number {i}:", item) for i, item in enumerate(value, 1)]

    def table(self, key: str, required: bool) -> Table:
        """Read one sub-table, empty where it may be left out."""
        return Table(self.path, f"[{key}]", self.take(key, None if required else {}))

    def close(self) -> None:
        """Refuse fields that were not taken."""
        if self.left:
            self.fail(f"has the unknown field {', '.join(repr(k) for k in self.left)}")

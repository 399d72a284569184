"""A target file: one's own figures for a target's data, and factors for the lab's times, as `calibrate` writes them."""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from records.errors import SettingsError

if TYPE_CHECKING:
    from records.agreement import Factor
    from sandbox.target import Target

OWN = ("target", "factors", "rows")  # the other tables are the target's


@dataclass(frozen=True)
class TargetFile:
    """Changes of one target that a file holds."""

    target: str
    factors: Mapping[str, float]  # of predicted times, by the resource that binds them
    tables: Mapping[str, Mapping[str, float]]  # such as memory: only the figures that differ
    digest: str  # SHA-256 of all of it: times under another one are others


def read_target_file(path: Path) -> TargetFile:
    """Read the file; SettingsError in one sentence where it is none."""
    try:
        content = path.read_bytes()
        document = tomllib.loads(content.decode("utf-8"))
    except OSError as error:
        raise SettingsError(f"the target file {path} cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"the target file {path} is no TOML ({error})") from None
    target = document.get("target")
    if not isinstance(target, str) or not target:
        raise SettingsError(f'the target file {path} does not say its target: begin it with target = "mi300x"')
    tables = {name: _figures(path, name, table) for name, table in document.items() if name not in OWN}
    factors = _figures(path, "factors", document.get("factors", {}))
    return TargetFile(target, factors, tables, hashlib.sha256(content).hexdigest())


def _figures(path: Path, name: str, table: Any) -> dict[str, float]:
    if not isinstance(table, dict):
        raise SettingsError(f"the target file {path} has {name}, which is no table of figures")
    for key, value in table.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value <= 0:
            raise SettingsError(f"the target file {path} has {name}.{key} = {value!r}; it must be a number above 0")
    return table


def overlaid(target: Target, changes: TargetFile) -> Target:
    """Put the file's figures in place of the target's own; SettingsError for a figure that it does not have."""
    if changes.target != target.name:
        return target
    values = {f.name: getattr(target, f.name) for f in fields(target)}
    for name, table in changes.tables.items():
        figures = values.get(name)
        if not isinstance(figures, Mapping):
            raise SettingsError(f"the target {target.name} has no table {name}, which the target file gives figures of")
        unknown = sorted(table.keys() - figures.keys())
        if unknown:
            raise SettingsError(
                f"the target {target.name} has no figure {name}.{unknown[0]}; the target file gives one"
            )
    changed: dict[str, Any] = {name: {**values[name], **table} for name, table in changes.tables.items()}
    return replace(target, **changed)


def target_file_text(target: str, fitted: Sequence[Factor], rows: Mapping[str, str | int | float]) -> str:
    """Write the file that `calibrate` writes: the factors, and what was measured to find them."""
    lines = [
        "# Factors for the lab's predicted times by the resource that binds them, from own measurements.",
        "# It is used where KERNEL_SCIENTIST_TARGET_FILE names it; `kernel-scientist calibrate` wrote it.",
        f"target = {_quoted(target)}",
        "",
        "[factors]",
        *(f"{_quoted(f.resource)} = {f.factor:.4g}  # {f.count} measured" for f in fitted),
        "",
        "[[rows]]",
        *(f"{name} = {_quoted(value) if isinstance(value, str) else f'{value:.4g}'}" for name, value in rows.items()),
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = "".join(c if c.isprintable() else " " for c in text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

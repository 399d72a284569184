"""Kernels with their measured times: from a table that a person wrote, or from the runs of a ledger."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from records.artefacts import ArtefactStore
from records.errors import UsageError
from records.ledger import Ledger
from sandbox.candidate.kernel_file import read_source

COLUMNS = ("kernel", "task", "case", "measured_us")
OPTIONAL = ("tunables", "cache")


@dataclass(frozen=True)
class MeasuredKernel:
    """One kernel at one choice of tunables, with its times by case."""

    name: str
    source: str
    task: str  # a name, or the path of a folder
    tunables: Mapping[str, int] = field(default_factory=dict)
    cold_us: Mapping[str, float] = field(default_factory=dict)
    warm_us: Mapping[str, float] = field(default_factory=dict)
    run_id: str = ""  # whose attempt it is


def kernels_in_table(path: Path) -> list[MeasuredKernel]:
    """Read the kernels of a TSV file with a line of headings; UsageError, with the row, for what is none.

    Paths in it are relative to its folder. `cache` is cold, as it is when not given, or warm.
    """
    lines = [line for line in read_source(path).splitlines() if line.strip() and not line.startswith("#")]
    headings, *rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)) or [[]]
    if not set(COLUMNS) <= set(headings) or not set(headings) <= {*COLUMNS, *OPTIONAL}:
        headings_text = f"{', '.join(COLUMNS)}, and maybe {', '.join(OPTIONAL)}"
        raise UsageError(f"{path} must begin with the headings {headings_text}, with tabs between them")
    cold: dict[tuple[str, str, str], dict[str, float]] = {}
    warm: dict[tuple[str, str, str], dict[str, float]] = {}
    for number, fields_of in enumerate(rows, 1):
        row_name = f"row {number} of {path}"
        if len(fields_of) != len(headings):
            raise UsageError(f"{row_name} has {len(fields_of)} fields, the headings are {len(headings)}")
        row = dict(zip(headings, fields_of, strict=True))
        key = row["kernel"], row["task"], row.get("tunables", "")
        cold.setdefault(key, {})
        times = (warm if _is_warm(row_name, row.get("cache") or "cold") else cold).setdefault(key, {})
        if row["case"] in times:
            raise UsageError(f"{row_name} measures {row['case']} again; give one time for each kernel and case")
        times[row["case"]] = _time(row_name, row["measured_us"])
    return [_measured_kernel(path, key, cold[key], warm.get(key, {})) for key in cold]


def _measured_kernel(
    path: Path, key: tuple[str, str, str], cold: Mapping[str, float], warm: Mapping[str, float]
) -> MeasuredKernel:
    kernel, task, tunables = key
    try:
        chosen = {name.strip(): int(value) for name, _, value in (p.partition("=") for p in tunables.split(",") if p)}
    except ValueError:
        raise UsageError(f"{path} has the tunables {tunables!r}; write NAME=VALUE,NAME=VALUE") from None
    beside = path.parent / task
    task_path = str(beside) if (beside / "task.toml").is_file() else task
    return MeasuredKernel(kernel, read_source(path.parent / kernel), task_path, chosen, cold, warm)


def _is_warm(row_name: str, word: str) -> bool:
    if word not in ("cold", "warm"):
        raise UsageError(f"{row_name} says {word!r} of the cache; it is cold or warm")
    return word == "warm"


def _time(row_name: str, text: str) -> float:
    try:
        time_us = float(text)
    except ValueError:
        time_us = math.nan
    if not math.isfinite(time_us) or time_us <= 0:
        raise UsageError(f"{row_name} has {text!r} for a time; it must be a number of microseconds above 0")
    return time_us


def kernels_in_ledger(ledger: Ledger, artefacts: ArtefactStore, target: str) -> Iterator[MeasuredKernel]:
    """Yield the accepted kernels of all runs for a target whose times were measured, each once."""
    keys = set[str]()
    for run in ledger.runs():
        for attempt in ledger.attempts(run.id) if run.target == target else ():
            evaluation = ledger.evaluation(attempt.evaluation_key)
            if (
                attempt.status != "accepted"
                or evaluation is None
                or evaluation.time_kind != "measured"
                or evaluation.key in keys
            ):
                continue
            keys.add(evaluation.key)
            times = {m.case: m.time_us for m in evaluation.measurements if m.time_us > 0}
            text, name = artefacts.text(attempt.source), f"{run.id} {attempt.id}"
            yield MeasuredKernel(name, text, run.task, attempt.tunables, times, run_id=run.id)

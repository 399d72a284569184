"""One function's way to its result, by the commands of a user, and what is stored of it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.everyday.functions import FOLDER, Function
from benchmarks.folders import DATA
from kernel_scientist.own_packages import NAMES
from records.files import write_whole

ROOT = FOLDER.parent.parent
FILE = DATA / "everyday.json"
BEFORE, NOW = "before", "now"


@dataclass(frozen=True)
class Outcome:
    """What the commands gave for one function; times are predicted."""

    digest: str  # of the program, the function and its textbook kernel
    textbook_us: float | None = None  # None: the lab refuses it, or there is no task
    result_us: float | None = None
    seed_us: float | None = None  # of the slowest seed
    share: float | None = None  # of the roofline, of the result
    textbook_share: float | None = None
    time_error: float = 0.0  # of a ratio of both times
    seconds: float = 0.0
    fault: str = ""  # the sentence with which a command ended


@dataclass(frozen=True)
class Timing:
    """A kernel's time as `records.ranking` compares it."""

    geomean_us: float | None
    time_error: float
    time_kind: str | None = "predicted"


class Refused(Exception):
    """A command said no; the text is its sentence."""


def digest(function: Function) -> str:
    """Digest what decides an outcome: the product's text, the function and its textbook kernel."""
    total = hashlib.sha256()
    for package in NAMES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                total.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    for path in (FOLDER / function.file, function.textbook):
        total.update(path.read_bytes() if path.is_file() else b"")
    total.update(repr(function).encode())
    return total.hexdigest()[:12]


def command(words: Sequence[str], folder: Path) -> dict[str, Any]:
    """Run the program with --json in a folder and read its answer; `Refused` where it gives none."""
    argv = [sys.executable, "-P", "-m", "app", *words, "--json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    start = process.stdout.find("{")
    answer: dict[str, Any] = json.loads(process.stdout[start:]) if start >= 0 else {}
    if not answer or "error" in answer:
        raise Refused(answer.get("error") or process.stderr.strip()[-300:])
    return answer


def timed(kernel: Path, folder: Path) -> tuple[float, float, float]:
    """Judge a kernel on the task in `folder`: time in us, share of the roofline, the clock's error."""
    verdict = command(["check", str(kernel), "--task", str(folder / "task")], folder)
    if not verdict["accepted"]:
        raise Refused(f"{kernel.name}: {'; '.join(finding['message'] for finding in verdict['findings'])}")
    [case] = [case for case in verdict["cases"] if case["time_us"]]
    return case["time_us"], case["roofline_fraction"], case["time_error"]


def measured(function: Function, public: Path | None, folder: Path) -> Outcome:
    """Import a function, search with the playbook under the default limits, and judge both kernels."""
    begun, row, faults = time.monotonic(), dict[str, Any](), list[str]()

    def imported() -> None:
        source = ["--from", function.source(public), *function.options()]
        command(["tasks", "new", "task", *source, "--out", str(folder / "task")], folder)

    def judged() -> None:
        row["textbook_us"], row["textbook_share"], row["time_error"] = timed(function.textbook, folder)

    def searched() -> None:
        best = command(["run", str(folder / "task"), "--author", "playbook", "--on", "lab"], folder)["best"]
        row["seed_us"] = best["geomean_us"] * best["speedup_over_naive_seed"]
        row["result_us"], row["share"], _ = timed(Path(best["path"]), folder)

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for step in (imported, judged, searched):
        try:
            step()
        except (Refused, OSError, KeyError, TypeError) as error:
            faults.append(_without_folders(str(error) or type(error).__name__, (folder, public or folder)))
        if step is imported and faults:
            break
    plain = {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}
    seconds = round(time.monotonic() - begun)
    return Outcome(digest(function), seconds=seconds, fault="; ".join(faults), **plain)


def _without_folders(text: str, folders: Sequence[Path]) -> str:
    """Leave this machine's paths out of a sentence that is stored."""
    for folder in folders:
        text = text.replace(f"{folder}/", "")
    return text


def stored() -> dict[str, dict[str, Outcome]]:
    """Read the outcomes by column and function."""
    columns = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return {column: {name: Outcome(**row) for name, row in columns.get(column, {}).items()} for column in (BEFORE, NOW)}


def keep(column: str, name: str, outcome: Outcome) -> None:
    """Put one outcome in the place of the last one."""
    columns: Mapping[str, dict[str, Outcome]] = stored()
    columns[column][name] = outcome
    plain = {key: {name: asdict(row) for name, row in sorted(rows.items())} for key, rows in columns.items()}
    write_whole(FILE, (json.dumps(plain, indent=1, sort_keys=True) + "\n").encode(), is_public=True)

"""Rows of a long benchmark, kept in a file as they come: an interrupted run says what it has, and the next goes on.

They are kept under the product's own text and the benchmark's options, so a run goes on with its own rows only. The
file of a run that came to its end is gone. Progress goes to the standard error.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".cache" / "benchmarks" / "rows"
PRODUCT = ("sandbox", "tasks", "records")
PARTIAL = 3  # the exit code of a benchmark that was interrupted: its figures are no record

Row = dict[str, Any]
Step = tuple[str, Callable[[], Row]]  # the row's name, once in a benchmark, and what makes it


class KeptRows:
    """The rows of one benchmark with these options."""

    def __init__(self, name: str, options: Sequence[object], seconds: float, folder: Path = FOLDER) -> None:
        """Begin no further row after `seconds`; 0: no limit."""
        key = hashlib.sha256(json.dumps([product_digest(), list(options)]).encode()).hexdigest()
        self._path = folder / f"{name}-{key[:16]}.jsonl"
        self._seconds, self.is_whole = seconds, False

    def collect(self, steps: Sequence[Step], workers: int = 1) -> list[Row]:
        """Collect all rows in the steps' order; those made so far where the time is up or the user interrupts.

        `workers` of them are made side by side, by threads.
        """
        row_by_name, begun = self._known(), time.monotonic()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text("".join(_line(name, row) for name, row in row_by_name.items()), encoding="utf-8")
        left = deque(step for step in steps if step[0] not in row_by_name)
        with ThreadPoolExecutor(workers) as pool:
            try:
                making = set[Future[tuple[str, Row]]]()
                while making or left:
                    if 0 < self._seconds < time.monotonic() - begun:
                        left.clear()
                    while left and len(making) < workers:
                        making.add(pool.submit(_named_row, left.popleft()))
                    finished, making = wait(making, return_when=FIRST_COMPLETED)
                    for name, row in (future.result() for future in finished):
                        row_by_name[name] = row
                        self._append(name, row)
                        say(f"{len(row_by_name)} of {len(steps)}, {time.monotonic() - begun:.0f} s: {name}")
            except KeyboardInterrupt:
                say("interrupted")
        rows = [row_by_name[name] for name, _ in steps if name in row_by_name]
        self.is_whole = len(rows) == len(steps)
        if self.is_whole:
            self._path.unlink(missing_ok=True)
        else:
            say(f"{len(rows)} of {len(steps)} rows so far; the same command goes on from there")
        return rows

    def code(self, code: int) -> int:
        """Return the benchmark's exit code: its own where all rows were made."""
        return code if self.is_whole else PARTIAL

    def _known(self) -> dict[str, Row]:
        if not self._path.is_file():
            return {}
        lines = self._path.read_text(encoding="utf-8").splitlines(keepends=True)
        pairs = (json.loads(line) for line in lines if line.endswith("\n"))  # one cut by a kill is made again
        return {pair["name"]: pair["row"] for pair in pairs}

    def _append(self, name: str, row: Row) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line(name, row))


def _named_row(step: Step) -> tuple[str, Row]:
    name, make = step
    return name, make()


def _line(name: str, row: Row) -> str:
    return json.dumps({"name": name, "row": row}) + "\n"


def say(text: str) -> None:
    """Print one line of progress."""
    print(text, file=sys.stderr, flush=True)


def product_digest() -> str:
    """Compute the SHA-256 of the text of what judges: rows of another version are no rows of this one."""
    digest = hashlib.sha256()
    for package in PRODUCT:
        for path in sorted((ROOT / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()

"""The common part of collectors on a GPU machine: a clock, a description of the machine, a file saved often."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.folders import DATA
from benchmarks.packed import located, read_text

_QUERY = "name,driver_version,clocks.max.sm,memory.total"


def stored(name: str, collector: str) -> dict[str, Any]:
    """Read a collector's stored data; the program ends with one sentence where there are none yet."""
    path = located(DATA / name)
    if not path.is_file():
        sys.exit(
            f"{name} is not in benchmarks/data: it has not been measured yet; run `{collector}` on a machine "
            "with the GPU and put the file there"
        )
    data: dict[str, Any] = json.loads(read_text(path))
    return data


class Collection:
    """One run: what is known so far lies in OUT/NAME after every `save`."""

    def __init__(self, out: Path, name: str, seconds: float) -> None:
        """Start the time: `seconds` is how long the whole may take."""
        out.mkdir(parents=True, exist_ok=True)
        self._path, self._started, self._seconds = out / name, time.monotonic(), seconds
        self.about: dict[str, Any] = {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), **machine()}

    def left_s(self) -> float:
        """Return the seconds until the end of the whole."""
        return self._seconds - (time.monotonic() - self._started)

    def say(self, text: str) -> None:
        """Print one line with the time."""
        print(f"{time.monotonic() - self._started:6.1f} s  {text}", flush=True)

    def save(self, values: Mapping[str, Any]) -> None:
        """Write everything again, whole."""
        draft = self._path.with_suffix(".draft")
        draft.write_text(json.dumps({"about": self.about, **values}, indent=1), encoding="utf-8")
        draft.replace(self._path)


def machine() -> dict[str, str]:
    """Name device and driver as nvidia-smi does; empty where there is none."""
    try:
        process = subprocess.run(
            ["nvidia-smi", f"--query-gpu={_QUERY}", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {"device": "", "driver": ""}
    words = [w.strip() for w in (process.stdout.splitlines() or [""])[0].split(",")]
    return {"device": words[0], "driver": words[1] if len(words) > 1 else "", "python": sys.version.split()[0]}


def number(words: Sequence[str], option: str, default: float) -> float:
    """Read the value behind an option such as `--seconds`."""
    return float(words[words.index(option) + 1]) if option in words else default


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value at this share of the sorted ones; nan of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def upper_bound(rejected: int, trials: int) -> float:
    """Return the largest rate that leaves so few rejections a chance of 5 % (Clopper and Pearson, one-sided)."""
    if rejected >= trials:
        return 1.0
    low, high = rejected / trials, 1.0
    for _ in range(60):
        rate = (low + high) / 2
        chance, term = 0.0, (1 - rate) ** trials
        for count in range(rejected + 1):
            chance += term
            term *= (trials - count) / (count + 1) * rate / (1 - rate) if rate < 1 else 0.0
        low, high = (rate, high) if chance > 0.05 else (low, rate)
    return high

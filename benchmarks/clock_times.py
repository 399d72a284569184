"""Predicted times by two states of the clock, stored with what they were predicted by."""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.settings import load_settings
from benchmarks.clock_candidates import ClockCandidate
from benchmarks.packed import located, read_text, write_text
from benchmarks.verdict_rate import ROOT, checkout
from records.errors import LabError

COMMIT = "37c6877d"  # the last commit that ranked by bounds
CHILD = Path(__file__).with_name("clock_estimates.py")
FIELDS = ("task", "key", "clock", "time_us", "rank_us", "candidate")
EVERY = 10  # answers between two writes of the table: an interrupted run goes on from there


@dataclass(frozen=True)
class ClockTime:
    """Times that one state of the clock predicts for a candidate; none where it refuses it."""

    clock: str  # digest of the lab's text
    time_us: float | None  # geometric mean over the task's benchmark cases
    rank_us: float | None  # orders what is equal otherwise


@dataclass(frozen=True)
class TimedCandidate:
    """A candidate with the times of both clocks."""

    candidate: ClockCandidate
    before: ClockTime
    after: ClockTime

    @property
    def expected_us(self) -> float:
        """Time by today's clock; infinite where it refuses the candidate."""
        return math.inf if self.after.time_us is None else self.after.time_us

    @property
    def bound_us(self) -> float:
        """Time by the earlier clock, a bound; infinite where it refuses the candidate."""
        return math.inf if self.before.time_us is None else self.before.time_us


def clock_digest(root: Path) -> str:
    """Digest a checkout's lab: its text decides what is predicted."""
    digest = hashlib.sha256()
    for path in sorted((root / "sandbox").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def stored_times(file: Path) -> dict[str, ClockTime]:
    """Read a stored table by the keys of its candidates."""
    if not located(file).is_file():
        return {}
    rows = csv.DictReader(read_text(file).splitlines(), delimiter="\t")
    return {row["key"]: ClockTime(row["clock"], _time(row["time_us"]), _time(row["rank_us"])) for row in rows}


def _time(text: str) -> float | None:
    return float(text) if text else None


class EstimatingChild:
    """A process that predicts times by the clock of one checkout."""

    def __init__(self, root: Path, cache: Path) -> None:
        """Start it; its compiler is the one of this project's settings."""
        self._clock = clock_digest(root)
        compiler = load_settings().cache_folder / "toolchain"
        argv = (sys.executable, "-P", str(CHILD), str(cache), str(compiler))
        environment = os.environ | {"PYTHONPATH": str(root)}
        self._process = subprocess.Popen(
            argv, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, candidate: ClockCandidate) -> ClockTime:
        """Predict one candidate's times; LabError when the process has ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        task = str(ROOT / candidate.folder) if candidate.folder else candidate.task
        request = {"task": task, "source": candidate.source, "choice": dict(candidate.choice)}
        print(json.dumps(request), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise LabError(f"the estimates ended at {candidate.label} of {candidate.task}; see their standard error")
        answer = json.loads(line)
        if answer["message"]:
            print(f"{candidate.task} {candidate.label}: {answer['message']}", file=sys.stderr)
        return ClockTime(self._clock, answer["time_us"], answer["rank_us"])

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def store_times(file: Path, candidates: Sequence[ClockCandidate], root: Path, cache: Path) -> None:
    """Ask a checkout's clock for what is not stored of it; the file then holds what is asked, and nothing else."""
    clock = clock_digest(root)
    times = {key: time for key, time in stored_times(file).items() if time.clock == clock}
    missing = [candidate for candidate in candidates if candidate.key not in times]
    if missing:
        child = EstimatingChild(root, cache)
        for number, candidate in enumerate(missing, 1):
            times[candidate.key] = child.ask(candidate)
            print(f"{number} of {len(missing)}: {candidate.task} {candidate.label}", file=sys.stderr, flush=True)
            if number % EVERY == 0:
                _write(file, candidates, times)
        child.close()
    _write(file, candidates, times)


def store_both(files: tuple[Path | None, Path | None], candidates: Sequence[ClockCandidate]) -> None:
    """Store what the earlier clock and today's say, each in its file; nothing where there is none."""
    before, after = files
    with tempfile.TemporaryDirectory() as folder:
        if before:
            store_times(before, candidates, checkout(COMMIT, Path(folder)), Path(folder) / "cache")
        if after:
            store_times(after, candidates, ROOT, Path(folder) / "cache")


def timed(candidates: Sequence[ClockCandidate], before: Path, after: Path) -> list[TimedCandidate]:
    """Pair candidates with their stored times; LabError names the option where one is missing."""
    earlier, today = stored_times(before), stored_times(after)
    for option, times in (("--before", earlier), ("--after", today)):
        missing = [candidate for candidate in candidates if candidate.key not in times]
        if missing:
            first = f"{missing[0].task} {missing[0].label}"
            raise LabError(f"{len(missing)} candidates have no stored time, the first is {first}; run {option}")
    return [TimedCandidate(candidate, earlier[candidate.key], today[candidate.key]) for candidate in candidates]


def predicted_by(some: Sequence[TimedCandidate], files: tuple[Path, Path]) -> str:
    """Say what times were predicted by: digests of both labs and of the stored tables."""
    before, after = ({getattr(candidate, name).clock for candidate in some} for name in ("before", "after"))
    tables = hashlib.sha256("".join(map(read_text, files)).encode()).hexdigest()[:12]
    today = "as it is" if after == {clock_digest(ROOT)} else "since changed: run --after"
    return f"labs {' '.join(sorted(before))} and {' '.join(sorted(after))} ({today}), stored times {tables}"


def read_options(arguments: Sequence[str], description: str | None) -> argparse.Namespace:
    """Read the command line of a benchmark of both clocks."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", action="store_true", help="ask the earlier clock for what is not stored of it")
    parser.add_argument("--after", action="store_true", help="ask today's clock for what is not stored of it")
    return parser.parse_args(arguments)


def _write(file: Path, candidates: Sequence[ClockCandidate], by_key: Mapping[str, ClockTime]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(FIELDS)
    for candidate in candidates:
        if candidate.key in by_key:
            time = by_key[candidate.key]
            times = ("" if value is None else f"{value:.6g}" for value in (time.time_us, time.rank_us))
            writer.writerow((candidate.task, candidate.key, time.clock, *times, candidate.label))
    write_text(file, text.getvalue())

"""The rate of verdicts against an earlier state of the project: `check` of the softmax seed, and the demo, in turns.

The earlier state is a commit of this repository, checked out beside it and run by this environment's interpreter:
`python -m benchmarks.verdict_rate [COMMIT]`. Each state has a home of its own, and its first run of a command is not
counted: the others find their programs built, for what is read is the judge. Each demo is a run in a folder of its own.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figure import Figure, report

ROOT = Path(__file__).resolve().parent.parent
BEFORE = "88154a12"  # the last commit whose judge compared nothing of what is timed
MOST = 1.2  # times as long as that state
RUN = (sys.executable, "-c", "import sys; from app.cli import main; sys.exit(main())")
SAMPLES = {"check": 9, "demo": 3}
COMMANDS = {"check": ("check", "tasks/row_softmax/seed.hip", "--task", "row_softmax"), "demo": ("demo",)}


def checkout(commit: str, folder: Path) -> Path:
    """Check out the files of a commit; a repository without it ends the benchmark."""
    target = folder / "before"
    for words in (
        ("clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(target)),
        ("-C", str(target), "checkout", "--quiet", "--detach", commit),
    ):
        process = subprocess.run(("git", *words), capture_output=True, text=True, check=False)
        if process.returncode != 0:
            sys.exit(f"there is no commit {commit} here ({process.stderr.strip()}): run this in a whole clone")
    return target


def seconds(name: str, root: Path, home: Path) -> float:
    """Measure the wall time of one fresh process; a command that fails ends the benchmark."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
    environment = inherited | {"HOME": str(home), "PYTHONPATH": str(root)}
    folder = root if name == "check" else Path(tempfile.mkdtemp(dir=home))
    start = time.perf_counter()
    process = subprocess.run(
        (*RUN, *COMMANDS[name]), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    spent = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit(
            f"{name} in {root} ended with {process.returncode}: {(process.stderr or process.stdout).strip()[-500:]}"
        )
    return spent


def measure(name: str, states: Sequence[Path], folder: Path) -> Figure:
    """Measure the medians of both states, run in turns."""
    spent: dict[Path, list[float]] = {root: [] for root in states}
    for turn in range(1 + SAMPLES[name]):
        for number, root in enumerate(states):
            home = folder / f"{name}{number}"
            home.mkdir(exist_ok=True)
            time_s = seconds(name, root, home)
            if turn:
                spent[root].append(time_s)
    now, before = (statistics.median(spent[root]) for root in states)
    return Figure(f"verdict_rate.{name}", now, "s", "the earlier state", before, f"< {MOST * before:.3g}")


def main() -> int:
    """Measure both commands and report."""
    commit = sys.argv[1] if len(sys.argv) > 1 else BEFORE
    with tempfile.TemporaryDirectory() as folder:
        states = (ROOT, checkout(commit, Path(folder)))
        figures = [measure(name, states, Path(folder)) for name in COMMANDS]
    return report(f"Verdicts, in turns with those of commit {commit}", figures)


if __name__ == "__main__":
    sys.exit(main())

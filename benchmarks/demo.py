"""The main job: `kernel-scientist demo` in an empty folder, compiler and lab warm as the set-up leaves them.

No kernel was compiled before.

The predicted time is read against that of the kernel with which the run begins, which is as people write it first. The
wait and the memory are read against a bare `python -c pass`. Memory is the proportional share of the command and all
its children together, sampled, at its peak.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.settings import load_settings
from benchmarks.figure import Figure, report
from benchmarks.processes import descendants
from benchmarks.startup import COMMAND, NOTHING
from records.ledger import Ledger

EVERY_S = 1.0  # a look at all processes takes CPU from what is measured
MB = 1e6


def watch(argv: Sequence[str], folder: Path, environment: Mapping[str, str]) -> tuple[float, float, str]:
    """Give wall seconds, the process tree's peak memory in MB, and standard output; a failure ends the benchmark."""
    with (folder / "out").open("w+b") as out, (folder / "err").open("w+b") as err:
        start = time.perf_counter()
        child = subprocess.Popen(argv, cwd=folder, env=dict(environment), stdout=out, stderr=err)
        peak = 0
        while child.poll() is None:
            peak = max(peak, sum(share_bytes(pid) for pid in (child.pid, *descendants(child.pid))))
            time.sleep(EVERY_S if time.perf_counter() - start > 1 else 0.002)
        seconds = time.perf_counter() - start
        if child.returncode != 0:
            err.seek(0)
            sys.exit(f"{' '.join(argv)} ended with {child.returncode}: {err.read().decode(errors='replace')[-500:]}")
        out.seek(0)
        return seconds, peak / MB, out.read().decode()


def share_bytes(pid: int) -> int:
    """Read the proportional set size: pages that processes share count once; 0 when the process has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    return 1024 * sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))


def measure(folder: Path) -> list[Figure]:
    """Measure one demo, and the anchors."""
    toolchain = load_settings().cache_folder / "toolchain"
    subprocess.run([COMMAND, "doctor", "--warm"], check=True, capture_output=True)  # its C library takes long
    (folder / "cache").mkdir()
    (folder / "cache" / "toolchain").symlink_to(toolchain)
    runs = folder / "runs"
    environment = {
        **os.environ,
        "KERNEL_SCIENTIST_CACHE_FOLDER": str(folder / "cache"),
        "KERNEL_SCIENTIST_RUNS_FOLDER": str(runs),
    }
    subprocess.run([COMMAND, "doctor", "--warm"], check=True, capture_output=True, env=environment)
    idle_s, idle_mb, _ = watch(NOTHING, folder, environment)
    seconds, peak_mb, out = watch([COMMAND, "demo", "--json"], folder, environment)
    answer = json.loads(out)
    with Ledger(runs / "ledger.db") as ledger:
        (seed,) = (a.geomean_us or 0.0 for a in ledger.attempts(answer["run_id"]) if a.generation == 0)
    best, bare = answer["best"]["geomean_us"], "python -c pass"
    return [
        Figure("demo.best", best, "us predicted", "the kernel it begins with", seed),
        Figure("demo.speedup", seed / best, "times", "the kernel it begins with", 1.0, ">= 1.2"),
        Figure("demo.wall", seconds, "s", bare, idle_s, "< 300"),
        Figure("demo.memory", peak_mb, "MB", bare, idle_mb, "< 2000"),
    ]


def main() -> int:
    """Measure and report."""
    with tempfile.TemporaryDirectory() as folder:
        return report("The demo: predicted geometric mean on MI300X, wait and memory", measure(Path(folder)))


if __name__ == "__main__":
    sys.exit(main())

"""A cluster of 64 simulated GPUs on a machine with cores to spare, and a campaign of 10,000 candidates on it.

    python3 -m benchmarks.many_gpus OUT [--gpus 64] [--candidates 10000] [--hasten 8]    collects
    python -m benchmarks.many_gpus                                                       what is stored

Efficiency is that of `benchmarks.scale`. The rate is that of evaluations that take no time: what driver, bridge and
supervisor can do at most, with the processor time of each. The campaign is `benchmarks.campaign` with the durations
recorded on an H200, divided by eight, so that the driver and not the GPUs is the limit. It ends with its time; it comes
first, and has a file of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.collection import Collection, number, stored
from benchmarks.processes import cpu_s, described_machine
from benchmarks.scale import ROUNDS, evaluate
from benchmarks.simulated import linked, opened
from cluster.cluster_link import ClusterLink
from cluster.cluster_sandbox import ClusterSandbox

if TYPE_CHECKING:
    from benchmarks.figure import Figure

FILE = "many_gpus.json"
CAMPAIGN = "campaign.json"
SECONDS = 2.0
PICKS = 256
RATED = 2048  # evaluations without a duration


def timed(link: ClusterLink, sandbox: ClusterSandbox, names: Sequence[str], seconds: float, threads: int) -> Any:
    """Measure the wall time of evaluations that so many threads ask for, and the processor time of who takes part."""
    pids = {"driver": os.getpid(), "bridge": link.pid, "supervisor": int(link.state()["supervisor"]["pid"])}
    before, began = {name: cpu_s(pid) for name, pid in pids.items()}, time.monotonic()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda name: evaluate(sandbox, name, seconds), names))
    wall_s = time.monotonic() - began
    spent = {name: round(cpu_s(pid) - before[name], 3) for name, pid in pids.items()}
    return {"evaluations": len(names), "wall_s": round(wall_s, 3), "cpu_s": spent}


def collect(out: Path, gpus: int, candidates: int, hasten: float) -> int:
    """Measure one after the other; what is known lies in OUT after each."""
    c = Collection(out, FILE, 600.0)
    c.about |= {"device": described_machine(), "gpus": gpus, "python": sys.version.split()[0]}
    results: dict[str, Any] = {}
    long = Collection(out, CAMPAIGN, 600.0)
    long.about |= c.about
    with tempfile.TemporaryDirectory() as root:
        argv = [sys.executable, "-m", "benchmarks.campaign", str(Path(root) / "campaign"), "--gpus", str(gpus)]
        argv += ["--candidates", str(candidates), "--picks", str(PICKS), "--hasten", str(hasten)]
        rows = list[dict[str, Any]]()
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as run:
            assert run.stdout is not None
            for line in run.stdout:
                rows.append(json.loads(line))
                long.save({"campaign": rows})
                if len(rows) % 5 == 1 or "ended" in rows[-1]:
                    c.say(line.strip())
        folder = Path(root) / "short"
        folder.mkdir()
        link = linked(folder, gpus)
        try:
            began = time.monotonic()
            sandbox = opened(link, folder, gpus)
            results["start_s"] = round(time.monotonic() - began, 3)
            c.say(f"{gpus} stations after {results['start_s']} s")
            names = [f"long {i}" for i in range(ROUNDS * gpus)]
            results["long"] = timed(link, sandbox, names, SECONDS, 2 * gpus)
            c.say(f"{results['long']}")
            c.save(results)
            results["short"] = timed(link, sandbox, [f"short {i}" for i in range(RATED)], 0.0, 2 * gpus)
            c.say(f"{results['short']}")
            c.save(results)
        finally:
            link.close()
    return run.returncode


def slope(rows: Sequence[dict[str, float]], name: str) -> float:
    """Compute the growth of a column for each candidate, from the first generation to the last."""
    first, last = rows[0], rows[-1]
    return (last[name] - first[name]) / (last["candidates"] - first["candidates"])


def figures(stored: dict[str, Any]) -> list[Figure]:
    """Give the figures of the stored file."""
    from benchmarks.figure import Figure

    gpus, long, short = stored["about"]["gpus"], stored["long"], stored["short"]
    share = long["evaluations"] * SECONDS / (gpus * long["wall_s"])
    rows = [
        Figure(
            "many_gpus.efficiency", share, "of 1", f"s of wall time for {long['evaluations']}", long["wall_s"],
            ">= 0.9", FILE,
        ),
        Figure("many_gpus.start", stored["start_s"], "s", "GPUs", gpus, "", FILE),
        Figure("many_gpus.rate", short["evaluations"] / short["wall_s"], "a second", "GPUs", gpus, "", FILE),
    ]  # fmt: skip
    for name in ("driver", "bridge", "supervisor"):
        ours, slow = (1e3 * batch["cpu_s"][name] / batch["evaluations"] for batch in (short, long))
        rows.append(Figure(f"many_gpus.cpu_{name}", ours, "ms", "evaluations of 2 s", slow, "", FILE))
    return rows


def campaign_figures(stored: dict[str, Any]) -> list[Figure]:
    """Give the figures of the campaign's file."""
    from benchmarks.figure import Figure

    rows = [row for row in stored["campaign"] if row.get("candidates", -1) >= 0]
    early, late = rows[: max(3, len(rows) // 5)], rows[len(rows) * 4 // 5 :]

    def cost(name: str, part: Sequence[dict[str, float]]) -> float:
        """Return the thousandths for each candidate."""
        return 1e3 * slope(part, name)

    last, end = rows[-1], stored["campaign"][-1]
    # A row is written when a generation begins, and one without a count when the last has ended.
    candidates = last["candidates"] + (last["candidates"] - rows[-2]["candidates"] if end.get("ended") else 0)
    return [
        Figure("many_gpus.campaign", candidates, "candidates", "s of wall", end["wall_s"], ">= 10000", CAMPAIGN),
        Figure("many_gpus.campaign_cpu", cost("cpu_s", rows), "ms", "wall", cost("wall_s", rows), "", CAMPAIGN),
        Figure("many_gpus.campaign_late", cost("cpu_s", late), "ms", "first fifth", cost("cpu_s", early), "", CAMPAIGN),
        Figure(
            "many_gpus.campaign_memory", cost("rss_bytes", rows[1:]) / 1e6, "MB for 1,000", "the whole process",
            last["rss_bytes"] / 1e6, "", CAMPAIGN,
        ),
    ]  # fmt: skip


def main(words: Sequence[str]) -> int:
    """Collect, or print what was collected."""
    if words and not words[0].startswith("-"):
        return collect(
            Path(words[0]),
            int(number(words, "--gpus", 64)),
            int(number(words, "--candidates", 10_000)),
            number(words, "--hasten", 8.0),
        )
    from benchmarks.figure import report

    files = [stored(name, "python3 -m benchmarks.many_gpus OUT") for name in (FILE, CAMPAIGN)]
    return report("Many GPUs", [*figures(files[0]), *campaign_figures(files[1])])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

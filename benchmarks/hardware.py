"""Collects, on a machine with an NVIDIA GPU, all that `lab_counters` and `lab_ranking` compare the lab with.

    python3 -m benchmarks.hardware OUT
    python3 -m benchmarks.hardware OUT --held-out   only the families of `held_out.py`: lab_ranking_heldout_h200.json

Needs Python, numpy and the driver; NVRTC or nvcc to compile; `ncu` for the counters. Nothing else of this project's
environment is used. Every step is a process of its own with a deadline; what one step yields is on disk before the next
begins, and OUT holds `lab_counters_h200.json` and `lab_ranking_h200.json` from the first minute on. Under 8 minutes.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.cubins import compile_all
from benchmarks.held_out import held_out
from benchmarks.on_gpu import Results, all_variants
from benchmarks.profiler import COUNTERS, PROFILE, SOURCE_COUNTERS, parse_ncu
from benchmarks.specimens import ROOT, Specimen, counter_specimens
from benchmarks.variants import Family, families

TOTAL_S = 460.0


class Collector:
    """One collection: its folder, its clock, and what it knows so far."""

    def __init__(self, out: Path) -> None:
        self.out, self.started = out, time.monotonic()
        self.work = Path(tempfile.mkdtemp(prefix="ks-hardware-"))
        self.log = (out / "collect.log").open("a", encoding="utf-8")
        self.about: dict[str, Any] = {"date": datetime.datetime.now(datetime.UTC).date().isoformat()}

    def left(self) -> float:
        """Return the seconds until the end of the whole."""
        return TOTAL_S - (time.monotonic() - self.started)

    def say(self, text: str) -> None:
        """Print one line with the time, on the screen and in the log."""
        line = f"{time.monotonic() - self.started:6.1f} s  {text}"
        print(line, flush=True)
        self.log.write(line + "\n")
        self.log.flush()

    def call(self, argv: Sequence[str], limit_s: float) -> tuple[int, str]:
        """Run one program in the project's folder; its status (124: too long) and all it said."""
        limit = min(limit_s, self.left())
        if limit < 5:
            return 124, ""
        try:
            child = subprocess.Popen(
                argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
            )
        except OSError as error:
            self.say(f"{argv[0]} does not start: {error}")
            return 127, ""
        status = 0
        try:
            text, errors = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)  # the profiler's own child too
            text, errors = child.communicate()
            status = 124
        status = status or child.returncode
        shown = " ".join(word for word in argv if len(word) < 40)[-160:]
        self.say(f"{shown}: status {status} {errors.strip()[-300:]}")
        return status, text + "\n" + errors

    def gpu(self, *words: str, limit_s: float) -> int:
        """Run one of `on_gpu`'s forms in a process of its own."""
        return self.call([sys.executable, "-m", "benchmarks.on_gpu", *words], limit_s)[0]

    def save(self, name: str, values: Mapping[str, Any]) -> None:
        """Write one file of results whole."""
        draft = self.out / f"{name}.draft"
        draft.write_text(json.dumps({"about": self.about, **values}, indent=1), encoding="utf-8")
        draft.replace(self.out / name)


def describe(c: Collector, folder: Path) -> None:
    """Name device, driver, tools."""
    _, text = c.call([sys.executable, "-m", "benchmarks.on_gpu", "properties", str(folder)], 60)
    try:
        c.about["device"] = json.loads(text.strip().splitlines()[0])
    except (ValueError, IndexError):
        c.about["device"] = {}
    query = "driver_version,clocks.sm,clocks.mem,clocks.max.sm,temperature.gpu,power.draw"
    c.about["nvidia_smi"] = c.call(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], 30)[1].strip()
    c.about["ncu"] = (c.call([ncu(), "--version"], 60)[1].strip().splitlines() or [""])[-1]  # its version stands last


def ncu() -> str:
    """Find the profiler's path."""
    places = [str(p) for p in sorted(Path("/opt/nvidia/nsight-compute").glob("*/ncu"), reverse=True)]
    return shutil.which("ncu") or next(iter(places), "ncu")


def profiled(c: Collector, metrics: Sequence[str], words: Sequence[str], limit_s: float) -> dict[int, dict[str, float]]:
    """Read counters by the kernels' numbers. `words` are those of `on_gpu`; metrics that ncu lacks are left out."""
    wanted, rows = list(metrics), {}
    for _ in range(4):
        argv = [
            ncu(),
            "--metrics",
            ",".join(wanted),
            "--clock-control",
            "none",
            "--csv",
            "--print-units",
            "base",
            "--target-processes",
            "all",
            sys.executable,
            "-m",
            "benchmarks.on_gpu",
            *words,
        ]
        status, text = c.call(argv, limit_s)
        with (c.out / f"ncu_{words[0]}.txt").open("a", encoding="utf-8") as file:
            file.write(text[-3_000_000:])
        rows = parse_ncu(text)
        c.say(f"ncu read {len(rows)} kernels (status {status})")
        complaints = [line for line in text.splitlines() if "ERROR" in line or "Failed to find" in line]
        refused = {m for m in wanted if any(re.search(rf"{re.escape(m)}(?![\w.])", line) for line in complaints)}
        if rows or not refused or status in (124, 127):
            break
        c.say(f"ncu does not know {', '.join(sorted(refused))}")
        wanted = [m for m in wanted if m not in refused]
    return rows


def collect_counters(c: Collector) -> None:
    """Compile, run once, profile all in one process; those that are missing one by one; then by instrumentation."""
    specimens, folder = counter_specimens(), c.work / "counters"
    failed = compile_all(specimens, folder)
    c.say(f"{len(specimens) - len(failed)} of {len(specimens)} counter kernels compiled")
    results = Results(c.work / "counters.jsonl")
    for _ in range(4):  # a kernel that ends its process is left out the next time
        if c.gpu("check", str(folder), str(results.path), limit_s=60) == 0:
            break
    kernels: dict[str, dict[str, Any]] = {
        s.name: {"failed": failed[s.name]} if s.name in failed else {} for s in specimens
    }
    for row in results.rows():
        if row["kind"] == "done":
            kernels[row["name"]]["facts"] = {k: v for k, v in row.items() if k not in ("kind", "name")}
    c.save("lab_counters_h200.json", {"kernels": kernels})
    profile_counters(c, kernels, COUNTERS, "counters", 60, singly=True)


def collect_source_counters(c: Collector) -> None:
    """Count once more, by instrumented instructions."""
    file = c.out / "lab_counters_h200.json"
    kernels = json.loads(file.read_text(encoding="utf-8"))["kernels"]
    profile_counters(c, kernels, SOURCE_COUNTERS, "source_counters", 45, singly=False)


def profile_counters(
    c: Collector, kernels: dict[str, dict[str, Any]], metrics: Sequence[str], key: str, limit_s: float, *, singly: bool
) -> None:
    """Profile sixteen kernels a profiler's run; those that are missing then one by one."""
    specimens, folder = counter_specimens(), c.work / "counters"
    names = [s.name for s in specimens]
    good = [name for name in names if "facts" in kernels[name]]
    rows: dict[int, dict[str, float]] = {}
    for at in range(0, len(good), 16):
        rows |= profiled(c, metrics, ["launch", str(folder), *good[at : at + 16]], limit_s)
        _merge(c, specimens, kernels, rows, key)
    missing = [name for name in good if not rows.get(names.index(name))]
    for name in missing[:6] if singly else ():
        rows |= profiled(c, metrics, ["launch", str(folder), name], 20)
    _merge(c, specimens, kernels, rows, key)


def _merge(
    c: Collector,
    specimens: Sequence[Specimen],
    kernels: dict[str, dict[str, Any]],
    rows: Mapping[int, Mapping[str, float]],
    key: str,
) -> None:
    for index, specimen in enumerate(specimens):
        if rows.get(index):
            kernels[specimen.name][key] = dict(rows[index])
    c.save("lab_counters_h200.json", {"kernels": kernels})


def collect_ranking(c: Collector) -> None:
    """Time the families the model's constants were set with."""
    _time_families(c, families(), "lab_ranking_h200.json")


def collect_profile(c: Collector) -> None:
    """Count every variant of them, to see why a bound is off."""
    _profile_families(c, families(), "lab_ranking_h200.json")


def collect_held_out(c: Collector) -> None:
    """Time the others, into a file of their own."""
    _time_families(c, held_out(), "lab_ranking_heldout_h200.json")
    _profile_families(c, held_out(), "lab_ranking_heldout_h200.json")


def _time_families(c: Collector, group: Sequence[Family], name: str) -> None:
    """Compile, check and time every family, each in a process of its own."""
    specimens, folder = all_variants(group), c.work / "variants"
    failed = compile_all(specimens, folder)
    c.say(f"{len(specimens) - len(failed)} of {len(specimens)} variants compiled")
    found: dict[str, Any] = {}
    for family in group:
        results = Results(c.work / f"{family.name}.jsonl")
        for _ in range(3):
            if c.left() < 60 or c.gpu("time", str(folder), str(results.path), family.name, limit_s=70) == 0:
                break
        found[family.name] = summary(results, failed)
        c.save(name, {"families": found})
        c.say(f"{family.name}: {sum('cold_us' in v for v in found[family.name]['variants'].values())} timed")


def _profile_families(c: Collector, group: Sequence[Family], name: str) -> None:
    found = json.loads((c.out / name).read_text(encoding="utf-8"))["families"]
    specimens = all_variants(group)
    for family, about in found.items():
        rows = profiled(c, PROFILE, ["profile", str(c.work / "variants"), family], 75) if c.left() > 30 else {}
        for index, values in rows.items():
            about["variants"].setdefault(specimens[index].name, {})["profile"] = values
        c.save(name, {"families": found})


def summary(results: Results, failed: Mapping[str, str]) -> dict[str, Any]:
    """Give medians by variant, and what the kernels need."""
    variants: dict[str, dict[str, Any]] = {}
    times: dict[str, list[float]] = {}
    for row in results.rows():
        one = variants.setdefault(row["name"], {})
        if row["kind"] == "time":
            times.setdefault(row["name"], []).append(row["us"])
        elif row["kind"] == "warm":
            one["warm_us"] = row["us"]
        elif row["kind"] in ("done", "wrong"):
            one["facts"] = {k: v for k, v in row.items() if k not in ("kind", "name", "message")}
            if row["kind"] == "wrong":
                one["wrong"] = row["message"]
    for name, values in times.items():
        ordered = sorted(values)
        variants[name] |= {
            "cold_us": round(statistics.median(ordered), 3),
            "samples": len(ordered),
            "low_us": ordered[len(ordered) // 10],
            "high_us": ordered[-1 - len(ordered) // 10],
        }
    for name in results.spoiled():
        variants.setdefault(name, {})["failed"] = "its process ended"
    return {"variants": variants, "not_compiled": {n: t for n, t in failed.items()}}


def main(words: Sequence[str]) -> int:
    """Collect everything, or what was held out, into the folder named."""
    alone = "--held-out" in words
    out = Path(next((w for w in words if not w.startswith("-")), "hardware-results")).absolute()
    out.mkdir(parents=True, exist_ok=True)
    c = Collector(out)
    try:
        every = (describe_step, collect_counters, collect_ranking, collect_source_counters, collect_profile)
        for step in (describe_step, collect_held_out) if alone else every:
            try:
                step(c)
            except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
                c.say(f"{step.__name__} ended early: {type(error).__name__}: {error}")
    finally:
        for left in c.work.glob("*.jsonl"):
            (out / "samples.jsonl").open("a", encoding="utf-8").write(left.read_text(encoding="utf-8"))
        shutil.rmtree(c.work, ignore_errors=True)
    c.say("done")
    return 0


def describe_step(c: Collector) -> None:
    """Write device, driver and tools into both files."""
    describe(c, c.work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

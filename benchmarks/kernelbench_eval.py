"""KernelBench's own evaluation of exported kernels on a GPU, beside our judge's verdicts there.

    python -m benchmarks.kernelbench_eval make FOLDER --checkout DIR [--level N] [--most N]
    python -m benchmarks.kernelbench_eval judge FOLDER --checkout DIR --out FILE [--workers N] [--seconds S]
    python -m benchmarks.kernelbench_eval            the stored figures

DIR is a checkout of github.com/ScalingIntelligence/KernelBench. `make` needs PyTorch on a CPU: it imports the problems
that `benchmarks.kernelbench` found judged rightly in the lab, and writes for each the task, the generated kernel, one
wrong kernel made from it, and both in KernelBench's form. `judge` needs the GPU: our judge's verdicts on small sizes,
and KernelBench's `eval_kernel_against_ref` at the problem's own sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Semaphore
from typing import Any

from benchmarks.collection import machine
from benchmarks.figure import Figure, report
from benchmarks.kernelbench import CACHE, RESULTS, is_right, known, request
from benchmarks.packed import located, read_text, write_text
from exports.kernelbench_model import kernelbench_model
from exports.launcher import Launcher
from exports.provenance import Provenance
from exports.torch_operator import TorchOperator
from imports.confined import imported_all
from records.errors import ScientistError
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.prepare import prepare
from sandbox.gpu.gpu_evaluator import GpuEvaluator
from sandbox.target import load_target
from tasks.loader import load_task

STORED = Path(__file__).parent / "data" / "kernelbench_h200.json"
TITLE = "KernelBench on Hopper GPUs"
TARGET = "h200"
KNOWN = Provenance("a problem of KernelBench", "NVIDIA H200 (sm_90a)", "0" * 64)
KINDS = ("right", "wrong")
AT_ONCE = 3  # evaluations that share the GPU and its memory
WRONG = (r"(    (?!new_)\w+\[at_\] = )(.*);", r"\1(\2) * 2 + 1;")  # in a result of forward, beyond KernelBench's 1 %
BUILT = "import runpy, sys; runpy.run_path(sys.argv[1])"  # so that the build waits for no turn on the GPU
JUDGED = """
import importlib.util, json, pathlib, sys, types
sys.path.insert(0, sys.argv[1] + "/src")
clients = {"openai": "OpenAI", "litellm": "completion", "dotenv": "load_dotenv", "tqdm": "tqdm"}
for name, what in clients.items():  # its package imports them at once, and no evaluation asks them
    if importlib.util.find_spec(name) is None:
        sys.modules[name] = types.SimpleNamespace(**{what: lambda *given, **named: None})
from kernelbench.eval import eval_kernel_against_ref
import torch
torch.backends.cudnn.allow_tf32 = False  # by default its reference's convolutions are off by 5e-4
problem, candidate = (pathlib.Path(path).read_text() for path in sys.argv[2:4])
made = eval_kernel_against_ref(problem, candidate, num_correct_trials=2, num_perf_trials=5, measure_performance=False,
                               backend="cuda", precision=torch.float32, build_dir=sys.argv[4])
print(json.dumps({"compiled": made.compiled, "correct": made.correctness, "told": str(made.metadata)[:400]}))
"""


def main() -> int:
    """Make the folder, judge it, or print what is stored."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("step", nargs="?", choices=("make", "judge"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--checkout", type=Path)
    parser.add_argument("--level", type=int, default=1)
    parser.add_argument("--most", type=int, default=100)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--out", type=Path, default=STORED)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=540.0)
    options = parser.parse_args()
    if options.step is None:
        return report(TITLE, figures(json.loads(read_text(STORED))["problems"]))
    if options.folder is None or options.checkout is None:
        parser.error("name the folder and --checkout")
    if options.step == "make":
        make(options.folder, options.checkout, options.level, options.most, options.results)
    else:
        judge(options.folder, options.checkout, options.out, options.workers, options.seconds)
    return 0


def make(folder: Path, checkout: Path, level: int, most: int, results: Path) -> None:
    """Write each problem's task, kernels and exports to a folder of its own; what cannot be exported is printed."""
    good = [row for row in known(results) if row["level"] == level and is_right(row)][:most]
    cage = find_toolchain(CACHE / "toolchain").cage
    for row in good:
        folder_of_problem = folder / f"level{level}_{row['number']}"
        if folder_of_problem.exists():
            continue
        problem = checkout / "KernelBench" / f"level{level}" / f"{row['name']}.py"
        (imported,) = imported_all([request(level, row["number"], problem)], cage)
        if isinstance(imported, str):
            print(f"{folder_of_problem.name}: {imported}", flush=True)
            continue
        part = folder / f"{folder_of_problem.name}.part"
        shutil.rmtree(part, ignore_errors=True)
        try:
            _write(part, imported.files)
        except ScientistError as error:
            print(f"{folder_of_problem.name}: {error}", flush=True)
            continue
        (part / "problem.txt").write_text(str(problem.relative_to(checkout)), encoding="utf-8")
        part.rename(folder_of_problem)


def _write(problem_folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the task, and each kernel as HIP and in KernelBench's form. ScientistError for one that it cannot hold."""
    task = problem_folder / "task"
    task.mkdir(parents=True)
    for name, content in files.items():
        (task / name).write_bytes(content)
    seed, target = files["seed.hip"].decode(), load_target(TARGET)
    matches = list(re.finditer(WRONG[0], seed))
    if not matches:
        raise ScientistError("its kernel stores no result by one statement that could be made wrong")
    last = matches[-1]
    wrong = seed[: last.start()] + last.expand(WRONG[1]) + seed[last.end() :]
    for kind, text in zip(KINDS, (seed, wrong), strict=True):
        operator = TorchOperator(Launcher(prepare(text, load_task(task, TARGET)), target), target)
        (problem_folder / f"{kind}.hip").write_text(text, encoding="utf-8")
        (problem_folder / f"{kind}.py").write_text(kernelbench_model(operator, KNOWN), encoding="utf-8")


def judge(folder: Path, checkout: Path, out: Path, workers: int, seconds: float) -> None:
    """Judge one after the other, then build in parallel for KernelBench's verdicts; written as they come.

    Problems for which the file has all verdicts already are left out.
    """
    until = time.monotonic() + seconds
    begun = json.loads(read_text(out)) if located(out).exists() else {"about": {}, "problems": {}}
    rows: dict[str, dict[str, Any]] = begun["problems"]
    about = described(begun["about"].get("device", ""))
    problems = [path for path in sorted(folder.iterdir()) if (path / "problem.txt").exists()]
    problems = [problem for problem in problems if not is_evaluated(rows.get(problem.name, {}))]
    rows |= {problem.name: {} for problem in problems}
    turns = Semaphore(AT_ONCE)
    with ThreadPoolExecutor(workers) as pool, TemporaryDirectory() as builds, TemporaryDirectory() as cache:
        futures = {
            (problem.name, kind): pool.submit(_evaluated, problem, kind, checkout, Path(builds), turns, until)
            for problem in problems
            for kind in KINDS
        }
        evaluator = GpuEvaluator(load_target(TARGET), Path(cache), 7)
        for problem in problems:
            rows[problem.name]["judge"] = {kind: _code(evaluator, problem, kind) for kind in KINDS}
            _keep(rows, about, out)
        for (name, kind), future in futures.items():
            rows[name].setdefault("kernelbench", {})[kind] = future.result()
            _keep(rows, about, out)
    report(TITLE, figures(rows))


def described(devices: str) -> dict[str, str]:
    """Give the day and the GPUs: those of an earlier part, and this machine's."""
    devices_known = [*filter(None, devices.split(" and ")), machine()["device"].removesuffix(" 80GB HBM3")]
    return {"date": time.strftime("%Y-%m-%d"), "device": " and ".join(dict.fromkeys(devices_known))}


def _keep(rows: Mapping[str, Mapping[str, Any]], about: Mapping[str, str], out: Path) -> None:
    write_text(out, json.dumps({"about": about, "problems": rows}, indent=1) + "\n")


def is_evaluated(row: Mapping[str, Any]) -> bool:
    """Tell whether KernelBench has compared the results of both kernels."""
    verdicts = [row.get("kernelbench", {}).get(kind, {}) for kind in KINDS]
    return all("correct" in verdict and "OutOfMemoryError" not in verdict.get("told", "") for verdict in verdicts)


def _evaluated(
    problem_folder: Path, kind: str, checkout: Path, builds: Path, turns: Semaphore, until: float
) -> dict[str, Any]:
    """Return KernelBench's verdict on one exported kernel; `told` alone where it gives none."""
    build = builds / f"{problem_folder.name}_{kind}"
    build.mkdir()
    problem = checkout / (problem_folder / "problem.txt").read_text(encoding="utf-8")
    environment = {**os.environ, "TORCH_EXTENSIONS_DIR": str(build), "MAX_JOBS": "2", "TORCH_CUDA_ARCH_LIST": "9.0a"}
    words = [sys.executable, "-c", BUILT, str(problem_folder / f"{kind}.py")]
    try:
        subprocess.run(
            words, env=environment, capture_output=True, timeout=max(1.0, until - time.monotonic()), check=False
        )
        words = [
            sys.executable,
            "-c",
            JUDGED,
            str(checkout),
            str(problem),
            str(problem_folder / f"{kind}.py"),
            str(build),
        ]
        with turns:
            left_s = max(1.0, until - time.monotonic())
            ran = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=left_s, check=False)
    except subprocess.TimeoutExpired:
        return {"told": "out of time"}
    try:
        return dict(json.loads(ran.stdout.splitlines()[-1]))
    except (IndexError, ValueError):
        return {"told": ran.stderr[-400:]}


def _code(evaluator: GpuEvaluator, problem_folder: Path, kind: str) -> str:
    """Return our judge's code on the task's tests, the largest of which stands for the original sizes."""
    task = load_task(problem_folder / "task", TARGET)
    small = replace(task, benchmarks=(replace(task.tests[-1], role="benchmark"),))
    source = (problem_folder / f"{kind}.hip").read_text(encoding="utf-8")
    try:
        return str(evaluator.verify(evaluator.prepare(source, small)).verdict.code)
    except ScientistError as error:
        return str(error)


def figures(rows: Mapping[str, Mapping[str, Any]]) -> list[Figure]:
    """Give the shares of kernels on which both judges were right."""
    total = len(rows)
    ours = sum(row["judge"]["right"] == "OK" and row["judge"]["wrong"] != "OK" for row in rows.values())
    evaluated = [row["kernelbench"] for row in rows.values() if is_evaluated(row)]
    accepted = sum(bool(row["right"]["correct"]) for row in evaluated)
    refused = sum(not row["wrong"]["correct"] for row in evaluated)
    stored, by_them = STORED.name, "evaluated by KernelBench"
    rates = {"right_taken": accepted, "wrong_refused": refused}
    return [
        Figure("kernelbench_eval.judged", ours, "problems", "problems made", total, ">= 40", stored),
        *(
            Figure(
                f"kernelbench_eval.{name}", count, "problems", by_them, len(evaluated), f">= {len(evaluated)}", stored
            )
            for name, count in rates.items()
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())

"""Searches kernels on the H200 of this machine with the playbook alone, then times them beside PyTorch, in one run.

    python3 -m benchmarks.on_h200_search RESULTS [--own NAME ...] [--task NAME[=FILE,...] ...] [--seconds S]

`--own` takes the naive kernels of `benchmarks.own_kernels`, of which each is searched with 40 kernels timed at most.
`--task` takes shipped tasks with further kernels to begin with; a table of kernels by shape may come out. No search is
begun after S seconds. RESULTS is a JSON file that `benchmarks.h200_search` prints; it needs langgraph and PyTorch.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.beating.bound_kernels import File
from benchmarks.on_h200_anchors import Clock, Copies, about, memory_of
from benchmarks.own_kernels import EXPLORED, FOLDER, names
from benchmarks.own_rivals import function_of, tensors_of
from benchmarks.playbook_run import played
from benchmarks.rivals import Call, modes, torch_module, working
from graph import Limits
from records.errors import ScientistError
from records.evaluation import Evaluation
from sandbox.candidate.prepare import Preparer
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.driver.cuda import CUDA
from sandbox.gpu.driver.driver import Driver
from sandbox.gpu.gpu_evaluator import GpuEvaluator
from sandbox.protocol import Sandbox
from sandbox.target import Target, load_target
from tasks.loader import load_task
from tasks.task import Case, Task

TARGET = "h200"
ROUNDS = 30
SHIPPED = Path(__file__).parents[1] / "tasks"


def folder_of(word: str, parent: Path) -> Path:
    """Copy a task's folder, with the further files as seeds: NAME or NAME=FILE,..."""
    name, _, files = word.partition("=")
    original = FOLDER / name if name in names() else SHIPPED / name
    shutil.copytree(original, parent / name)
    for number, file in enumerate(file for file in files.split(",") if file):
        shutil.copy(file, parent / name / f"seed_given{number}.hip")
    return parent / name


def searched(word: str, limits: Limits, gpu: Sandbox, target: Target) -> dict[str, Any]:
    """Search by one run, and return it as it is kept: the naive kernel and the best."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = folder_of(word, Path(scratch))
        task = load_task(str(folder), target.name)
        began = time.monotonic()
        search = played(task, target, gpu, folder, limits)
        best, source = search.accepted[0]
        naive = task.seeds[0].read_text(encoding="utf-8")
        return {
            "kernels": [kernel_row(best, source), {"source": naive, "tunables": {}}],
            "timed": len(search.timed),
            "accepted": len(search.accepted),
            "seconds": round(time.monotonic() - began, 1),
            "found": [
                {"us": e.geomean_us, "cases": {m.case: m.time_us for m in e.measurements}, "tunables": dict(e.tunables)}
                for e, _ in search.accepted[:8]
            ],
        }


def kernel_row(evaluation: Evaluation, source: str) -> dict[str, Any]:
    """Describe a kernel to build again."""
    return {"source": source, "tunables": dict(evaluation.tunables), "us": evaluation.geomean_us}


def raced(word: str, row: dict[str, Any], target: Target, rounds: int) -> Iterator[dict[str, Any]]:
    """Race on each benchmark case: the found kernel, the naive one, PyTorch's, a copy of as many bytes, in turns."""
    device = Driver(CUDA).device()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        task = load_task(str(folder_of(word, folder)), target.name)
        compiler = GpuCompiler(target, folder / "cache", workers=8)
        clock, copies = Clock(device), Copies(device)
        for case in task.benchmarks:
            tensors = tensors_of(task, case, np.random.default_rng(case.seed))
            buffers = {name: memory_of(device, t) for name, t in tensors.items()}
            ours = {
                name: _file(device, compiler, kernel, task, case, folder).bind(task, case, buffers)
                for name, kernel in zip(("ours", "naive"), row["kernels"], strict=True)
            }
            function = function_of(task, case)
            inputs = [tensors[spec.name] for spec in task.inputs]
            all_modes = list(modes(function, *inputs))
            torch_calls, failed = working(
                all_modes[: 2 if word in names() else None]
            )  # every option takes 20 s a shape
            answer = function(*inputs).float()
            apart = {}
            for name, bound in ours.items():
                bound()
                device.synchronize()
                mine = tensors[task.outputs[0].name].float()
                apart[name] = float((mine - answer).abs().max() / answer.abs().max())
            flops, nbytes = task.work(case)
            copied = copies.calls(int(nbytes))
            calls: dict[str, Call] = {**ours, **torch_calls, **copied, "nothing": copies.nothing()}
            times = clock.race(calls, rounds, random.Random(7))
            for bound in ours.values():
                bound.free()
            yield {
                "case": case.name,
                "weight": case.weight,
                "flops": flops,
                "bytes": nbytes,
                "times": times,
                "failed": failed,
                "largest_difference": apart,
            }
        compiler.close()


def _file(device: Any, compiler: GpuCompiler, kernel: Mapping[str, Any], task: Task, case: Case, folder: Path) -> File:
    """Compile the kernel that serves a case: of a table the one under its condition."""
    prepared = Preparer().prepare(kernel["source"], task, kernel["tunables"] or None)
    serving = prepared.arm(case).prepared if prepared.arms else prepared
    path = folder / "kernel.hip"
    path.write_text(serving.source, encoding="utf-8")
    return File(device, compiler, path, serving.tunables)


def main(words: Sequence[str] | None = None) -> int:
    """Search, then race, and write RESULTS after each."""
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.on_h200_search", description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--own", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--task", nargs="*", default=[], metavar="NAME[=FILE,...]")
    parser.add_argument("--generations", type=int, default=2, help="of the shipped tasks")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(words)
    target, began = load_target(TARGET), time.monotonic()
    results: dict[str, Any] = {"searches": {}, "races": {}}
    own_limits = Limits(generations=1, picks=1, explorations=EXPLORED, dispatch=False)
    shipped = Limits(generations=options.generations, picks=2, tunings=40)
    with tempfile.TemporaryDirectory() as cache:
        gpu = GpuEvaluator(target, Path(cache), seed=0)
        for word, limits in [*((w, shipped) for w in options.task), *((w, own_limits) for w in options.own)]:
            if time.monotonic() - began > options.seconds:
                print(f"{word}: left out, the time is over", flush=True)
                continue
            try:
                row = searched(word, limits, gpu, target)
            except ScientistError as error:  # the others are still worth searching
                print(f"{word}: {error}", flush=True)
                continue
            results["searches"][word] = row
            print(
                f"{word}: {row['timed']} timed, best {row['kernels'][0]['us']:.2f} us, {row['seconds']} s", flush=True
            )
            options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        gpu.close()
    torch_module().cuda.init()
    results["about"] = about()
    for word, row in results["searches"].items():
        results["races"][word] = []
        for case in raced(word, row, target, options.rounds):
            results["races"][word].append(case)
            options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
            print(f"{word} {case['case']}: { ({n: t['median_us'] for n, t in case['times'].items()}) }", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

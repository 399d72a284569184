"""Kernels of ours in whole modules on one GPU: the forecast of each model's gain, and the gain that was measured.

    python3 -m benchmarks.model_gain RESULTS [--only NAME ...] [--kernels device|lab] [--rounds N]

Needs PyTorch, NumPy and this repository. Every kernel is verified by the judge on the very shapes of the module before
it is put there; RESULTS is a JSON file with an entry a module, written after each. `--kernels lab` runs small modules
on the processor and compares outputs alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.model_modules import BenchmarkModule, PlacedRegion, modules
from exports.launcher import Launcher
from exports.models.check.checking import CheckRules, Subject, check
from exports.models.check.subject import import_package
from exports.models.package_files import RegionKernel, package_files
from exports.models.recorded_pattern import pattern_of
from exports.provenance import Provenance
from records.codec import to_plain
from records.errors import MachineError
from records.evaluation import Evaluation
from records.model_scan import ModelRegion, ModelTensor
from sandbox.candidate.prepare import Prepared, prepare
from sandbox.gpu.gpu_evaluator import GpuEvaluator
from sandbox.target import load_target
from tasks.extra_shapes import with_shapes
from tasks.loader import load_task
from tasks.task import Task

FOLDER = Path(__file__).with_name("kernels") / "models"
SMALLER = 64  # times, for the lab
TRIED = 8  # choices of a kernel's tunables that are timed


def task_of(region: PlacedRegion, target: str) -> Task:
    """Load the task with the region's sizes as its only benchmark."""
    task = load_task(FOLDER / region.task, target)
    case = with_shapes(task, [",".join(f"{name}={n}" for name, n in region.dims.items())]).tests[-1]
    return replace(task, benchmarks=(replace(case, role="benchmark"),))


def verified(task: Task, judge: GpuEvaluator | None) -> tuple[Prepared, Evaluation | None]:
    """Choose the fastest tunables on the region's sizes; MachineError for a kernel that the judge refuses."""
    prepared = prepare(task.seeds[0].read_text(encoding="utf-8"), task)
    if judge is None:
        return prepared, None
    ranked = [(judge.estimate(one).geomean_us or 1e9, n) for n, one in enumerate(_choices(prepared))]
    best = _choices(prepared)[min(ranked)[1]]
    evaluation = judge.benchmark(best)
    if not evaluation.verdict.accepted:
        raise MachineError(f"the judge refuses the kernel of {task.name}: {evaluation.verdict.findings[0].message}")
    return best, evaluation


def _choices(prepared: Prepared) -> list[Prepared]:
    return [prepared.choose(choice) for choice in prepared.choices[:TRIED]]


def region_kernel(region: PlacedRegion, target: str, judge: GpuEvaluator | None) -> RegionKernel:
    """Verify the kernel of a region and trace the region's pattern."""
    task, gpu = task_of(region, target), load_target(target)
    prepared, evaluation = verified(task, judge)
    case = task.benchmarks[0]
    inputs = [_tensor(task, spec, case) for spec in task.inputs]
    pattern = pattern_of(region.function, inputs)
    time_us = evaluation.geomean_us if evaluation is not None else None
    known = Provenance(task.name, gpu.title, prepared.id, verified_on=judge.device if judge else "", time_us=time_us)
    facts = {"count": 1, "time_us": 0.0, "share": 0.0, "bytes": 0.0, "flops": 0.0, "bound_by": "hbm"}
    gains = {"roofline_us": 0.0, "gap": 0.0, "model_gain": 1.0, "is_task": True, "reason": ""}
    outputs = tuple(_tensor(task, spec, case) for spec in task.outputs)
    place = ModelRegion(region.name, "", (), (), pattern.inputs, outputs, **facts, **gains)  # type: ignore[arg-type]
    launcher = Launcher(prepared, gpu)
    return RegionKernel(place, pattern, launcher, known, prepared.source, prepared.tunables, task.folder, (case.name,))


def _tensor(task: Task, spec: Any, case: Any) -> ModelTensor:
    shape = task.shape_of(spec, case)
    stride = tuple(torch.empty(shape, device="meta").stride())
    return ModelTensor(spec.name, spec.dtype, shape, stride)


def measured(module: BenchmarkModule, kernels_from: str, rounds: int, judge: GpuEvaluator | None) -> dict[str, Any]:
    """Put the kernels into a module and check it as a whole."""
    target = "h200" if kernels_from == "device" else "mi300x"
    device = torch.device("cuda" if kernels_from == "device" else "cpu")
    kernels = [region_kernel(region, target, judge) for region in module.regions]
    package = f"{module.name.replace(' ', '_')}_kernels"
    torch.manual_seed(0)
    model = _narrowed(module.make()).to(device).eval()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / package
        for path, content in package_files(module.name, package, kernels, load_target(target)).items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(content)
        names = tuple(kernel.region.name for kernel in kernels)
        draw = _drawn(module, device)
        subject = Subject(module.name, model, draw, import_package(place), names, kernels_from)
        found = check(subject, CheckRules(rounds=rounds), lambda text: print(f"  {text}", flush=True))
    return {**to_plain(found), "accepted": found.accepted, "sentence": found.sentence}


def _narrowed(model: torch.nn.Module) -> torch.nn.Module:
    """Make real weights bf16; those of eight bits stay."""
    return model.to(torch.bfloat16)


def _drawn(module: BenchmarkModule, device: torch.device) -> Any:
    return lambda number: [tensor.to(device) for tensor in module.draw(number)]


def main() -> int:
    """Measure the modules that are asked for."""
    options = argparse.ArgumentParser(description="Whole modules with and without our kernels.")
    options.add_argument("results", type=Path)
    options.add_argument("--only", nargs="+", default=[])
    options.add_argument("--kernels", choices=["device", "lab"], default="device")
    options.add_argument("--rounds", type=int, default=40)
    chosen = options.parse_args()
    listed = modules(1 if chosen.kernels == "device" else SMALLER)
    results: dict[str, Mapping[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        judge = GpuEvaluator(load_target("h200"), Path(folder), 0) if chosen.kernels == "device" else None
        for module in listed:
            if chosen.only and module.name not in chosen.only:
                continue
            print(module.name, flush=True)
            results[module.name] = measured(module, chosen.kernels, chosen.rounds, judge)
            chosen.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
            print(results[module.name]["sentence"], flush=True)
    return _summed(list(results.values()))


def _summed(rows: Sequence[Mapping[str, Any]]) -> int:
    for row in (row for row in rows if row["gain"]):
        forecast, gain = row["forecast_of_all"], row["gain_of_all"]["estimate"]
        points = 100 * abs(gain - forecast)
        kept = f"{row['gain']['estimate']:.3f} without {', '.join(row['left_out']) or 'none left out'}"
        print(f"{row['model']}: forecast {forecast:.3f}, measured {gain:.3f}, {points:.1f} points apart; {kept}")
    return 0 if all(row["accepted"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Scans of models compared with what PyTorch runs, and of traces with sums of their own: needs PyTorch.

    python -m benchmarks.model_scan [--traces FOLDER] [--measured]

Each module runs eagerly under a recorder of operators with their shapes, types and times, and under hooks of its
submodules. Covered is the time of the operators that the regions, run as functions from their own text as often as the
scan counts them, call on tensors of the same shapes and types. A trace is compared with the sum over its JSON, and with
`NAME.csv` beside it where TraceLens has made that table of kernels.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import logging
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.figure import Figure

MODULES = Path(__file__).resolve().parents[1] / "tests" / "data" / "models" / "modules"
GOAL = 0.9
TOP = 10
UNCAPTURED = ("mixture", "loss_backward")  # which no CUDA graph takes: values decide, or a tape is made
SAME = {"_native_batch_norm_legit_no_training": "native_batch_norm"}  # two names of one operator
GPU = ("kernel", "gpu_memcpy", "gpu_memset")
Key = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Coverage:
    """Of a module: its regions, the share of the operators' time in them, and the tensors that hooks saw."""

    name: str
    regions: int
    tasks: int
    covered: float
    hooked: int
    hooks_matched: int


def recorder() -> Any:
    """Make a mode that counts operators by name, shapes and types, and sums their times; views are left out."""
    import torch

    class Recorder(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.counts, self.seconds = Counter[Key](), defaultdict[Key, float](float)

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            begun = time.perf_counter()
            result = function(*args, **(kwargs or {}))
            taken = time.perf_counter() - begun
            returns = function._schema.returns
            is_view = bool(returns) and all(r.alias_info is not None and not r.alias_info.is_write for r in returns)
            name = function._schema.name.removeprefix("aten::").rstrip("_")
            name = SAME.get(name, name)
            if not is_view and name not in ("_unsafe_view", "lift_fresh", "_local_scalar_dense"):
                flat, _ = torch.utils._pytree.tree_flatten((args, kwargs or {}))
                tensors = [a for a in flat if isinstance(a, torch.Tensor)]
                key = name, tuple((tuple(t.shape), str(t.dtype)) for t in tensors)
                self.counts[key] += 1
                self.seconds[key] += taken
            return result

    return Recorder()


def coverage_of(path: Path) -> Coverage:
    """Scan a module and compare the scan with runs of the module and of its regions."""
    import torch

    from imports.models.costs import ReachedRates
    from imports.models.module_source import ModuleSource
    from imports.models.module_tracing import traced_model
    from imports.models.region_scan import scan_model
    from sandbox.target import load_target

    source = ModuleSource(path=path.name, text=path.read_text(encoding="utf-8"), function="")
    traced = traced_model(source)
    scan, regions = scan_model(traced, ReachedRates(load_target("mi300x")), path.name, "module")
    from_regions = Counter[Key]()
    for region in regions:
        if region.text is None:
            continue
        space: dict[str, Any] = {}
        exec(compile(region.text.text, region.region.name, "exec"), space)
        arguments = space["get_inputs"]()
        with torch.no_grad(), recorder() as mode:
            space["region"](*arguments)
        for key, count in mode.counts.items():
            from_regions[key] += count * region.region.count
    opened = source.opened()
    needs_tape = any("torch.export does not" in note for note in traced.notes)
    opened.module.requires_grad_(needs_tape)
    hooked: list[Any] = []
    for part in opened.module.modules():
        part.register_forward_hook(lambda module, inputs, output: hooked.append(output))
    with torch.set_grad_enabled(needs_tape):
        opened.module(*opened.arguments, **opened.keywords)
    tensors = [(tuple(t.shape), str(t.dtype)) for t in hooked if isinstance(t, torch.Tensor)]
    with torch.set_grad_enabled(needs_tape), recorder() as mode:
        opened.module(*opened.arguments, **opened.keywords)
    left, covered = Counter(from_regions), 0.0
    for key, seconds in mode.seconds.items():
        covered += seconds * min(1.0, left[key] / mode.counts[key])
    values = _values(traced)
    matched = sum((shape, kind) in values for shape, kind in tensors)
    tasks = sum(r.is_task for r in scan.regions)
    share = covered / (sum(mode.seconds.values()) or 1.0)
    return Coverage(traced.name, len(scan.regions), tasks, share, len(tensors), matched)


def _values(traced: Any) -> set[tuple[tuple[int, ...], str]]:
    """Shapes and types of all values of a graph, as PyTorch names them."""
    from imports.models.region_text import TORCH_TYPES

    results = [t for graph in traced.graphs for node in graph.nodes for t in node.results]
    return {(t.shape, f"torch.{TORCH_TYPES.get(t.dtype, t.dtype)}") for t in results}


def measured_line(path: Path) -> str:
    """Compare the sum of the operators' times on this machine's GPU with a CUDA graph of the whole module.

    A GPU machine may have PyTorch and this repository alone, and nothing that draws tables.
    """
    import torch

    from imports.models.device_times import GraphClock, device_times
    from imports.models.module_source import ModuleSource
    from imports.models.module_tracing import traced_model

    source = ModuleSource(path=path.name, text=path.read_text(encoding="utf-8"), function="")
    times = device_times(traced_model(source))
    if times is None:
        sys.exit("PyTorch has no GPU here: leave --measured out")
    opened = source.opened()
    module = opened.module.cuda().requires_grad_(False)
    arguments = [a.cuda() if isinstance(a, torch.Tensor) else a for a in opened.arguments]
    with torch.no_grad(), torch.device("cuda"):  # what forward makes for itself stands on the GPU, too
        whole_us = GraphClock().time_us([lambda: module(*arguments)])
    total_us = sum(times.times.values())
    slow = sorted(times.times, key=lambda name: -times.times[name])[:3]
    return (
        f"{path.stem}: {len(times.times)} operators {total_us:.1f} us, as one CUDA graph {whole_us:.1f} us "
        f"({total_us / whole_us:.2f}) on {times.device}; {', '.join(f'{n} {times.times[n]:.1f}' for n in slow)}; "
        f"{'; '.join(times.notes) or 'all timed'}"
    )


def trace_figures(folder: Path) -> list[Figure]:
    """Count the kernels among the first ten of each trace that have the name and time of a sum over the whole file."""
    from benchmarks.figure import Figure
    from imports.models.trace_reading import read_trace

    figures = list[Figure]()
    for path in sorted(folder.glob("*.json*")):
        trace = read_trace(path)
        opener: Any = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", errors="replace") as file:
            document = json.load(file, strict=False)
        sums = defaultdict[str, float](float)
        for event in document["traceEvents"] if isinstance(document, dict) else document:
            if str(event.get("cat", "")).lower() in GPU and event.get("ph") == "X":
                sums[event["name"]] += float(event["dur"])
        first = trace.kernels[:TOP]
        same = sum(abs(sums[k.name] - k.time_us) <= 1e-6 * k.time_us for k in first)
        name = path.name.split(".")[0]
        figures.append(
            Figure(f"trace.{name}", same, "kernels", "the first of the file's sum", len(first), f">= {len(first)}")
        )
        table = folder / f"{path.name.removesuffix('.gz').removesuffix('.json')}.csv"
        if table.is_file():
            theirs = _tracelens(table)[:TOP]
            ours = [k.name for k in trace.kernels if not k.name.startswith(("Memcpy", "Memset"))][: len(theirs)]
            agreed = sum(a == b for a, b in zip(ours, theirs, strict=False))
            figures.append(
                Figure(f"tracelens.{name}", agreed, "kernels", "its own order", len(theirs), f">= {len(theirs)}")
            )
    return figures


def _tracelens(path: Path) -> list[str]:
    """Order the kernels of a table of TraceLens by their time."""
    sums = defaultdict[str, float](float)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sums[row["Kernel name"]] += float(next(v for k, v in row.items() if k.endswith("_sum")))
    return sorted(sums, key=lambda name: -sums[name])


def main(arguments: Sequence[str] = ()) -> int:
    """Print the figures."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.model_scan")
    options.add_argument("--traces", type=Path, default=None, metavar="FOLDER", help="profilers' traces")
    options.add_argument("--measured", action="store_true", help="times on this machine's GPU, and nothing else")
    options.add_argument("--only", nargs="*", default=[], metavar="NAME", help="these modules")
    chosen = options.parse_args(arguments)
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    paths = [p for p in sorted(MODULES.glob("*.py")) if not chosen.only or p.stem in chosen.only]
    if chosen.measured:
        for path in paths:
            if path.stem not in UNCAPTURED:
                print(measured_line(path), flush=True)
        return 0
    from benchmarks.figure import Figure, report

    figures = list[Figure]()
    for path in paths:
        result = coverage_of(path)
        print(f"{result.name}: {result.regions} regions, {result.tasks} can be tasks", flush=True)
        figures.append(Figure(f"covered.{path.stem}", result.covered, "", "all operators' time", 1.0, f">= {GOAL}"))
        anchor = "tensors that hooks saw"
        figures.append(
            Figure(f"hooks.{path.stem}", result.hooks_matched, "", anchor, result.hooked, f">= {result.hooked}")
        )
    return report("scans of models", [*figures, *(trace_figures(chosen.traces) if chosen.traces else [])])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

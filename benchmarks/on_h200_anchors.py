"""Times our kernels beside PyTorch and its libraries on the H200 of this machine, all in one run.

    python3 -m benchmarks.on_h200_anchors RESULTS [TASK=FILE[,NAME=VALUE ...] ...] [--rounds N] [--search N]

Without files the task's last seed stands for ours. `--search N` tries up to N choices of a file's tunables and keeps
the fastest by geometric mean. Every window is alike: 256 MiB are written and 512 MiB read, event, call, event,
wait; in each round all calls come in a new random order. RESULTS is a JSON file that `benchmarks.h200_anchors` prints.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from app.beating.bound_kernels import Bound, File, order
from benchmarks.rivals import Call, rivals, torch_module
from records.errors import MachineError
from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import choices
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.compile.nvrtc import find_compiler
from sandbox.gpu.driver.cuda import CUDA
from sandbox.gpu.driver.device_memory import Argument, DeviceMemory
from sandbox.gpu.driver.driver import Device, Driver
from sandbox.target import load_target
from tasks.loader import load_task, task_names
from tasks.task import Case, Task, TensorSpec

TYPES = {"f32": "float32", "bf16": "bfloat16", "e4m3fn": "float8_e4m3fn"}
EMPTY = 'extern "C" __global__ void nothing() {}\n'
COPY = """extern "C" __global__ void copy(const uint4* x, uint4* y, long n) {
    const long i = blockIdx.x * 512l + threadIdx.x;
    if (i < n) y[i] = x[i];
}
"""
GIB = 1 << 30


class Clock:
    """Cold windows on the default stream, which PyTorch and our kernels share."""

    def __init__(self, device: Device) -> None:
        torch = torch_module()
        self._start, self._end = device.event(), device.event()
        self._written = torch.empty(64 << 20, dtype=torch.int32, device="cuda")
        self._read = torch.ones(128 << 20, dtype=torch.int32, device="cuda")

    def window(self, call: Call) -> float:
        """Measure one call's microseconds with cold caches; the flush runs long enough to hide what queueing costs."""
        self._written.fill_(1)
        self._read.amax()
        self._start.record()
        call()
        self._end.record()
        self._end.wait()
        return self._end.since_us(self._start)

    def race(self, calls: Mapping[str, Call], rounds: int, rng: random.Random) -> dict[str, Any]:
        """Race the calls in rounds of random order: median and quartiles of each; the first two rounds do not count."""
        times_us: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(rounds + 2):
            for name in rng.sample(list(calls), len(calls)):
                times_us[name].append(self.window(calls[name]))
        return {name: spread(times[2:]) for name, times in times_us.items()}


def spread(times: Sequence[float]) -> dict[str, Any]:
    """Give the statistics kept of samples in microseconds."""
    low, middle, high = statistics.quantiles(times, n=4)
    return {
        "median_us": round(middle, 3),
        "low_us": round(low, 3),
        "high_us": round(high, 3),
        "least_us": round(min(times), 3),
        "samples": len(times),
    }


def tensors_of(task: Task, case: Case, rng: np.random.Generator) -> dict[str, Any]:
    """Draw inputs with normal values and outputs, as tensors in the task's layout."""
    torch = torch_module()
    torch.manual_seed(int(rng.integers(1 << 30)))
    tensors = {}
    for spec in (*task.inputs, *task.outputs):
        shape = task.shape_of(spec, case)
        turned = shape[::-1] if order(spec) == "F" else shape
        tensor = torch.randn(turned, device="cuda").to(getattr(torch, TYPES[spec.dtype]))
        tensors[spec.name] = tensor.t() if order(spec) == "F" else tensor
    return tensors


def memory_of(device: Device, tensor: Any) -> DeviceMemory:
    """Return a tensor's memory for our launches; the tensor keeps it alive."""
    return DeviceMemory(device.driver, tensor.data_ptr(), tensor.numel() * tensor.element_size())


class Copies:
    """Copies of a given number of bytes, and the kernel that does nothing."""

    def __init__(self, device: Device) -> None:
        self._kernels = []
        for text, name in ((COPY, "copy"), (EMPTY, "nothing")):
            build = find_compiler().compile(text, f"{name}.cu", "sm_90a")
            if build.cubin is None:
                raise MachineError(f"the copy kernel does not compile: {build.log}")
            self._kernels.append(device.load(build.cubin).kernel(name))
        torch = torch_module()
        self._x, self._y = (torch.ones(GIB // 8, dtype=torch.int32, device="cuda") for _ in range(2))
        self._device = device

    def calls(self, nbytes: int) -> dict[str, Call]:
        """Prepare the ways to move that many bytes, half of them read and half written."""
        words = max(1, min(nbytes, GIB) // 8)
        x, y = self._x[:words], self._y[:words]
        count = -(-words // 4)
        arguments: list[Argument] = [memory_of(self._device, x), memory_of(self._device, y), ctypes.c_int64(count)]
        return {
            "copy kernel": self._kernels[0].prepared((-(-count // 512), 1, 1), (512, 1, 1), 0, arguments),
            "torch copy_": lambda: y.copy_(x),
        }

    def nothing(self) -> Call:
        """Prepare an empty kernel."""
        return self._kernels[1].prepared((1, 1, 1), (32, 1, 1), 0, [])


@dataclass(frozen=True)
class Entry:
    """One of our files for a task, with the tunables asked for."""

    task: str
    path: Path
    tunables: Mapping[str, int]


def entry_of(word: str) -> Entry:
    """Parse TASK=FILE[,NAME=VALUE ...]."""
    task, _, words = word.partition("=")
    path, *pairs = words.split(",")
    return Entry(task, Path(path), {name: int(value) for name, value in (pair.split("=") for pair in pairs)})


@dataclass(frozen=True)
class Ground:
    """The GPU with everything that times on it."""

    device: Device
    compiler: GpuCompiler
    clock: Clock
    copies: Copies
    rng: random.Random
    rounds: int


def chosen(ground: Ground, task: Task, entry: Entry, search: int) -> File:
    """Return the file with its tunables: those asked for, or the fastest of up to `search` choices."""
    candidate = parse(entry.path.read_text(encoding="utf-8"))
    allowed = [c for c in choices(candidate, task) if entry.tunables.items() <= c.items()]
    some = [allowed[0], *ground.rng.sample(allowed[1:], max(0, min(search, len(allowed)) - 1))]
    for build in [ground.compiler.submit(candidate, choice) for choice in some]:
        build.result()
    files = [File(ground.device, ground.compiler, entry.path, choice) for choice in some]
    if len(files) == 1:
        return files[0]
    total = [0.0] * len(files)
    for case in task.benchmarks:
        tensors = tensors_of(task, case, np.random.default_rng(1))
        buffers = {name: memory_of(ground.device, t) for name, t in tensors.items()}
        for index, file in enumerate(files):
            bound = file.bind(task, case, buffers)
            bound()
            total[index] += case.weight * math.log(statistics.median(ground.clock.window(bound) for _ in range(5)))
            bound.free()
    return files[total.index(min(total))]


def disagreement(outputs: Sequence[TensorSpec], tensors: Mapping[str, Any], other: Any) -> float:
    """Return the largest difference of our first output from a rival's, in the rival's largest value."""
    mine, theirs = tensors[outputs[0].name].float(), other.float()
    return float((mine - theirs).abs().max() / theirs.abs().max())


def run_case(ground: Ground, task: Task, case: Case, files: Sequence[File]) -> dict[str, Any]:
    """Time everything that computes one case, in turn."""
    tensors = tensors_of(task, case, np.random.default_rng(case.seed))
    buffers = {name: memory_of(ground.device, t) for name, t in tensors.items()}
    ours: dict[str, Bound] = {f"ours: {f.path.name}": f.bind(task, case, buffers) for f in files}
    rival_calls, failed = rivals(task.name, tensors)
    flops, nbytes = task.work(case)
    same = next((call for name, call in rival_calls.items() if "scale" not in name and "beforehand" not in name), None)
    apart = {}
    for name, bound in ours.items():
        bound()
        ground.device.synchronize()
        apart[name] = disagreement(task.outputs, tensors, same()) if same else None
    calls: dict[str, Call] = {
        **ours,
        **rival_calls,
        **ground.copies.calls(int(nbytes)),
        "nothing": ground.copies.nothing(),
    }
    times = ground.clock.race(calls, ground.rounds, ground.rng)
    for bound in ours.values():
        bound.free()
    return {
        "case": case.name,
        "flops": flops,
        "bytes": nbytes,
        "weight": case.weight,
        "times": times,
        "failed": failed,
        "largest_difference": apart,
    }


def about() -> dict[str, str]:
    """Name device, driver and versions."""
    torch = torch_module()
    device = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "nvidia_smi": device,
        "torch": torch.__version__,
        "cuda": str(torch.version.cuda),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def main(words: Sequence[str]) -> int:
    """Collect everything into RESULTS, saved after each case."""
    parser = argparse.ArgumentParser(prog="on_h200_anchors")
    parser.add_argument("results", type=Path)
    parser.add_argument("entries", nargs="*", type=entry_of)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--search", type=int, default=24)
    options = parser.parse_args(list(words))
    torch_module().cuda.init()
    device = Driver(CUDA).device()
    compiler = GpuCompiler(load_target("h200"), Path(tempfile.mkdtemp()), workers=8)
    ground = Ground(device, compiler, Clock(device), Copies(device), random.Random(7), options.rounds)
    copies = ground.clock.race(ground.copies.calls(GIB), options.rounds, ground.rng)
    results: dict[str, Any] = {
        "about": about(),
        "rounds": options.rounds,
        "tasks": {},
        "files": {},
        "copy_1_gib": {"bytes": GIB, **copies},
    }
    for name in sorted({e.task for e in options.entries}) or task_names():
        task = load_task(name, "h200")
        entries = [e for e in options.entries if e.task == name] or [Entry(name, task.seeds[-1], {})]
        files = [chosen(ground, task, entry, options.search) for entry in entries]
        results["files"][name] = {f.path.name: f.chosen for f in files}
        results["tasks"][name] = rows = []
        for case in task.benchmarks:
            rows.append(run_case(ground, task, case, files))
            options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
            print(f"{name} {case.name}", flush=True)
    compiler.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

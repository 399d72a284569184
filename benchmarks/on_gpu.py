"""Runs specimens on the GPU of this machine, one process a task, so that a fault costs one kernel.

    python3 -m benchmarks.on_gpu check FOLDER RESULTS        every counter specimen once: checksums and facts
    python3 -m benchmarks.on_gpu launch FOLDER [NAME ...]    the same, silently: for a profiler around it
    python3 -m benchmarks.on_gpu time FOLDER RESULTS FAMILY  one family of variants, checked and timed
    python3 -m benchmarks.on_gpu profile FOLDER FAMILY       one family of variants, each launched once

RESULTS is a file of JSON lines, written as things happen; a specimen that is named there as begun but not as done has
ended its process, and the next process leaves it out.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cubins import symbol
from benchmarks.held_out import together_with
from benchmarks.specimens import KERNELS, Specimen, Tensor, counter_specimens
from benchmarks.variants import Family, as_float
from records.errors import MachineError
from sandbox.candidate.resolve import BufferArg, ResolvedLaunch, ScalarArg
from sandbox.gpu.driver.cuda import CUDA
from sandbox.gpu.driver.device_memory import Argument, DeviceMemory
from sandbox.gpu.driver.driver import Device, DeviceEvent, DeviceKernel, Driver

FLUSH_FLOATS = 1 << 26  # 256 MiB, five times the L2
ROUNDS = 30
SLOW_US = 3000.0  # beyond it a variant gets fewer rounds
POISON = 0xFFC0DEAD


class Results:
    """A file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, kind: str, name: str, **values: Any) -> None:
        """Append one line at once."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"kind": kind, "name": name, **values}) + "\n")

    def rows(self) -> list[dict[str, Any]]:
        """Read the rows written so far; a line that was cut off is left out."""
        found = []
        for line in self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else ():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found

    def spoiled(self) -> set[str]:
        """List the specimens that ended a process, or have failed."""
        begun = {r["name"] for r in self.rows() if r["kind"] == "begun"}
        return {n for n in begun if not any(r["name"] == n and r["kind"] in ("done", "wrong") for r in self.rows())}


def arguments(launch: ResolvedLaunch, buffers: Mapping[str, DeviceMemory]) -> list[Argument]:
    """List the kernel's arguments."""
    made: list[Argument] = []
    for argument in launch.args:
        if isinstance(argument, BufferArg):
            made.append(buffers[argument.name])
        elif isinstance(argument, ScalarArg) and argument.dtype == "f32":
            made.append(ctypes.c_float(float(argument.value)))
        elif isinstance(argument, ScalarArg):
            made.append((ctypes.c_int64 if argument.dtype == "i64" else ctypes.c_int)(int(argument.value)))
    return made


class Ready:
    """A specimen's kernel with its buffers bound."""

    def __init__(
        self, device: Device, specimen: Specimen, index: int, folder: Path, buffers: Mapping[str, DeviceMemory]
    ) -> None:
        self.specimen, self.launch_of = specimen, specimen.plan.launches[0]
        module = device.load((folder / f"{index}.cubin").read_bytes())
        self.kernel: DeviceKernel = module.kernel(symbol(specimen, index))
        self.kernel.allow_dynamic(self.launch_of.lds_bytes)
        self.arguments = arguments(self.launch_of, buffers)

    def launch(self) -> None:
        """Launch once, on the default stream."""
        self.kernel.launch(self.launch_of.grid, self.launch_of.block, self.launch_of.lds_bytes, self.arguments)

    def facts(self) -> dict[str, int]:
        """Read registers, shared memory, blocks a unit."""
        return asdict(self.kernel.facts(self.launch_of.threads, self.launch_of.lds_bytes))


def buffers_of(
    device: Device, specimen: Specimen, inputs: Mapping[str, np.ndarray[Any, Any]]
) -> dict[str, DeviceMemory]:
    """Allocate device memory for every tensor; inputs copied, outputs poisoned."""
    made = {}
    for tensor in specimen.tensors:
        nbytes = int(np.prod(specimen.shape(tensor))) * np.dtype(tensor.dtype).itemsize
        made[tensor.name] = device.allocate(nbytes)
        if tensor.fill:
            made[tensor.name].write(inputs[tensor.name])
        else:
            made[tensor.name].fill(POISON)
    return made


def run_counters(device: Device, folder: Path, results: Results | None, only: Sequence[str] = ()) -> None:
    """Run each counter specimen once; its output's checksum where results are kept."""
    skipped = results.spoiled() if results else set()
    done = {r["name"] for r in results.rows() if r["kind"] == "done"} if results else set()
    for index, specimen in enumerate(counter_specimens()):
        built = (folder / f"{index}.cubin").exists()
        if not built or specimen.name in skipped | done or (only and specimen.name not in only):
            continue
        if results:
            results.add("begun", specimen.name)
        buffers = buffers_of(device, specimen, specimen.inputs())
        ready = Ready(device, specimen, index, folder, buffers)
        ready.launch()
        device.synchronize()
        if results:
            output = specimen.outputs()[0]
            values = buffers[output.name].read(output.dtype, specimen.shape(output))
            words = int(np.bitwise_xor.reduce(np.ascontiguousarray(values).view(np.uint32).ravel()))
            with np.errstate(all="ignore"):
                total = float(np.nansum(values.astype(np.float64)))
            results.add("done", specimen.name, words=words, total=total, **ready.facts())
        for memory in buffers.values():
            memory.free()


def _wrong(family: Family, specimen: Specimen, memory: DeviceMemory, expected: np.ndarray[Any, Any]) -> str:
    output = specimen.outputs()[0]
    values = memory.read(output.dtype, specimen.shape(output))
    got = as_float(values) if values.dtype == np.uint16 else values
    worst = float(np.max(np.abs(got - expected) / (1.0 + np.abs(expected))))
    return "" if worst <= family.tolerance else f"largest error {worst:g}, allowed {family.tolerance:g}"


def _checked(
    device: Device,
    family: Family,
    folder: Path,
    first: int,
    results: Results,
    buffers: Mapping[str, DeviceMemory],
    inputs: Mapping[str, np.ndarray[Any, Any]],
) -> Iterator[Ready]:
    expected = family.reference(inputs)
    skipped = results.spoiled()
    for offset, specimen in enumerate(family.variants):
        if specimen.name in skipped or not (folder / f"{first + offset}.cubin").exists():
            continue
        results.add("begun", specimen.name)
        output = specimen.outputs()[0]
        buffers[output.name].fill(POISON)
        ready = Ready(device, specimen, first + offset, folder, buffers)
        ready.launch()
        device.synchronize()
        said = _wrong(family, specimen, buffers[output.name], expected)
        results.add("wrong" if said else "done", specimen.name, message=said, **ready.facts())
        if not said:
            yield ready


def flusher(device: Device, folder: Path, index: int) -> Ready:
    """Build a kernel that reads 256 MiB, so that the L2 holds clean lines of nothing that matters."""
    specimen = flush_specimen()
    buffers = buffers_of(device, specimen, {"x": np.zeros(FLUSH_FLOATS, np.float32)})
    return Ready(device, specimen, index, folder, buffers)


def flush_specimen() -> Specimen:
    """Describe sums of 256 MiB."""
    x, y = Tensor("x", "float32", ("n",), "normal"), Tensor("y", "float32", ("n // 512",))
    return Specimen("flush", KERNELS / "block_sum.hip", {"WAY": 2}, {"n": FLUSH_FLOATS}, (x, y))


def anchors() -> list[Specimen]:
    """Build the kernels timed beside every family: one that does nothing, and a copy of 256 MiB."""
    x, y = Tensor("x", "float32", ("n",), "normal"), Tensor("y", "float32", ("n",))
    return [
        Specimen("empty", KERNELS / "empty.hip", {}, {"n": 256}, (y,)),
        Specimen("copy of 256 MiB", KERNELS / "copy.hip", {"WIDTH": 4}, {"n": FLUSH_FLOATS}, (x, y)),
    ]


def all_variants(group: Sequence[Family]) -> list[Specimen]:
    """List every specimen with a cubin in the folder of these families, in the order of their numbers."""
    return [*(s for f in group for s in f.variants), flush_specimen(), *anchors()]


def extra_index(group: Sequence[Family], which: int) -> int:
    """Return the number of the flush (0) or an anchor (1, 2)."""
    return sum(len(f.variants) for f in group) + which


def placed(name: str) -> tuple[list[Family], Family, int]:
    """Find the families compiled together with this one, itself, and the number of its first variant."""
    group, first = together_with(name), 0
    for family in group:
        if family.name == name:
            return group, family, first
        first += len(family.variants)
    raise SystemExit(f"there is no family {name}")


def run_family(device: Device, folder: Path, results: Results, name: str) -> None:
    """Check every variant against the reference, then time the right ones in turn, the L2 flushed before each."""
    group, family, first = placed(name)
    inputs = family.variants[0].inputs()
    buffers = buffers_of(device, family.variants[0], inputs)
    ready = list(_checked(device, family, folder, first, results, buffers, inputs))
    for offset, anchor in enumerate(anchors(), 1):
        ready.append(
            Ready(
                device,
                anchor,
                extra_index(group, offset),
                folder,
                buffers_of(device, anchor, {"x": np.ones(FLUSH_FLOATS, np.float32)}),
            )
        )
    flush = flusher(device, folder, extra_index(group, 0))
    start, end = device.event(), device.event()
    rng = np.random.default_rng(7)
    slow: set[str] = set()
    for round_number in range(-2, ROUNDS):
        for at in rng.permutation(len(ready)):
            one = ready[int(at)]
            if one.specimen.name in slow and round_number % 5:
                continue
            cold = _timed(flush, one, start, end)
            if cold > SLOW_US:
                slow.add(one.specimen.name)
            if round_number >= 0:
                results.add("time", one.specimen.name, us=round(cold, 3))
    for one in ready:  # warm: the same launch again and again
        repeats = 20 if one.specimen.name not in slow else 3
        one.launch()
        start.record()
        for _ in range(repeats):
            one.launch()
        end.record()
        end.wait()
        results.add("warm", one.specimen.name, us=round(end.since_us(start) / repeats, 3))


def _timed(flush: Ready, one: Ready, start: DeviceEvent, end: DeviceEvent) -> float:
    flush.launch()
    start.record()
    one.launch()
    end.record()
    end.wait()
    return end.since_us(start)


def profile_family(device: Device, folder: Path, name: str) -> None:
    """Launch every variant of a family once, for a profiler around this process."""
    _, family, first = placed(name)
    buffers = buffers_of(device, family.variants[0], family.variants[0].inputs())
    for offset, specimen in enumerate(family.variants):
        if (folder / f"{first + offset}.cubin").exists():
            Ready(device, specimen, first + offset, folder, buffers).launch()
            device.synchronize()


def main(words: Sequence[str]) -> int:
    """Run one of the forms in the module's text."""
    try:
        device = Driver(CUDA).device()
        folder = Path(words[1])
        if words[0] == "check":
            run_counters(device, folder, Results(Path(words[2])))
        elif words[0] == "launch":
            run_counters(device, folder, None, words[2:])
        elif words[0] == "time":
            run_family(device, folder, Results(Path(words[2])), words[3])
        elif words[0] == "profile":
            profile_family(device, folder, words[2])
        else:
            print(json.dumps(asdict(device.properties())))
    except MachineError as error:
        print(f"on_gpu: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

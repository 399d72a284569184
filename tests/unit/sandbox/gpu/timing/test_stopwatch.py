"""Timed windows in a child whose kernels are Python: a kernel that can remember gains nothing, and is found."""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from records.errors import DeviceError
from records.evaluation import CaseComparison
from sandbox.candidate.prepare import prepare
from sandbox.gpu.child_link import GpuSlot
from sandbox.gpu.child_messages import BindRequest, RepeatRequest, ReplayRequest, WindowsRequest
from sandbox.gpu.child_process import Chained, ChildProcess, ClockReading, WindowResult
from sandbox.gpu.compile.gpu_compiler import DeviceBuild
from sandbox.gpu.compiled import CompiledCandidate, LoadedCandidate
from sandbox.gpu.layout import content, set_seed
from sandbox.gpu.references import References
from sandbox.gpu.timing.clocks import ClockSample
from sandbox.gpu.timing.measure import overall
from sandbox.gpu.timing.stopwatch import Refused, Stopwatch, floor_us, flush_bytes
from tasks.loader import load_task
from tasks.task import Array, Task
from tests.support.few import few

SOURCE = """/*+++
{extra}[[launch]]
kernel = "scale"
grid = ["1"]
block = ["64"]
args = ["x", "y", "n"]
+++*/
"""
FACTOR = np.float32(1.7)
Kernel = Callable[[Array, dict[str, Any]], Array]  # from x and what it remembers


class Remembering(ChildProcess):
    """A child in which a call is a Python function; `memory` is all that a kernel manages to keep."""

    def __init__(self, kernels: Mapping[str, Kernel], time_us: float) -> None:
        self.slot, self.is_broken, self.noise_seed = GpuSlot("amd", 0), False, 0
        self.kernels, self.time_us = kernels, time_us
        self.memory: dict[str, Any] = {}
        self.fetched = self.summed = self.replayed = 0
        self.asked: list[tuple[int, float]] = []  # calls of a stretch, and the time for it

    def bind(self, request: BindRequest, inputs: int) -> None:
        data = np.frombuffer(os.pread(inputs, os.fstat(inputs).st_size, 0), np.float32).reshape(2, -1)
        self.bound, self.bases = request, data

    def output(self, tag: str, seed: int, number: int) -> Array:
        buffer, own_seed = self.bound.layout["x"], set_seed(seed, number)
        x = content(self.bases[0], self.bases[1], buffer, own_seed, self.bound.whole)
        return self.kernels[tag](x, self.memory)

    def windows(self, request: WindowsRequest, timeout_s: float) -> tuple[WindowResult, ...]:
        samples = []
        for window in request.windows:
            outputs = [self.output(window.tag, window.seed, n) for n in range(window.calls)]
            self.fetched += window.fetch is not None
            self.summed += window.inspect and window.fetch is None
            samples.append(
                WindowResult(
                    self.time_us,
                    0,
                    tuple(zlib.crc32(y.tobytes()) for y in outputs) if window.inspect else (),
                    {} if window.fetch is None else {"y": outputs[window.fetch].view(np.uint8)},
                )
            )
        return tuple(samples)

    def repeat(self, request: RepeatRequest, timeout_s: float) -> ClockReading:
        self.asked.append((request.times, timeout_s))
        stretch_us = request.times * self.time_us
        return ClockReading(stretch_us, stretch_us + 100.0, stretch_us + 5000.0)

    def replay(self, request: ReplayRequest, timeout_s: float) -> Chained:
        self.replayed += 1
        outputs = [self.output(request.tag, request.seed, n) for n in range(request.calls)]
        return Chained(0, tuple(zlib.crc32(y.tobytes()) for y in outputs), ())


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(Path(__file__).parents[4] / "kernels" / "exploits" / "tasks" / "scale")


@pytest.fixture
def references(task: Task) -> Iterator[References]:
    answers = References(task, 7)
    yield answers
    answers.close()


def watched(
    references: References, kernel: Kernel, seed: int = 0, time_us: float = 20.0, extra: str = "", clocks: Any = None
) -> tuple[Stopwatch, Remembering]:
    child = Remembering({"B": kernel}, time_us)
    build = DeviceBuild((), b"", "", (), (), "", 0.0)
    loaded = LoadedCandidate(
        child, "B", CompiledCandidate(prepare(SOURCE.format(extra=extra), references.task), build), random.Random(seed)
    )
    (case,) = references.benchmarks()
    return Stopwatch({"B": loaded}, references, case, 1 << 20, 1.0, clocks), child


def timed(references: References, kernel: Kernel, seed: int = 0, windows: int = 40, **more: Any) -> Remembering:
    watch, child = watched(references, kernel, seed, **more)
    watch.prepare()
    assert list(watch.take(["B"] * windows)) == [child.time_us] * windows
    watch.settle()
    watch.conclude()
    assert watch.results["B"].correct and watch.results["B"].role == "benchmark"
    return child


def right(x: Array, memory: dict[str, Any]) -> Array:
    return x * FACTOR


def half(x: Array, memory: dict[str, Any]) -> Array:
    return np.concatenate([x[: len(x) // 2] * FACTOR, np.zeros(len(x) // 2, np.float32)])


def key(x: Array) -> bytes:
    return x[:64].tobytes()


def lazy_until_seen(x: Array, memory: dict[str, Any]) -> Array:
    """Leaves work out unless the same contents come again, as those of a check would."""
    is_known = key(x) in memory
    memory[key(x)] = True
    return right(x, memory) if is_known else half(x, memory)


def lazy_later(x: Array, memory: dict[str, Any]) -> Array:
    """Honest for a fifth of the calls, then wrong, and true to what it once gave."""
    memory["calls"] = memory.get("calls", 0) + 1
    is_lazy = memory.setdefault(key(x), memory["calls"] > 80)
    return half(x, memory) if is_lazy else right(x, memory)


def lazy_once(x: Array, memory: dict[str, Any]) -> Array:
    """Wrong in seven of eight calls, but never on what it has seen before."""
    memory["calls"] = memory.get("calls", 0) + 1
    is_new = key(x) not in memory
    memory[key(x)] = True
    return half(x, memory) if is_new and memory["calls"] % 8 else right(x, memory)


def refused(references: References, kernel: Kernel, seed: int, **more: Any) -> str:
    try:
        timed(references, kernel, seed, **more)
    except Refused as refusal:
        return refusal.finding.kind
    return ""


@pytest.mark.slow
def test_an_honest_kernel_keeps_its_time_and_is_looked_at(references: References) -> None:
    for seed in range(4):
        child = timed(references, right, seed)
        assert child.fetched == 2 and child.replayed == min(6, child.summed + child.fetched)


def test_without_any_window_taken_the_known_ones_come_at_the_end(references: References) -> None:
    assert timed(references, right, windows=0).fetched == 2
    assert refused(references, half, 0, windows=0) == "wrong_result"


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel", [half, lazy_later, *(pytest.param(k, marks=pytest.mark.long) for k in (lazy_until_seen, lazy_once))]
)
@pytest.mark.parametrize(("time_us", "windows"), few([(20.0, 40), (500.0, 160)], 2))  # windows of 8 calls, and of one
def test_who_remembers_gains_nothing(references: References, kernel: Kernel, time_us: float, windows: int) -> None:
    kinds = [refused(references, kernel, seed, time_us=time_us, windows=windows) for seed in range(4)]
    assert set(kinds) <= {"wrong_result", "nondeterministic"}, kinds


@pytest.mark.slow
def test_a_plan_with_free_bits_is_not_summed_but_compared(references: References) -> None:
    def rough(x: Array, memory: dict[str, Any]) -> Array:
        memory["calls"] = memory.get("calls", 0) + 1
        return np.nextafter(right(x, memory), np.float32(memory["calls"] % 3))

    assert refused(references, rough, 0) == "nondeterministic"
    assert timed(references, rough, 0, extra="nondeterministic = true\n").replayed == 0
    kinds = {refused(references, lazy_until_seen, seed, extra="nondeterministic = true\n") for seed in range(3)}
    assert kinds == {"wrong_result"}


class Throttled:
    def sample(self) -> ClockSample:
        return ClockSample(throttled=("thermal slowdown",))


@pytest.mark.parametrize(("time_us", "doublings"), [(3.0, 4), (5e4, 0), (5e4, 4), (1e6, 0), (1e6, 4)])
def test_a_slow_kernel_has_time_for_a_stretch_of_calls(references: References, time_us: float, doublings: int) -> None:
    watch, child = watched(references, right, time_us=time_us)
    assert astuple(watch.two_clocks("B", time_us, doublings)) == pytest.approx((time_us, time_us, time_us))
    assert all(timeout_s > 1.5e-6 * times * time_us for times, timeout_s in child.asked), child.asked
    (short, _), (long, _) = child.asked
    assert long == 3 * short and short * time_us <= max(5 * time_us, 1.1e6)


def test_a_gpu_that_is_throttled_all_the_time_is_no_fault_of_the_candidate(references: References) -> None:
    assert Throttled().sample().is_void
    watch, _ = watched(references, right, clocks=Throttled())
    with pytest.raises(DeviceError, match="throttled"):
        watch.prepare()


def test_the_floor_and_the_flush_know_the_largest_cache() -> None:
    memory = {"hbm_tb_s": 5.0, "l2_bytes": 4 << 20, "mall_bytes": 256 << 20}
    assert floor_us(1e9, 0, 100.0, memory) == pytest.approx(10.0)
    assert floor_us(0, (256 << 20) + 5e6, 100.0, memory) == pytest.approx(1.0)
    assert floor_us(0, 256 << 20, 100.0, memory) == 0.0
    assert floor_us(0, (4 << 20) + 5e6, 100.0, {"hbm_tb_s": 5.0, "l2_bytes": 4 << 20}) == pytest.approx(1.0)
    assert flush_bytes(memory, 60 << 20) == 512 << 20
    assert flush_bytes({}, 60 << 20) == 120 << 20
    assert flush_bytes({}, 0) == 32 << 20


def joined(task: Task, *rows: tuple[str, float, float, float]) -> tuple[str, float, float, float]:
    cases = [CaseComparison(name, ratio, low, high, "undecided", 28) for name, ratio, low, high in rows]
    return overall(task, cases, 0.005)


def test_cases_are_joined_by_their_weights(task: Task) -> None:
    (case,) = task.benchmarks
    weighted = replace(task, benchmarks=(replace(case, name="a", weight=3.0), replace(case, name="b", weight=1.0)))
    rows = (("a", 0.9, 0.88, 0.92), ("b", 1.1, 1.08, 1.12))
    verdict, ratio, low, high = joined(weighted, *rows)
    assert verdict == "faster" and ratio == pytest.approx(0.9**0.75 * 1.1**0.25)
    assert low < ratio < high == pytest.approx(0.92**0.75 * 1.12**0.25)
    assert joined(weighted, ("a", 1.1, 1.08, 1.12), ("b", 0.9, 0.88, 0.92))[0] == "slower"
    assert joined(weighted, ("a", 1.0, 0.996, 1.004), ("b", 1.0, 0.996, 1.004))[0] == "same"
    assert joined(weighted, ("a", 1.0, 0.9, 1.1), ("b", 1.0, 0.996, 1.004))[0] == "undecided"

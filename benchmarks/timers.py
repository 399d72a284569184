"""The timers of other projects, re-implemented on the same driver interface as ours.

Read in their sources: Triton `testing.do_bench` (25 ms of warm-up, 100 ms of calls counted from five, 256 MiB zeroed
before each, one pair of events each), KernelBench `time_execution_with_cuda_event` (5 warm-ups, one call dropped, 100
calls, L2 cleared by 256 MiB, synchronised each) and GPU MODE's `eval.py` of 2025 (host clock around a synchronised
call, until the standard error is below 0.1 % of the mean, at most 100).
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.timed_kernels import Bench, Start


@dataclass(frozen=True)
class Timed:
    """One timer's result for one kernel, and the time it held the device."""

    mean_us: float
    median_us: float
    calls: int
    spent_us: float


def do_bench(bench: Bench, start: Start) -> Timed:
    """Time by Triton's, at its defaults; what it spends is device time from its first to its last event."""
    start()
    bench.device.synchronize()
    (begin, end), *_ = bench.marks(1)
    begin.record()
    for _ in range(5):
        bench.wide.fill(0)
        start()
    end.record()
    bench.device.synchronize()
    estimate_us = end.since_us(begin) / 5
    spent_us = end.since_us(begin)
    warm, repeats = max(1, int(25e3 / estimate_us)), max(1, int(100e3 / estimate_us))
    (begin, end), *marks = bench.marks(repeats + 1)
    begin.record()
    for _ in range(warm):
        start()
    for first, last in marks:
        bench.wide.fill(0)
        first.record()
        start()
        last.record()
    end.record()
    bench.device.synchronize()
    times = [last.since_us(first) for first, last in marks]
    return Timed(statistics.fmean(times), statistics.median(times), repeats, spent_us + end.since_us(begin))


def kernelbench(bench: Bench, start: Start) -> Timed:
    """Time by KernelBench's; what it spends is wall time."""
    began = time.perf_counter()
    for _ in range(5):
        start()
        bench.device.synchronize()
    (first, last), *_ = bench.marks(1)
    times = []
    for index in range(101):
        bench.device.synchronize()
        bench.wide.fill(42)
        first.record()
        start()
        last.record()
        bench.device.synchronize()
        if index:
            times.append(last.since_us(first))
    return Timed(statistics.fmean(times), statistics.median(times), 100, 1e6 * (time.perf_counter() - began))


def gpu_mode(bench: Bench, start: Start) -> Timed:
    """Time by GPU MODE's; what it spends is wall time."""
    began = time.perf_counter()
    bench.device.synchronize()
    times: list[float] = []
    for index in range(100):
        bench.device.synchronize()
        before = time.perf_counter_ns()
        start()
        bench.device.synchronize()
        times.append(1e-3 * (time.perf_counter_ns() - before))
        if index > 1 and statistics.stdev(times) / math.sqrt(len(times)) < 1e-3 * statistics.fmean(times):
            break
    return Timed(statistics.fmean(times), statistics.median(times), len(times), 1e6 * (time.perf_counter() - began))


RIVALS: dict[str, Callable[[Bench, Start], Timed]] = {
    "do_bench": do_bench,
    "KernelBench": kernelbench,
    "GPU MODE": gpu_mode,
}

"""Kernels of a wanted duration on a real GPU, and the windows `measure_truth` times them in.

Two modules are loaded from the same image, so that A and B are the same machine code at two addresses, as two
candidates are. `work` computes, `copy` moves memory; the argument n says how much.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from records.errors import MachineError
from sandbox.gpu.compile.nvrtc import find_compiler
from sandbox.gpu.driver.cuda import CUDA
from sandbox.gpu.driver.device_memory import DeviceMemory
from sandbox.gpu.driver.driver import Device, DeviceEvent, DeviceKernel, Driver
from sandbox.gpu.timing.contrast import draw_order, steps
from sandbox.gpu.timing.interval import rank_sum
from sandbox.gpu.timing.windows import calls_a_window

SOURCE = r"""
template <int N> __device__ float chain(float a) {
    #pragma unroll
    for (int i = 0; i < N; i++) a = fmaf(a, 0.999f, 0.1f);
    return a;
}
extern "C" __global__ void work(float* x, int n) {  // n steps of 2 ns, the loop's own cost a small part of them
    float a = x[threadIdx.x];
    #pragma unroll 1
    for (int i = n >> 5; i > 0; i--) a = chain<32>(a);
    if (n & 16) a = chain<16>(a);
    if (n & 8) a = chain<8>(a);
    if (n & 4) a = chain<4>(a);
    if (n & 2) a = chain<2>(a);
    if (n & 1) a = chain<1>(a);
    x[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
extern "C" __global__ void copy(const float4* x, float4* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
extern "C" __global__ void sweep(const float4* x, float4* y, int n) {
    float4 s = {0, 0, 0, 0};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 v = x[i];
        s.x += v.x; s.y += v.y; s.z += v.z; s.w += v.w;
    }
    if (s.x == 12345.f) y[0] = s;
}
"""
FLUSH_BYTES = 128 << 20
FLUSH = "read"  # write | read | both
BLOCKS, THREADS = 132, 256  # of `work`
FARTHEST = 1.08  # beyond the largest n that is tried
TRIED = (0.8, 0.86, 0.92, 0.96, 1.0, 1.04, 1.08, 1.14, 1.2)  # of the work that should be 1 % more
TRIED_PAIRS = 100
Start = Callable[[], None]


@dataclass(frozen=True)
class Duration:
    """A kernel that should take so long."""

    name: str  # "work 50 us"
    kind: str  # work | copy
    target_us: float
    guess: tuple[int, int]  # arguments n between which the right one lies

    @property
    def stride_bytes(self) -> int:
        """From one buffer to the next, the same for every n, so that two kernels differ in nothing but n."""
        size = 4 * BLOCKS * THREADS if self.kind == "work" else int(16 * FARTHEST * self.guess[1])
        return -(-size // 4096) * 4096


DURATIONS = (
    Duration("work 5 us", "work", 5.0, (200, 4_000)),
    Duration("work 50 us", "work", 50.0, (12_000, 36_000)),
    Duration("work 500 us", "work", 500.0, (150_000, 320_000)),
    Duration("copy 5 us", "copy", 5.0, (100_000, 400_000)),
    Duration("copy 50 us", "copy", 50.0, (4_500_000, 7_500_000)),
    Duration("copy 500 us", "copy", 500.0, (55_000_000, 75_000_000)),
)


class Bench:
    """One GPU with both modules, the buffers and the flush."""

    def __init__(self) -> None:
        """Raise MachineError when there is no GPU or no compiler."""
        self.device: Device = Driver(CUDA).device(0)
        build = find_compiler().compile(SOURCE, "timed.cu", "sm_90a")
        if build.cubin is None:
            raise MachineError(f"the kernels to be timed do not compile: {build.log}")
        self._modules = [self.device.load(build.cubin) for _ in range(2)]
        self._arena = self.device.allocate(max(2 * d.stride_bytes * sets(d) for d in DURATIONS))
        self._arena.fill(0x3F000000)
        self._flush, self.wide = self.device.allocate(FLUSH_BYTES), self.device.allocate(256 << 20)
        sweep: DeviceKernel = self._modules[0].kernel("sweep")
        self._sweep = sweep.prepared(
            (528, 1, 1), (512, 1, 1), 0, [self._flush, self.wide, ctypes.c_int(FLUSH_BYTES // 16)]
        )
        self._marks = (self.device.event(), self.device.event())
        self._pool: list[tuple[DeviceEvent, DeviceEvent]] = []

    def calls(self, duration: Duration, which: int, n: int, count: int) -> list[Start]:
        """Build the kernel of one of the two modules, ready to start on so many sets of buffers."""
        kernel, stride = self._modules[which].kernel(duration.kind), duration.stride_bytes
        calls = []
        for index in range(count):
            x, y = (
                DeviceMemory(self.device.driver, self._arena.address + (2 * index + k) * stride, stride) for k in (0, 1)
            )
            if duration.kind == "work":
                calls.append(kernel.prepared((BLOCKS, 1, 1), (THREADS, 1, 1), 0, [x, ctypes.c_int(n)]))
            else:
                calls.append(kernel.prepared((-(-n // THREADS), 1, 1), (THREADS, 1, 1), 0, [x, y, ctypes.c_int(n)]))
        return calls

    def flush(self, how: str = FLUSH) -> None:
        """Empty the L2: by writing, by reading, or by reading what was just written."""
        if how != "read":
            self._flush.fill(7)
        if how != "write":
            self._sweep()

    def window_us(self, starts: Sequence[Start], how: str = FLUSH) -> float:
        """Measure the microseconds a call of one window."""
        begin, end = self._marks
        self.flush(how)
        begin.record()
        for start in starts:
            start()
        end.record()
        end.wait()
        return end.since_us(begin) / len(starts)

    def marks(self, count: int) -> Sequence[tuple[DeviceEvent, DeviceEvent]]:
        """Make so many pairs of events."""
        while len(self._pool) < count:
            self._pool.append((self.device.event(), self.device.event()))
        return self._pool[:count]


class DeviceWindows:
    """Windows of the calls given for each tag."""

    def __init__(self, bench: Bench, calls: dict[str, list[Start]], how: str = FLUSH) -> None:
        self._bench, self._calls, self._how = bench, calls, how

    def take(self, order: Sequence[str]) -> Sequence[float]:
        """Take one window after the other."""
        return [self._bench.window_us(self._calls[tag], self._how) for tag in order]


@dataclass(frozen=True)
class Sized:
    """A duration with the arguments that give it."""

    n: int
    time_us: float  # a call in a window
    single_us: float  # a call alone between two events
    planted: int  # 1 % more of time_us
    planted_single: int  # 1 % more of single_us


def sets(duration: Duration) -> int:
    """Count the calls of a window of it."""
    return calls_a_window(duration.target_us)


def size(bench: Bench, duration: Duration, rng: random.Random) -> Sized:
    """Find n for the duration by a linear fit of time against n; then, by pairs of windows, the n of 1 % more."""
    low, high = duration.guess
    n, slope = low, 1.0
    for _ in range(3):  # the fit is repeated around the n that it finds
        points = [int(p) for p in np.linspace(low, high, 9)]
        slope, offset = np.polyfit(points, _medians(bench, duration, points, sets(duration), 15), 1)
        n = min(duration.guess[1], max(duration.guess[0], round((duration.target_us - offset) / slope)))
        low, high = int(0.97 * n), int(1.05 * n)
    tried = [n + round(share * 0.01 * duration.target_us / slope) for share in TRIED]
    more = [measured_ratio(bench, duration, n, more_work, TRIED_PAIRS, rng) - 1 for more_work in tried]
    planted = tried[int(np.argmin(np.abs(np.asarray(more) - 0.01)))]
    time_us, single_us = (_medians(bench, duration, [n], calls, 200)[0] for calls in (sets(duration), 1))
    return Sized(n, time_us, single_us, planted, n + round((planted - n) * single_us / time_us))


def measured_ratio(bench: Bench, duration: Duration, n: int, other: int, pairs: int, rng: random.Random) -> float:
    """Divide the second module's time with the argument `other` by the first's with n, from pairs of windows."""
    source = DeviceWindows(
        bench, {"A": bench.calls(duration, 0, n, sets(duration)), "B": bench.calls(duration, 1, other, sets(duration))}
    )
    source.take("AB")
    return float(np.exp(rank_sum(*steps(order := draw_order(pairs, rng), source.take(order)), 0.05).estimate / 2))


def _medians(bench: Bench, duration: Duration, points: Sequence[int], calls: int, rounds: int) -> list[float]:
    """Give medians of windows in turn, in a new order in each round."""
    ready = [bench.calls(duration, 0, p, calls) for p in points]
    times_us = np.empty((rounds, len(points)))
    rng = np.random.default_rng(1)
    bench.window_us(ready[0])
    for row in times_us:
        for index in rng.permutation(len(points)):
            row[index] = bench.window_us(ready[index])
    return [float(t) for t in np.median(times_us, axis=0)]

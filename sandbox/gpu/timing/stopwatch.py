"""Timed windows of one benchmark case in one child process, and the checks that make a time believable.

Every window has fresh contents from a secret seed, which no call before had, so a kernel that remembers contents cannot
distinguish one window from another. The outputs of a few, at secret places, come back and are compared with the
reference; of others the sums over the outputs are kept, and when all times are taken each call of some windows is made
again alone, on the same contents, and must give the same sum.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import astuple, dataclass, field

from records.errors import DeviceError
from records.evaluation import CaseResult, Finding
from sandbox.gpu.child_messages import ControlRequest, RepeatRequest, ReplayRequest, Window, WindowsRequest
from sandbox.gpu.child_process import ClockReading, WindowResult
from sandbox.gpu.compiled import LoadedCandidate, layout_of
from sandbox.gpu.layout import Layout
from sandbox.gpu.memory_file import Raw
from sandbox.gpu.references import Grade, References
from sandbox.gpu.timing.clocks import Clocks, ClockSample
from sandbox.gpu.timing.windows import calls_a_window
from tasks.task import Case

BATCH = 24  # windows a request
CHECKED = 0.25  # share of the windows whose outputs are summed
KNOWN_SHARE = 0.1  # chance of each window to be a known one; the last of those comes when all times are taken
REPEATED = 6  # summed windows of each candidate whose calls must all give the same sums again
MOST_SETS = 32
SETS_BYTES = 6 << 30  # of all sets together
STRETCH_US = 5000.0  # of calls without a pause, for the two clocks
LONG_STRETCH_US = 1e6  # longer stretches show no more
SWEEP_US = 30.0  # what the judge's own kernel takes, roughly
QUICK_US = 2.5  # a launch that does nothing
THROTTLED = "the GPU was throttled all the time; cool it or end what else runs on it, then resume the run"


class Refused(Exception):
    """The candidate under `tag` cannot keep its time."""

    def __init__(self, tag: str, finding: Finding) -> None:
        super().__init__(finding.message)
        self.tag, self.finding = tag, finding


@dataclass
class Stopwatch:
    """A source of windows (`Windows`) for one case; all candidates share a child process."""

    candidates: Mapping[str, LoadedCandidate]  # by tag
    references: References
    case: Case
    flush_bytes: int
    floor_us: float  # what cannot be beaten
    clocks: Clocks | None = None
    is_checked: bool = True  # else outputs are not looked at: for ranking tunables only
    calls: int = 1  # a window; set by `prepare`
    rough_us: float = 0.0  # a first look
    readings: list[ClockSample] = field(default_factory=list)
    results: dict[str, CaseResult] = field(default_factory=dict)
    _sums: list[tuple[str, int, tuple[int, ...]]] = field(default_factory=list)  # tag, seed, sums of its calls
    _known: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # to come: seed and number by tag
    _grades: list[tuple[str, Future[Grade]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Allocate and draw the contents with known answers."""
        first = next(iter(self.candidates.values()))
        self._rng: random.Random = first.rng
        self.layout: Layout = layout_of(first.task, self.case, *(c.compiled for c in self.candidates.values()))
        self._deadline_s = first.deadline_s
        room = max(1, SETS_BYTES // self.layout.nbytes)
        sets = min(MOST_SETS if first.task.mix else 2, room, calls_a_window(self.floor_us + QUICK_US))
        first.bind(self.layout, self.references.bases(self.case), sets, is_whole=not first.task.mix)
        self.sets, self._child = sets, first.child
        self._launches = {tag: loaded.compiled.launches(self.case) for tag, loaded in self.candidates.items()}

    def prepare(self) -> None:
        """See how long a window must be. Refused, ChildFault, DeviceError."""
        rough = [[us for us in self._take([tag] * 3, calls=1) if not math.isnan(us)] for tag in self.candidates]
        if not all(rough):
            raise DeviceError(THROTTLED)
        self.rough_us = min(times[-1] for times in rough)
        self.calls = min(self.sets, calls_a_window(self.rough_us))
        if self.is_checked:
            self._known = {tag: self.references.known(self.case, self.calls) for tag in self.candidates}

    def settle(self) -> None:
        """Take, after all times, the known contents that have not come, and repeat windows whose sums must come again.

        The outputs are compared in the background; `conclude` reports the result. Refused, ChildFault.
        """
        while any(self._known.values()):
            self._take([tag for tag, left in self._known.items() if left], self.calls, is_last=True)
        for tag, loaded in self.candidates.items():
            mine = [window for window in self._sums if window[0] == tag]
            if not loaded.compiled.is_nondeterministic:
                for _, seed, sums in self._rng.sample(mine, min(REPEATED, len(mine))):
                    self._replay(tag, seed, sums)
        self._sums.clear()

    def conclude(self) -> None:
        """Wait for the comparisons; Refused when an output was wrong."""
        for tag, grade in self._grades:
            graded = grade.result()
            if graded.findings:
                raise Refused(tag, graded.findings[0])
            worst = max(graded.error, (self.results[tag].error or 0.0) if tag in self.results else 0.0)
            self.results[tag] = CaseResult(self.case.name, "benchmark", True, worst)
        self._grades.clear()

    def take(self, order: Sequence[str]) -> Sequence[float]:
        """Time windows for each tag in turn: microseconds a call; nan where the GPU was throttled."""
        return self._take(order, self.calls)

    def warm_us(self, tag: str, windows: int = 5) -> float:
        """Time windows with the data still in the caches; their median in microseconds."""
        calls = calls_a_window(self.floor_us + QUICK_US, MOST_SETS)
        warm = Window(tag, calls, self._rng.getrandbits(63), warm=True, inspect=False)
        results = self._windows([warm] * windows)
        return sorted(w.time_us for w in results)[windows // 2]

    def two_clocks(self, tag: str, time_us: float, doublings: int = 0) -> ClockReading:
        """Time a call by the device's clock and by ours, from the slope between two stretches of calls."""

        def stretch(times: int) -> ClockReading:
            request = RepeatRequest(tag, self._launches[tag], self._rng.getrandbits(63), times)
            return self._child.repeat(request, self._timeout_s(1 + times // 50) + 2e-6 * times * time_us)

        return self._slope(time_us, doublings, stretch)

    def control(self, doublings: int = 0) -> ClockReading:
        """Time a call of a kernel of the judge's own by both clocks."""
        return self._slope(
            SWEEP_US, doublings, lambda times: self._child.control(ControlRequest(times, self.flush_bytes))
        )

    def _slope(self, time_us: float, doublings: int, stretch: Callable[[int], ClockReading]) -> ClockReading:
        count = max(5, min(2000, math.ceil(STRETCH_US / max(time_us, QUICK_US))))
        count = max(count, min(count << doublings, math.ceil(LONG_STRETCH_US / max(time_us, QUICK_US))))
        short, long = (astuple(stretch(times)) for times in (count, 3 * count))
        return ClockReading(*((after - before) / (2 * count) for before, after in zip(short, long, strict=True)))

    def _replay(self, tag: str, seed: int, sums: Sequence[int]) -> None:
        """Repeat all calls of a window on the contents that it had, each alone. Refused where their sums differ."""
        replayed = self._child.replay(
            ReplayRequest(tag, self._launches[tag], seed, len(sums)), self._timeout_s(1 + len(sums))
        )
        self._unharmed(tag, replayed.changed)
        if replayed.sums != tuple(sums):
            raise Refused(
                tag,
                Finding(
                    "nondeterministic",
                    "a timed call gave other outputs than the same call alone; the result may depend "
                    "on nothing but the inputs",
                    case=self.case.name,
                ),
            )

    def _take(self, order: Sequence[str], calls: int, is_last: bool = False) -> list[float]:
        times: list[float] = []
        for start in range(0, len(order), BATCH):
            windows = [self._window(tag, calls, is_last) for tag in order[start : start + BATCH]]
            results = self._windows(windows)
            for window, result in zip(windows, results, strict=True):
                self._believe(window, result)
            reading = self.clocks.sample() if self.clocks else ClockSample()
            self.readings.append(reading)
            times += [math.nan if reading.is_void else result.time_us for result in results]
        return times

    def _windows(self, windows: Sequence[Window]) -> tuple[WindowResult, ...]:
        outputs = tuple(p.name for p in self.layout.outputs)
        request = WindowsRequest(tuple(windows), self._launches, self.flush_bytes, outputs)
        return self._child.windows(request, self._timeout_s(len(windows)))

    def _window(self, tag: str, calls: int, is_last: bool) -> Window:
        known_contents = self._known.get(tag, [])
        if is_last or (len(known_contents) > 1 and self._rng.random() < KNOWN_SHARE):
            seed, number = known_contents.pop()
            return Window(tag, calls, seed, fetch=number)
        return Window(tag, calls, self._rng.getrandbits(63), inspect=self.is_checked and self._rng.random() < CHECKED)

    def _believe(self, window: Window, result: WindowResult) -> None:
        self._unharmed(window.tag, result.changed)
        if result.sums:
            self._sums.append((window.tag, window.seed, result.sums))
        if window.fetch is not None:
            self._grades.append(
                (window.tag, self.references.threads.submit(self._compare, window.seed, window.fetch, result.outputs))
            )

    def _compare(self, seed: int, number: int, outputs: Mapping[str, Raw]) -> Grade:
        return self.references.grade(self.case, self.references.mixed(self.case, self.layout, seed, number), outputs)

    def _unharmed(self, tag: str, changed: int) -> None:
        if changed:
            raise Refused(
                tag,
                Finding(
                    "out_of_bounds",
                    "inputs or memory around the buffers were written to in a timed call; write to the outputs only",
                    case=self.case.name,
                ),
            )

    def _timeout_s(self, windows: int) -> float:
        return self._deadline_s + windows * self.calls * 0.1


def flush_bytes(memory: Mapping[str, float], l2_bytes: int) -> int:
    """Return twice the largest cache that outlasts a kernel, by the driver and by the target's file."""
    return 2 * max(l2_bytes, int(memory.get("l2_bytes", 0)), int(memory.get("mall_bytes", 0)), 16 << 20)


def floor_us(task_flops: float, task_bytes: float, peak_tflops: float, memory: Mapping[str, float]) -> float:
    """Compute the time that no kernel can beat: arithmetic at peak, or the traffic that no last cache can have kept."""
    cached_bytes = max(memory.get("l2_bytes", 0), memory.get("mall_bytes", 0))
    return max(task_flops / peak_tflops, max(0.0, task_bytes - cached_bytes) / memory["hbm_tb_s"]) / 1e6

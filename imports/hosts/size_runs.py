"""Executes a host half at several sizes: which numbers are sizes, and what it launches at each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from imports.hosts.folding import Folded, folded
from imports.hosts.record import HostCall, HostTrace

MOST_SIZES, MOST_TRIES, MUCH = 5, 48, 16
STEPS = ("launch", "fill", "copy", "symbol")


@dataclass(frozen=True)
class SizeName:
    """A number that may be a size: where it stands, its name, and its value as the file has it."""

    key: tuple[str, int]  # ("argument", place) or ("number", index)
    name: str
    value: int


@dataclass(frozen=True)
class SizedRun:
    """One execution: the values that its sizes had, its trace and its steps folded."""

    dims: Mapping[str, int]
    trace: HostTrace
    parts: tuple[Folded, ...]

    @property
    def shape(self) -> tuple[object, ...]:
        """All that must be alike at all sizes."""
        kinds = tuple((b.kind, b.words) for b in self.trace.blocks.values())
        return kinds, tuple(p.shape for p in self.parts)

    def numbers(self) -> tuple[object, ...]:
        """All that sizes change: extents of buffers, numbers of launches, turns of loops that count."""
        extents = tuple(b.size for b in self.trace.blocks.values())
        values = tuple(repr((c.first, c.step)) for p in self.parts for s in p.steps for c in s.courses)
        return extents, values, tuple(p.turns for p in self.parts if not p.is_plain)


def steps_of(events: Sequence[HostCall]) -> list[HostCall]:
    """Leave out what is no step of a plan."""
    return [e for e in events if e.kind in STEPS]


def sized_run(dims: Mapping[str, int], trace: HostTrace, keep: Callable[[HostCall], bool]) -> SizedRun:
    """Fold what a trace has; `keep` chooses launches."""
    return SizedRun(dims, trace, tuple(folded([e for e in steps_of(trace.events) if keep(e)])))


class SizeSearch:
    """Looks for sizes by executing; `execute` gives None where the program ends in another way."""

    def __init__(self, execute: Callable[[Mapping[tuple[str, int], int]], SizedRun | None], base: SizedRun) -> None:
        """Begin with `base`, the run with the file's own values."""
        self._execute = execute
        self._base = base
        self._tries = 0
        self.runs: list[tuple[dict[tuple[str, int], int], SizedRun]] = []
        self.multiples: dict[str, int] = {}
        self.otherwise: list[Mapping[tuple[str, int], int]] = []  # values with which it launches other things

    def sizes(self, candidates: Sequence[SizeName]) -> list[SizeName]:
        """Find those of the candidates that change what is launched, and run more values of each."""
        sizes = list[SizeName]()
        for candidate in candidates:
            if len(sizes) == MOST_SIZES or self._tries >= MOST_TRIES:
                break
            runs = self._varied(candidate)
            if runs:
                sizes.append(candidate)
                self.runs += runs
        return sizes

    def _try(self, values: Mapping[tuple[str, int], int]) -> SizedRun | None:
        self._tries += 1
        run = self._execute(values)
        if run is not None and any(0 in e.grid or 0 in e.block for e in run.trace.launches):
            return None  # a launch of nothing, which the GPU refuses
        if run is None or run.shape != self._base.shape:
            self.otherwise += [values] if run is not None and run.trace.launches else []
            return None
        return run

    def _varied(self, size: SizeName) -> list[tuple[dict[tuple[str, int], int], SizedRun]]:
        value, runs = size.value, list[tuple[dict[tuple[str, int], int], SizedRun]]()
        even = [value // MUCH, value // 2, 2 * value] if value >= 4 * MUCH else [value // 2, 2 * value, value + 1]
        for first in (v for v in even if v > 1 and v != value):
            run = self._try({size.key: first})
            if run is not None:
                break
        else:
            return []
        if run.numbers() == self._base.numbers():
            return []
        runs.append(({size.key: first}, run))
        odd = [first // 2 + first // 8 + 3, first + 1, first - 1] if first >= 8 else [first + 3, first + 1]
        odd_runs = list[tuple[dict[tuple[str, int], int], SizedRun]]()
        for second in odd:
            run = self._try({size.key: second})
            if run is not None:
                odd_runs.append(({size.key: second}, run))
            if len(odd_runs) == 2 or (run is None and second == odd[-2]):
                break
        runs += odd_runs
        if not odd_runs:
            steps = [s for s in (2, 4, 8, 16, 32, 64, 128, 256) if value % s == 0 and first % s == 0]
            for step in steps:
                second = first + step if first + step != value else first + 3 * step
                run = self._try({size.key: second})
                if run is not None:
                    runs.append(({size.key: second}, run))
                    self.multiples[size.name] = step
                    break
            else:
                self.multiples[size.name] = max(steps, default=1)
                run = self._try({size.key: 2 * value})
                runs += [({size.key: 2 * value}, run)] if run is not None else []
        return runs

    def joint(self, sizes: Sequence[SizeName]) -> None:
        """Run all sizes changed at once, so that products and sums show."""
        if len(sizes) > 1:
            for position in (0, 1):
                values = dict[tuple[str, int], int]()
                for number, size in enumerate(sizes):
                    rows = [v[size.key] for v, _ in self.runs if list(v) == [size.key]]
                    values[size.key] = rows[(position + number) % len(rows)]
                run = self._try(values)
                if run is not None:
                    self.runs.append((values, run))

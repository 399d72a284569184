"""The rule on state: no call of a kernel may depend on what an earlier one left on the GPU.

Device variables are read before and after calls. From their first values each content has an end; a call that begins
with what another call left must come to the same end, but for bytes that it does not write. So a counter shows at its
second call, whatever it counts up to. Then the bytes that calls change begin as noise, which a kernel that writes them
before it reads them cannot notice. In the end come many calls in a row with nothing reset between them, for what is
kept in other memory. Outputs must be right all the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from records.evaluation import Finding
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.child_messages import CallRequest, ChainRequest, Launches, PresetRequest, VariablesRequest
from sandbox.gpu.compiled import LoadedCandidate
from sandbox.gpu.layout import Layout
from sandbox.gpu.memory_file import Raw
from tasks.task import Case

Grading = Callable[[int, Mapping[str, Raw]], Sequence[Finding]]  # a content, the outputs: what is wrong with them
CONTENTS = (0, 1)  # base A and base B
AGAIN = 12  # further such calls, and twice as many fresh ones, in which a byte must end so: chance does not
PARTS = 8  # variables at most whose contents become noise while the rest stays
SMALL = 40  # the most that a byte of the second poison holds
FETCHED_BYTES = 1 << 30  # of a chain's outputs


@dataclass(frozen=True)
class ChainRule:
    """Calls in a row: at least so many, newly drawn each time, and fewer where a call takes long."""

    calls: int = 128
    least: int = 16
    sets: int = 16  # at most, on which the calls of a row are made in turn
    budget_s: float = 0.3


class StateKept(Exception):
    """Something of an earlier call shows in a later one."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass
class DeviceState:
    """The check of one case, bound so that each set holds one base whole: two contents, 0 and 1."""

    loaded: LoadedCandidate
    case: Case
    layout: Layout
    sets: int
    grade: Grading
    rule: ChainRule = ChainRule()
    _sums: dict[int, int] = field(default_factory=dict)
    _ends: dict[int, list[Raw]] = field(default_factory=dict)  # of the variables, by content, from their first values
    _call_s: float = float("inf")

    def check(self) -> None:
        """Check all rules; StateKept when one is broken, ChildFault when a call does not come to its end."""
        first = self._variables(is_reset=True)
        for content in CONTENTS:
            self._fresh(content)
        if self._changed(first).any():
            self._walk()
            self._poison(first)
        last = self._chain()
        if ((last != first) & ~self._changed(first)).any():
            self._walk()

    def _fresh(self, content: int) -> None:
        started = time.monotonic()
        self._called(content, is_fresh=True)
        self._call_s = min(self._call_s, time.monotonic() - started)
        self._ends.setdefault(content, []).append(self._variables())

    def _called(self, content: int, is_fresh: bool) -> None:
        """Call once and compare the outputs: with the reference where it is known, else with the first call's sum."""
        is_free = self.loaded.compiled.is_nondeterministic
        is_graded = is_free or content not in self._sums
        number, names = self.loaded.rng.randrange(self.sets), self._outputs if is_graded else ()
        seed = self._seed(content ^ number & 1)
        request = CallRequest(self.loaded.tag, self._launches, seed, number, names, is_fresh)
        called = self.loaded.child.call(request, self.loaded.deadline_s)
        self._unharmed(called.changed)
        if is_graded:
            self._right(content, called.outputs)
        if not is_free and self._sums.setdefault(content, called.sum) != called.sum:
            raise StateKept(self._finding("a call on the same inputs gave other outputs than the one before it"))

    def _seed(self, first: int) -> int:
        """Draw a seed under which the first set holds this content, and each next set the other one."""
        return self.loaded.rng.getrandbits(62) << 1 | first

    def _walk(self) -> None:
        """Call again with what another call left in the variables."""
        for content in CONTENTS:
            self._fresh(content)
        begin = self._ends[0][0]
        for content in (1, 0, 0, 1, 1):
            begin = self._stepped(begin, content)

    def _poison(self, first: Raw) -> None:
        """Call with noise in bytes which calls change: in all of them, in one variable's, behind a place."""
        for content in CONTENTS:
            end = self._ends[content][0]
            written_mask = np.logical_or.reduce([other != first for other in self._ends[content]])
            begins = [(first, written_mask, 256), (first, written_mask, SMALL)]
            begins += [(end, written_mask & part, 256) for part in self._parts(written_mask)]
            for start, noisy, most in begins:
                begin = start.copy()
                noise = np.random.default_rng(self.loaded.rng.getrandbits(64))
                begin[noisy] = noise.integers(0, most, int(noisy.sum()), np.uint8)
                try:
                    self._stepped(begin, content)
                except ChildFault as fault:
                    if fault.kind is None:
                        raise
                    raise StateKept(self._finding(f"with other contents in them: {fault.message}")) from None

    def _parts(self, written_mask: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.bool_]]:
        """Split off variables one by one, and everything before and behind some of the bytes that are written.

        What is kept for later is an answer and the sign by which it is known again: so one of them stays as it was.
        """
        positions, start = np.arange(len(written_mask)), 0
        parts = []
        for _, nbytes in self.loaded.compiled.build.globals:
            parts.append((positions >= start) & (positions < start + nbytes))
            start += nbytes
        parts = [part for part in parts if (part & written_mask).any()]
        parts = self.loaded.rng.sample(parts, min(PARTS, len(parts))) if len(parts) > 1 else []
        words = np.unique(np.flatnonzero(written_mask) // 4)[1:].tolist()
        for cut in {words[0], words[-1], self.loaded.rng.choice(words)} if words else set():
            parts += [positions < 4 * cut, positions >= 4 * cut]
        return [part for part in parts if (part & written_mask).any()]

    def _stepped(self, begin: Raw, content: int) -> Raw:
        """Return the variables after a call that began with these; StateKept when they depend on how it began."""
        end = self._step(begin, content)
        odd = self._stable(content) & (end != self._ends[content][0]) & (end != begin)
        for number in range(2 * AGAIN):
            if not odd.any():
                break
            self._fresh(content)
            odd &= self._stable(content)
            if number % 2:
                odd &= self._step(begin, content) == end
        if odd.any():
            raise StateKept(self._finding(f"{int(odd.sum())} of their bytes end otherwise after another beginning"))
        return end

    def _step(self, begin: Raw, content: int) -> Raw:
        self.loaded.child.preset(PresetRequest(self.loaded.tag), begin)
        self._called(content, is_fresh=False)
        return self._variables()

    def _stable(self, content: int) -> npt.NDArray[np.bool_]:
        """Mark the bytes that end alike after every fresh call."""
        ends = self._ends[content]
        return np.asarray(np.logical_and.reduce([end == ends[0] for end in ends]))

    def _changed(self, first: Raw) -> npt.NDArray[np.bool_]:
        return np.asarray(np.logical_or.reduce([end != first for ends in self._ends.values() for end in ends]))

    def _chain(self) -> Raw:
        """Call in a row; return the variables after the last."""
        is_free, rng = self.loaded.compiled.is_nondeterministic, self.loaded.rng
        count = self.rule.calls + rng.randrange(1 + self.rule.calls // 2)
        count = max(self.rule.least, min(count, int(self.rule.budget_s / max(self._call_s, 1e-6))))
        if is_free:
            count = min(count, FETCHED_BYTES // max(1, sum(p.nbytes for p in self.layout.outputs)))
        seeds = tuple(self._seed(rng.randrange(2)) for _ in range(max(1, count // self.sets)))
        request = ChainRequest(self.loaded.tag, self._launches, seeds, self._outputs if is_free else ())
        chained = self.loaded.child.chain(request, self.loaded.deadline_s + 0.1 * count)
        self._unharmed(chained.changed)
        contents = [(seed ^ number) & 1 for seed in seeds for number in range(self.sets)]
        for number, content in enumerate(contents):
            if is_free:
                self._right(content, chained.outputs[number])
            elif chained.sums[number] != self._sums[content]:
                raise StateKept(
                    self._finding(
                        f"call {number + 1} of {len(contents)} in a row gave other outputs than the same call alone"
                    )
                )
        return self._variables()

    def _variables(self, is_reset: bool = False) -> Raw:
        nbytes = self.loaded.compiled.variable_bytes
        if not nbytes:
            return np.zeros(0, np.uint8)
        return self.loaded.child.variables(VariablesRequest(self.loaded.tag, is_reset), nbytes)

    @property
    def _outputs(self) -> tuple[str, ...]:
        return tuple(buffer.name for buffer in self.layout.outputs)

    @property
    def _launches(self) -> Launches:
        return self.loaded.compiled.launches(self.case)

    def _right(self, content: int, outputs: Mapping[str, Raw]) -> None:
        wrong = self.grade(content, outputs)
        if wrong:
            raise StateKept(wrong[0])

    def _unharmed(self, changed: int) -> None:
        if changed:
            raise StateKept(
                Finding(
                    "out_of_bounds",
                    f"{16 * changed} bytes of inputs or around the buffers are written to; write to the outputs only",
                    case=self.case.name,
                )
            )

    def _finding(self, observed: str) -> Finding:
        return Finding(
            "nondeterministic",
            "a call depends on what an earlier one left in device variables or other memory of the GPU "
            f"({observed}); write every variable in each call before it is read, or reset it by a launch of the plan",
            case=self.case.name,
            code="C.2",
        )

"""A sweep of one candidate: thousands of secret shapes and values, as many as its time affords.

The references of one batch are computed while the GPU runs another. A case that fails is executed again alone, twice,
like any other case, which says what is wrong. Where an answer is only a little inexact, it must be so on most of some
further draws: of thousands of right answers one may be unlucky.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import islice

from records.evaluation import CaseResult, Finding
from sandbox.gpu.batch import Batch, BatchRow, make_batch, run_batch
from sandbox.gpu.batch_comparison import suspects
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.compiled import LoadedCandidate
from sandbox.gpu.gpu_verify import verify_case
from sandbox.gpu.references import References
from sandbox.target import Target
from tasks.compare import NEAR
from tasks.sweep import SweptCase
from tasks.task import Case

AHEAD = 2  # batches that are made while one is executed
REDRAWN = 4  # further draws of a case whose answer is a little inexact
MOSTLY = 3  # of them that must be wrong as well
APART = 7_919  # from the seed of one draw to that of the next
LOOKED_AT = 8  # failing cases of a batch that are tried again


@dataclass(frozen=True)
class SweepRule:
    """The time that a sweep may take, and how many cases there are in a batch."""

    least_s: float = 0.45
    most_s: float = 1.2  # where the judge waits for other work of this verdict anyway
    first: int = 48  # cases: a slow kernel shows soon that it is one
    batch: int = 192
    batch_s: float = 0.25  # about the longest that one batch may take


SWEEP = SweepRule()


class SweepVerification:
    """One candidate's sweep in its child process."""

    def __init__(self, loaded: LoadedCandidate, references: References, target: Target, rule: SweepRule) -> None:
        """Nothing is drawn yet."""
        self._loaded, self._references, self._target, self._rule = loaded, references, target, rule
        self.count, self.worst = 0, 0.0

    def run(self, is_awaited: Callable[[], bool]) -> tuple[Finding, ...]:
        """The findings of the first case that is wrong. ChildFault.

        `is_awaited` says whether other work of the verdict goes on meanwhile.
        """
        began, size = time.monotonic(), self._rule.first
        wanted = self._references.sweep(self._loaded.compiled.prepared)
        coming = deque[Future[Batch]]()
        try:
            while True:
                while len(coming) < AHEAD and (future := self._made(wanted, size)):
                    coming.append(future)
                if not coming:
                    return ()
                batch, started = coming.popleft().result(), time.monotonic()
                if findings := self._judged(batch) or batch.refused:
                    return findings
                took_s = time.monotonic() - started
                size = self._next_size(len(batch.rows), took_s)
                spent_s = time.monotonic() - began
                if spent_s > (self._rule.most_s if is_awaited() else self._rule.least_s):
                    return ()
        finally:
            for future in coming:
                future.cancel()

    def row(self) -> CaseResult:
        """One row that stands for all cases."""
        return CaseResult(f"{self.count} more shapes and values", "held_out", True, self.worst)

    def _made(self, wanted: Iterator[SweptCase], size: int) -> Future[Batch] | None:
        """The next batch under way; None when there are no more cases."""
        chosen = tuple(islice(wanted, size))
        if not chosen:
            return None
        return self._references.makers.submit(make_batch, chosen, self._loaded.compiled, self._references, self._target)

    def _next_size(self, count: int, took_s: float) -> int:
        """As many cases as take no longer than a batch may."""
        each_s = max(took_s, 1e-6) / max(1, count)
        return max(1, min(self._rule.batch, 4 * max(1, count), int(self._rule.batch_s / each_s)))

    def _judged(self, batch: Batch) -> tuple[Finding, ...]:
        """The findings of a batch that is executed once."""
        if not batch.rows:
            return ()
        try:
            changed, outputs = run_batch(self._loaded, batch)
        except ChildFault as fault:
            first, last = batch.rows[0].swept.case.name, batch.rows[-1].swept.case.name
            fault.case = first if first == last else f"one of {len(batch.rows)} from {first} to {last}"
            raise
        self.count += len(batch.rows)
        if changed:
            return self._damage(batch, changed)
        doubtful = suspects(self._references, batch.rows, outputs)
        for number in doubtful[:LOOKED_AT]:
            row = batch.rows[number]
            reference = self._references.of(row.answers, row.swept)
            grade = self._references.grade(row.swept.case, reference, outputs[number])
            if grade.findings and (findings := self._confirmed(row, grade.error)):
                return findings
        return ()

    def _confirmed(self, row: BatchRow, error: float) -> tuple[Finding, ...]:
        """What is wrong with a case whose answer in a batch was."""
        findings = self._alone(row.swept.case, row.swept.family)
        most = max(
            self._references.families.tolerance(spec, row.swept.family).ratio for spec in self._loaded.task.outputs
        )
        if error > NEAR * most:
            return findings or (_differs(row.swept.case),)
        if not findings:
            return ()
        seeds = ((row.swept.case.seed + (1 + number) * APART) % 2**32 for number in range(REDRAWN))
        again = [self._alone(replace(row.swept.case, seed=seed), row.swept.family) for seed in seeds]
        return findings if sum(map(bool, again)) >= MOSTLY else ()

    def _damage(self, batch: Batch, changed: int) -> tuple[Finding, ...]:
        """Which case wrote where it may not: each is executed alone."""
        for row in batch.rows:
            if findings := self._alone(row.swept.case, row.swept.family):
                return findings
        message = (
            f"{16 * changed} bytes around the buffers are written to in one of {len(batch.rows)} shapes, "
            f"{batch.rows[0].swept.case.name} among them; check the indices of all stores against the sizes"
        )
        return (Finding("out_of_bounds", message, case=batch.rows[0].swept.case.name),)

    def _alone(self, case: Case, family: str) -> tuple[Finding, ...]:
        try:
            _, findings = verify_case(self._loaded, self._references, case, family)
        except ChildFault as fault:
            fault.case = case.name
            raise
        return tuple(findings)


def _differs(case: Case) -> Finding:
    return Finding(
        "nondeterministic",
        "an answer is wrong where calls on other shapes came before it, and right where it is the first: "
        "look for a race, or for memory that is read before it is written",
        case=case.name,
    )

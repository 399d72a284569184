"""A sweep of one candidate: thousands of secret shapes and values, as many as its time affords.

Processes of the judge's own make the batches while the GPU runs others. A case that fails is executed again alone,
twice, like any other case, which says what is wrong. Where an answer is only a little inexact, it must be so on most of
some further draws: of thousands of right answers one may be unlucky.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

from records.evaluation import CaseResult, Finding
from sandbox.cases.sweep import SweptCase
from sandbox.gpu.batch import Batch, BatchCandidate, output_bytes, outputs_of, plan_or_refusal
from sandbox.gpu.batch_comparison import suspects
from sandbox.gpu.batch_maker import SweepBatches
from sandbox.gpu.batch_messages import SweepRequest
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.child_messages import BatchRequest
from sandbox.gpu.compiled import SPREAD_BYTES, LoadedCandidate
from sandbox.gpu.gpu_verify import verify_case
from sandbox.gpu.layout import ALIGNMENT
from sandbox.gpu.maker_pool import MakerPool
from sandbox.gpu.memory_file import Raw
from sandbox.gpu.references import References
from sandbox.target import Target
from tasks.task import Case

NEAR = 64.0  # times the limit, beyond which an answer is wrong by any measure
REDRAWN = 4  # further draws of a case whose answer is a little inexact
MOSTLY = 3  # of them that must be wrong as well
APART = 7_919  # from the seed of one draw to that of the next
LOOKED_AT = 8  # failing cases of a batch that are tried again
MORE = "more shapes and values"  # behind their number in the row that stands for them
TOGETHER = 16  # cases of a batch that may take as long as one call may


@dataclass(frozen=True)
class SweepRule:
    """The time that a sweep may take, and how many cases there are in a batch.

    It goes on while other work of the verdict does, up to `awaited_s`; for `share` of the time that the verdict took
    before; for `least_s`; and until it has had `cases`, up to `most_s`. A slow machine so has its cases as well.
    """

    least_s: float = 0.4
    share: float = 0.3
    awaited_s: float = 1.0
    cases: int = 1536
    most_s: float = 2.5
    batch: int = 96


SWEEP = SweepRule()


class SweepVerification:
    """One candidate's sweep in its child process. Use it in a `with` block, in which its batches are made."""

    def __init__(
        self, loaded: LoadedCandidate, references: References, target: Target, rule: SweepRule, makers: MakerPool
    ) -> None:
        """Batches are made from now on where there are processes for it."""
        compiled = loaded.compiled
        self._loaded, self._references, self._rule = loaded, references, rule
        kernels = compiled.build.metadata(compiled.prepared.plans[0])
        self._candidate = BatchCandidate(compiled.prepared, kernels, target)
        self._shared = makers.begin(references.task, self._request(), rule.batch)
        self._began = time.monotonic()
        self.count, self._families = 0, tuple[SweptCase, ...]()

    def __enter__(self) -> Self:
        """Use it in a `with` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Make nothing more."""
        if self._shared is not None:
            self._shared.close()

    def run(self, is_awaited: Callable[[], bool]) -> tuple[Finding, ...]:
        """Sweep until a case is wrong; return its findings. ChildFault.

        `is_awaited` says whether other work of the verdict goes on meanwhile.
        """
        least_s, began = max(self._rule.least_s, self._rule.share * (time.monotonic() - self._began)), 0.0
        for batch in self._batches():
            began = began or time.monotonic()  # processes that were started for it need time as well
            try:
                findings = self._judged(batch)
            finally:
                batch.close()
            if not findings and batch.refused is not None:
                refusal = plan_or_refusal(self._candidate, batch.refused.case)
                findings = refusal if isinstance(refusal, tuple) else ()
            if findings:
                return findings
            spent_s = time.monotonic() - began
            enough_s = max(least_s, self._rule.awaited_s) if is_awaited() else least_s
            if spent_s > (enough_s if self.count >= self._rule.cases else max(enough_s, self._rule.most_s)):
                return ()
        return ()

    def rows(self) -> list[CaseResult]:
        """Make a row for each family on the first test, and one that stands for all other cases."""
        first = [CaseResult(f"{row.case.name} [{row.family}]", "held_out", True) for row in self._families]
        more = self.count - len(first)
        return [*first, *([CaseResult(f"{more} {MORE}", "held_out", True)] if more else [])]

    def _request(self) -> SweepRequest:
        prepared, references = self._candidate.prepared, self._references
        return SweepRequest(
            str(references.task.folder),
            references.task.digest,
            references.facts,
            prepared.source,
            prepared.tunables,
            self._candidate.kernels,
            self._candidate.target,
            f"{references.secret_of(prepared):x}",
            references.first(),
        )

    def _batches(self) -> Iterator[Batch]:
        """Yield the batches of other processes; where there are none, or one is lost at once, those made here."""
        count = 0
        for batch in self._shared or ():
            count += 1
            yield batch
        if count:
            return
        references = self._references
        secret = references.secret_of(self._candidate.prepared)
        batches, number = SweepBatches(self._candidate, references.families, secret, references.first()), 0
        while (next_batch := batches.make(number, self._rule.batch)) is not None:
            yield next_batch
            number += 1

    def _judged(self, batch: Batch) -> tuple[Finding, ...]:
        """Judge a batch that is executed once."""
        if not batch.rows:
            return ()
        try:
            changed, outputs = self._called(batch)
        except ChildFault as fault:
            first, last = batch.rows[0].case.name, batch.rows[-1].case.name
            fault.case = first if first == last else f"one of {len(batch.rows)} from {first} to {last}"
            raise
        self._families = self._families if self.count else batch.rows
        self.count += len(batch.rows)
        if changed:
            return self._damage(batch, changed)
        task = self._references.task
        for number in suspects(self._references.families, batch, outputs)[:LOOKED_AT]:
            row = batch.rows[number]
            reference = self._references.fresh(row.case, row.family)
            grade = self._references.grade(row.case, reference, outputs_of(task, batch, outputs, number))
            if grade.findings and (findings := self._confirmed(row, grade.error)):
                return findings
        return ()

    def _called(self, batch: Batch) -> tuple[int, Raw]:
        """Call a batch; return the count of blocks that changed and may not, and the bytes of all outputs."""
        loaded = self._loaded
        skip = ALIGNMENT * loaded.rng.randrange(SPREAD_BYTES // ALIGNMENT)
        request = BatchRequest(loaded.tag, batch.call, loaded.rng.getrandbits(63), loaded.rng.getrandbits(63), skip)
        nbytes = output_bytes(self._references.task, batch)
        return loaded.child.batch(request, batch.inputs, nbytes, (1 + len(batch.rows) / TOGETHER) * loaded.deadline_s)

    def _confirmed(self, row: SweptCase, error: float) -> tuple[Finding, ...]:
        """Confirm a case whose answer in a batch was wrong."""
        findings, tolerance = self._alone(row.case, row.family), self._references.families.tolerance
        if error > NEAR * max(tolerance(spec, row.family).ratio for spec in self._loaded.task.outputs):
            return findings or (_differs(row.case),)
        if not findings:
            return ()
        seeds = ((row.case.seed + (1 + number) * APART) % 2**32 for number in range(REDRAWN))
        repeated = [self._alone(replace(row.case, seed=seed), row.family) for seed in seeds]
        return findings if sum(map(bool, repeated)) >= MOSTLY else ()

    def _damage(self, batch: Batch, changed: int) -> tuple[Finding, ...]:
        """Find the case that wrote where it may not: each is executed alone."""
        for row in batch.rows:
            if findings := self._alone(row.case, row.family):
                return findings
        message = (
            f"{16 * changed} bytes around the buffers are written to in one of {len(batch.rows)} shapes, "
            f"{batch.rows[0].case.name} among them; check the indices of all stores against the sizes"
        )
        return (Finding("out_of_bounds", message, case=batch.rows[0].case.name),)

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

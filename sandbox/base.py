"""The part that the lab and a GPU share: prepared candidates, evaluation keys, refusals."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from records.codec import dumps
from records.computed_once import computed_once
from records.evaluation import Evaluation, Finding, Stage, Verdict
from sandbox.candidate.codes import rejected
from sandbox.candidate.prepare import Prepared, Preparer
from sandbox.judge_digest import judge_digest
from sandbox.target import Target
from tasks.task import Task

COMPARED = frozenset({"wrong_result", "unwritten_output"})  # kinds the comparison finds; execution finds all others


class SandboxBase:
    """A sandbox of this machine, up to where it compiles."""

    target: Target
    device: str
    version: str  # of what compiles and drives it
    policy: tuple[int | str, ...]  # the source of the inputs, and what else changes verdicts
    isolation: str = ""  # what confines compiler and kernel

    @computed_once
    def _preparer(self) -> Preparer:
        return Preparer()

    def prepare(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Prepared:
        """Read a candidate, in the form that every other method takes; a source is read once."""
        return self._preparer.prepare(source, task, tunables)

    def key(self, prepared: Prepared) -> str:
        """Hash everything the evaluation depends on by SHA-256."""
        task, target = prepared.task.digest, self.target.name
        judge = [self.version, self.device, judge_digest(), *self.policy]
        return hashlib.sha256(dumps([prepared.id, prepared.tunables, task, target, *judge]).encode()).hexdigest()

    def _begun(self, prepared: Prepared) -> Evaluation:
        """Return the evaluation before anything is compiled: refused, or passed so far."""
        verdict = prepared.refusal or Verdict("compile", True, "OK")
        return Evaluation(self.key(prepared), prepared.id, prepared.tunables, verdict, isolation=self.isolation)


def judged(findings: Sequence[Finding]) -> Verdict:
    """Give the verdict on a candidate that was executed."""
    if not findings:
        return Verdict("correct", True, "OK")
    stage: Stage = "correct" if all(f.kind in COMPARED for f in findings) else "execute"
    return rejected(stage, findings)

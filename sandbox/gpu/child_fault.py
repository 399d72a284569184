"""A request to a child process that did not succeed, and who is to blame for it."""

from __future__ import annotations

from typing import Self

from records.evaluation import FindingKind

KILLED = "somebody killed the process on the GPU; free some of the machine's memory"


class ChildFault(Exception):
    """`kind` is a finding's when the candidate is to blame, None when that is not known.

    `lost` when only the device can be to blame, `ended` when the process failed while the candidate was running.
    """

    def __init__(self, message: str, kind: FindingKind | None, lost: bool, ended: bool = False) -> None:
        super().__init__(message)
        self.message, self.kind, self.lost, self.ended = message, kind, lost, ended
        self.case: str | None = None

    @classmethod
    def late(cls, runs_candidate: bool, timeout_s: float) -> Self:
        """Say that no answer came in time: the candidate's fault when its code was to run, else the device's."""
        if runs_candidate:
            return cls(f"the kernel did not end within {timeout_s:g} s", "timeout", lost=False)
        return cls(f"the GPU did not answer within {timeout_s:g} s", None, lost=True)

    @classmethod
    def closed(cls, runs_candidate: bool, blamed: tuple[FindingKind, str] | None) -> Self:
        """Say that the process ended; `blamed` is what its driver said of the candidate."""
        kind, sentence = blamed or (None, "the process on the GPU ended without an answer")
        return cls(sentence, kind, lost=not runs_candidate, ended=runs_candidate)

    @classmethod
    def malformed(cls, has_run: bool) -> Self:
        """Say that a reply cannot be one: the device's fault only where no candidate has run in the process."""
        sentence = "the process on the GPU sent a reply that does not fit the request"
        return cls(sentence, None, lost=not has_run, ended=has_run)

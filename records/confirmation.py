"""An attempt in the light of its confirmation, which may come after it was recorded as accepted."""

from __future__ import annotations

from dataclasses import replace

from records.concealment import told
from records.evaluation import Evaluation
from records.experiment import Attempt


def as_confirmed(attempt: Attempt, confirmation: Evaluation | None) -> Attempt:
    """The attempt as it stands: one that was accepted and then failed its confirmation is rejected, and has no time."""
    if attempt.status != "accepted" or confirmation is None or confirmation.verdict.accepted:
        return attempt
    verdict = confirmation.verdict
    first = next(iter(verdict.findings), None)
    return replace(
        attempt,
        status="rejected",
        code=verdict.code,
        stage=verdict.stage,
        reason=told(confirmation, first.case, first.message) if first else "",
        geomean_us=None,
        time_kind=None,
    )

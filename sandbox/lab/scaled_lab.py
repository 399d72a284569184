"""The lab with its predicted times multiplied by the factors of a target file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from records.evaluation import Comparison, Evaluation, Measurement
from sandbox.by_purpose import ByPurpose
from sandbox.candidate.prepare import Prepared
from sandbox.protocol import Sandbox
from sandbox.target_file import TargetFile
from sandbox.walk import Purpose, question
from tasks.task import Task

UNSCALED = "Its times are multiplied by the target file's factors; the figures of this paragraph are not."


class ScaledLab(ByPurpose):
    """Verdicts are the lab's; expected times are scaled, bounds are not, and every key names the file."""

    def __init__(self, lab: Sandbox, file: TargetFile) -> None:
        """`lab` is the one for the file's target."""
        self._lab, self._file = lab, file

    @property
    def device(self) -> str:
        """That of the lab."""
        return self._lab.device

    def prepare(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Prepared:
        """As the lab."""
        return self._lab.prepare(source, task, tunables)

    def key(self, prepared: Prepared) -> str:
        """Return the lab's key with the file's content: a time under other factors is another one."""
        return hashlib.sha256(f"{self._file.digest}\0{self._lab.key(prepared)}".encode()).hexdigest()

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        """As the lab, which compares nothing."""
        return self._lab.compare(challenger, incumbent)

    def _evaluation(self, purpose: Purpose, prepared: Prepared) -> Evaluation:
        evaluation = question(self._lab, purpose)(prepared)
        rows = tuple(scaled_time(m, self._file.factors) for m in evaluation.measurements)
        explanation = evaluation.explanation
        if rows != evaluation.measurements and explanation:
            explanation = f"{explanation} {UNSCALED}"
        return replace(evaluation, key=self.key(prepared), measurements=rows, explanation=explanation)


def scaled_time(m: Measurement, factors: Mapping[str, float]) -> Measurement:
    """Scale a predicted time by the factor of its resource; never below the bound, which no factor changes."""
    factor = factors.get(m.bound, 1.0)
    if m.kind != "predicted" or factor == 1.0:
        return m
    factor = max(factor, max(m.bound_us, m.roofline_us) / m.time_us)
    return replace(
        m,
        time_us=factor * m.time_us,
        warm_us=max(factor * m.warm_us, m.bound_us) if m.warm_us else 0.0,
        ci_low_us=factor * m.ci_low_us,
        ci_high_us=factor * m.ci_high_us,
        stalls_us={cause: factor * us for cause, us in m.stalls_us.items()},
    )

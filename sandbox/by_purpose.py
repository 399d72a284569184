"""The questions of a sandbox as one: each is handed on with its purpose."""

from __future__ import annotations

from abc import ABC, abstractmethod

from records.evaluation import Evaluation
from sandbox.candidate.prepare import Prepared
from sandbox.walk import Purpose


class ByPurpose(ABC):
    """A sandbox that answers all questions about one kernel in one place, because the answers come from elsewhere."""

    def compile(self, prepared: Prepared) -> Evaluation:
        """Parse and compile."""
        return self._evaluation("compile", prepared)

    def verify(self, prepared: Prepared) -> Evaluation:
        """Compile, execute and compare."""
        return self._evaluation("verify", prepared)

    def benchmark(self, prepared: Prepared) -> Evaluation:
        """Verify, then time."""
        return self._evaluation("benchmark", prepared)

    def estimate(self, prepared: Prepared) -> Evaluation:
        """Compile and time without verifying."""
        return self._evaluation("estimate", prepared)

    def confirm(self, prepared: Prepared) -> Evaluation:
        """Execute the benchmark cases whole."""
        return self._evaluation("confirm", prepared)

    @abstractmethod
    def _evaluation(self, purpose: Purpose, prepared: Prepared) -> Evaluation:
        """Answer one question."""

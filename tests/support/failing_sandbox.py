"""A sandbox whose machine breaks for good over some text: from then on it does not answer on the seed either."""

from __future__ import annotations

from graph.doubles import TableSandbox
from records.errors import LabError
from records.evaluation import Evaluation
from sandbox.candidate.prepare import Prepared


class FailingSandbox(TableSandbox):
    """Believes comments until a source with a line `// machine PURPOSE WORDS` is asked for."""

    def __init__(self, seed: str) -> None:
        super().__init__()
        self._seed, self._fault = seed, ""

    def _judge(self, purpose: str, prepared: Prepared, stages: tuple[str, ...]) -> Evaluation:
        if self._fault and prepared.source == self._seed:
            raise LabError(self._fault)
        try:
            return super()._judge(purpose, prepared, stages)
        except LabError as error:
            self._fault = str(error)
            raise

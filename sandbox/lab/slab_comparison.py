"""Outputs of one case compared with the reference, slab by slab."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from records.evaluation import Finding
from sandbox.candidate.codes import wrong_result
from sandbox.lab.pieces import Piece
from sandbox.lab.slabs import Slab, same_bits, slab_of, slabs
from sandbox.lab.timed_inputs import TimedInputs
from sandbox.recent import Recent
from tasks.compare import compare
from tasks.task import Case, Task, TensorSpec

FORMS = 8  # slabs that others are looked up among: where rows begin differently aligned, sums have several orders

Compared = tuple[float, tuple[Finding, ...]]  # the largest error, and what is wrong


@dataclass(frozen=True)
class SlabComparison:
    """Comparison of the outputs of one case."""

    task: Task
    case: Case
    inputs: TimedInputs

    def whole(self, spec: TensorSpec, output: np.ndarray) -> Compared:
        """Compare every slab; one with the reference and the bits of one that was compared is as right as that one."""
        earlier: Recent[int, tuple[Slab, np.ndarray]] = Recent(FORMS)
        worst = 0.0
        for number, slab in enumerate(slabs(self.inputs, spec, output.shape)):
            values = slab.cut(output)
            if any(slab.has_reference_of(other) and same_bits(values, right) for other, right in earlier.values()):
                continue
            error, findings = self._slab(slab, values, None)
            worst = max(worst, error)
            if findings:
                return worst, findings
            earlier.keep(number, (slab, values))
        return worst, ()

    def pieces(self, pieces: Mapping[str, Piece]) -> Compared:
        """Compare what one workgroup wrote of each output."""
        worst = 0.0
        for spec in self.task.outputs:
            piece = pieces[spec.name]
            if not piece.positions.size:
                continue
            slab, values, mask = slab_of(self.inputs, spec, self.task.shape_of(spec, self.case), piece)
            error, findings = self._slab(slab, values, mask)
            worst = max(worst, error)
            if findings:
                return worst, findings
        return worst, ()

    def _slab(self, slab: Slab, values: np.ndarray, mask: np.ndarray | None) -> Compared:
        tolerance = self.inputs.families.tolerance(slab.spec, self.inputs.variant)
        beside = slab.beside(values.size if mask is None else int(mask.sum()))
        admitted = partial(slab.admitted, tolerance.ratio)
        comparison = compare(values, slab.reference, slab.baseline, tolerance, mask, beside=beside, admitted=admitted)
        return comparison.error, () if comparison.correct else (
            wrong_result(slab.spec.name, comparison, self.case.name),
        )

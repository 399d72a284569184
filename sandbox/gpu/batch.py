"""Many small cases in one call: one allocation, the launches of all one after the other, one file of outputs.

For the child it is a case like another, with the buffers of all of them between red zones, so that a case costs it some
tens of microseconds. Nothing is reset in between: no launch of a plan may rest on what is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from records.errors import PlanError
from records.evaluation import Finding
from sandbox.candidate.kernel import KernelMetadata
from sandbox.candidate.limits import check_limits
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.sweep import SweptCase
from sandbox.gpu.child_channel import encode
from sandbox.gpu.child_messages import BatchCall, Launches
from sandbox.gpu.compiled import buffers_of, launches_of
from sandbox.gpu.layout import lay_out
from sandbox.gpu.memory_file import Raw, filled_file
from sandbox.target import Target
from tasks.dtypes import Array, size_bytes, to_float64
from tasks.task import Case, Task

ZONE = 4 << 10  # bytes between the buffers of a batch; what goes beyond meets a buffer that is looked at as well
MOST_BYTES = 128 << 20  # of all buffers of a batch
MOST_LAUNCHES = 2048  # of a batch


@dataclass(frozen=True)
class BatchCandidate:
    """The parts of a candidate that its batches are made from."""

    prepared: Prepared
    kernels: tuple[KernelMetadata, ...]
    target: Target


@dataclass(frozen=True)
class Batch:
    """The cases of one call: of those that were asked for as many as fit, in their order."""

    rows: tuple[SweptCase, ...]
    call: str  # the record `BatchCall`, encoded: only the child reads it
    elements: tuple[tuple[int, ...], ...]  # of each output, for each case
    answers: npt.NDArray[np.float64]  # of each output in turn the references of all cases, then the baselines
    inputs: (
        int  # file with those of all cases, one after the other, once for each base; whoever has the batch closes it
    )
    refused: SweptCase | None = None  # the next one, which has no plan that can be launched

    def close(self) -> None:
        """Give the file back; once."""
        os.close(self.inputs)


def make_batch(
    swept_cases: Sequence[SweptCase], candidate: BatchCandidate, families: InputFamilies, most_bytes: int = MOST_BYTES
) -> Batch:
    """Put plans into numbers, and make inputs and answers; nothing here needs the GPU.

    Buffers take so many bytes at most, unless they are one case's.
    """
    task = families.task
    rows, buffers, launches = list[SweptCase](), list[tuple[str, str, int]](), list[Launches]()
    refused, taken_bytes, count = None, 0, 0
    plans = dict[str, ResolvedPlan | tuple[Finding, ...]]()  # several families meet one case
    for number, swept in enumerate(swept_cases):
        if swept.case.name not in plans:
            plans[swept.case.name] = plan_or_refusal(candidate, swept.case)
        plan = plans[swept.case.name]
        if not isinstance(plan, ResolvedPlan):
            refused = swept
            break
        case_buffers = buffers_of(task, swept.case, plan)
        taken_bytes, count = taken_bytes + sum(nbytes for _, _, nbytes in case_buffers), count + len(plan.launches)
        if rows and (taken_bytes > most_bytes or count > MOST_LAUNCHES):
            break
        buffers += [(f"{number}:{name}", role, nbytes) for name, role, nbytes in case_buffers]
        launches.append(launches_of(plan, candidate.kernels, f"{number}:"))
        rows.append(swept)
    inputs, answers = _answers(task, rows, families)
    names = tuple(f"{number}:{spec.name}" for spec in task.outputs for number in range(len(rows)))
    call = BatchCall(
        lay_out(buffers, ZONE), tuple(launch for case_launches in launches for launch in case_launches), names
    )
    sizes = tuple(tuple(task.length_of(spec, row.case) for row in rows) for spec in task.outputs)
    file = filled_file("inputs", np.concatenate([inputs, inputs]))
    return Batch(tuple(rows), encode(call).decode(), sizes, answers, file, refused)


def plan_or_refusal(candidate: BatchCandidate, case: Case) -> ResolvedPlan | tuple[Finding, ...]:
    """Resolve a case's plan, which nobody asks for again; else say why there is none that the target can launch."""
    try:
        plan = candidate.prepared.plan(case, is_kept=False)
    except PlanError as error:
        return (Finding("over_limit", str(error), line=error.line, case=case.name),)
    findings = check_limits(plan, candidate.target, candidate.kernels)
    return tuple(replace(finding, case=case.name) for finding in findings) or plan


def _answers(task: Task, rows: Sequence[SweptCase], families: InputFamilies) -> tuple[Raw, npt.NDArray[np.float64]]:
    """Compute all cases' inputs as bytes, and references and baselines of each output in the order of its memory."""
    flat, expected, standard = list[Raw](), list[Mapping[str, Array]](), list[Mapping[str, Array]]()
    for row in rows:
        inputs = families.typed(row.case, row.family)
        flat += [task.flatten(s, inputs[s.name], row.case).view(np.uint8) for s in task.inputs_of(row.case)]
        reference, baseline = task.expected(inputs, row.case)
        expected.append(reference)
        standard.append(baseline)
    parts = [
        to_float64(spec.flatten(np.asarray(answer[spec.name])))
        for spec in task.outputs
        for arrays in (expected, standard)
        for answer in arrays
    ]
    nothing = np.zeros(0)
    return np.concatenate([nothing.view(np.uint8), *flat]), np.concatenate([nothing, *parts])


def outputs_of(task: Task, batch: Batch, outputs: Raw, number: int) -> dict[str, Raw]:
    """Cut one case's outputs, as bytes, out of those of the whole batch."""
    case_outputs, offset = dict[str, Raw](), 0
    for spec, sizes in zip(task.outputs, batch.elements, strict=True):
        element_bytes = size_bytes(spec.dtype)
        start = offset + element_bytes * sum(sizes[:number])
        case_outputs[spec.name] = outputs[start : start + element_bytes * sizes[number]]
        offset += element_bytes * sum(sizes)
    return case_outputs


def output_bytes(task: Task, batch: Batch) -> int:
    """Count the bytes of all outputs together."""
    return sum(size_bytes(spec.dtype) * sum(sizes) for spec, sizes in zip(task.outputs, batch.elements, strict=True))

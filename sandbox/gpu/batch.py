"""Many small cases in one call: one allocation, the launches of all one after the other, one file of outputs.

For the child it is a case like another, with the buffers of all of them between red zones, so that a case costs it some
tens of microseconds. Nothing is reset in between: no launch of a plan may rest on what is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from records.errors import PlanError
from records.evaluation import Finding
from sandbox.candidate.limits import check_limits
from sandbox.candidate.resolve import ResolvedPlan, resolve
from sandbox.gpu.child_messages import CallRequest, Launches
from sandbox.gpu.compiled import CompiledCandidate, LoadedCandidate, buffers_of
from sandbox.gpu.layout import Layout, lay_out
from sandbox.gpu.memory_file import Raw, shared_file
from sandbox.gpu.references import Answers, References
from sandbox.target import Target
from tasks.sweep import SweptCase
from tasks.task import Case

ZONE = 4 << 10  # bytes between the buffers of a batch; what goes beyond meets a buffer that is looked at as well
MOST_BYTES = 256 << 20  # of all buffers of a batch
MOST_LAUNCHES = 4096  # of a batch
PATIENCE = 2.0  # times as long as one call may take


@dataclass(frozen=True)
class BatchRow:
    """One case of a batch and its answers; its buffers' names begin with the prefix."""

    swept: SweptCase
    answers: Answers
    prefix: str


@dataclass(frozen=True)
class Batch:
    """The cases of one call. Of those that were asked for as many as fit; `refused` says why the next one is not."""

    rows: tuple[BatchRow, ...]
    layout: Layout
    launches: Launches
    inputs: Raw
    refused: tuple[Finding, ...] = ()


def make_batch(
    wanted: Sequence[SweptCase], compiled: CompiledCandidate, references: References, target: Target
) -> Batch:
    """Plans in numbers, inputs and answers; nothing here needs the GPU."""
    rows, buffers, launches = list[BatchRow](), list[tuple[str, str, int]](), list[Launches]()
    refused, taken, count = tuple[Finding, ...](), 0, 0
    for number, swept in enumerate(wanted):
        plan = _plan(compiled, swept.case, target)
        if not isinstance(plan, ResolvedPlan):
            refused = plan
            break
        own = buffers_of(references.task, swept.case, plan)
        taken, count = taken + sum(nbytes for _, _, nbytes in own), count + len(plan.launches)
        if rows and (taken > MOST_BYTES or count > MOST_LAUNCHES):
            break
        prefix = f"{number}:"
        buffers += [(prefix + name, role, nbytes) for name, role, nbytes in own]
        launches.append(compiled.launches_of(plan, prefix))
        rows.append(BatchRow(swept, references.answers(swept), prefix))
    inputs = np.concatenate([row.answers.flat for row in rows]) if rows else np.zeros(0, np.uint8)
    every = tuple(launch for one in launches for launch in one)
    return Batch(tuple(rows), lay_out(buffers, ZONE), every, inputs, refused)


def _plan(compiled: CompiledCandidate, case: Case, target: Target) -> ResolvedPlan | tuple[Finding, ...]:
    """The plan of a case, which nobody asks for again; else why there is none, or none that the target can launch."""
    prepared = compiled.prepared
    try:
        plan = resolve(prepared.candidate, prepared.task, case, prepared.tunables)
    except PlanError as error:
        return (Finding("over_limit", str(error), line=error.line, case=case.name),)
    found = check_limits(plan, target, compiled.build.metadata(plan))
    return tuple(replace(finding, case=case.name) for finding in found) or plan


def run_batch(loaded: LoadedCandidate, batch: Batch) -> tuple[int, list[dict[str, Raw]]]:
    """Blocks that changed and may not, and the outputs of each case. ChildFault when the call does not end."""
    names = [(row.prefix, spec.name) for row in batch.rows for spec in loaded.task.outputs]
    with shared_file("inputs", np.concatenate([batch.inputs, batch.inputs])) as handle:
        loaded.bind(batch.layout, handle, 1, whole=False)
    asked = tuple(prefix + name for prefix, name in names)
    request = CallRequest(loaded.tag, batch.launches, loaded.rng.getrandbits(63), 0, asked)
    called = loaded.child.call(request, PATIENCE * loaded.deadline_s)
    return called.changed, [
        {spec.name: called.outputs[row.prefix + spec.name] for spec in loaded.task.outputs} for row in batch.rows
    ]

"""Shapes that a user adds to a task's tests: `rows=1000,cols=77`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from records.errors import PlanError, UsageError
from tasks.domain import has_answers
from tasks.expressions import evaluate
from tasks.manifest import INT32, case_name, derived_seed
from tasks.task import Task


def with_shapes(task: Task, texts: Sequence[str]) -> Task:
    """Add a test for each of these shapes to the task, with a digest of its own; UsageError for one that cannot be."""
    listed = {case.name for case in task.tests}
    extra = []
    for text in texts:
        dims = shape_of(task, text)
        name = case_name(dims)
        if name not in listed:
            listed.add(name)
            extra.append(replace(task.tests[0], name=name, dims=dims, seed=derived_seed(name), weight=1.0))
    if not extra:
        return task
    names = "\0".join(sorted(case.name for case in extra))
    digest = hashlib.sha256(f"{task.digest}\0{names}".encode()).hexdigest()
    return replace(task, tests=(*task.tests, *extra), digest=digest)


def shape_of(task: Task, text: str) -> dict[str, int]:
    """Read the dims that a text names; UsageError for what is no shape of the task."""
    dim_names = tuple(task.tests[0].dims)
    example = ",".join(f"{name}=N" for name in dim_names)
    pairs = [part.partition("=") for part in text.split(",")]
    value_texts = {name.strip(): value.strip() for name, _, value in pairs}
    if len(value_texts) != len(pairs) or set(value_texts) != set(dim_names):
        raise UsageError(f"--shape takes {example} for the task {task.name}, not {text[:80]!r}")
    dims = {}
    for name in dim_names:
        value, multiple = value_texts[name], task.multiples.get(name, 1)
        if not (value.isascii() and value.isdigit() and len(value) <= 10 and 1 <= int(value) <= INT32):
            raise UsageError(f"--shape {text[:80]}: {name} must be a whole number from 1 to {INT32}")
        if int(value) % multiple:
            raise UsageError(f"--shape {text[:80]}: {name} must be a multiple of {multiple} in the task {task.name}")
        dims[name] = int(value)
    if not has_answers(task, dims):
        raise UsageError(f"--shape {text[:80]}: the task {task.name} has recorded answers, and none for this shape")
    try:
        extents = [evaluate(extent, dims) for spec in (*task.inputs, *task.outputs) for extent in spec.shape]
    except PlanError as error:
        raise UsageError(f"--shape {text[:80]}: {error}") from None
    if min(extents, default=1) < 1:
        raise UsageError(f"--shape {text[:80]}: a tensor of the task {task.name} would have no elements")
    return dims

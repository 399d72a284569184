"""Refuses tasks that cannot distinguish a right kernel from a wrong one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from records.errors import TaskError
from tasks.admission import Answers, compared
from tasks.dtypes import is_float, numpy_dtype, smallest_normal, to_float64
from tasks.held_out import affordable
from tasks.lint_shortcuts import passing_shortcuts
from tasks.loader import FOLDER, TASK_FAULTS
from tasks.own_check import refusal, stored
from tasks.structure import has_structure
from tasks.task import Array, Case, Task, Tensors, TensorSpec

EXAMINED = 3  # test cases that are drawn and computed, the largest of the affordable ones
OTHER_SEED = 0x9E3779B9  # any odd constant: makes a case's second seed from its first


@dataclass(frozen=True)
class _Sample:
    """A case with two independent draws of its inputs, and what the task says of the first."""

    case: Case
    inputs: dict[str, Array]
    further_inputs: dict[str, Array]
    reference: dict[str, Array]
    baseline: dict[str, Array]


def lint(task: Task, *, plants: bool = True) -> tuple[str, ...]:
    """List every reason not to trust this task, a sentence each; empty for a sound task.

    Draws inputs and computes reference and baseline for up to three test cases; with `plants` the shortcuts of
    tasks/shortcuts.py are tried on all cases but very large ones. Recorded answers can be asked less: the import did.
    """
    try:
        problems, samples = _samples(task)
        if not problems:
            problems = [p for output in task.outputs for p in _output_problems(task, output, samples)]
            problems += _input_problems(task, samples) if task.golden is None else []
            problems += _variant_problems(task, samples)
        if plants and not problems and task.golden is None:  # recorded answers tell nothing of changed inputs
            with np.errstate(all="ignore"):
                problems += passing_shortcuts(task)
    except TaskError as error:
        return (str(error),)
    except TASK_FAULTS as error:
        return (f"{Path(task.folder) / 'reference.py'} fails with {type(error).__name__}: {error}",)
    return tuple(problems)


def refuse_weak(task: Task) -> None:
    """Raise TaskError with the first problem of a task that is too weak to judge anything.

    In the shipped tasks our own tests plant the shortcuts; it takes seconds, which no start of a run should cost.
    """
    problems = lint(task, plants=task.folder.parent != FOLDER)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise TaskError(f"the task {task.name} cannot be used: {problems[0]}{more}")


def _samples(task: Task) -> tuple[list[str], list[_Sample]]:
    problems: list[str] = []
    samples = []
    for case in affordable(task)[:EXAMINED]:
        inputs, repeated = task.draw(case), task.draw(case)
        further_inputs = task.draw(replace(case, seed=(case.seed + OTHER_SEED) % 2**32))
        problems += _input_form(task, case, inputs)
        if problems:
            break
        if any(inputs[name].tobytes() != repeated[name].tobytes() for name in inputs):
            problems.append(f"make_inputs draws different inputs for the same case {case.name} and seed: use only rng")
        problems += _restored_form(task, case, inputs, further_inputs)
        reference, baseline = task.reference(inputs, case), task.baseline(inputs, case)
        problems += _output_form(task, case, reference, baseline)
        if not problems and (refused := refusal(task, inputs, stored(task, baseline), case)):
            problems.append(f"the baseline does not pass check for the case {case.name}: {refused}")
        samples.append(_Sample(case, inputs, further_inputs, reference, baseline))
    return problems, samples


def _input_form(task: Task, case: Case, inputs: Tensors) -> Iterator[str]:
    yield from _names("make_inputs", task.inputs_of(case), inputs)
    for spec in task.inputs_of(case):
        if spec.name in inputs:
            x = inputs[spec.name]
            yield from _form("the input", spec, x, task.shape_of(spec, case), (spec.dtype,))
            if x.ndim > 1 and not has_structure(x, spec.structure):
                yield f"make_inputs draws an input {spec.name!r} that is not {spec.structure.replace('_', ' ')}"


def _restored_form(task: Task, case: Case, inputs: Tensors, further_inputs: Tensors) -> Iterator[str]:
    """Yield faults of `within` on inputs that need nothing: a broken one silently leaves out all changed inputs."""
    for tensors in (inputs, further_inputs) if task.within is not None else ():
        restored = task.restored(tensors, inputs, case)
        yield from _names("within", task.inputs_of(case), restored)
        for spec in task.inputs_of(case):
            if spec.name in restored:
                yield from _form(
                    "what within returns for", spec, restored[spec.name], tensors[spec.name].shape, (spec.dtype,)
                )
                if is_float(restored[spec.name].dtype) and np.isnan(to_float64(restored[spec.name])).any():
                    yield f"within makes NaN of the input {spec.name!r} for the case {case.name}"
        if tensors is inputs and any(restored[n].tobytes() != x.tobytes() for n, x in tensors.items() if n in restored):
            yield f"within changes inputs of the case {case.name} that are as make_inputs drew them"


def _output_form(task: Task, case: Case, reference: Tensors, baseline: Tensors) -> Iterator[str]:
    yield from _names("reference", task.outputs, reference)
    yield from _names("baseline", task.outputs, baseline)
    for spec in task.outputs:
        shape = task.shape_of(spec, case)
        if spec.name in reference:
            yield from _form("the reference of", spec, reference[spec.name], shape, ("f64",))
            if not np.isfinite(to_float64(reference[spec.name])).all():
                yield f"the reference of {spec.name!r} is not finite everywhere for the case {case.name}"
        if spec.name in baseline:
            yield from _form("the baseline of", spec, baseline[spec.name], shape, (spec.dtype,))


def _names(source: str, specs: tuple[TensorSpec, ...], tensors: Tensors) -> Iterator[str]:
    expected = {spec.name for spec in specs}
    if set(tensors) != expected:
        yield f"{source} gives {', '.join(sorted(tensors)) or 'nothing'}; declared are {', '.join(sorted(expected))}"


def _form(label: str, spec: TensorSpec, array: Array, shape: tuple[int, ...], dtypes: tuple[str, ...]) -> Iterator[str]:
    if array.shape != shape:
        yield f"{label} {spec.name!r} has the shape {array.shape}; it should be {shape}"
    if array.dtype not in [numpy_dtype(name) for name in dtypes]:
        yield f"{label} {spec.name!r} has the type {array.dtype}; it should be {' or '.join(dtypes)}"


def _passes(task: Task, output: TensorSpec, sample: _Sample, answer: Array) -> bool:
    """Tell whether the judge would accept this float64 answer, stored in the output's type."""
    with np.errstate(over="ignore", invalid="ignore"):
        stored = answer.astype(numpy_dtype(output.dtype))
    answers = Answers(sample.case, sample.inputs, sample.reference, sample.baseline)
    return compared(task, output, stored, answers).correct


def _output_problems(task: Task, output: TensorSpec, samples: list[_Sample]) -> Iterator[str]:
    name = output.name
    for title, answers in _trivial_answers(task, output, samples):
        if len(answers) == len(samples) and all(
            _passes(task, output, s, answer) for s, answer in zip(samples, answers, strict=True)
        ):
            yield f"{title} would be accepted as {name!r} on every case examined"
    for sample in samples:
        if not _passes(task, output, sample, to_float64(sample.baseline[name])):
            yield f"the baseline of {name!r} is not accepted itself for the case {sample.case.name}"
    largest = max(float(np.abs(sample.reference[name]).max()) for sample in samples)
    dtype = numpy_dtype(output.dtype)
    if largest <= 10 * task.tolerance_of(output).atol or (is_float(dtype) and largest < 16 * smallest_normal(dtype)):
        yield f"{name!r} is never larger than {largest:.3g}, too small to tell a right answer from none"


def _trivial_answers(task: Task, output: TensorSpec, samples: list[_Sample]) -> Iterator[tuple[str, list[Array]]]:
    """Yield answers that need no work, one array a sample; shorter lists where an answer does not fit."""
    references = [sample.reference[output.name] for sample in samples]
    yield "all zeros", [np.zeros_like(r) for r in references]
    if any(r.size > 1 for r in references):  # the mean of one number is the answer itself
        yield "the mean everywhere", [np.full_like(r, r.mean()) for r in references]
    for axis in (a for a in range(references[0].ndim) if any(r.shape[a] > 1 for r in references)):
        yield (
            f"the mean along axis {axis}",
            [np.broadcast_to(r.mean(axis=axis, keepdims=True), r.shape) for r in references],
        )
    yield (
        "the answer to other inputs (the output is constant)",
        [task.reference(sample.further_inputs, sample.case)[output.name] for sample in samples],
    )
    for spec in task.inputs:
        arrays = [to_float64(sample.inputs[spec.name]) for sample in samples if spec.name in sample.inputs]
        if len(arrays) < len(references):
            continue
        yield (
            f"a copy of the input {spec.name!r}",
            [a.reshape(r.shape) for a, r in zip(arrays, references, strict=True) if a.size == r.size],
        )


def _input_problems(task: Task, samples: list[_Sample]) -> Iterator[str]:
    for spec in task.inputs:
        noticed = False
        for sample in (s for s in samples if spec.name in s.inputs):
            changed = task.reference({**sample.inputs, spec.name: sample.further_inputs[spec.name]}, sample.case)
            noticed |= any(not _passes(task, o, sample, changed[o.name]) for o in task.outputs)
        if not noticed and any(spec.name in s.inputs for s in samples):
            yield f"no output depends on the input {spec.name!r} by more than the tolerance"


def _variant_problems(task: Task, samples: list[_Sample]) -> Iterator[str]:
    if task.variants is None:
        return
    case = task.tests[0]
    families = task.variants(task.draw(case), case, np.random.default_rng(case.seed))
    if set(families) != set(task.variant_names):
        yield (
            f"variants gives {', '.join(sorted(families)) or 'nothing'}; task.toml declares "
            f"{', '.join(sorted(task.variant_names))}"
        )
        return
    for family, inputs in families.items():
        for problem in (
            *_input_form(task, case, inputs),
            *_output_form(task, case, task.reference(inputs, case), task.baseline(inputs, case)),
        ):
            yield f"variant {family!r}: {problem}"

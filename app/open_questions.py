"""The questions that a file leaves open before it can become a task, one after the other, each with an answer to offer.

The same questions are subjects at a terminal and, without one, written into the command to type.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from app.optimising import UserFile
from imports.bare_kernel import BareKernel, BareParameter
from imports.declared_inputs import DeclaredInputs, declared, sizes_of
from imports.python_entry import PythonEntry, entry_names, python_entry
from imports.readers import form_of
from records.errors import UsageError

SIZE = 4096  # that is offered for a dim
BY_NAME = {  # of a parameter, what is offered for its type and shape
    **dict.fromkeys(("bias", "weight", "gamma", "beta", "scale", "b", "w", "g"), "f32[cols]"),
    **dict.fromkeys(("mask", "keep", "valid"), "bool[rows,cols]"),
    **dict.fromkeys(("ids", "idx", "index", "indices", "labels", "label", "target", "targets"), "i64[rows]:cols"),
}
OPTIONS = {
    **{"inputs": "--input", "sizes": "--size", "reference": "--reference", "outputs": "--output", "grid": "--grid"},
    **{"block": "--block", "task": "--task", "tolerance": "--tolerance", "name": "--name"},
    **{"argv": "--argv"},
}
PLACEHOLDER = "REFERENCE.py:FUNCTION"


@dataclass(frozen=True)
class OpenQuestion:
    """One question: its words, the answer that is offered, and what is known once a line answers it."""

    subject: str  # in a few words
    words: str
    offer: str  # empty where there is none
    answered: Callable[[str], UserFile]  # UsageError for an answer that cannot be
    choices: tuple[str, ...] = ()


def next_question(user_file: UserFile) -> OpenQuestion | None:
    """Find what is to be subjects next; None where all is known that can be known before the file is executed."""
    if user_file.is_task:
        return None
    if user_file.is_candidate:
        return (
            None
            if user_file.task
            else _ask(user_file, "task", "its task", "the task that it is for (a name or a folder)", "")
        )
    if user_file.is_kernel:
        return next(_of_kernel(user_file), None)
    location = user_file.location
    if location.path.is_dir() or form_of(location).form not in ("numpy", "pytorch"):
        return None
    return next(_of_function(user_file), None)


def _of_function(user_file: UserFile) -> Iterator[OpenQuestion]:
    location = user_file.location
    names = entry_names(location.head)
    if not location.function and len(names) > 1:
        path = str(location.path)
        yield OpenQuestion(
            "which function",
            f"the function of {path}",
            names[-1],
            lambda line: replace(user_file, source=f"{path}:{line}"),
            tuple(names),
        )
    entry = python_entry(location.head, location.function)
    if entry is None or entry.draws:
        return
    inputs = declared(user_file.inputs, user_file.sizes)
    yield from _inputs(user_file, entry, inputs)
    yield from _sizes(user_file, inputs)


def _inputs(user_file: UserFile, entry: PythonEntry, inputs: DeclaredInputs) -> Iterator[OpenQuestion]:
    stated_names = {*inputs.specs, *inputs.numbers}
    if inputs.specs and not any(p.name in stated_names for p in entry.parameters):
        return  # in the function's order, under names of the user's own
    for parameter in entry.parameters:
        if parameter.name in stated_names or parameter.default:
            continue
        words = f"type and shape of {parameter.name}, such as f32[rows,cols], or a number"
        yield _ask(
            user_file,
            "inputs",
            f"what {parameter.name} is",
            words,
            BY_NAME.get(parameter.name, "f32[rows,cols]"),
            f"{parameter.name}=",
        )


def _sizes(user_file: UserFile, inputs: DeclaredInputs) -> Iterator[OpenQuestion]:
    for dim in inputs.sizeless:
        yield _ask(user_file, "sizes", f"the size {dim}", f"the size {dim} to be fast for", str(SIZE), f"{dim}=")


def _of_kernel(user_file: UserFile) -> Iterator[OpenQuestion]:
    kernels, location = user_file.bare(), user_file.location
    if len(kernels) > 1:
        names = tuple(k.name for k in kernels)
        words = f"the kernel of {location.path} (for several launches, give the file a main)"
        yield OpenQuestion(
            "which kernel", words, names[0], lambda line: replace(user_file, source=f"{location.path}:{line}"), names
        )
    for kernel in kernels[:1]:
        yield from _launch(user_file, kernel)
    if not user_file.reference:
        words = "what it computes: a NumPy or PyTorch function of its inputs, as FILE.py:FUNCTION"
        yield _ask(user_file, "reference", "what it computes", words, "")


def _launch(user_file: UserFile, kernel: BareKernel) -> Iterator[OpenQuestion]:
    """Ask for the sizes, the buffers' shapes, the numbers, the grid and the block."""
    inputs, sizes = declared(user_file.inputs, ()), sizes_of(user_file.sizes)
    for name in kernel.sizes:
        if name not in sizes:
            yield _ask(user_file, "sizes", f"the size {name}", f"the size {name} to be fast for", str(SIZE), f"{name}=")
    for p in kernel.pointers:
        if p.name not in inputs.specs:
            role = "read" if p.is_constant else "written"
            words = f"type and shape of {p.name}, which is {role}"
            yield _ask(user_file, "inputs", f"what {p.name} is", words, _shape_of(kernel, p), f"{p.name}=")
    for name in kernel.reals:
        if name not in inputs.numbers:
            yield _ask(user_file, "inputs", f"the number {name}", f"the number {name}", "1.0", f"{name}=")
    yield from _sizes(user_file, declared(user_file.inputs, user_file.sizes))
    for option, offer in (("grid", kernel.grid()), ("block", kernel.block())):
        if not getattr(user_file, option):
            yield _ask_axes(user_file, option, offer)


def _shape_of(kernel: BareKernel, parameter: BareParameter) -> str:
    axes = kernel.shape()[-1:] if "[cols]" in BY_NAME.get(parameter.name, "") else kernel.shape()
    return f"{parameter.dtype}[{','.join(axes)}]"


def _ask(user_file: UserFile, option: str, subject: str, words: str, offer: str, head: str = "") -> OpenQuestion:
    def answered(line: str) -> UserFile:
        if not line:
            raise UsageError("an answer is needed here")
        value = head + line
        before = getattr(user_file, option)
        changes: dict[str, Any] = {option: (*before, value) if isinstance(before, tuple) else value}
        changed = replace(user_file, **changes)
        declared(changed.inputs, changed.sizes)
        return changed

    return OpenQuestion(subject, words, offer, answered)


def _ask_axes(user_file: UserFile, option: str, offer: tuple[str, ...]) -> OpenQuestion:
    words = {"grid": "workgroups of the launch, as an expression of the sizes", "block": "work-items of a workgroup"}

    def answered(line: str) -> UserFile:
        axes: dict[str, Any] = {option: tuple(part.strip() for part in line.split(";") if part.strip())}
        return replace(user_file, **axes)

    return OpenQuestion(f"the {option}", f"{words[option]} (axes apart by ;)", "; ".join(offer), answered)


def with_offers(user_file: UserFile) -> tuple[UserFile, list[str]]:
    """Answer every open question with what is offered, or with a placeholder; return what was subjects, too."""
    subjects = list[str]()
    while (question := next_question(user_file)) is not None:
        subjects.append(question.subject)
        user_file = question.answered(question.offer or PLACEHOLDER)
    return user_file, subjects


def refuse_open(user_file: UserFile, command: str) -> None:
    """UsageError with one sentence and the whole command, where anything is left to be subjects."""
    complete, subjects = with_offers(user_file)
    if subjects:
        parts = subjects[0] if len(subjects) == 1 else f"{', '.join(subjects[:-1])} and {subjects[-1]}"
        raise UsageError(f"{user_file.source} does not say {parts}: type {command} {command_words(complete)}")


def command_words(user_file: UserFile) -> str:
    """Write what is known as the options of a command."""
    words = [user_file.source]
    for field in fields(user_file):
        value = getattr(user_file, field.name)
        if field.name != "source" and value:
            for text in value if isinstance(value, tuple) else (value,):
                words += [OPTIONS[field.name], text]
    return shlex.join(words)

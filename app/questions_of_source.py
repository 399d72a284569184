"""The questions that a file leaves open before it can become a task, one after the other, each with an answer to offer.

The same questions are asked at a terminal and, without one, written into the command to type.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from app.optimising import Brought
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
}
PLACEHOLDER = "REFERENCE.py:FUNCTION"


@dataclass(frozen=True)
class OpenQuestion:
    """One question: its words, the answer that is offered, and what is known once a line answers it."""

    subject: str  # in a few words
    words: str
    offer: str  # empty where there is none
    answered: Callable[[str], Brought]  # UsageError for an answer that cannot be
    choices: tuple[str, ...] = ()


def next_question(brought: Brought) -> OpenQuestion | None:
    """Find what is to be asked next; None where all is known that can be known before the file is executed."""
    if brought.is_task:
        return None
    if brought.is_candidate:
        return (
            None
            if brought.task
            else _ask(brought, "task", "its task", "the task that it is for (a name or a folder)", "")
        )
    if brought.is_kernel:
        return next(_of_kernel(brought), None)
    place = brought.place
    if place.path.is_dir() or form_of(place).form not in ("numpy", "pytorch"):
        return None
    return next(_of_function(brought), None)


def _of_function(brought: Brought) -> Iterator[OpenQuestion]:
    place = brought.place
    names = entry_names(place.head)
    if not place.function and len(names) > 1:
        path = str(place.path)
        yield OpenQuestion(
            "which function",
            f"the function of {path}",
            names[-1],
            lambda line: replace(brought, source=f"{path}:{line}"),
            tuple(names),
        )
    entry = python_entry(place.head, place.function)
    if entry is None or entry.draws:
        return
    inputs = declared(brought.inputs, brought.sizes)
    yield from _inputs(brought, entry, inputs)
    yield from _sizes(brought, inputs)


def _inputs(brought: Brought, entry: PythonEntry, inputs: DeclaredInputs) -> Iterator[OpenQuestion]:
    named = {*inputs.specs, *inputs.numbers}
    if inputs.specs and not any(p.name in named for p in entry.parameters):
        return  # in the function's order, under names of the user's own
    for parameter in entry.parameters:
        if parameter.name in named or parameter.default:
            continue
        words = f"type and shape of {parameter.name}, such as f32[rows,cols], or a number"
        yield _ask(
            brought,
            "inputs",
            f"what {parameter.name} is",
            words,
            BY_NAME.get(parameter.name, "f32[rows,cols]"),
            f"{parameter.name}=",
        )


def _sizes(brought: Brought, inputs: DeclaredInputs) -> Iterator[OpenQuestion]:
    for dim in inputs.sizeless:
        yield _ask(brought, "sizes", f"the size {dim}", f"the size {dim} to be fast for", str(SIZE), f"{dim}=")


def _of_kernel(brought: Brought) -> Iterator[OpenQuestion]:
    kernels, place = brought.bare(), brought.place
    if len(kernels) > 1:
        names = tuple(k.name for k in kernels)
        words = f"the kernel of {place.path} (for several launches, give the file a main)"
        yield OpenQuestion(
            "which kernel", words, names[0], lambda line: replace(brought, source=f"{place.path}:{line}"), names
        )
    for kernel in kernels[:1]:
        yield from _launch(brought, kernel)
    if not brought.reference:
        words = "what it computes: a NumPy or PyTorch function of its inputs, as FILE.py:FUNCTION"
        yield _ask(brought, "reference", "what it computes", words, "")


def _launch(brought: Brought, kernel: BareKernel) -> Iterator[OpenQuestion]:
    """Ask for the sizes, the buffers' shapes, the numbers, the grid and the block."""
    inputs, sizes = declared(brought.inputs, ()), sizes_of(brought.sizes)
    for name in kernel.sizes:
        if name not in sizes:
            yield _ask(brought, "sizes", f"the size {name}", f"the size {name} to be fast for", str(SIZE), f"{name}=")
    for p in kernel.pointers:
        if p.name not in inputs.specs:
            role = "read" if p.is_constant else "written"
            words = f"type and shape of {p.name}, which is {role}"
            yield _ask(brought, "inputs", f"what {p.name} is", words, _shape_of(kernel, p), f"{p.name}=")
    for name in kernel.reals:
        if name not in inputs.numbers:
            yield _ask(brought, "inputs", f"the number {name}", f"the number {name}", "1.0", f"{name}=")
    yield from _sizes(brought, declared(brought.inputs, brought.sizes))
    for option, offer in (("grid", kernel.grid()), ("block", kernel.block())):
        if not getattr(brought, option):
            yield _ask_axes(brought, option, offer)


def _shape_of(kernel: BareKernel, parameter: BareParameter) -> str:
    axes = kernel.shape()[-1:] if "[cols]" in BY_NAME.get(parameter.name, "") else kernel.shape()
    return f"{parameter.dtype}[{','.join(axes)}]"


def _ask(brought: Brought, option: str, subject: str, words: str, offer: str, head: str = "") -> OpenQuestion:
    def answered(line: str) -> Brought:
        if not line:
            raise UsageError("an answer is needed here")
        value = head + line
        before = getattr(brought, option)
        changes: dict[str, Any] = {option: (*before, value) if isinstance(before, tuple) else value}
        changed = replace(brought, **changes)
        declared(changed.inputs, changed.sizes)
        return changed

    return OpenQuestion(subject, words, offer, answered)


def _ask_axes(brought: Brought, option: str, offer: tuple[str, ...]) -> OpenQuestion:
    words = {"grid": "workgroups of the launch, as an expression of the sizes", "block": "work-items of a workgroup"}

    def answered(line: str) -> Brought:
        axes: dict[str, Any] = {option: tuple(part.strip() for part in line.split(";") if part.strip())}
        return replace(brought, **axes)

    return OpenQuestion(f"the {option}", f"{words[option]} (axes apart by ;)", "; ".join(offer), answered)


def with_offers(brought: Brought) -> tuple[Brought, list[str]]:
    """Answer every open question with what is offered, or with a placeholder; return what was asked, too."""
    asked = list[str]()
    while (question := next_question(brought)) is not None:
        asked.append(question.subject)
        brought = question.answered(question.offer or PLACEHOLDER)
    return brought, asked


def refuse_open(brought: Brought, command: str) -> None:
    """UsageError with one sentence and the whole command, where anything is left to be asked."""
    complete, asked = with_offers(brought)
    if asked:
        parts = asked[0] if len(asked) == 1 else f"{', '.join(asked[:-1])} and {asked[-1]}"
        raise UsageError(f"{brought.source} does not say {parts}: type {command} {command_words(complete)}")


def command_words(brought: Brought) -> str:
    """Write what is known as the options of a command."""
    words = [brought.source]
    for field in fields(brought):
        value = getattr(brought, field.name)
        if field.name != "source" and value:
            for text in value if isinstance(value, tuple) else (value,):
                words += [OPTIONS[field.name], text]
    return shlex.join(words)

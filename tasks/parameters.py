"""The parameters of the function or kernel that a task was made of, in its author's order."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from tasks.task import Statement


@dataclass(frozen=True)
class OriginalParameter:
    """One parameter: its name in the original and in the task, its default as text, the type of one of C++."""

    name: str
    task_name: str
    default: str = ""
    is_keyword: bool = False  # given by its name alone
    cpp_type: str = ""


def parameters_of(statement: Statement) -> tuple[OriginalParameter, ...]:
    """Read `[origin] parameters`; none for a task that was made of no function, or by an older program."""
    text = statement.provenance.parameters if statement.provenance is not None else ""
    try:
        return read_parameters(text)
    except SyntaxError:
        return _of_cpp(text)


def read_parameters(text: str) -> tuple[OriginalParameter, ...]:
    """Read Python's words, in which an annotation is the name in the task; SyntaxError for others."""
    tree = ast.parse(f"def original({text}): pass").body[0]
    assert isinstance(tree, ast.FunctionDef)
    arguments = tree.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults]
    rows = [(a, d, False) for a, d in zip(plain, defaults, strict=True)]
    rows += [(a, d, True) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return tuple(
        OriginalParameter(
            a.arg,
            ast.unparse(a.annotation) if a.annotation else a.arg,
            ast.unparse(d) if d is not None else "",
            is_keyword,
        )
        for a, d, is_keyword in rows
    )


def parameters_text(parameters: tuple[OriginalParameter, ...]) -> str:
    """Write what `read_parameters` reads."""
    words = []
    for parameter in parameters:
        if parameter.is_keyword and "*" not in words:
            words.append("*")
        name = parameter.name + (f": {parameter.task_name}" if parameter.task_name != parameter.name else "")
        words.append(name + (f"={parameter.default}" if parameter.default else ""))
    return ", ".join(words)


def frozen_parameters(statement: Statement) -> tuple[OriginalParameter, ...]:
    """Find those that a kernel does not get: they have had one value in all of its verification."""
    tensors = {t.name for t in (*statement.inputs, *statement.outputs)}
    passed = {*tensors, *(s.name for s in statement.scalars), *statement.tests[0].dims}
    return tuple(p for p in parameters_of(statement) if p.task_name not in passed)


def _of_cpp(text: str) -> tuple[OriginalParameter, ...]:
    """Read C++'s words: a type, then a name."""
    pairs = [re.fullmatch(r"\s*(.*?[\s*&])(\w+)\s*", part) for part in text.split(",")]
    return tuple(OriginalParameter(pair[2], pair[2], cpp_type=pair[1].strip()) for pair in pairs if pair)

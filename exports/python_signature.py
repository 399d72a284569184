"""The Python function of an export with the parameters of the function that its task was made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks.parameters import OriginalParameter, frozen_parameters, parameters_of
from tasks.task import Task


@dataclass(frozen=True)
class PythonSignature:
    """`declared` stand between the function's brackets, `guards` at its beginning, `handed` are given to the kernel."""

    declared: tuple[str, ...]
    guards: tuple[str, ...]
    handed: tuple[str, ...]


def python_signature(task: Task, names: Sequence[str], kinds: Mapping[str, str]) -> PythonSignature:
    """Write the signature over what the kernel takes: names in its order, with their types in Python.

    The original's parameters come in their order with their defaults; one that the kernel does not get must have its
    one value. What the original has no parameter for (weights, sizes) is given by name.
    """
    parameters = parameters_of(task)
    if not parameters or any(p.cpp_type for p in parameters):
        return PythonSignature(tuple(f"{n}: {kinds[n]}" for n in names), (), tuple(names))
    frozen = {p.name for p in frozen_parameters(task)}
    of_task = {p.task_name: p.name for p in parameters if p.task_name in names}
    plain = [_declared(p, kinds) for p in parameters if not p.is_keyword]
    named = [_declared(p, kinds) for p in parameters if p.is_keyword]
    named += [f"{n}: {kinds[n]}" for n in names if n not in of_task]
    guards = tuple(line for p in parameters if p.name in frozen for line in _guard(p))
    return PythonSignature((*plain, *(["*"] if named else []), *named), guards, tuple(of_task.get(n, n) for n in names))


def _declared(parameter: OriginalParameter, kinds: Mapping[str, str]) -> str:
    kind = kinds.get(parameter.task_name, "")
    default = parameter.default if "Tensor" not in kind or parameter.default == "None" else ""
    name = f"{parameter.name}: {kind}" if kind else parameter.name
    return f"{name}{' = ' if kind else '='}{default}" if default else name


def _guard(parameter: OriginalParameter) -> tuple[str, ...]:
    if not parameter.default:
        return ()
    other = "is not" if parameter.default in ("None", "True", "False") else "!="
    value = parameter.default
    return (
        f"if {parameter.name} {other} {value}:",
        f"    raise ValueError({f'{parameter.name} is frozen: this kernel was verified with {value} alone'!r})",
    )

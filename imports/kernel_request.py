"""The request of an import of a HIP file: its host half, matched with a reference of what it computes."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from imports.hosts.host_plan import HostPlan
from imports.hosts.values import DeviceBuffer
from imports.readers import Specs
from records.errors import UsageError
from tasks.expressions import names_in

AFFIXES = re.compile(r"^(h|host|d|dev|device|in|hst)_|_(h|host|d|dev|device)$|^(host|device|dev|gpu|h|d)(?=[A-Z])")


@dataclass(frozen=True)
class Matched:
    """All that the reference takes and gives, in the names of the task."""

    parameters: tuple[tuple[str, Any], ...]
    inputs: tuple[DeviceBuffer, ...]  # in the order of the reference's arguments
    updated: Mapping[DeviceBuffer, str]  # outputs whose first values the reference takes
    missing: tuple[str, ...]


def parameters_of(path: str, text: str, function: str) -> tuple[str, list[str]]:
    """Read the reference's name and those of its parameters; UsageError where there is no such function."""
    try:
        tree = ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"the reference {path} is not Python: {error}") from None
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")}
    if function and function not in functions:
        raise UsageError(f"the reference {path} has no function {function}; it has {', '.join(functions) or 'none'}")
    if not function and len(functions) != 1:
        raise UsageError(
            f"the reference {path} has {', '.join(functions) or 'no function'}: name one with --reference FILE:FUNCTION"
        )
    definition = functions[function] if function else next(iter(functions.values()))
    return definition.name, [a.arg for a in (*definition.args.posonlyargs, *definition.args.args)]


def matched(plan: HostPlan, names: Sequence[str]) -> Matched:
    """Match the parameters by their names; those that are left over by their order where there are as many of both.

    What a launcher is given may be written alone: where there are too many, what the kernels write is not counted.
    """
    by_name = {name: _of_that_name(plan, name) for name in names}
    matched_buffers = {b for b in by_name.values() if isinstance(b, DeviceBuffer)}
    open_names = [n for n in names if by_name[n] is None and _number(plan, n) is None]
    left = [b for b in plan.inputs if b not in matched_buffers]
    for buffers in (left, [b for b in left if b not in plan.outputs]):
        if buffers and len(open_names) == len(buffers):
            by_name |= dict(zip(open_names, buffers, strict=True))
            open_names = []
    parameters, inputs = list[tuple[str, Any]](), list[DeviceBuffer]()
    for name in names:
        buffer = by_name[name]
        if buffer is not None:
            parameters.append(("input", buffer.name))
            inputs.append(buffer)
        else:
            parameters.append(_number(plan, name) or ("number", None))
    missing = [f"what the reference's parameter {name} is" for name in open_names]
    return Matched(tuple(parameters), tuple(inputs), {b: b.name for b in plan.outputs if b in inputs}, tuple(missing))


def _number(plan: HostPlan, name: str) -> tuple[str, Any] | None:
    if name in plan.dims:
        return "size", name
    if name in plan.integers:
        return "number", plan.integers[name]
    return ("real", name) if name in plan.reals else None


def _of_that_name(plan: HostPlan, name: str) -> DeviceBuffer | None:
    plain_name = _plain(name)
    for buffer in plan.inputs:
        if plain_name in {_plain(buffer.name), _plain(buffer.host)}:
            return buffer
    return next((b for b in plan.inputs if plain_name in {_plain(a) for a in b.aliases}), None)


def _plain(name: str) -> str:
    return AFFIXES.sub("", name).lower()


def shapes_of(plan: HostPlan, matched: Matched, given_specs: Specs) -> tuple[Specs, list[str]]:
    """Type and shape of each input: as the user says, or the factors of its length; what has neither."""
    specs, missing = dict[str, tuple[str, list[str], str]](), list[str]()
    for buffer in matched.inputs:
        if buffer.name in given_specs:
            _, shape, limit = given_specs[buffer.name]
            if unknown := [n for text in (*shape, limit) for n in sorted(names_in(text)) if n not in plan.dims]:
                raise UsageError(
                    f"--input {buffer.name} names {unknown[0]}, which is no size that may change; these are "
                    f"{', '.join(plan.dims) or 'none'}"
                )
            specs[buffer.name] = (buffer.dtype, list(shape), limit)
        elif buffer.count is None:
            missing.append(f"the shape of {buffer.name} (--input {buffer.name}={buffer.dtype}[...])")
        else:
            specs[buffer.name] = (buffer.dtype, _factors(plan, buffer), "")
    return specs, missing


def _factors(plan: HostPlan, buffer: DeviceBuffer) -> list[str]:
    assert buffer.count is not None
    if re.fullmatch(r"\w+(?: \* \w+)*", buffer.count):
        axes = [plan.over_dims(atom) for atom in buffer.count.split(" * ")]
        if axes and all(a in plan.dims for a in axes):
            return axes
    return [plan.text(buffer.count)]


def request_of(plan: HostPlan, matched: Matched, specs: Specs, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Make the fields of a source of the kind `kernel`."""
    results = [
        [
            b.name if b not in matched.updated else f"new_{b.name}",
            b.dtype,
            plan.text(b.count) if b.count is not None else "",
            matched.updated.get(b, ""),
        ]
        for b in plan.outputs
    ]
    return {
        "specs": specs,
        "sizes": dict(sizes),
        "parameters": [list(p) for p in matched.parameters],
        "numbers": {name: plan.reals[name] for kind, name in matched.parameters if kind == "real"},
        "results": results,
        "multiples": dict(plan.multiples),
    }

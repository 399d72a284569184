"""The request of an import of a HIP file: its host half, matched with a reference of what it computes."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from imports.hosts.found_plan import HostPlan
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
    own = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")}
    if function and function not in own:
        raise UsageError(f"the reference {path} has no function {function}; it has {', '.join(own) or 'none'}")
    if not function and len(own) != 1:
        raise UsageError(
            f"the reference {path} has {', '.join(own) or 'no function'}: name one with --reference FILE:FUNCTION"
        )
    found = own[function] if function else next(iter(own.values()))
    return found.name, [a.arg for a in (*found.args.posonlyargs, *found.args.args)]


def matched(found: HostPlan, names: Sequence[str]) -> Matched:
    """Match the parameters by their names; those that are left over by their order where there are as many of both."""
    by_name = {name: _of_that_name(found, name) for name in names}
    taken = {b for b in by_name.values() if isinstance(b, DeviceBuffer)}
    open_names = [n for n in names if by_name[n] is None and _number(found, n) is None]
    left = [b for b in found.inputs if b not in taken]
    if left and len(open_names) == len(left):
        by_name |= dict(zip(open_names, left, strict=True))
        open_names = []
    parameters, inputs = list[tuple[str, Any]](), list[DeviceBuffer]()
    for name in names:
        buffer = by_name[name]
        if buffer is not None:
            parameters.append(("input", buffer.name))
            inputs.append(buffer)
        else:
            parameters.append(_number(found, name) or ("number", None))
    missing = [f"what the reference's parameter {name} is" for name in open_names]
    return Matched(tuple(parameters), tuple(inputs), {b: b.name for b in found.outputs if b in inputs}, tuple(missing))


def _number(found: HostPlan, name: str) -> tuple[str, Any] | None:
    if name in found.dims:
        return "size", name
    if name in found.wholes:
        return "number", found.wholes[name]
    return ("number", found.reals[name]) if name in found.reals else None


def _of_that_name(found: HostPlan, name: str) -> DeviceBuffer | None:
    wanted = _plain(name)
    for buffer in found.inputs:
        if wanted in {_plain(buffer.name), _plain(buffer.host)}:
            return buffer
    return next((b for b in found.inputs if wanted in {_plain(a) for a in b.aliases}), None)


def _plain(name: str) -> str:
    return AFFIXES.sub("", name).lower()


def shapes_of(found: HostPlan, matched: Matched, given: Specs) -> tuple[Specs, list[str]]:
    """Type and shape of each input: as the user says, or the factors of its length; what has neither."""
    specs, missing = dict[str, tuple[str, list[str], str]](), list[str]()
    for buffer in matched.inputs:
        if buffer.name in given:
            _, shape, limit = given[buffer.name]
            if unknown := [n for text in (*shape, limit) for n in sorted(names_in(text)) if n not in found.dims]:
                raise UsageError(
                    f"--input {buffer.name} names {unknown[0]}, which is no size that may change; these are "
                    f"{', '.join(found.dims) or 'none'}"
                )
            specs[buffer.name] = (buffer.dtype, list(shape), limit)
        elif buffer.count is None:
            missing.append(f"the shape of {buffer.name} (--input {buffer.name}={buffer.dtype}[...])")
        else:
            specs[buffer.name] = (buffer.dtype, _factors(found, buffer), "")
    return specs, missing


def _factors(found: HostPlan, buffer: DeviceBuffer) -> list[str]:
    assert buffer.count is not None
    terms = buffer.count.terms
    if len(terms) == 1 and terms[0][1] == 1 and all(re.fullmatch(r"\w+", a) for a in terms[0][0]):
        axes = [found.over_dims(atom) for atom in terms[0][0]]
        if axes and all(a in found.dims for a in axes):
            return axes
    return [found.text(buffer.count)]


def request_of(found: HostPlan, matched: Matched, specs: Specs, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Make the fields of a source of the kind `kernel`."""
    results = [
        [
            b.name if b not in matched.updated else f"new_{b.name}",
            b.dtype,
            found.text(b.count) if b.count is not None else "",
            matched.updated.get(b, ""),
        ]
        for b in found.outputs
    ]
    return {
        "specs": specs,
        "sizes": dict(sizes),
        "parameters": [list(p) for p in matched.parameters],
        "results": results,
        "multiples": dict(found.multiples),
    }

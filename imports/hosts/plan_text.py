"""A found plan in the words of a candidate's first comment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from imports.hosts.amounts import Amount
from imports.hosts.found_plan import HostPlan
from imports.hosts.types import Type
from imports.hosts.values import DeviceBuffer, HostStep, Pointer, Real, Value

MOST_IN_LINE = 100


def plan_text(plan: HostPlan, names: Mapping[DeviceBuffer, str], steps: Sequence[HostStep]) -> str:
    """Write the TOML of these steps; `names` are those of the task's tensors."""
    lines: list[str] = []
    for group in _groups(steps):
        lines += _table(plan, names, group)
    if spaces := [b for b in plan.workspaces if any(b in _buffers_of(s) for s in steps)]:
        lines += ["[workspace]"]
        for buffer in spaces:
            count = plan.text(buffer.count) if buffer.count is not None else "1"
            lines.append(f'{names[buffer]} = ["{buffer.dtype}", {json.dumps(count)}]')
    return "\n".join(lines).strip()


def _buffers_of(step: HostStep) -> list[DeviceBuffer]:
    return [*step.buffers, *(v.buffer for v, _ in step.arguments if isinstance(v, Pointer) and v.buffer)]


def _groups(steps: Sequence[HostStep]) -> list[list[HostStep]]:
    """Group the steps that stand beside each other in the same loop."""
    groups: list[list[HostStep]] = []
    for step in steps:
        if groups and step.loops and groups[-1][0].loops == step.loops:
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def _table(plan: HostPlan, names: Mapping[DeviceBuffer, str], group: list[HostStep]) -> list[str]:
    loops = [
        f"{name} in range({plan.text(start)}, {plan.text(stop)}, {plan.text(step)})"
        for name, start, stop, step in group[0].loops
    ]
    lines = ["[[launch]]"]
    if loops:
        lines.append(f"for = {json.dumps(loops[0] if len(loops) == 1 else loops)}")
    if len(group) == 1:
        return [*lines, *_body(plan, names, group[0]), ""]
    for step in group:
        lines += ["[[launch.body]]", *_body(plan, names, step)]
    return [*lines, ""]


def _body(plan: HostPlan, names: Mapping[DeviceBuffer, str], step: HostStep) -> list[str]:
    when = [f"when = {json.dumps(plan.over_dims(step.when))}"] if step.when else []
    if step.kind == "fill":
        return [*when, f"fill = {{{names[step.buffers[0]]} = {step.number}}}"]
    if step.kind == "copy":
        return [*when, f"copy = {{{names[step.buffers[0]]} = {json.dumps(names[step.buffers[1]])}}}"]
    assert step.lds is not None
    lines = [
        *when,
        f"kernel = {json.dumps(step.kernel)}",
        f"grid = {_list(plan, step.grid)}",
        f"block = {_list(plan, step.block)}",
    ]
    if step.lds.constant != 0:
        lines.append(f"lds = {json.dumps(plan.text(step.lds))}")
    texts = [json.dumps(_argument(plan, names, value, kind)) for value, kind in step.arguments]
    for start, count in reversed(step.structs):
        texts[start : start + count] = [f"[{', '.join(texts[start : start + count])}]"]
    return [*lines, f"args = [{', '.join(texts)}]"]


def _list(plan: HostPlan, amounts: Sequence[Amount]) -> str:
    return "[" + ", ".join(json.dumps(_plain(plan.text(a))) for a in amounts) + "]"


def _plain(text: str) -> str | int:
    return int(text) if text.isdigit() else text


def _argument(plan: HostPlan, names: Mapping[DeviceBuffer, str], value: Value, kind: Type) -> str | int | float:
    if isinstance(value, Pointer):
        if value.buffer is None:
            return "null"
        offset = plan.text(value.offset) if value.offset is not None else "0"
        return names[value.buffer] + (f" + ({offset})" if offset != "0" else "")
    if isinstance(value, Real):
        if kind.dtype == "f32" and value.value is not None and _is_number(value.text):
            return value.value
        return f"{value.text}:{kind.dtype}"
    assert isinstance(value, Amount)
    text = plan.text(value)
    return _plain(text) if kind.dtype == "i32" else f"{text}:{kind.dtype}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

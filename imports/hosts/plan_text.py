"""A found plan in the words of a candidate's first comment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from imports.hosts.host_plan import HostPlan
from imports.hosts.values import DeviceBuffer, HandedNumber, HostStep, Pointer, Value


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
    return [*step.buffers, *(b for b, _ in step.pointers)]


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
    if step.kind == "fill":
        return [f"fill = {{{names[step.buffers[0]]} = {step.number}}}"]
    if step.kind == "copy":
        return [f"copy = {{{names[step.buffers[0]]} = {json.dumps(names[step.buffers[1]])}}}"]
    if step.kind == "symbol":
        value = json.dumps(names[step.buffers[0]]) if step.buffers else _toml(_argument(plan, names, step.arguments[0]))
        return [f"symbol = {{{json.dumps(step.kernel) if ':' in step.kernel else step.kernel} = {value}}}"]
    lines = [
        f"kernel = {json.dumps(step.kernel)}",
        f"grid = {_list(plan, step.grid)}",
        f"block = {_list(plan, step.block)}",
    ]
    if step.lds != "0":
        lines.append(f"lds = {json.dumps(plan.text(step.lds))}")
    texts = [_toml(_argument(plan, names, value)) for value in step.arguments]
    for start, count in reversed(step.structs):
        texts[start : start + count] = [f"[{', '.join(texts[start : start + count])}]"]
    return [*lines, f"args = [{', '.join(texts)}]"]


def _toml(value: str | int | float) -> str:
    return json.dumps(value)


def _list(plan: HostPlan, texts: Sequence[str]) -> str:
    return "[" + ", ".join(json.dumps(_plain(plan.text(t))) for t in texts) + "]"


def _plain(text: str) -> str | int:
    return int(text) if text.isdigit() else text


def _argument(plan: HostPlan, names: Mapping[DeviceBuffer, str], value: Value) -> str | int | float:
    if isinstance(value, Pointer):
        text = _place(plan, names, value.buffer, value.offset)
        if value.other is None:
            return text
        return f"{text} if {value.loop} % 2 == 0 else {_place(plan, names, value.other, value.other_offset)}"
    assert isinstance(value, HandedNumber)
    if value.value is not None:
        return value.value if value.dtype == "f32" else f"{value.text}:{value.dtype}"
    text = plan.text(value.text)
    return _plain(text) if value.dtype == "i32" else f"{_bracketed(text)}:{value.dtype}"


def _bracketed(text: str) -> str:
    return f"({text})" if " " in text else text


def _place(plan: HostPlan, names: Mapping[DeviceBuffer, str], buffer: DeviceBuffer | None, offset: str) -> str:
    if buffer is None:
        return "null"
    text = plan.text(offset)
    return names[buffer] + (f" + ({text})" if text != "0" else "")

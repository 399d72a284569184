"""The seed of a task that was made of a HIP file: the file behind the plan of its own host half."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from imports.hosts.host_plan import HostPlan
from imports.hosts.plan_text import plan_text
from imports.hosts.values import DeviceBuffer, HostStep, Pointer, Value
from imports.kernel_request import Matched
from imports.names import free_name
from tasks.manifest import read_manifest


def seeds_of(plan: HostPlan, match: Matched, manifest: str, other_sizes: Mapping[str, str], text: str) -> Iterator[str]:
    """Candidates to try, the best first: repeated launches once, then as the host half has them.

    A host repeats launches to warm up and to measure; whether that is what it does, the reference says.
    """
    statement = read_manifest(Path("task.toml"), manifest).statement
    names = {b: t.name for b, t in zip(plan.outputs, statement.outputs, strict=True)}
    input_names = {t.name for t in statement.inputs}
    taken_names = {*input_names, *names.values(), *statement.tests[0].dims}
    steps, more = list(plan.steps), list[DeviceBuffer]()
    for buffer in plan.inputs:
        if buffer in match.updated:
            continue
        if buffer in names or _is_written(buffer, steps):  # kernels may not write what they are given
            if buffer.name in input_names:
                steps, names = _with_copy(buffer, steps, names, taken_names)
                more += [] if buffer in plan.outputs else [buffer]
        else:
            names[buffer] = buffer.name
    for buffer in plan.workspaces:
        names[buffer] = free_name(buffer.name, taken_names)
    dims = {n: v for n, v in plan.dims.items() if n in statement.tests[0].dims}
    full_plan = replace(plan, dims=dims, other_sizes=other_sizes, workspaces=(*plan.workspaces, *more))
    once = _once(steps)
    for chosen in [once, steps] if once != steps else [steps]:
        yield f"/*+++\n{plan_text(full_plan, names, chosen)}\n+++*/\n{text}"


def _is_written(buffer: DeviceBuffer, steps: list[HostStep]) -> bool:
    is_filled = any(s.buffers[:1] == (buffer,) for s in steps if s.kind != "symbol")
    return is_filled or any(b is buffer and not is_constant for s in steps for b, is_constant in s.pointers)


def _with_copy(
    buffer: DeviceBuffer, steps: list[HostStep], names: dict[DeviceBuffer, str], taken_names: set[str]
) -> tuple[list[HostStep], dict[DeviceBuffer, str]]:
    """Put a copy of what is given to where the kernels write before the steps; return these and the names."""
    source = DeviceBuffer(buffer.name, buffer.dtype, buffer.count)
    work_name = names.get(buffer) or free_name(f"{buffer.name}_work", taken_names)
    return [HostStep("copy", buffers=(buffer, source)), *steps], {**names, buffer: work_name, source: buffer.name}


def _once(steps: list[HostStep]) -> list[HostStep]:
    """Without launches that repeat others, whatever their blocks are, and without loops whose number nothing names."""
    keys, unique_steps = set[object](), list[HostStep]()
    for step in steps:
        loops = tuple(row for row in step.loops if re.search(rf"\b{row[0]}\b", _words(step)))
        key = (step.kind, step.kernel, _words(step), step.number)
        if key not in keys:
            keys.add(key)
            unique_steps.append(replace(step, loops=loops))
    return unique_steps


def _words(step: HostStep) -> str:
    buffers = [str(id(b)) for b in step.buffers]
    sizes = [*step.grid, *step.block, step.lds] if step.loops else []
    return " ".join([*buffers, *map(_text, step.arguments), *sizes])


def _text(value: Value) -> str:
    if isinstance(value, Pointer):
        return f"{id(value.buffer)} {value.offset} {value.loop} {id(value.other)} {value.other_offset}"
    return value.text

"""The launch plan that a host half stands for: sizes, tensors, workspaces and steps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from imports.hosts.amounts import Amount, number
from imports.hosts.host_file import Function, HostFile, read_host_file
from imports.hosts.memory import HostMemory, HostUnclear
from imports.hosts.runtime import HostRuntime
from imports.hosts.types import Type, type_of
from imports.hosts.values import DeviceBuffer, Frame, HostArray, HostStep, Pointer, Real, Value
from tasks.expressions import evaluate, names_in

MOST_DIMS = 6


@dataclass(frozen=True)
class HostPlan:
    """All that was found. Every expression is over `dims`."""

    dims: Mapping[str, int]  # sizes that may change, with the file's own values
    inputs: tuple[DeviceBuffer, ...]
    outputs: tuple[DeviceBuffer, ...]
    workspaces: tuple[DeviceBuffer, ...]
    steps: tuple[HostStep, ...]
    multiples: Mapping[str, int]
    reals: Mapping[str, float]  # floating-point numbers of the host by name
    integers: Mapping[str, int]  # names of whole numbers with their values
    decisions: tuple[str, ...]
    sizeless: tuple[str, ...]  # sizes whose values are not in the file
    shapeless: tuple[str, ...]  # buffers whose shapes are not
    fixed: Mapping[str, int]  # sizes that cannot change
    other_sizes: Mapping[str, str] = field(default_factory=dict)  # sizes that follow from the dims

    def text(self, amount: Amount) -> str:
        """Write an expression over the dims: the other names are numbers."""
        text = self.over_dims(amount.text)
        return text if names_in(text) else str(evaluate(text, {}))

    def over_dims(self, text: str) -> str:
        """Put numbers into the text for sizes that are no dims."""

        def meant(match: re.Match[str]) -> str:
            name = match[0]
            if name in self.other_sizes:
                return f"({self.other_sizes[name]})"
            return str(self.integers[name]) if name in self.integers and name not in self.dims else name

        return re.sub(r"[A-Za-z_]\w*", meant, text)


def entry_of(file: HostFile, entry_name: str) -> Function:
    """Find the function that launches: the one that is named, main, or the only one that no other calls."""
    if entry_name in file.functions:
        return file.functions[entry_name]
    if entry_name and entry_name not in file.kernels:
        names = ", ".join([*file.functions, *file.kernels][:12]) or "none"
        raise HostUnclear(f"it has no function or kernel {entry_name}; it has {names}")
    if "main" in file.functions:
        return file.functions["main"]
    launching = [f for f in file.functions.values() if {"<<<", "hipLaunchKernelGGL"} & {w.text for w in f.body}]
    callers = [f for f in file.functions.values() if {g.name for g in launching} & {w.text for w in f.body}]
    tops = callers or launching
    if not tops:
        raise HostUnclear("no function of it launches a kernel, so put a launch plan in front of it by hand")
    if len(tops) > 1:
        raise HostUnclear(f"{', '.join(f.name for f in tops)} launch kernels: name one with FILE:FUNCTION")
    return tops[0]


def found_plan(
    text: str, entry_name: str = "", sizes: Mapping[str, int] | None = None, outputs: Sequence[str] = ()
) -> HostPlan:
    """Find the plan of a file's host half; HostUnclear where there is none to be found."""
    file = read_host_file(text)
    if not file.kernels:
        raise HostUnclear("it has no kernel (__global__ function)")
    memory = HostMemory(sizes or {})
    host = HostRuntime(file, memory)
    entry = entry_of(file, entry_name)
    frame = Frame()
    _give_parameters(host, entry, frame)
    host.run_entry(entry, frame)
    kernel = entry_name if entry_name in file.kernels and entry_name not in file.functions else ""
    steps = [s for s in memory.steps if not kernel or s.kind != "launch" or s.kernel.split("<")[0].endswith(kernel)]
    if not any(s.kind == "launch" for s in steps):
        raise HostUnclear(f"{entry.name} launches {kernel or 'no kernel'}{' nowhere' if kernel else ''}")
    return _plan_of(memory, steps, frame, outputs, entry.name != "main")


def _give_parameters(host: HostRuntime, entry: Function, frame: Frame) -> None:
    """Parameters of a launcher: pointers are buffers of unknown length, whole numbers are sizes."""
    for parameter in entry.parameters:
        kind = type_of(parameter.words, host.file.types)
        frame.kinds[parameter.name] = kind
        if entry.name == "main":
            value: Value = host.memory.size(parameter.name, 1) if kind.is_whole else HostArray("", Type(""), None)
            frame.variables[parameter.name] = number(1) if kind.is_whole else value
        elif kind.stars and kind.dtype:
            buffer = host.memory.buffer(parameter.name, kind, None, 0)
            buffer.is_given, buffer.is_shared = True, True
            frame.variables[parameter.name] = Pointer(buffer, None, Type(kind.base, 1))
        elif kind.is_whole and kind.dtype != "bool":
            frame.variables[parameter.name] = host.memory.size(parameter.name, None)
        elif kind.is_real:
            frame.variables[parameter.name] = Real(parameter.name, None)
        for how, name in entry.template:
            if how in ("typename", "class") and name not in frame.types:
                frame.types[name] = Type("float")
            elif how not in ("typename", "class") and name not in frame.variables:
                frame.variables[name] = host.memory.size(name, None)


def _used(steps: Sequence[HostStep]) -> list[DeviceBuffer]:
    buffers: list[DeviceBuffer] = []
    for step in steps:
        pointed = [v.buffer for v, _ in step.arguments if isinstance(v, Pointer) and v.buffer is not None]
        buffers += [b for b in (*step.buffers, *pointed) if b not in buffers]
    return buffers


def _plan_of(
    memory: HostMemory, steps: list[HostStep], frame: Frame, output_names: Sequence[str], is_launcher: bool
) -> HostPlan:
    used = [b for b in _used(steps) if any(_launched_with(b, s) for s in steps)]
    written_buffers = _written_buffers(steps)
    outputs = [b for b in used if b in written_buffers and (b.name in output_names if output_names else b.is_taken)]
    if not outputs and not output_names:
        outputs = [b for b in used if b in written_buffers and b.is_shared]
    initial = _filled_first(steps)
    inputs = [b for b in used if (b.is_given or (b.is_shared and b not in written_buffers)) and b not in initial]
    workspaces = [b for b in used if b not in inputs and b not in outputs]
    steps = [s for s in steps if all(b in used for b in s.buffers)]
    tensors = [*inputs, *outputs]
    sizes = {n: v for n, v in memory.sizes.items()}
    frozen = set(memory.fixed) | {n for s in steps for e in s.block for n in e.names}
    frozen |= {n for s in steps if s.lds is not None for n in s.lds.names} - {
        n for b in tensors if b.count for n in b.count.names
    }
    dims = list(dict.fromkeys(n for b in tensors if b.count is not None for n in _in_order(b.count) if n not in frozen))
    if is_launcher:
        size_arguments = [n for n in sizes if n in frame.variables and n not in frozen and n not in dims]
        dims += [n for n in size_arguments if any(n in e.names for s in steps for e in _amounts(s))]
    named_sizes = dict.fromkeys((*dims, *sorted(frozen), *sorted(memory.needed)))
    integers = {n: v for n, v in sizes.items() if v is not None}
    reals = {n: v.value for n, v in frame.variables.items() if isinstance(v, Real) and v.value is not None}
    multiples = {n: v for n, v in memory.multiples.items() if n in dims}
    multiples |= {n: v for n, v in _floor_steps(steps, dims, integers).items() if n not in multiples}
    return HostPlan(
        {n: sizes[n] or 0 for n in dims},
        tuple(inputs),
        tuple(outputs),
        tuple(workspaces),
        tuple(steps),
        multiples,
        reals,
        integers,
        tuple(memory.decisions),
        tuple(n for n in named_sizes if sizes.get(n) is None),
        tuple(b.name for b in used if b.count is None),
        {n: v for n, v in integers.items() if n in frozen and any(b.count and n in b.count.names for b in tensors)},
    )


def _in_order(amount: Amount) -> list[str]:
    return [n for n in re.findall(r"[A-Za-z_]\w*", amount.text) if n in amount.names]


def _amounts(step: HostStep) -> list[Amount]:
    arguments = [v for v, _ in step.arguments if isinstance(v, Amount)]
    return [*step.grid, *step.block, *arguments]


def _launched_with(buffer: DeviceBuffer, step: HostStep) -> bool:
    return any(isinstance(v, Pointer) and v.buffer is buffer for v, _ in step.arguments)


def _written_buffers(steps: Sequence[HostStep]) -> set[DeviceBuffer]:
    by_launches = {
        v.buffer for s in steps for v, k in s.arguments if isinstance(v, Pointer) and v.buffer and not k.is_constant
    }
    return by_launches | {s.buffers[0] for s in steps if s.kind == "copy"}


def _filled_first(steps: Sequence[HostStep]) -> set[DeviceBuffer]:
    """Buffers that a step fills, or copies into, before any launch has them."""
    launched, filled = set[DeviceBuffer](), set[DeviceBuffer]()
    for step in steps:
        if step.kind in ("fill", "copy") and step.buffers[0] not in launched and not step.loops:
            filled.add(step.buffers[0])
        launched |= {v.buffer for v, _ in step.arguments if isinstance(v, Pointer) and v.buffer}
    return filled


def _floor_steps(steps: Sequence[HostStep], dims: Sequence[str], integers: Mapping[str, int]) -> dict[str, int]:
    """Find the multiples that a launch of `n // 16` of something serves; of a product it is the last factor."""
    multiples: dict[str, int] = {}
    for amount in (e for s in steps if s.kind == "launch" for e in _amounts(s)):
        for product, plain, by in re.findall(r"(?:\(([\w* ]+)\)|\b(\w+)) // (\w+)(?!\w| \+)", amount.text):
            name = (plain or product.split("*")[-1]).strip()
            value = int(by) if by.isdigit() else integers.get(by, 0) if by not in dims else 0
            if name in dims and value > 1:
                multiples[name] = max(value, multiples.get(name, 1))
    return multiples

"""Makes the plan of what was launched at several sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from imports.hosts.buffer_roles import KernelNames, mark_roles
from imports.hosts.folding import Course, Folded
from imports.hosts.host_plan import HostPlan
from imports.hosts.launch_fitting import LaunchFitting
from imports.hosts.memory import HostUnclear
from imports.hosts.plan_parts import (
    axes,
    bracketed,
    filled,
    filled_first,
    floor_steps,
    plain_name,
    product,
    summed,
    unpacked,
)
from imports.hosts.record import OF_HOST, BytePlace, HostCall, name_of
from imports.hosts.size_runs import SizedRun
from imports.hosts.types import BYTES, OF_LISTING, OF_TASKS, ParameterType
from imports.hosts.values import DeviceBuffer, HandedNumber, HostStep, Pointer, Value
from imports.names import free_name
from tasks.expressions import names_in


class PlanMaker:
    """Turns runs into a plan; the first run is the one with the file's own sizes."""

    def __init__(
        self,
        runs: Sequence[SizedRun],
        kernels: Mapping[str, KernelNames],
        symbols: Mapping[str, str],
        structs: Callable[[str], Sequence[ParameterType]],
    ) -> None:
        """`symbols` are the element types of device variables, `structs` gives the fields of a struct."""
        self._runs, self._kernels, self._symbols, self._structs = runs, kernels, symbols, structs
        base = runs[0]
        blocks = {n for e in base.trace.launches for n in e.block}
        threads = {int(np.prod(e.block)) for e in base.trace.launches}
        self._fitting = LaunchFitting([r.dims for r in runs], sorted(blocks | threads))
        self._taken = set(base.dims)
        self._columns = {b: [list(r.trace.blocks)[i] for r in runs] for i, b in enumerate(base.trace.blocks)}
        self._buffers = dict[int, DeviceBuffer]()
        self.reals = dict[str, float]()
        self._numbers = dict[str, int]()

    def plan(self, outputs: Sequence[str], multiples: Mapping[str, int]) -> HostPlan:
        """Make the plan; HostUnclear says what has no place in one."""
        base = self._runs[0]
        self._name_buffers()
        steps = list[HostStep]()
        for index, part in enumerate(base.parts):
            steps += self._steps(index, part)
        if not any(s.kind == "launch" for s in steps):
            raise HostUnclear("it launches no kernel")
        return self._plan_of(steps, outputs, multiples)

    def fit(self, values: Sequence[int], subject: str) -> str:
        """Write a whole number over the sizes."""
        text = self._fitting.integer(values)
        if text is None:
            raise HostUnclear(f"{subject} follows from its sizes in no simple way ({', '.join(map(str, values[:4]))})")
        return text

    # buffers

    def _name_buffers(self) -> None:
        """Give each buffer that kernels are handed its name, type and extent."""
        types = dict[int, str]()
        for event in self._runs[0].trace.launches:
            kernel = self._kernels[event.kernel]
            for handed, parameter, name in zip(event.arguments, kernel.parameters, kernel.names, strict=True):
                fields = self._structs(parameter.words) if not parameter.is_pointer else ()
                for index, part in enumerate(handed):
                    if isinstance(part.value, BytePlace) and part.value.buffer is not None:
                        pointed = parameter if parameter.is_pointer else fields[index] if index < len(fields) else None
                        number = part.value.buffer
                        types[number] = types.get(number) or (self._element(pointed) if pointed else "")
                        self._buffer(number, name).aliases.add(name)
        for number, buffer in self._buffers.items():
            kind = types.get(number, "")
            if not kind:
                raise HostUnclear(f"{buffer.name} holds what no tensor does")
            block = self._runs[0].trace.blocks[number]
            buffer.dtype = OF_TASKS.get(kind, kind)
            counts = [r.trace.blocks[self._columns[number][i]].size // BYTES[kind] for i, r in enumerate(self._runs)]
            buffer.count = None if block.kind == "launcher" else self.fit(counts, f"the extent of {buffer.name}")
            least, most = block.ranges.get({"f16": "f16", "bf16": "f16"}.get(buffer.dtype, buffer.dtype), (0.0, 0.0))
            buffer.least, buffer.most = least, most

    def _element(self, pointed: ParameterType) -> str:
        """Name the type of a buffer's elements; structs of numbers of one type are so many of these."""
        kinds = {f.dtype for f in self._structs(pointed.words) if not f.is_pointer} if not pointed.dtype else set()
        return pointed.dtype or (kinds.pop() if len(kinds) == 1 else "")

    def _buffer(self, number: int, parameter: str) -> DeviceBuffer:
        if number not in self._buffers:
            block = self._runs[0].trace.blocks[number]
            name = plain_name(name_of(block.words) or parameter) or "buffer"
            name = free_name(name, self._taken)
            self._taken.add(name)
            is_shared = block.kind in (*OF_HOST, "launcher")
            self._buffers[number] = DeviceBuffer(name, "", None, is_shared=is_shared, host=name_of(block.host))
        return self._buffers[number]

    # steps

    def _steps(self, index: int, part: Folded) -> list[HostStep]:
        parts = [r.parts[index] for r in self._runs]
        loops: tuple[tuple[str, str, str, str], ...] = ()
        if part.turns > 1:
            name = free_name("turn", self._taken)
            turns = (
                str(part.turns) if part.is_plain else self.fit([p.turns for p in parts], "the number of its launches")
            )
            loops = ((name, "0", turns, "1"),)
        steps = list[HostStep]()
        for position in range(len(part.steps)):
            courses = [p.steps[position].courses for p in parts]
            events = [p.steps[position].event for p in parts]
            new_step = self._step(events, courses, loops[0][0] if loops else "")
            steps += [replace(new_step, loops=loops)] if new_step is not None else []
        return steps

    def _step(self, events: Sequence[HostCall], courses: Sequence[Sequence[Course]], loop: str) -> HostStep | None:
        event = events[0]
        if event.kind == "launch":
            return self._launch(event, courses, loop)
        position, source = courses[0][0].first, courses[0][1].first
        assert isinstance(position, BytePlace) and isinstance(source, BytePlace)
        target = self._buffers.get(-1 if position.buffer is None else position.buffer)
        if event.kind == "fill":
            return HostStep("fill", buffers=(target,), number=filled(event, target)) if target else None
        if event.kind == "copy":
            origin = self._buffers.get(-1 if source.buffer is None else source.buffer)
            return HostStep("copy", buffers=(target, origin)) if target and origin and target is not origin else None
        return self._symbol(events)

    def _symbol(self, events: Sequence[HostCall]) -> HostStep | None:
        event = events[0]
        dtype = self._symbols.get(event.kernel, "")
        if not dtype:
            raise HostUnclear(f"the device variable {event.kernel} holds what no tensor does")
        name = free_name(event.kernel, self._taken)
        counts = [e.size // BYTES[dtype] for e in events]
        if counts == [1] * len(counts):
            numbers = [unpacked(e.data, dtype) for e in events]
            value = self._number(numbers, dtype, event.kernel)
            return HostStep("symbol", event.kernel, arguments=(value,), constant=(True,))
        self._taken.add(name)
        buffer = DeviceBuffer(
            name, OF_TASKS.get(dtype, dtype), self.fit(counts, f"the extent of {name}"), is_given=True
        )
        buffer.host = event.kernel
        self._buffers[-2 - len(self._buffers)] = buffer
        return HostStep("symbol", event.kernel, buffers=(buffer,))

    def _launch(self, event: HostCall, courses: Sequence[Sequence[Course]], loop: str) -> HostStep:
        kernel = self._kernels[event.kernel]
        arguments, constant, structs, cursor = list[Value](), list[bool](), list[tuple[int, int]](), 7
        for handed, parameter, name in zip(event.arguments, kernel.parameters, kernel.names, strict=True):
            fields = self._structs(parameter.words) if len(handed) != 1 or not parameter.dtype else ()
            if len(handed) != 1 or (fields and not parameter.is_pointer):
                structs.append((len(arguments), len(handed)))
            for index, part in enumerate(handed):
                kind = fields[index] if index < len(fields) and not parameter.is_pointer else parameter
                column = [c[cursor] for c in courses]
                arguments.append(self._argument(column, part.type, kind, name, loop))
                constant.append(kind.is_constant)
                cursor += 1
        texts = [self._course([c[i] for c in courses], loop, f"the launch of {kernel.type.name}") for i in range(7)]
        grid, block = axes(texts[:3]), axes(texts[3:6])
        return HostStep(
            "launch", kernel.type.name, grid, block, texts[6], tuple(arguments), tuple(constant), structs=tuple(structs)
        )

    def _argument(self, column: Sequence[Course], listed: str, kind: ParameterType, name: str, loop: str) -> Value:
        first = column[0].first
        if isinstance(first, BytePlace):
            return self._pointer(column, kind, loop)
        dtype = kind.dtype if kind.dtype and not kind.is_pointer else OF_LISTING.get(listed, "")
        if listed == "i32" and dtype.startswith(("i", "u")) and BYTES.get(dtype, 4) != 4:
            dtype = "i32"
        if not dtype:
            raise HostUnclear(f"the parameter {name} has a type that no launch plan has")
        if isinstance(first, float):
            if column[0].form != "same":
                raise HostUnclear(f"the number {name} changes from launch to launch")
            return self._number([c.first for c in column if isinstance(c.first, float)], dtype, name)
        self._numbers.setdefault(name, first)
        return HandedNumber(self._course(column, loop, f"the argument {name}"), dtype)

    def _number(self, values: Sequence[float | int], dtype: str, name: str) -> HandedNumber:
        if isinstance(values[0], int):
            return HandedNumber(self.fit([int(v) for v in values], f"the number {name}"), dtype)
        if len({repr(v) for v in values}) == 1:
            value = float(str(np.float32(values[0]))) if dtype != "f64" else float(values[0])
            if not np.isfinite(value):
                raise HostUnclear(f"the number {name} is {value}")
            self.reals.setdefault(name, value)
            return HandedNumber(repr(value), dtype, value)
        text = self._fitting.real([float(v) for v in values])
        if text is None:
            raise HostUnclear(f"the number {name} follows from its sizes in no simple way")
        return HandedNumber(str(text), dtype)

    def _pointer(self, column: Sequence[Course], kind: ParameterType, loop: str) -> Pointer:
        course = column[0]
        assert isinstance(course.first, BytePlace)
        buffer = self._buffers.get(-1 if course.first.buffer is None else course.first.buffer)
        if buffer is None:
            return Pointer(None)
        size = BYTES[buffer.dtype] if not kind.dtype else BYTES[kind.dtype]
        size = BYTES[buffer.dtype] if size != BYTES[buffer.dtype] else size
        offsets = [c.first.offset for c in column if isinstance(c.first, BytePlace)]
        if any(o % size for o in offsets):
            raise HostUnclear(f"{buffer.name} is handed over from within an element")
        offset = self.fit([o // size for o in offsets], f"a place in {buffer.name}")
        if course.form == "turns" and isinstance(course.step, BytePlace):
            other = self._buffers.get(-1 if course.step.buffer is None else course.step.buffer)
            other_offsets = [c.step.offset // size for c in column if isinstance(c.step, BytePlace)]
            return Pointer(buffer, offset, loop, other, self.fit(other_offsets, f"a place in {buffer.name}"))
        if course.form == "line":
            steps = [int(c.step) for c in column if isinstance(c.step, int)]
            step = self.fit([s // size for s in steps], f"a step in {buffer.name}")
            return Pointer(buffer, summed(offset, product(loop, step)))
        return Pointer(buffer, offset)

    def _course(self, column: Sequence[Course], loop: str, subject: str) -> str:
        firsts = [c.first for c in column if isinstance(c.first, int)]
        first, form = self.fit(firsts, subject), column[0].form
        if form == "line":
            steps = [c.step for c in column if isinstance(c.step, int)]
            return summed(first, product(loop, self.fit(steps, subject)))
        if form in ("shift", "unshift"):
            return f"{bracketed(first)} {'<<' if form == 'shift' else '>>'} {loop}"
        if form == "turns":
            other = self.fit([c.step for c in column if isinstance(c.step, int)], subject)
            return f"({first} if {loop} % 2 == 0 else {other})"
        return first

    # roles

    def _plan_of(self, steps: list[HostStep], output_names: Sequence[str], multiples: Mapping[str, int]) -> HostPlan:
        base = self._runs[0]
        mark_roles(base.trace, self._buffers, self._kernels)
        handed = list(dict.fromkeys(b for s in steps for b, _ in s.pointers))
        handed += [b for s in steps if s.kind == "symbol" for b in s.buffers]
        overwritten = {b for s in steps for b, constant in s.pointers if not constant}
        outputs = [b for b in handed if b in overwritten and (b.name in output_names if output_names else b.is_taken)]
        if not outputs and not output_names:
            outputs = [b for b in handed if b in overwritten and b.is_shared]
        if not outputs and not output_names:
            outputs = [b for b in handed if b in overwritten and not b.is_given] or [
                b for b in handed if b in overwritten
            ]
        if not outputs and not output_names:
            raise HostUnclear("no kernel that it launches writes memory that the host half names")
        initial = filled_first(steps)
        read_first = [b for b in handed if b.is_given or b not in overwritten or (b.is_shared and b not in overwritten)]
        inputs = [b for b in read_first if b not in initial]
        workspaces = [b for b in handed if b not in inputs and b not in outputs]
        steps = [s for s in steps if all(b in handed for b in s.buffers)]
        launcher_sizes = tuple(b.name for b in handed if b.count is None)
        in_shapes = {n for b in (*inputs, *outputs) for n in names_in(b.count or "0")}
        if any(b.count is None for b in handed):  # a launcher says no extents: its own sizes are the dims
            in_shapes |= set(base.dims)
        dims = {n: v for n, v in base.dims.items() if n in in_shapes}
        return HostPlan(
            dims,
            tuple(inputs),
            tuple(outputs),
            tuple(workspaces),
            tuple(steps),
            {**floor_steps(steps, list(dims)), **multiples},
            self.reals,
            {**self._numbers, **base.dims},
            (),
            (),
            launcher_sizes,
            {},
        )

"""The launches of a plan in C++: loops and conditions around them, and one call of the run-time library each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from exports.argument_text import ArgumentText
from exports.arithmetic import in_cpp
from records.errors import UsageError
from sandbox.candidate.instances import STEP_BYTES, STEP_ITEMS, step_kernels
from sandbox.candidate.parse import RESERVED
from sandbox.candidate.plan import CONTENTS, COPY, FILL, Launch
from sandbox.candidate.resolve import MOST_BLOCKS, fill_word

_VARIABLES = "plan_variables"
FITS = """\
namespace plan {
inline bool fits(const long long (&grid)[3], const long long (&block)[3], long long lds) {
    for (int axis = 0; axis < 3; ++axis) {
        if (grid[axis] < 1 || grid[axis] > 2147483647ll || block[axis] < 1 || block[axis] > 1024) return false;
    }
    return lds >= 0 && lds <= 1 << 20;
}
}  // namespace plan
"""


@dataclass(frozen=True)
class LaunchText:
    """One kernel file's launches; `kernels` has the C++ name of each, `bytes_of` the size of each buffer."""

    text: ArgumentText
    kernels: Mapping[str, str]
    types: Mapping[str, str]  # element type of each buffer
    bytes_of: Mapping[str, str]

    def rows(self, launches: Sequence[Launch], depth: int = 0) -> Iterator[str]:
        """Write the statements, indented from nothing."""
        for number, group in groupby(launches, lambda x: x.loops[depth].number if len(x.loops) > depth else 0):
            body = list(group)
            if number:
                yield from self._loop(body, depth)
            else:
                for launch in body:
                    condition = f"if ({in_cpp(launch.when, self.text.names)}) " if launch.when else ""
                    yield f"{condition}{{"
                    yield from (f"    {line}" for line in self._launch(launch))
                    yield "}"

    def _loop(self, body: Sequence[Launch], depth: int) -> Iterator[str]:
        loop, names = body[0].loops[depth], self.text.names
        if loop.name in RESERVED or loop.name.endswith("_"):
            raise UsageError(f"the loop's name {loop.name!r} cannot be a name in an export; rename it in the plan")
        start, stop, step = (in_cpp(text, names) for text in (loop.start, loop.stop, loop.step))
        inside = replace(self, text=replace(self.text, names={**names, loop.name: loop.name}))
        condition = f"plan::is_before({loop.name}, {stop}, {step})"
        yield f"for (long long {loop.name} = {start}; {condition}; {loop.name} += {step}) {{"
        yield from (f"    {line}" for line in inside.rows(body, depth + 1))
        yield "}"

    def _launch(self, launch: Launch) -> Iterator[str]:
        if launch.is_step:
            yield from self._step(launch)
            return
        if launch.kernel.startswith(f"{CONTENTS}<"):
            yield from self._contents(launch)
            return
        names = self.text.names
        grid, block = (", ".join(_three(texts, names)) for texts in (launch.grid, launch.block))
        declared = [
            line
            for index, argument in enumerate(launch.args)
            for line in self.text.declared(f"argument{index}_", argument)
        ]
        yield f"const long long grid_[3] = {{{grid}}};"
        yield f"const long long block_[3] = {{{block}}};"
        yield f"const long long lds_ = {in_cpp(launch.lds, names)};"
        yield from declared
        yield from _call(self.kernels[launch.kernel], len(launch.args), "_TOGETHER" if launch.cooperative else "")

    def _contents(self, launch: Launch) -> Iterator[str]:
        """Write the launch that gives a device's variable a buffer's contents from a place on, as far as both reach."""
        source = str(launch.args[0])
        yield f"const void* argument0_ = {self.text.pointer(source)};"
        yield f"long long argument1_ = {self.text.bytes_behind(source, self.bytes_of)};"
        yield "if (argument1_ < 0) return KERNEL_BAD_VALUE;"
        blocks = f"plan::most(1, plan::ceil_div(argument1_, {STEP_BYTES * STEP_ITEMS}ll))"
        yield f"const long long grid_[3] = {{plan::least({MOST_BLOCKS}, {blocks}), 1, 1}};"
        yield f"const long long block_[3] = {{{STEP_ITEMS}, 1, 1}};"
        yield "const long long lds_ = 0;"
        yield from _call(self.kernels[launch.kernel], 2)

    def _step(self, launch: Launch) -> Iterator[str]:
        destination, source = (str(argument) for argument in launch.args[:2])
        size = self.bytes_of[destination]
        yield f"long long argument2_ = {size};"
        yield f"const long long grid_[3] = {{plan::ceil_div(argument2_, {STEP_BYTES * STEP_ITEMS}ll), 1, 1}};"
        yield f"const long long block_[3] = {{{STEP_ITEMS}, 1, 1}};"
        yield "const long long lds_ = 0;"
        yield f"const void* argument0_ = {destination};"
        if launch.kernel == COPY:
            yield f"if ({self.bytes_of[source]} != argument2_) return KERNEL_BAD_VALUE;"
            yield f"const void* argument1_ = {source};"
        else:
            yield f"unsigned long long argument1_ = {fill_word(source, self.types[destination]) & (1 << 64) - 1}ull;"
        yield from _call({COPY: "plan::copy", FILL: "plan::fill"}[launch.kernel], 3)


def variable_text(launches: Sequence[Launch]) -> str:
    """Write the kernels that write variables of the device, as far as they are used; they stand before its code."""
    text = step_kernels([x for x in launches if x.writes_variable]).replace("ks_", "")
    return (
        f"namespace {{\nnamespace {_VARIABLES} {{\n{text}}}  // namespace {_VARIABLES}\n}}  // namespace\n"
        if text
        else ""
    )


def variable_kernel(name: str) -> str:
    """Return the name that such a kernel has here."""
    return f"::{_VARIABLES}::{name.removeprefix('ks_')}"


def step_text(launches: Sequence[Launch]) -> str:
    """Write the kernels of fills and copies, as far as they are used."""
    text = (
        step_kernels([x for x in launches if x.is_step])
        .replace('extern "C" ', "")
        .replace(FILL, "fill")
        .replace(COPY, "copy")
    )
    return f"namespace {{\nnamespace plan {{\n{text}}}  // namespace plan\n}}  // namespace\n" if text else ""


def _call(kernel: str, count: int, how: str = "") -> Iterator[str]:
    yield "if (!plan::fits(grid_, block_, lds_)) return KERNEL_BAD_VALUE;"
    yield f"void* arguments_[] = {{{', '.join(f'&argument{index}_' for index in range(count))}}};"
    yield f"const void* kernel_ = reinterpret_cast<const void*>({kernel});"
    yield "KERNEL_STATUS status_ = lds_ > 48 * 1024 ? KERNEL_ALLOW(kernel_, static_cast<int>(lds_)) : KERNEL_OK;"
    yield "if (status_ != KERNEL_OK) return status_;"
    yield f"status_ = KERNEL_LAUNCH{how}(kernel_, dim3(grid_[0], grid_[1], grid_[2]),"
    yield "                        dim3(block_[0], block_[1], block_[2]), arguments_, lds_, stream_);"
    yield "if (status_ != KERNEL_OK) return status_;"


def _three(texts: Sequence[str], names: Mapping[str, str]) -> list[str]:
    return ([in_cpp(text, names) for text in texts] + ["1", "1"])[:3]

"""What a launch plan is made of: buffers, places in them, numbers as expressions of the sizes, and steps."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(eq=False)
class DeviceBuffer:
    """Memory of the GPU, with what happens to it."""

    name: str
    dtype: str
    count: str | None  # elements, as an expression; None: to be asked for
    is_given: bool = False  # the host puts values into it before a launch reads it
    is_taken: bool = False  # the host reads it after a launch
    is_written: bool = False  # a kernel may write it
    is_shared: bool = False  # the host has it, too
    aliases: set[str] = field(default_factory=set)  # names of parameters of kernels that it is handed over as
    host: str = ""  # the name of the host's own array that its values come from
    least: float = 0.0  # of its values
    most: float = 0.0


@dataclass(frozen=True)
class Pointer:
    """A place in a buffer, in elements; the null pointer without one. In odd turns of a loop it may be another."""

    buffer: DeviceBuffer | None
    offset: str = "0"
    loop: str = ""
    other: DeviceBuffer | None = None  # in odd turns
    other_offset: str = "0"


@dataclass(frozen=True)
class HandedNumber:
    """A number that a kernel takes: a text in the plan's language, with its type; `value` of a real one that stays."""

    text: str
    dtype: str
    value: float | None = None


Value = Pointer | HandedNumber


@dataclass(frozen=True)
class HostStep:
    """A launch, a fill, a copy or the value of a device variable, with the loops around it."""

    kind: str  # launch, fill, copy, symbol
    kernel: str = ""  # of a symbol: its name
    grid: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    lds: str = "0"
    arguments: tuple[Value, ...] = ()
    constant: tuple[bool, ...] = ()  # of the arguments: pointers that the kernel may not write through
    buffers: tuple[DeviceBuffer, ...] = ()  # of a fill: one; of a copy: to, from; of a symbol: from
    number: int | float = 0  # that fills
    loops: tuple[tuple[str, str, str, str], ...] = ()  # name, start, stop, step
    structs: tuple[tuple[int, int], ...] = ()  # of the arguments: where one begins, and how many are its fields

    @property
    def pointers(self) -> list[tuple[DeviceBuffer, bool]]:
        """The buffers that a launch hands over, and whether it may not write them."""
        rows = list[tuple[DeviceBuffer, bool]]()
        for value, constant in zip(self.arguments, self.constant, strict=True):
            if isinstance(value, Pointer):
                rows += [(b, constant) for b in (value.buffer, value.other) if b is not None]
        return rows

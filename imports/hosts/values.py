"""Values that the names of a host half stand for while it is read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from imports.hosts.amounts import Amount
from imports.hosts.types import Type


@dataclass(frozen=True)
class Real:
    """A floating-point number: a text in the plan's language; None where its value is not known."""

    text: str
    value: float | None


@dataclass(eq=False)
class DeviceBuffer:
    """Memory of the GPU, with what happens to it."""

    name: str
    dtype: str
    count: Amount | None  # elements; None: to be asked for
    line: int
    is_given: bool = False  # the host puts values into it before a launch reads it
    is_taken: bool = False  # the host reads it after a launch
    is_written: bool = False  # a kernel may write it
    is_shared: bool = False  # the host has it, too
    aliases: set[str] = field(default_factory=set)  # names of parameters of kernels that it is given as
    host: str = ""  # the name of the host's own array that its values come from


@dataclass(frozen=True)
class Pointer:
    """A place in a buffer; the null pointer without one."""

    buffer: DeviceBuffer | None
    offset: Amount | None
    type: Type


@dataclass(frozen=True)
class Extents:
    """A `dim3`."""

    x: Amount
    y: Amount
    z: Amount


@dataclass(eq=False)
class HostArray:
    """An array of the host's."""

    name: str
    type: Type
    count: Amount | None
    items: list[Value] = field(default_factory=list)  # where a list of values gives them


@dataclass(frozen=True)
class Address:
    """`&name`, of a variable of a frame."""

    name: str
    frame: Frame


@dataclass(frozen=True)
class Record:
    """A struct of plain fields, by their names."""

    name: str
    fields: tuple[tuple[str, Value], ...]

    def field(self, name: str) -> Value:
        """Return the value of a field."""
        return dict(self.fields).get(name, Nothing())

    def with_field(self, name: str, value: Value) -> Record:
        """Return the same record with another value of one field."""
        return replace(self, fields=tuple((n, value if n == name else v) for n, v in self.fields))


@dataclass(frozen=True)
class Title:
    """A name that is no variable: a kernel, a function, an enumerator."""

    text: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Nothing:
    """A value that is not known."""


Value = Amount | Real | Pointer | Extents | HostArray | Address | Record | Title | Nothing


@dataclass(eq=False)
class Frame:
    """The variables of one call, the types that its template's parameters stand for."""

    variables: dict[str, Value] = field(default_factory=dict)
    kinds: dict[str, Type] = field(default_factory=dict)  # of variables
    types: dict[str, Type] = field(default_factory=dict)
    aliases: dict[str, Address] = field(default_factory=dict)  # references

    def holder(self, name: str) -> tuple[Frame, str]:
        """Find the frame and the name of the variable that a name means here."""
        alias = self.aliases.get(name)
        return alias.frame.holder(alias.name) if alias else (self, name)


@dataclass(frozen=True)
class HostStep:
    """A launch, a fill or a copy, with the loops around it."""

    kind: str  # launch, fill, copy
    line: int
    kernel: str = ""
    grid: tuple[Amount, ...] = ()
    block: tuple[Amount, ...] = ()
    lds: Amount | None = None
    arguments: tuple[tuple[Value, Type], ...] = ()  # with the types of the kernel's parameters
    buffers: tuple[DeviceBuffer, ...] = ()  # of a fill: one; of a copy: to, from
    number: int | float = 0  # that fills
    loops: tuple[tuple[str, Amount, Amount, Amount], ...] = ()  # name, start, stop, step
    when: str = ""  # a condition
    structs: tuple[tuple[int, int], ...] = ()  # of the arguments: where one begins, and how many are its fields


def address_of(name: str, frame: Frame) -> Address:
    """Return the address of the variable that a name means in a frame."""
    holder, variable = frame.holder(name)
    return Address(variable, holder)

"""Variables of a host half, the calls that are open, and the state to which a walk can go back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from imports.hosts.amounts import Amount
from imports.hosts.expression_reader import ExpressionReader
from imports.hosts.host_arithmetic import NOTHING
from imports.hosts.host_expressions import HostExpressions
from imports.hosts.host_file import Function, HostFile
from imports.hosts.host_syntax import Braces, DeclaredVariable, Literal, Name, Node, Statement
from imports.hosts.memory import HostMemory
from imports.hosts.scanning import element_of
from imports.hosts.types import Type, type_of
from imports.hosts.values import DeviceBuffer, Frame, HostArray, Nothing, Pointer, Title, Value, address_of
from imports.hosts.words import words_of
from sandbox.candidate.pp_tokens import scan

MOST_CALLS = 24
State = list[tuple[Frame, dict[str, Value]]]


class HostVariables(HostExpressions):
    """Declares variables and calls functions; statements are for those that know them."""

    _result: Value = NOTHING

    def __init__(self, file: HostFile, memory: HostMemory) -> None:
        super().__init__(file, memory)
        self._frames: list[Frame] = []  # of the calls that are open

    def run(self, statements: Sequence[Statement], frame: Frame) -> str:
        """All of them; the word that left them, "" at their end."""
        raise NotImplementedError

    def state(self) -> list[tuple[Frame, dict[str, Value]]]:
        """Return the values of all variables now."""
        return [(frame, dict(frame.variables)) for frame in (self.globals, *self._frames)]

    def back(self, state: list[tuple[Frame, dict[str, Value]]], steps: int, decided: int) -> None:
        """Undo what was done since."""
        for frame, variables in state:
            frame.variables.clear()
            frame.variables.update(variables)
        del self.memory.steps[steps:], self.memory.decisions[decided:]

    def declare(self, declared: object, frame: Frame) -> None:
        """Give a variable its value; a whole number that the file writes down becomes a size with that name."""
        assert isinstance(declared, DeclaredVariable)
        kind = type_of(declared.type.split(), {**self.file.types, **frame.types})
        name = declared.name
        frame.aliases.pop(name, None)
        if kind.is_reference and isinstance(declared.value, Name):
            frame.aliases[name] = address_of(declared.value.text, frame)
            return
        frame.kinds[name] = kind
        items = [self.value(i, frame) for i in declared.value.items] if isinstance(declared.value, Braces) else []
        if declared.extent:
            frame.variables[name] = self._array(declared, kind, items, frame)
        elif (inner := element_of(declared.type)) is not None:
            count = items[0] if items and isinstance(items[0], Amount) else None
            element = self.kind(inner, frame)
            if declared.value is not None and not isinstance(declared.value, Braces):
                value = self.value(declared.value, frame)
                frame.variables[name] = value if isinstance(value, HostArray) else HostArray(name, element, None)
            elif items and isinstance(items[0], HostArray):
                frame.variables[name] = HostArray(name, element, items[0].count)
            else:
                frame.variables[name] = HostArray(name, element, count)
        elif isinstance(declared.value, Braces):
            frame.variables[name] = (
                self._named(name, kind, self.constructed(kind, items)) if items else self._empty(kind)
            )
        elif declared.value is not None:
            value = self.value(declared.value, frame)
            frame.variables[name] = self._named(name, kind, self.cast(kind if kind.base != "auto" else None, value))
        else:
            frame.variables[name] = self._empty(kind)

    def _empty(self, kind: Type) -> Value:
        return self.constructed(kind, []) if kind.base == "dim3" or kind.base in self.file.layouts else NOTHING

    def _array(self, declared: DeclaredVariable, kind: Type, items: list[Value], frame: Frame) -> HostArray:
        count: Amount | None = None
        for extent in declared.extent:
            length = self.value(extent, frame) if extent is not None else self.value(Literal(len(items)), frame)
            if not isinstance(length, Amount):
                count = None
                break
            count = length if count is None else cast(Amount, self.combined("*", count, length))
        return HostArray(declared.name, kind, count, items)

    def _named(self, name: str, kind: Type, value: Value) -> Value:
        """Name a number that the file writes down by its variable; one that is not known is to be asked for."""
        if isinstance(value, HostArray):
            return value if value.name == name else HostArray(name, value.type, value.count, value.items)
        is_whole = kind.is_whole or kind.base == "auto"
        if isinstance(value, Amount) and value.constant is not None and is_whole:
            return self.memory.size(name, value.constant)
        if isinstance(value, (Nothing, Title)) and kind.is_whole:
            return self.memory.size(name, None)
        return value

    def inside(
        self, function: Function, arguments: Sequence[Node], values: Sequence[Value], frame: Frame, targs: Sequence[str]
    ) -> Value:
        """Compute the value of a host function's call."""
        if len(self._frames) >= MOST_CALLS:
            return NOTHING
        callee = Frame()
        for (how, name), text in zip(function.template, targs, strict=False):
            self._bind(callee, how, name, text, frame)
        for parameter, node, value in zip(function.parameters, arguments, values, strict=False):
            kind = type_of(parameter.words, {**self.file.types, **callee.types})
            names = [n for k, n in function.template if k in ("typename", "class")]
            if kind.base in names and isinstance(value, (Pointer, HostArray)) and value.type.base:
                callee.types[kind.base] = Type(value.type.base)
            callee.kinds[parameter.name] = kind = type_of(parameter.words, {**self.file.types, **callee.types})
            if kind.is_reference and not kind.is_constant and isinstance(node, Name):
                callee.aliases[parameter.name] = address_of(node.text, frame)
            else:
                callee.variables[parameter.name] = self.cast(kind if kind.dtype else None, value)
        self._frames.append(callee)
        self._result = NOTHING
        self.run(self.file.statements(function), callee)
        self._frames.pop()
        result, self._result = self._result, NOTHING
        return result

    def _bind(self, callee: Frame, kind: str, name: str, text: str, frame: Frame) -> None:
        if kind in ("typename", "class"):
            callee.types[name] = self.kind(text, frame)
        else:
            try:
                callee.variables[name] = self.value(
                    ExpressionReader(words_of(scan(text)), self.file.macros).expression(), frame
                )
            except ValueError:
                callee.variables[name] = NOTHING


def is_same(state: Sequence[tuple[Frame, dict[str, Value]]]) -> bool:
    """Tell whether no variable of these has changed."""
    return all(
        f.variables.get(n) is v or f.variables.get(n) == v for f, variables in state for n, v in variables.items()
    )


def exchanged(state: Sequence[tuple[Frame, dict[str, Value]]]) -> list[tuple[DeviceBuffer, DeviceBuffer]]:
    """List the buffers that variables have in place of others: what they had, and what they have."""
    exchanges = []
    for frame, variables in state:
        for name, value in variables.items():
            now = frame.variables.get(name)
            if not (isinstance(value, Pointer) and isinstance(now, Pointer) and value.buffer and now.buffer):
                continue
            if value.buffer is not now.buffer and (value.buffer, now.buffer) not in exchanges:
                exchanges.append((value.buffer, now.buffer))
    return exchanges

"""The arguments of a launch in C++: a variable each, from the plan's names and expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from exports.arithmetic import in_cpp, real_in_cpp
from exports.signature import ELEMENT_TYPES
from records.errors import UsageError
from sandbox.candidate.arguments import REAL_TYPES, UNSIGNED, is_real, parsed, split_type
from sandbox.candidate.plan import Argument
from tasks.task import ScalarSpec

_TYPES = {**ELEMENT_TYPES, "u16": "unsigned short", "u32": "unsigned int", "u64": "unsigned long long"}


@dataclass(frozen=True)
class ArgumentText:
    """All that an argument may name, in C++."""

    names: Mapping[str, str]  # dims, tunables, loops
    scalars: Mapping[str, ScalarSpec]
    buffers: Mapping[str, int]  # bytes of an element
    handed: frozenset[str] = frozenset()  # scalars that are parameters of the launcher

    def declared(self, variable: str, argument: Argument) -> Iterator[str]:
        """Write the lines that declare the variable; UsageError for a type that an export cannot pass."""
        if isinstance(argument, tuple):
            yield f"struct {{ {self._fields(argument)} }} {variable} = {self._values(argument)};"
            return
        checks, kind, value = self._typed(argument)
        yield from checks
        yield f"{kind} {variable} = {value};"

    def _fields(self, parts: tuple[Argument, ...]) -> str:
        fields = []
        for number, part in enumerate(parts):
            kind = f"struct {{ {self._fields(part)} }}" if isinstance(part, tuple) else self._typed(part)[1]
            fields.append(f"{kind} field{number};")
        return " ".join(fields)

    def _values(self, parts: tuple[Argument, ...]) -> str:
        values = [self._values(part) if isinstance(part, tuple) else self._typed(part)[2] for part in parts]
        return f"{{{', '.join(values)}}}"

    def _typed(self, argument: str) -> tuple[list[str], str, str]:
        """Write checks, the type and the value."""
        text, dtype = split_type(argument)
        node = parsed(text)
        if pointer := self._pointer(node):
            return [], "const void*", pointer
        leaf = node
        while isinstance(leaf, ast.IfExp):
            leaf = leaf.body
        if isinstance(leaf, ast.Name) and leaf.id in self.scalars and not dtype:
            dtype = self.scalars[leaf.id].dtype
        dtype = dtype or ("f32" if is_real(leaf, self.scalars) else "i32")
        if dtype not in _TYPES:
            raise UsageError(f"the argument {text} is {dtype}, which has no C++ type that an export can pass")
        kind, names = _TYPES[dtype], {**self.names, **{s.name: self._number(s) for s in self.scalars.values()}}
        if dtype in REAL_TYPES:
            if isinstance(node, ast.Name) and node.id in self.scalars:
                scalar = self.scalars[node.id]
                parameter_cpp = f"static_cast<{kind}>({node.id})"
                return (
                    [],
                    kind,
                    parameter_cpp if node.id in self.handed else f"{number_in_cpp(scalar)}  /* {node.id} */",
                )
            return [], kind, f"static_cast<{kind}>({real_in_cpp(text, names)})"
        value = in_cpp(text, names)
        checks = [f"if ({value} != static_cast<{kind}>({value})) return KERNEL_BAD_VALUE;"]
        if dtype in ("i64", *UNSIGNED):
            checks = []
        return checks, kind, value if dtype == "i64" else f"static_cast<{kind}>({value})"

    def pointer(self, argument: str) -> str:
        """Return the pointer that the argument is; UsageError where it is none."""
        if pointer := self._pointer(parsed(argument)):
            return pointer
        raise UsageError(f"{argument} is no buffer")

    def bytes_behind(self, argument: str, bytes_of: Mapping[str, str]) -> str:
        """Count the bytes from where the argument points to the end of its buffer."""
        return self._behind(parsed(argument), bytes_of)

    def _behind(self, node: ast.expr, bytes_of: Mapping[str, str]) -> str:
        match node:
            case ast.Name(id=name):
                return f"({bytes_of.get(name, '0')})"
            case ast.BinOp(left=left, op=op, right=right):
                sign = "-" if isinstance(op, ast.Add) else "+"
                offset = in_cpp(ast.unparse(right), self.names)
                return (
                    f"({self._behind(left, bytes_of)} {sign} {self.buffers[_buffer(left, self.buffers)]}ll * {offset})"
                )
            case ast.IfExp(test=test, body=body, orelse=other):
                condition = in_cpp(ast.unparse(test), self.names)
                return f"({condition} ? {self._behind(body, bytes_of)} : {self._behind(other, bytes_of)})"
        raise UsageError(f"{ast.unparse(node)} is no buffer")

    def _number(self, scalar: ScalarSpec) -> str:
        return scalar.name if scalar.name in self.handed else number_in_cpp(scalar)

    def _pointer(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id="null"):
                return "nullptr"
            case ast.Name(id=name) if name in self.buffers:
                return name
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if base := self._pointer(left):
                name = _buffer(left, self.buffers)
                sign = "+" if isinstance(op, ast.Add) else "-"
                offset = in_cpp(ast.unparse(right), self.names)
                start = f"static_cast<const char*>(static_cast<const void*>({base}))"
                return f"({start} {sign} {self.buffers[name]}ll * {offset})"
            case ast.IfExp(test=test, body=body, orelse=other) if (if_true := self._pointer(body)) and (
                if_false := self._pointer(other)
            ):
                condition = in_cpp(ast.unparse(test), self.names)
                return f"({condition} ? static_cast<const void*>({if_true}) : static_cast<const void*>({if_false}))"
        return ""


def _buffer(node: ast.expr, buffers: Mapping[str, int]) -> str:
    return next(leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name) and leaf.id in buffers)


def parameter(scalar: ScalarSpec) -> str:
    """Name the type of a scalar that a caller hands over."""
    return "double" if scalar.dtype in REAL_TYPES else "long long"


def number_in_cpp(scalar: ScalarSpec) -> str:
    """Write a number as an exact literal."""
    value, dtype = scalar.value or 0, scalar.dtype
    if dtype in ("f32", "f64"):
        return f"{float(value).hex()}{'f' if dtype == 'f32' else ''}" if value == value else "NAN"
    return f"{int(value)}ll" if dtype == "i64" else str(int(value))

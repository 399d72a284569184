"""The arguments of a launch: names, numbers, expressions, pointers into buffers, null, and structs by value.

| text                       | is passed as                                                     |
|----------------------------|------------------------------------------------------------------|
| `x`, `x + i * cols`        | pointer to a buffer, or to an element of it                      |
| `null`                     | null pointer                                                     |
| `rows`, `rows * cols:i64`  | integer, 32 bits where no type is named                          |
| `1.5`, `1 / sqrt(d):f32`   | floating point, f32 where no type is named; `/` is a division    |
| `a if i % 2 else b`        | one of the two                                                   |
| a tuple of these           | struct by value: each field at the next place that its type wants |
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from records.errors import PlanError
from sandbox.candidate.plan import Argument
from tasks.expressions import evaluate, tree_of
from tasks.task import ScalarSpec

DTYPE_BYTES: Mapping[str, int] = {
    "f64": 8,
    "f32": 4,
    "f16": 2,
    "bf16": 2,
    "e4m3fnuz": 1,
    "e5m2fnuz": 1,
    "e4m3fn": 1,
    "e5m2": 1,
    "i64": 8,
    "i32": 4,
    "i16": 2,
    "i8": 1,
    "u8": 1,
    "bool": 1,
}
UNSIGNED = {"u64": "i64", "u32": "i32", "u16": "i16"}  # the same bits
_TYPED = re.compile(rf"(?P<text>.*\S)\s*:\s*(?P<type>{'|'.join([*DTYPE_BYTES, *UNSIGNED])})", re.S)
REAL_TYPES = frozenset(name for name in DTYPE_BYTES if name.startswith(("f", "bf", "e")))
_REAL: Mapping[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "log2": math.log2,
    "abs": abs,
}
_REAL_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}


@dataclass(frozen=True)
class BufferArg:
    """A pointer to an input, an output or a workspace, so many bytes behind its first."""

    name: str
    offset: int = 0

    def renamed(self, names: Mapping[str, str]) -> BufferArg:
        """Point at the same offset of another buffer, where these names have one for it."""
        return replace(self, name=names.get(self.name, self.name))


@dataclass(frozen=True)
class ScalarArg:
    """A value passed by copy; `dtype` is one of the task's dtypes."""

    dtype: str
    value: int | float


@dataclass(frozen=True)
class NullArg:
    """A null pointer."""

    address: int = 0


@dataclass(frozen=True)
class StructArg:
    """A struct by value: its fields with their places, and its bytes."""

    fields: tuple[tuple[int, BufferArg | ScalarArg | NullArg], ...]
    size: int

    def renamed(self, names: Mapping[str, str]) -> StructArg:
        """Return the struct with other buffers for those named."""
        fields = tuple((offset, f.renamed(names) if isinstance(f, BufferArg) else f) for offset, f in self.fields)
        return replace(self, fields=fields)


ResolvedArg = BufferArg | ScalarArg | NullArg | StructArg


@dataclass(frozen=True)
class Scope:
    """All that an argument may name: integers, the task's scalars, and the element size of each buffer."""

    names: Mapping[str, int]  # dims, tunables, loops
    scalars: Mapping[str, ScalarSpec]
    buffers: Mapping[str, int]
    absent: frozenset[str] = frozenset()  # optional inputs that the case does not give: null

    def resolve(self, argument: Argument) -> ResolvedArg:
        """Resolve an argument to numbers; PlanError where it has no value."""
        if isinstance(argument, tuple):
            return self._struct(argument)
        text, dtype = split_type(argument)
        node = parsed(text)
        while isinstance(node, ast.IfExp):
            node = node.body if evaluate(_text(node.test), self.names) else node.orelse
        if isinstance(node, ast.Name) and (node.id == "null" or node.id in self.absent):
            return NullArg()
        if (pointer := self._pointer(node)) is not None:
            if dtype:
                raise PlanError(f"{argument!r} is a pointer and has no type of its own")
            return pointer
        if isinstance(node, ast.Name) and node.id in self.scalars and not dtype:
            spec = self.scalars[node.id]
            return ScalarArg(spec.dtype, spec.value or 0)
        has_point = dtype in REAL_TYPES or (not dtype and is_real(node, self.scalars))
        return self._real(node, dtype or "f32", text) if has_point else self._integer(node, dtype or "i32", text)

    def _struct(self, parts: tuple[Argument, ...]) -> StructArg:
        offset, widest = 0, 1
        fields = list[tuple[int, BufferArg | ScalarArg | NullArg]]()
        for part in parts:
            argument = self.resolve(part)
            size, unit = _size(argument)
            offset, widest = -(-offset // unit) * unit, max(widest, unit)
            if isinstance(argument, StructArg):
                fields += [(offset + leaf_offset, leaf) for leaf_offset, leaf in argument.fields]
            else:
                fields.append((offset, argument))
            offset += size
        return StructArg(tuple(fields), max(1, -(-offset // widest) * widest))  # C++ gives an empty one a byte

    def _pointer(self, node: ast.expr) -> BufferArg | None:
        match node:
            case ast.Name(id=name) if name in self.buffers:
                return BufferArg(name)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if base := self._pointer(left):
                moved = evaluate(_text(right), self.names) * self.buffers[base.name]
                offset = base.offset + (moved if isinstance(op, ast.Add) else -moved)
                if offset < 0:
                    raise PlanError(f"{ast.unparse(node)!r} points before the buffer {base.name}")
                return BufferArg(base.name, offset)
        return None

    def _integer(self, node: ast.expr, dtype: str, text: str) -> ScalarArg:
        integers = {name: int(s.value or 0) for name, s in self.scalars.items() if s.dtype not in REAL_TYPES}
        value = evaluate(_text(node), {**integers, **self.names})
        bits = 8 * DTYPE_BYTES[UNSIGNED.get(dtype, dtype)]
        is_unsigned = dtype in UNSIGNED or dtype == "u8"
        low, high = (0, 1 << bits) if is_unsigned else (-(1 << bits - 1), 1 << bits - 1)
        if dtype == "bool":
            low, high = 0, 2
        if not low <= value < high:
            raise PlanError(f"{text} is {value}, too large for {_word(dtype)}; write {text}:i64")
        if dtype in UNSIGNED:
            value -= 1 << bits if value >> (bits - 1) else 0
        return ScalarArg(UNSIGNED.get(dtype, dtype), value)

    def _real(self, node: ast.expr, dtype: str, text: str) -> ScalarArg:
        try:
            return ScalarArg(dtype, float(self._real_of(node)))
        except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
            raise PlanError(f"the expression {text!r} has no value: {error}") from None

    def _real_of(self, node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return number
            case ast.Name(id="inf" | "nan" as name):
                return float(name)
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Name(id=name) if name in self.scalars:
                return float(self.scalars[name].value or 0)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._real_of(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _REAL_OPERATORS:
                real = _REAL_OPERATORS[type(op)](self._real_of(left), self._real_of(right))
                if isinstance(real, complex):
                    raise ValueError("a root of a negative number")
                return real
            case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in _REAL:
                return _REAL[name](*(self._real_of(argument) for argument in arguments))
        return evaluate(_text(node), self.names)


# A plan is resolved for thousands of shapes: what its text alone says is found once.
@lru_cache(maxsize=1024)
def _text(node: ast.expr) -> str:
    return ast.unparse(node)


@lru_cache(maxsize=1024)
def _numbers_of(node: ast.expr) -> tuple[bool, frozenset[str]]:
    """Tell whether the expression itself asks for floating point, and list the names in it."""
    names, has_point = set[str](), False
    for part in ast.walk(node):
        match part:
            case ast.Constant(value=float()) | ast.BinOp(op=ast.Div() | ast.Pow()) | ast.Name(id="inf" | "nan"):
                has_point = True
            case ast.Name(id=name):
                names.add(name)
    return has_point, frozenset(names)


def is_real(node: ast.expr, scalars: Mapping[str, ScalarSpec]) -> bool:
    """Tell whether an expression's value is a floating-point number."""
    has_point, names = _numbers_of(node)
    return has_point or any(name in scalars and scalars[name].dtype in REAL_TYPES for name in names)


@lru_cache(maxsize=1024)
def split_type(text: str) -> tuple[str, str]:
    """Split an argument into its expression and the type that it names behind a colon, "" where it names none."""
    match = _TYPED.fullmatch(text)
    return (match["text"], match["type"]) if match else (text, "")


def parsed(text: str) -> ast.expr:
    """Parse an argument's expression; PlanError where it cannot be read."""
    try:
        return tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PlanError(f"the argument {text!r} cannot be read: {getattr(error, 'msg', error)}") from None


def words_of(argument: Argument) -> Iterator[str]:
    """Every name in an argument, functions and `null` left out; PlanError where it cannot be read."""
    if isinstance(argument, tuple):
        for field in argument:
            yield from words_of(field)
        return
    called = set[ast.expr]()
    for node in ast.walk(parsed(split_type(argument)[0])):
        if isinstance(node, ast.Call):
            called.add(node.func)
        elif isinstance(node, ast.Name) and node not in called and node.id not in ("null", "inf", "nan"):
            yield node.id


def _size(argument: ResolvedArg) -> tuple[int, int]:
    """Bytes and alignment."""
    if isinstance(argument, StructArg):
        return argument.size, max((_size(leaf)[1] for _, leaf in argument.fields), default=1)
    size = DTYPE_BYTES[argument.dtype] if isinstance(argument, ScalarArg) else 8
    return size, size


def _word(dtype: str) -> str:
    return "a 32-bit int" if dtype == "i32" else dtype

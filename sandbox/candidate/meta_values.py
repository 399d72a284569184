"""The meta-parameters of a launch in numbers: values for constants, whole numbers for options.

| a constant's text | is |
|---|---|
| `128`, `1 << log2(cols)` | a whole number: an expression |
| `1.5`, `1 / sqrt(cols)`, `eps` | a floating-point number |
| `True`, `False`, `cols % 64 == 0`, `a and b` | a truth value |
| `'gelu'` | a text |
| `tl.float16` | a type |
| `None` | None |
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from records.errors import PlanError
from sandbox.candidate.arguments import REAL_TYPES, ScalarArg, Scope, parsed, split_type, words_of
from sandbox.candidate.meta_reader import ALL, OPTIONS
from sandbox.candidate.plan import Argument, MetaParameters
from tasks.expressions import evaluate

_TYPE = re.compile(r"tl\.((?:u?int(?:8|16|32|64)|int1|b?float16|float32|float64|float8e\w{1,6}))", re.A)
_TEXT = re.compile(r"'([^'\\\n]{0,100})'")
_WORDS = {"True": True, "False": False, "None": None}


@dataclass(frozen=True)
class TypeValue:
    """A type of Triton's as a constant, by its name in `triton.language`."""

    name: str


ConstantValue = int | float | bool | str | TypeValue | None


@dataclass(frozen=True)
class ResolvedMeta:
    """The meta-parameters of one launch on one case."""

    constants: tuple[tuple[str, ConstantValue], ...]
    options: tuple[tuple[str, int], ...]  # every one
    specialised: tuple[int, ...]  # numbers of arguments that are whole numbers and may choose the code


def resolve_meta(
    meta: MetaParameters, scope: Scope, args: Sequence[Argument], values: Sequence[object]
) -> ResolvedMeta:
    """Compute the values of one turn; `args` as in the plan, `values` resolved. PlanError where one has none."""
    option_texts = dict(meta.options)
    options = tuple(
        (name, evaluate(option_texts.get(name, str(value)), scope.names)) for name, value in OPTIONS.items()
    )
    for name, value in options:
        if not 0 <= value <= 1024 or (name == "num_warps" and value.bit_count() != 1):
            expected = "a power of two" if name == "num_warps" else "a small whole number"
            raise PlanError(f"{name} is {value}; it must be {expected}")
    constants = tuple((name, _value(name, text, scope)) for name, text in meta.constants)
    integers = {i for i, value in enumerate(values) if isinstance(value, ScalarArg) and value.dtype not in REAL_TYPES}
    specialised = {i for i in integers if ALL in meta.specialised or args[i] in meta.specialised}
    if unknown := set(meta.specialised) - {ALL} - {args[i] for i in specialised}:
        raise PlanError(f"specialise names {min(unknown)!r}, which stands in args for no whole number")
    return ResolvedMeta(constants, options, tuple(sorted(specialised)))


def words_of_meta(meta: MetaParameters) -> Iterator[tuple[str, str]]:
    """Every name of the plan's in the meta-parameters, with the key it stands under; PlanError for no expression."""
    for _, text in meta.constants:
        if not (_TYPE.fullmatch(text) or _TEXT.fullmatch(text) or text in _WORDS):
            yield from (("constants", word) for word in words_of(text))
    for name, text in meta.options:
        yield from ((name, word) for word in words_of(text))


def _value(name: str, text: str, scope: Scope) -> ConstantValue:
    if match := _TYPE.fullmatch(text):
        return TypeValue(match[1])
    if match := _TEXT.fullmatch(text):
        return match[1]
    if text in _WORDS:
        return _WORDS[text]
    value = scope.resolve(text)
    if not isinstance(value, ScalarArg):
        raise PlanError(f"the constant {name} is {text!r}; a constant is a value, and no buffer")
    body, dtype = split_type(text)
    return bool(value.value) if dtype == "bool" or _is_truth(parsed(body)) else value.value


def _is_truth(node: ast.expr) -> bool:
    """Tell whether an expression's value is true or false."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp(values=values):
            return all(_is_truth(operand) for operand in values)
        case ast.IfExp(body=body, orelse=other):
            return _is_truth(body) and _is_truth(other)
    return False

"""A launch with its kernel: the instance of a template, and each argument in the type of its parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from imports.hosts.amounts import Amount
from imports.hosts.expression_reader import ExpressionReader
from imports.hosts.host_expressions import HostExpressions
from imports.hosts.host_file import Function, HostParameter
from imports.hosts.host_syntax import Name
from imports.hosts.memory import HostUnclear
from imports.hosts.types import Type, type_of
from imports.hosts.values import Frame, Pointer, Real, Record, Value
from imports.hosts.words import Word, closing, words_of
from sandbox.candidate.pp_tokens import scan

ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "|=", "&=", "^=", "++", "--"})


def instance_of(
    host: HostExpressions, function: Function, kernel: Name, arguments: tuple[Value, ...], frame: Frame
) -> tuple[str, Mapping[str, Type]]:
    """Return the kernel's name with its template's arguments, and the types that these are."""
    title = f"{function.scope}::{function.name}" if function.scope else function.name
    if not function.template:
        return title, {}
    types: dict[str, Type] = {}
    texts: list[str] = []
    for index, (kind, name) in enumerate(function.template):
        text = kernel.arguments[index] if index < len(kernel.arguments) else ""
        if kind in ("typename", "class"):
            argument_type = host.kind(text, frame) if text else _deduced(host, function, name, arguments)
            if argument_type is None:
                default = function.defaults.get(name, "")
                argument_type = host.kind(default, frame) if default else None
            if argument_type is None:
                raise HostUnclear(f"the type {name} of the template {function.name} is not known")
            types[name] = argument_type
            texts.append(argument_type.base + "*" * argument_type.stars)
        else:
            texts.append(_constant(host, text or function.defaults.get(name, ""), function.name, frame))
    return f"{title}<{', '.join(texts)}>", types


def _deduced(host: HostExpressions, function: Function, name: str, arguments: tuple[Value, ...]) -> Type | None:
    for parameter, value in zip(function.parameters, arguments, strict=False):
        kind = type_of(parameter.words)
        if kind.base == name and isinstance(value, Pointer) and value.buffer is not None:
            return Type(value.type.base)
        if kind.base == name and isinstance(value, Real):
            return Type("float")
        if kind.base == name and isinstance(value, Amount):
            return Type("int")
    return None


def _constant(host: HostExpressions, text: str, kernel: str, frame: Frame) -> str:
    """Read a template's argument that is a number: its value, since plans have no names there."""
    if not text:
        raise HostUnclear(f"an argument of the template {kernel} is not known")
    try:
        value = host.value(ExpressionReader(words_of(scan(text)), host.file.macros).expression(), frame)
    except ValueError:
        return text
    if isinstance(value, Amount) and value.value is not None:
        for name in value.names:
            host.memory.fixed.add(name)
        return str(value.value)
    return text


def arguments_of(
    host: HostExpressions, function: Function, types: Mapping[str, Type], values: tuple[Value, ...]
) -> tuple[tuple[tuple[Value, Type], ...], tuple[tuple[int, int], ...]]:
    """Give the values with the parameters' types, and structs among them; HostUnclear for what no plan can pass."""
    types_by_name = {**host.file.types, **types}
    passed = list[tuple[Value, Type]]()
    if len(values) != len(function.parameters):
        raise HostUnclear(
            f"{function.name} is launched with {len(values)} arguments and takes {len(function.parameters)}"
        )
    structs = list[tuple[int, int]]()
    for parameter, value in zip(function.parameters, values, strict=True):
        leaves = [(parameter, value)]
        if isinstance(value, Record):
            fields = host.file.layouts[value.name]
            leaves = [(field, leaf) for field, (_, leaf) in zip(fields, value.fields, strict=True)]
            structs.append((len(passed), len(fields)))
        for leaf_parameter, leaf in leaves:
            passed.append(
                _passed(
                    host, function, leaf_parameter, leaf, type_of(leaf_parameter.words, types_by_name), len(passed) + 1
                )
            )
    return tuple(passed), tuple(structs)


def _passed(
    host: HostExpressions, function: Function, parameter: HostParameter, value: Value, kind: Type, position: int
) -> tuple[Value, Type]:
    """One argument, or one field of a struct."""
    if isinstance(value, Pointer):
        if kind.stars and not kind.is_constant and only_reads(function.body, parameter.name):
            kind = replace(kind, is_constant=True)
        _use(value, kind, parameter.name)
    elif (isinstance(value, Amount) and kind.is_real) or (isinstance(value, Real) and kind.is_whole):
        value = host.cast(kind, value)
    if not isinstance(value, (Pointer, Amount, Real)) or (not kind.stars and not kind.dtype):
        text = "a value" if kind.dtype or kind.stars else f"a {kind.base}"
        raise HostUnclear(
            f"the argument {parameter.name or position} of {function.name} is {text}, "
            "which is not found in its host half"
        )
    return value, kind


def only_reads(body: Sequence[Word], name: str) -> bool:
    """Tell whether a kernel takes elements of a pointer and does nothing else with it: many leave `const` out."""
    is_read = False
    if any(word.text in ("asm", "__asm__", "__asm") for word in body):
        return False
    for index, word in enumerate(body):
        if word.text != name or word.kind != "name":
            continue
        before, behind = body[index - 1].text if index else "", body[index + 1].text if index + 1 < len(body) else ""
        if behind != "[" or before in ("&", "++", "--", ".", "->"):
            return False
        end = closing(list(body), index + 1)
        following = body[end + 1].text if end + 1 < len(body) else ""
        if following in ASSIGNS or following in ("[", ".", "->"):
            return False
        is_read = True
    return is_read


def _use(pointer: Pointer, kind: Type, name: str) -> None:
    buffer = pointer.buffer
    if buffer is None:
        return
    buffer.aliases.add(name)
    if not kind.is_constant:
        buffer.is_written = True

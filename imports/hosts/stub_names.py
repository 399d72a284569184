"""Kernels as launch plans name them, with the names and types of their parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from imports.hosts.buffer_roles import KernelNames
from imports.hosts.memory import HostUnclear
from imports.hosts.types import ParameterType, dtype_of, kernel_type, parameter_type, split_at_commas
from sandbox.candidate.pp_tokens import Token, scan

ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "|=", "&=", "^=", "++", "--"})


def kernel_names(symbols: Mapping[str, str], sizes: Mapping[str, int], text: str) -> dict[str, KernelNames]:
    """Name the kernels of a run, by symbol; `symbols` are their demangled names, `sizes` numbers of parameters."""
    kernels, by_name = dict[str, KernelNames](), dict[str, list[str]]()
    for symbol, demangled in symbols.items():
        kind = kernel_type(demangled)
        plain = kind.name.split("<")[0].split("::")[-1]
        declared = parameters_in(text, plain)
        types = kind.parameters if kind.parameters is not None else tuple(parameter_type(p) for p in declared)
        names = tuple(_name(p, i) for i, p in enumerate(declared))
        if len(names) != len(types):
            names = tuple(f"p{i}" for i in range(len(types)))
        types = tuple(
            replace(t, is_constant=True) if t.is_pointer and not t.is_constant and only_reads(text, plain, n) else t
            for t, n in zip(types, names, strict=True)
        )
        if sizes.get(symbol, len(types)) != len(types):
            raise HostUnclear(f"the parameters of {kind.name} are not understood")
        kernels[symbol] = KernelNames(kind, types, names)
        by_name.setdefault(kind.name, []).append(symbol)
    return kernels


def parameters_in(text: str, kernel: str) -> list[str]:
    """Read the parameters of a kernel as the file writes them."""
    match = re.search(rf"__global__[^;{{}}]*?\b{re.escape(kernel)}\s*\(", text)
    if match is None:
        return []
    depth, cursor = 1, match.end()
    while cursor < len(text) and depth:
        depth += (text[cursor] == "(") - (text[cursor] == ")")
        cursor += 1
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text[match.end() : cursor - 1], flags=re.S)
    return [p for p in split_at_commas(plain) if p != "void"]


def only_reads(text: str, kernel: str, name: str) -> bool:
    """Tell whether a kernel takes elements of a pointer and does nothing else with it: many leave `const` out."""
    head = re.search(rf"__global__[^;{{}}]*?\b{re.escape(kernel)}\s*\(", text)
    opening = text.find("{", head.end()) if head else -1
    if opening < 0:
        return False
    body = [t for t in scan(_body(text, opening + 1)) if t.kind != "end"]
    if any(t.text in ("asm", "__asm__", "__asm") for t in body):
        return False
    is_read = False
    for index, token in enumerate(body):
        if token.text != name or token.kind != "name":
            continue
        cursor = index - 1
        while cursor >= 0 and body[cursor].text == "(":
            cursor -= 1
        before, behind = body[cursor].text if cursor >= 0 else "", body[index + 1].text if index + 1 < len(body) else ""
        if behind != "[" or before in ("&", "++", "--", ".", "->"):
            return False
        end = _closing(body, index + 1)
        following = body[end + 1].text if end + 1 < len(body) else ""
        if following in ASSIGNS or following in ("[", ".", "->"):
            return False
        is_read = True
    return is_read


def _closing(tokens: Sequence[Token], opening: int) -> int:
    depth = 0
    for position in range(opening, len(tokens)):
        depth += (tokens[position].text == "[") - (tokens[position].text == "]")
        if depth == 0:
            return position
    return len(tokens) - 1


def _name(parameter: str, position: int) -> str:
    words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[.*|=.*", "", parameter, flags=re.S))
    return words[-1] if words and len(words) > 1 else f"p{position}"


def struct_fields(text: str, name: str) -> list[ParameterType]:
    """Read the fields of a plain struct of the file, arrays as so many; none where there is no such struct."""
    plain = name.split("::")[-1].split("<")[0]
    match = re.search(rf"\b(?:struct|class)\s+(?:\w+\s*\([^)]*\)\s*)*{re.escape(plain)}\s*\{{", text) if plain else None
    body = _body(text, match.end()) if match else ""
    if not match and plain:
        alias = re.search(rf"\}}\s*{re.escape(plain)}\s*;", text)
        opening = text.rfind("struct", 0, alias.start()) if alias else -1
        body = text[text.find("{", opening) + 1 : alias.start()] if alias and opening >= 0 else ""
    fields = list[ParameterType]()
    body = re.sub(r"\b(?:public|private|protected)\s*:", " ", body)
    for line in re.sub(r"//[^\n]*|/\*.*?\*/", " ", body, flags=re.S).split(";"):
        if "(" in line or not line.strip():
            continue
        first, *further = split_at_commas(line)
        parts = re.match(r"(.*?)((?:\*\s*)*)([A-Za-z_]\w*)\s*(\[.*)?$", " ".join(first.split()))
        if parts is None:
            continue
        for declared in (f"{parts[2]}{parts[3]}{parts[4] or ''}", *further):
            extent = 1
            for number in re.findall(r"\[\s*(\d+)\s*\]", declared):
                extent *= int(number)
            stars = "*" * declared.count("*")
            fields += [parameter_type(f"{parts[1]} {stars}")] * extent
    return fields


def _body(text: str, start: int) -> str:
    depth, cursor = 1, start
    while cursor < len(text) and depth:
        depth += (text[cursor] == "{") - (text[cursor] == "}")
        cursor += 1
    return text[start : cursor - 1]


def symbol_types(text: str) -> dict[str, str]:
    """Name the element types of device variables that the file declares."""
    types = dict[str, str]()
    for words, name in re.findall(
        r"(?:__constant__|__device__)\s+([\w\s:]+?)\s+(\w+)\s*(?:\[[^\n;]*)?(?:=[^;]*)?;", text
    ):
        plain = re.sub(r"\b(?:const|static|volatile|extern|__device__|__constant__|__align__\(\d+\))\b", " ", words)
        types[name] = dtype_of(" ".join(plain.split()))
    return types

"""Inputs as a function's own text states them, read and never executed: annotations, or lines of the docstring.

    def scaled(x: "f32[rows, cols]", ids: "i64[rows]:vocab"):

or, in the docstring, a line for each: `x: f32[rows, cols]`; `x: [rows, cols]` is f32. Sizes are `--size`, or whole
numbers of these names at the top of the file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

from records.errors import UsageError
from tasks.expressions import names_in
from tasks.file_sizes import constants_of, entries

Specs = Mapping[str, tuple[str, list[str], str]]  # inputs: type, dims, and the dim or number that limits whole ones
BYTE_ORDER = "\ufeff"  # that editors put in front of a text
DRAWING = ("get_inputs", "get_init_inputs")
TYPES = {
    **{name: name for name in ("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool")},
    **{f"float{n}": f"f{n}" for n in (64, 32, 16)},
    **{f"int{n}": f"i{n}" for n in (64, 32, 16, 8)},
    **{"bfloat16": "bf16", "uint8": "u8", "": "f32"},
}
SPEC = re.compile(r"(\w*)\s*\[(\w[\w, *+/%-]*)\](?::(\w+))?")
LINE = re.compile(rf"[-*]?\s*`?(\w+)`?\s*:\s*({SPEC.pattern})")


@dataclass(frozen=True)
class StatedInputs:
    """A function's name, its parameters without defaults, and what its text says of them."""

    function: str
    parameters: tuple[str, ...]
    specs: Specs
    constants: Mapping[str, int]
    draws: bool  # the file has a function get_inputs


def stated_inputs(text: str, function: str) -> StatedInputs | None:
    """Read them; None for a text that is no Python, or in which no one function is meant."""
    try:
        tree = ast.parse(text.removeprefix(BYTE_ORDER))
    except (SyntaxError, ValueError, RecursionError):
        return None
    stated = {n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    names = [name for name in stated if not name.startswith("_") and name not in DRAWING]
    chosen = [function] if function else names if len(names) == 1 else entries(tree, names)
    if len(chosen) != 1 or chosen[0] not in stated:
        return None
    node: ast.stmt | None = stated[chosen[0]]
    if isinstance(node, ast.ClassDef):
        node = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "forward"), None)
    if not isinstance(node, ast.FunctionDef):
        return None
    arguments = [a for a in (*node.args.posonlyargs, *node.args.args) if a.arg != "self"]
    specs = {a.arg: spec for a in arguments if (spec := _of_annotation(a.annotation)) is not None}
    specs = _of_docstring(ast.get_docstring(node) or "", [a.arg for a in arguments]) | specs
    ordered = {a.arg: specs[a.arg] for a in arguments if a.arg in specs}
    required = tuple(a.arg for a in arguments[: len(arguments) - len(node.args.defaults)])
    return StatedInputs(chosen[0], required, ordered, constants_of(tree), DRAWING[0] in stated)


def completed(
    text: str, path: str, function: str, name: str, sizes: Mapping[str, int]
) -> tuple[Specs, Mapping[str, int]]:
    """Return the inputs and their sizes where nobody gave any; UsageError with the whole command that would."""
    stated = stated_inputs(text, function)
    if stated is None or stated.draws or not stated.parameters:
        return {}, sizes
    missing = [p for p in stated.parameters if p not in stated.specs]
    dims = list(
        dict.fromkeys(d for _, shape, limit in stated.specs.values() for t in (*shape, limit) for d in _names(t))
    )
    known = {**{d: stated.constants[d] for d in dims if d in stated.constants}, **sizes}
    unsized = [d for d in dims if d not in known]
    if not missing and not unsized:
        return stated.specs, {d: known[d] for d in dims}
    shown = {p: stated.specs.get(p, ("f32", ["rows", "cols"], "")) for p in stated.parameters}
    inputs = " ".join(f"--input '{p}={t}[{','.join(s)}]{f':{m}' if m else ''}'" for p, (t, s, m) in shown.items())
    every = dict.fromkeys(d for _, shape, limit in shown.values() for t in (*shape, limit) for d in _names(t))
    what = (
        f"what {_listed(missing)} {'is' if len(missing) == 1 else 'are'}"
        if missing
        else f"the size of {_listed(unsized)}"
    )
    size_text = ",".join(f"{d}={known.get(d, 4096)}" for d in every)
    raise UsageError(
        f'{path} does not say {what}: add get_inputs() to it, annotate {stated.parameters[0]}: "f32[rows, cols]", or '
        f"type, with your shapes: kernel-scientist tasks new {name} --from {path}:{stated.function} {inputs} "
        f"--size {size_text}"
    )


def _names(text: str) -> list[str]:
    return sorted(names_in(text)) if text else []


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _of_annotation(annotation: ast.expr | None) -> tuple[str, list[str], str] | None:
    if not isinstance(annotation, ast.Constant) or not isinstance(annotation.value, str):
        return None
    return _spec(SPEC.fullmatch(annotation.value.strip()))


def _of_docstring(text: str, names: list[str]) -> dict[str, tuple[str, list[str], str]]:
    specs = {}
    for line in text.splitlines():
        match = LINE.match(line.strip())
        spec = _spec(SPEC.match(match[2])) if match and match[1] in names else None
        if match and spec is not None:
            specs[match[1]] = spec
    return specs


def _spec(match: re.Match[str] | None) -> tuple[str, list[str], str] | None:
    if match is None or match[1] not in TYPES:
        return None
    dims = [part.strip() for part in match[2].split(",")]
    return (TYPES[match[1]], dims, match[3] or "") if all(dims) else None

"""The function of a Python file that a task is made of, and its parameters, read without executing the file."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace

from imports.foreign_text import BYTE_ORDER
from imports.names import free_name, is_plain
from tasks.file_sizes import entries
from tasks.parameters import OriginalParameter

DRAWING = ("get_inputs", "get_init_inputs")  # that a file has beside its function


@dataclass(frozen=True)
class PythonEntry:
    """The function or module; `draws`: the file itself draws its inputs."""

    name: str
    parameters: tuple[OriginalParameter, ...]
    draws: bool

    def given(self, numbers: Mapping[str, object]) -> PythonEntry:
        """Return the same with these values as defaults."""
        return replace(
            self,
            parameters=tuple(
                replace(p, default=repr(numbers[p.name])) if p.name in numbers else p for p in self.parameters
            ),
        )

    def reals(self) -> dict[str, float]:
        """Find the real numbers that parameters have by default."""
        return {p.name: float(p.default) for p in self.parameters if _is_real(p.default)}


def entry_names(text: str) -> list[str]:
    """List what the file offers, the only one that no other uses where there is one; none for what is no Python."""
    try:
        tree = ast.parse(text.removeprefix(BYTE_ORDER))
    except (SyntaxError, ValueError):
        return []
    names = [
        s.name
        for s in tree.body
        if isinstance(s, (ast.FunctionDef, ast.ClassDef)) and not s.name.startswith("_") and s.name not in DRAWING
    ]
    if "Model" in names:
        return ["Model"]
    ends = names if len(names) == 1 else entries(tree, names)
    return ends if len(ends) == 1 else names


def python_entry(text: str, function: str) -> PythonEntry | None:
    """Find the function, the named one or the only one; None where there is none, or none that can be read so."""
    names = entry_names(text)
    name = function or (names[0] if len(names) == 1 else "")
    tree = ast.parse(text.removeprefix(BYTE_ORDER)) if names else ast.Module([], [])
    statement = next((s for s in tree.body if getattr(s, "name", "") == name and name), None)
    draws = any(isinstance(s, ast.FunctionDef) and s.name == DRAWING[0] for s in tree.body)
    if isinstance(statement, ast.ClassDef):
        methods = [s for s in statement.body if isinstance(s, ast.FunctionDef) and s.name == "forward"]
        return PythonEntry(name, _parameters(methods[0].args)[1:], draws) if methods else None
    if not isinstance(statement, ast.FunctionDef) or statement.args.vararg or statement.args.kwarg:
        return None
    return PythonEntry(name, _parameters(statement.args), draws)


def _parameters(arguments: ast.arguments) -> tuple[OriginalParameter, ...]:
    plain = [*arguments.posonlyargs, *arguments.args]
    missing = len(plain) - len(arguments.defaults)
    rows = [(a, None if i < missing else arguments.defaults[i - missing], False) for i, a in enumerate(plain)]
    rows += [(a, d, True) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return tuple(
        OriginalParameter(
            a.arg, free_name(a.arg, ()) if is_plain(a.arg) else a.arg, ast.unparse(d) if d is not None else "", keyword
        )
        for a, d, keyword in rows
    )


def _is_real(text: str) -> bool:
    try:
        return isinstance(ast.literal_eval(text), float) if text else False
    except (ValueError, SyntaxError):
        return False

"""The text of a function that a program holds, with the imports, numbers and functions of its module that it uses."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Callable, Iterator
from typing import Any

from records.errors import UsageError

MOST_FUNCTIONS = 50


def text_of_function(function: Callable[..., Any]) -> str:
    """Write a file with the function and what it needs; UsageError for what has no text, or needs other objects."""
    functions, heads, values = dict[str, str](), dict[str, None](), dict[str, str]()
    waiting = [function]
    while waiting:
        current = waiting.pop()
        if current.__name__ in functions:
            continue
        if len(functions) == MOST_FUNCTIONS or not isinstance(current, types.FunctionType) or current.__closure__:
            raise UsageError(
                f"{getattr(current, '__name__', current)} is no plain function of a module: write it into a file, and "
                "give FILE.py:NAME"
            )
        functions[current.__name__] = _source(current)
        for name, value in _used(current, functions[current.__name__]):
            if isinstance(value, types.ModuleType):
                heads[f"import {value.__name__} as {name}"] = None
            elif isinstance(value, types.FunctionType) and value.__module__ == current.__module__:
                waiting.append(value)
            elif isinstance(value, (bool, int, float, str, tuple)):
                values[name] = f"{name} = {value!r}"
            elif getattr(value, "__module__", None) and getattr(value, "__name__", None):
                heads[f"from {value.__module__} import {value.__name__} as {name}"] = None
            else:
                raise UsageError(f"{current.__name__} uses {name}, which is no module, function or number")
    body = "\n\n".join(reversed(functions.values()))
    return "\n".join([*heads, "", *values.values(), "", body])


def _source(function: Callable[..., Any]) -> str:
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise UsageError(
            f"{function.__name__} has no source text here: write it into a file, and give FILE.py:NAME"
        ) from None


def _used(function: types.FunctionType, text: str) -> Iterator[tuple[str, Any]]:
    """Yield the names of its module that the text reads, with their values."""
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    for name in sorted(names):
        if name in function.__globals__ and name != function.__name__:
            yield name, function.__globals__[name]

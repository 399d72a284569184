"""The sizes that a file of Python names or writes down, and the file with others in their place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

FROZEN = re.compile(
    r"kernel|pool|stride|pad|dilation|group|axis|head|num_layers|top_?k|multiple|window|shift|reduction|ceil"
)
MOST_AXIS = 4  # a `dim` of no more is the number of an axis
LEAST_DEFAULT = 8  # of a constructor's parameter: a smaller number counts layers or taps
PLAIN = ("randn", "rand", "zeros", "ones", "empty")  # calls whose plain arguments are a shape
SHAPED = (*PLAIN, "randint", "full", "normal", "uniform", "standard_normal", "random", "integers")


def constants_of(tree: ast.Module) -> dict[str, int]:
    """Find the whole numbers that the top level names.

    Where it names none: the extents that `get_inputs` writes down, and the defaults of constructors.
    """
    constants = {name: value for name, value in _constants(tree) if _is_size(name, value)}
    return constants or {name: node.value for name, node in _unnamed(tree)}  # type: ignore[misc]


def replaced(tree: ast.Module, constants: Mapping[str, int]) -> ast.Module:
    """Replace the values of these in the tree."""
    has_names = any(_is_size(name, value) for name, value in _constants(tree))
    for statement in tree.body:
        for name, value in _assigned(statement):
            new = _constant(name, _folded(value), constants)
            if new is not None:
                _put(statement, value, new)
    for name, node in () if has_names else list(_unnamed(tree)):
        node.value = constants.get(name, node.value)
    return ast.fix_missing_locations(tree)


def entries(tree: ast.Module, names: list[str]) -> list[str]:
    """Those of the functions and classes that no other one of the file uses."""
    used = set[str]()
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            used |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)} - {statement.name}
    return [name for name in names if name not in used]


def _is_size(name: str, value: int) -> bool:
    is_axis = value <= MOST_AXIS and "dim" in name.lower()
    return value > 0 and not is_axis and not FROZEN.search(name.lower())


def _unnamed(tree: ast.Module) -> Iterator[tuple[str, ast.Constant]]:
    """Numbers without a name of their own, each with one: shapes first, then the defaults of parameters and fields."""
    defaults = [
        (name, node)
        for statement in tree.body
        if isinstance(statement, ast.ClassDef)
        for name, node in _defaults(statement)
        if isinstance(node.value, int) and node.value >= LEAST_DEFAULT and _is_size(name, node.value)
    ]
    drawn = [f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name == "get_inputs"]
    calls = [n for f in drawn for n in ast.walk(f) if isinstance(n, ast.Call)]
    shapes = [node for call in calls for node in _extents(call)]
    values = {node.value for node in [*shapes, *(n for _, n in defaults)]}
    ends = [node for call in calls for node in _ends(call) if node.value in values]  # indices into one of them
    names = set[str]()
    for index, node in enumerate([*shapes, *ends]):
        yield f"n{index}", node
    for name, node in defaults:
        free = name if name not in names else f"{name}_{len(names)}"
        names.add(free)
        yield free, node


def _whole(nodes: list[ast.expr]) -> list[ast.Constant]:
    return [n for n in nodes if isinstance(n, ast.Constant) and type(n.value) is int and n.value > 0]


def _extents(call: ast.Call) -> list[ast.Constant]:
    """Find the numbers of the shape that a call draws."""
    name = ast.unparse(call.func).rpartition(".")[2]
    if name not in SHAPED:
        return []
    arguments = [*call.args, *(k.value for k in call.keywords if k.arg in ("size", "shape"))]
    within = [e for a in arguments if isinstance(a, (ast.Tuple, ast.List)) for e in a.elts]
    return _whole([*(call.args if name in PLAIN else []), *within])


def _ends(call: ast.Call) -> list[ast.Constant]:
    """Find the number below which a call draws places, from 0 on."""
    if ast.unparse(call.func).rpartition(".")[2] not in ("randint", "integers"):
        return []
    plain = [a for a in call.args if not isinstance(a, (ast.Tuple, ast.List))]
    starts_at_0 = len(plain) == 1 or (len(plain) == 2 and isinstance(plain[0], ast.Constant) and plain[0].value == 0)
    return _whole(plain[-1:]) if starts_at_0 else []


def _defaults(statement: ast.ClassDef) -> Iterator[tuple[str, ast.Constant]]:
    """Whole numbers that parameters of the constructor, or fields of a dataclass, have where nobody gives any."""
    for part in statement.body:
        pairs: list[tuple[str, ast.expr | None]] = []
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            pairs = [(part.target.id, part.value)]
        elif isinstance(part, ast.FunctionDef) and part.name == "__init__":
            arguments = part.args.args[len(part.args.args) - len(part.args.defaults) :]
            pairs = [(a.arg, d) for a, d in zip(arguments, part.args.defaults, strict=True)]
            pairs += [(a.arg, d) for a, d in zip(part.args.kwonlyargs, part.args.kw_defaults, strict=True)]
        for name, value in pairs:
            if isinstance(value, ast.Constant) and type(value.value) is int:
                yield name, value


def _constants(tree: ast.Module) -> list[tuple[str, int]]:
    """Names and values of the whole numbers, alone, in a tuple or in a list, that the top level assigns."""
    constants = []
    for name, value in (pair for statement in tree.body for pair in _assigned(statement)):
        folded = _folded(value)
        if type(folded) is int:
            constants.append((name, folded))
        elif isinstance(folded, (tuple, list)) and all(type(v) is int for v in folded):
            constants += [(f"{name}_{i}", v) for i, v in enumerate(folded)]
    return constants


def _assigned(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """List the names that a statement gives a value, and the values: one, or as many as names."""
    if not isinstance(statement, ast.Assign):
        return []
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [(t.id, v) for t, v in zip(target.elts, value.elts, strict=True) if isinstance(t, ast.Name)]
    return []


def _folded(value: ast.expr) -> Any:
    """Evaluate an expression without names; None for others."""
    if any(isinstance(n, (ast.Name, ast.Call, ast.Attribute)) for n in ast.walk(value)):
        return None
    try:
        return eval(compile(ast.Expression(value), "constant", "eval"), {"__builtins__": {}})
    except (ArithmeticError, TypeError, ValueError, SyntaxError):
        return None


def _constant(name: str, value: Any, constants: Mapping[str, int]) -> ast.expr | None:
    """Give the expression that replaces a constant; None where it stays."""
    if name in constants and isinstance(value, int):
        return ast.Constant(constants[name])
    if isinstance(value, (tuple, list)) and any(f"{name}_{i}" in constants for i in range(len(value))):
        elements = list[ast.expr](ast.Constant(constants.get(f"{name}_{i}", v)) for i, v in enumerate(value))
        return ast.Tuple(elements, ast.Load()) if isinstance(value, tuple) else ast.List(elements, ast.Load())
    return None


def _put(statement: ast.stmt, old: ast.expr, new: ast.expr) -> None:
    assert isinstance(statement, ast.Assign)
    if statement.value is old:
        statement.value = new
    elif isinstance(statement.value, ast.Tuple):
        statement.value.elts = [new if element is old else element for element in statement.value.elts]

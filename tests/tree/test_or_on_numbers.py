"""No `x or default` on an amount of money, time or a count: 0 is an amount, and `or` takes it for none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernel_scientist.own_packages import NAMES

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("kernel_scientist", *NAMES)
AMOUNT = re.compile(
    r"(^|_)(usd|budget|cost|price|prices|tokens|calls|seconds|hours|minutes|timeout|timeouts|deadline|retries|"
    r"limit|limits|most|least|count|counts|total|times|bytes|evaluations|generations|attempts|after)$"
    r"|_(s|us|ms|ns|pct|gib|mib)$"
)


def amounts_or(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of each amount that stands before an `or` whose value is used as more than a truth."""
    truths = set(_truths(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and id(node) not in truths:
            if isinstance(node.values[-1], ast.Dict | ast.List | ast.Tuple) or _is_text(node.values[-1]):
                continue  # a collection or a text
            for operand in node.values[:-1]:
                name = _name(operand)
                if name and AMOUNT.search(name):
                    yield node.lineno, name


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _truths(tree: ast.Module) -> Iterator[int]:
    """Ids of the expressions of which only the truth is used, with the operands of `and`, `or` and `not` in them."""
    roots = [test for node in ast.walk(tree) if (test := getattr(node, "test", None)) is not None]
    roots += [each for node in ast.walk(tree) if isinstance(node, ast.comprehension) for each in node.ifs]
    roots += [node.operand for node in ast.walk(tree) if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)]
    roots += [
        node.args[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bool" and node.args
    ]
    while roots:
        node = roots.pop()
        yield id(node)
        if isinstance(node, ast.BoolOp):
            roots += node.values


def _name(node: ast.expr) -> str:
    """The name of what an expression gives: of a variable, a field, an entry, or a call of one; empty for others."""
    match node:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(str(name))):
            return name
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(str(name)), *_]):
            return name
        case ast.Call(func=function):
            return _name(function)
        case ast.NamedExpr(value=value):
            return _name(value)
    return ""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = budget_usd or 5.0", True),
        ("x = float(run.config.get('budget_usd') or settings.budget_usd)", True),
        ("f(a.timeout_s or 600)", True),
        ("x = counted['prompt_tokens'] or 0", True),
        ("if budget_usd or is_free: pass", False),
        ("x = 1 if a_us or b_us else 2", False),
        ("x = not (a_us or b_us)", False),
        ("x = bool(a_us or b_us)", False),
        ("x = [a for a in b if a.time_us or a.name]", False),
        ("x = name or 'none'", False),
        ("x = 5.0 if budget_usd is None else budget_usd", False),
    ],
)
def test_the_rule_finds_amounts_and_leaves_truths(text: str, found: bool) -> None:
    assert bool(list(amounts_or(ast.parse(text)))) == found


def test_no_amount_stands_before_an_or() -> None:
    paths = [path for name in PRODUCT for path in sorted((ROOT / name).rglob("*.py"))]
    found = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in paths
        for line, name in amounts_or(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == [], "write `default if x is None else x`"

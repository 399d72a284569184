"""A kernel at tunables that its constraints allow for a part of the shapes: an arm whose plan `requires` that part."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping

from records.errors import PlanError
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.tuning import moved_to_front
from tasks.domain import LARGEST_STEP
from tasks.expressions import evaluate, names_in
from tasks.task import Case

Sum = dict[tuple[str, ...], int]  # products of dims with their coefficients; the empty product is the constant


def narrowed(prepared: Prepared) -> Iterator[tuple[dict[str, int], str]]:
    """Choices one tunable away from the file's own that fail on some cases, each with the arm's text."""
    plan, task = prepared.candidate.plan, prepared.task
    for name, values in plan.tunables.items():
        for value in values:
            choice = {**prepared.tunables, name: value}
            cases = (*task.tests, *task.benchmarks)
            failing = [text for text in plan.constraints.values() if not all(_is_met(text, choice, c) for c in cases)]
            conditions = [condition_of(text, choice, frozenset(task.tests[0].dims)) for text in failing]
            served = any(all(_is_met(text, choice, case) for text in failing) for case in task.benchmarks)
            if failing and served and all(conditions):
                arm_text = _narrowed_text(prepared.source, choice, " and ".join(c for c in conditions if c))
                if arm_text is not None:
                    yield choice, arm_text


def condition_of(text: str, values: Mapping[str, int], dims: frozenset[str]) -> str | None:
    """Turn a constraint into one on dims: `ROWS * cols <= 4096` at 8 rows is `cols <= 512`; None where it is none."""
    match ast.parse(text, mode="eval").body:
        case ast.Compare(
            left=ast.BinOp(left=inner, op=ast.Mod(), right=by), ops=[ast.Eq()], comparators=[ast.Constant(value=0)]
        ):
            return _multiple(_sum(inner, values, dims), _sum(by, values, dims))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            left_sum, right_sum = _sum(left, values, dims), _sum(right, values, dims)
            if left_sum is None or right_sum is None:
                return None
            return _bound({p: left_sum.get(p, 0) - right_sum.get(p, 0) for p in {*left_sum, *right_sum}}, op)
    return None


def _multiple(inner: Sum | None, by: Sum | None) -> str | None:
    if inner is None or by is None or set(by) != {()} or by[()] < 2:
        return None
    (product, factor), *more = [(p, c) for p, c in inner.items() if c % by[()]] or [((), 0)]
    step = by[()] // math.gcd(factor, by[()])
    return f"{' * '.join(product)} % {step} == 0" if product and not more and step <= LARGEST_STEP else None


def _bound(difference: Sum, op: ast.cmpop) -> str | None:
    """`factor * product + constant op 0` for the product alone."""
    constant = difference.pop((), 0)
    terms = [(p, c) for p, c in difference.items() if c]
    strict = isinstance(op, ast.Lt | ast.Gt)
    if len(terms) != 1 or not isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        return None
    product, factor = terms[0]
    is_upper = isinstance(op, ast.Lt | ast.LtE) is (factor > 0)
    border = -constant if factor > 0 else constant  # abs(factor) * product against it
    if is_upper:
        bound = (border - strict) // abs(factor)
        return f"{' * '.join(product)} <= {bound}" if bound > 0 else None
    return f"{' * '.join(product)} >= {max(1, -(-(border + strict) // abs(factor)))}"


def _sum(node: ast.expr, values: Mapping[str, int], dims: frozenset[str]) -> Sum | None:
    if not names_in(ast.unparse(node)) & dims:
        return {(): evaluate(ast.unparse(node), values)}
    match node:
        case ast.Name(id=name):
            return {(name,): 1}
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
            left_sum, right_sum = _sum(left, values, dims), _sum(right, values, dims)
            if left_sum is None or right_sum is None:
                return None
            if isinstance(op, ast.Mult):
                return _times(left_sum, right_sum)
            sign = -1 if isinstance(op, ast.Sub) else 1
            return {p: left_sum.get(p, 0) + sign * right_sum.get(p, 0) for p in {*left_sum, *right_sum}}
    return None


def _times(first: Sum, second: Sum) -> Sum:
    product: Sum = {}
    for a, x in first.items():
        for b, y in second.items():
            key = tuple(sorted((*a, *b)))
            product[key] = product.get(key, 0) + x * y
    return product


def _is_met(text: str, choice: Mapping[str, int], case: Case) -> bool:
    try:
        return bool(evaluate(text, {**case.dims, **choice}))
    except PlanError:
        return False


def _narrowed_text(source: str, choice: Mapping[str, int], condition: str) -> str | None:
    """Make this choice the file's default, right under the condition; None where the file requires one already."""
    text, _ = moved_to_front(source, choice)
    head, mark, tail = text.partition("/*+++\n")
    return (
        f'{head}{mark}requires = "{condition}"\n\n{tail}'
        if mark and "\nrequires" not in tail.partition("+++*/")[0]
        else None
    )

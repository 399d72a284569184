"""The numbers that a launch has for thousands of shapes: what the interpreter explores (machine/interpreter/explore.h).

A column of numbers for each expression of the plan, so that no plan is resolved and no argument packed shape by shape.
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from records.errors import PlanError
from sandbox.candidate.arguments import ScalarArg, StructArg, parsed, split_type
from sandbox.candidate.plan import Argument, Launch
from sandbox.candidate.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.machine.kernarg import KernargLayout, pack
from tasks.columns import Column, evaluate_column
from tasks.dtypes import numpy_dtype

NUMBERS = 8  # words before the argument segment: shape, grid, block, dynamic LDS
WHOLE = frozenset({"i8", "i16", "i32", "i64", "u8", "bool"})  # dtypes of whole numbers, as ScalarArg has them


@dataclass(frozen=True)
class ShapeExploration:
    """Launches to explore, by their number in the request, for columns of dims and tunables, a row a shape."""

    launches: Mapping[int, Launch]
    columns: Mapping[str, Column]  # int64, all of one length
    evaluations: int  # of instructions, in all


def explored_words(
    exploration: ShapeExploration,
    plan: ResolvedPlan,
    layouts: Mapping[str, KernargLayout],
    addresses: Mapping[str, int],
) -> list[bytes]:
    """Lay out the words of each explored launch; none of one whose expressions have no columns."""
    parts = list[bytes]()
    for number, launch in exploration.launches.items():
        resolved = plan.launches[number]
        kernarg = layouts[resolved.kernel]
        try:
            segment = pack(kernarg, resolved, addresses)
            words = launch_words(launch, resolved, segment, kernarg, exploration.columns)
        except PlanError:
            continue
        parts.append(struct.pack("<3Q", number, *words.shape) + words.tobytes())
    return parts


def launch_words(
    launch: Launch, resolved: ResolvedLaunch, segment: bytes, layout: KernargLayout, columns: Mapping[str, Column]
) -> npt.NDArray[np.int64]:
    """Lay out the launch for each row of the columns, int64 (rows, words); the first word is the row's number.

    `segment` are the arguments of `resolved`; what no integer expression gives (pointers, reals) stays as it is there.
    Rows in which the launch is left out or has no extent are left out. PlanError where an expression has no columns.
    """
    rows = len(next(iter(columns.values())))
    padded = np.frombuffer(segment + bytes(-len(segment) % 8), np.uint8)
    arguments = np.tile(padded, (rows, 1))
    numbers = np.zeros((rows, NUMBERS), np.int64)
    numbers[:, 0] = np.arange(rows)
    for axis, text in enumerate(launch.grid):
        numbers[:, 1 + axis] = evaluate_column(text, columns)
    for axis, text in enumerate(launch.block):
        numbers[:, 4 + axis] = evaluate_column(text, columns)
    numbers[:, 1 + len(launch.grid) : 4] = numbers[:, 4 + len(launch.block) : 7] = 1
    numbers[:, 7] = evaluate_column(launch.lds, columns)
    for offset, dtype, text in _scalars(launch, resolved, layout):
        put(arguments, offset, evaluate_column(text, columns), numpy_dtype(dtype))
    hidden = {f"hidden_block_count_{axis}": 1 + index for index, axis in enumerate("xyz")}
    hidden |= {f"hidden_group_size_{axis}": 4 + index for index, axis in enumerate("xyz")} | {
        "hidden_dynamic_lds_size": 7
    }
    for field in layout.hidden:
        if field.kind in hidden:
            put(arguments, field.offset, numbers[:, hidden[field.kind]], np.dtype(f"u{field.size}"))
    is_there = (numbers[:, 1:7] > 0).all(axis=1)
    if launch.when:
        is_there &= evaluate_column(launch.when, columns) != 0
    return np.hstack([numbers, arguments.view(np.int64)])[is_there]


def put(arguments: npt.NDArray[np.uint8], offset: int, column: Column, dtype: np.dtype[np.generic]) -> None:
    """Write a column of numbers into the rows' bytes from `place` on."""
    values = np.broadcast_to(column, len(arguments)).astype(dtype)
    arguments[:, offset : offset + dtype.itemsize] = values.view(np.uint8).reshape(len(arguments), -1)


def _scalars(launch: Launch, resolved: ResolvedLaunch, layout: KernargLayout) -> Iterator[tuple[int, str, str]]:
    """Yield place, dtype and expression of each whole number among the arguments."""
    for argument, value, field in zip(launch.args, resolved.args, layout.explicit, strict=False):
        texts = list(_leaves(argument))
        leaves = value.fields if isinstance(value, StructArg) else ((0, value),)
        for text, (offset, leaf) in zip(texts, leaves, strict=False):
            if isinstance(leaf, ScalarArg) and leaf.dtype in WHOLE and _is_expression(text):
                yield field.offset + offset, leaf.dtype, split_type(text)[0]


def _leaves(argument: Argument) -> Iterator[str]:
    if isinstance(argument, str):
        yield argument
        return
    for part in argument:
        yield from _leaves(part)


def _is_expression(text: str) -> bool:
    """Tell whether the argument is more than a number."""
    try:
        return any(isinstance(node, ast.Name) for node in ast.walk(parsed(split_type(text)[0])))
    except PlanError:
        return False

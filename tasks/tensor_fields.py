"""The tensors and tolerances of a task.toml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from tasks.structure import STRUCTURES
from tasks.table import NAME, Table
from tasks.task import DTYPES, TensorSpec
from tasks.tolerance import Tolerance

LAYOUTS = ("row_major", "column_major")
TIES = ("either", "stated")
BOUNDS = ("atol", "row_rtol")  # that a target may state for itself


def read_tolerance(table: Table) -> Tolerance:
    """Read a `[tolerance]`, or the one of an output."""
    tolerance = Tolerance(
        table.number("ratio", low=1.0, inclusive=True),
        table.number("rtol") if "rtol" in table.left else None,
        table.number("atol", 0.0, inclusive=True),
        table.number("row_rtol", 0.0, inclusive=True),
        matched=table.number("matched", 1.0, low=0.5, inclusive=True),
    )
    for name in BOUNDS:
        if getattr(tolerance, name) and tolerance.rtol is None:
            table.wrong(name, "needs 'rtol' beside it: a bound without it lets small outputs pass unseen")
    if tolerance.matched > 1:
        table.wrong("matched", "is a share of the elements, so at most 1")
    table.close()
    return tolerance


def read_inputs(tables: list[Table]) -> tuple[TensorSpec, ...]:
    """Read the `[[input]]` tables."""
    specs = []
    for table in tables:
        parameter = table.text("parameter") if "parameter" in table.left else ""
        spec = TensorSpec(
            *_common(table),
            strides=table.strings("strides", 0) if "strides" in table.left else (),
            optional=table.truth("optional", False),
            parameter=parameter,
            initialiser=table.text("initialiser") if "initialiser" in table.left else "",
            structure=table.choice("structure", tuple(STRUCTURES)) if "structure" in table.left else "",
        )
        if spec.structure and (len(spec.shape) < 2 or spec.shape[-1] != spec.shape[-2] or spec.strides):
            table.wrong("structure", "needs two last axes of one size, and no 'strides'")
        if spec.strides and (len(spec.strides) != len(spec.shape) or spec.layout != "row_major"):
            table.wrong("strides", "needs one expression for each axis of 'shape', and no 'layout'")
        table.close()
        specs.append(spec)
    return tuple(specs)


def read_outputs(tables: list[Table], inputs: Sequence[TensorSpec]) -> tuple[TensorSpec, ...]:
    """Read the `[[output]]` tables."""
    specs: list[TensorSpec] = []
    for number, table in enumerate(tables, 1):
        initial = table.name("initial") if "initial" in table.left else ""
        tolerance_table = table.left.pop("tolerance", None)
        tolerance = None
        if tolerance_table is not None:
            tolerance = read_tolerance(Table(table.path, f"[[output]] number {number}: tolerance", tolerance_table))
        ties = cast(Literal["either", "stated"], table.choice("ties", TIES, "either"))
        spec = TensorSpec(*_common(table), initial=initial, tolerance=tolerance, ties=ties)
        if initial:
            _check_initial(table, spec, inputs)
            if any(other.initial == initial for other in specs):
                table.wrong("initial", f"names {initial!r}, which fills another output already")
        table.close()
        specs.append(spec)
    return tuple(specs)


def _common(table: Table) -> tuple[str, str, tuple[str, ...], Literal["row_major", "column_major"]]:
    layout = cast(Literal["row_major", "column_major"], table.choice("layout", LAYOUTS, "row_major"))
    name, dtype, shape = table.name("name"), table.choice("dtype", DTYPES), table.strings("shape", 0)
    if not NAME.fullmatch(name):
        table.wrong("name", "must be a name of letters, digits and underscores")
    return name, dtype, shape, layout


def _check_initial(table: Table, spec: TensorSpec, inputs: Sequence[TensorSpec]) -> None:
    filled = next((s for s in inputs if s.name == spec.initial), None)
    if filled is None:
        table.wrong("initial", f"names {spec.initial!r}, which is no input")
    same = (filled.dtype, filled.shape, filled.layout) == (spec.dtype, spec.shape, spec.layout)
    if not same or filled.strides or filled.optional:
        table.wrong("initial", f"needs an input of the same type, shape and layout; {spec.initial!r} is another")

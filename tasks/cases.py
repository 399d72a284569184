"""The cases of a task.toml: dims, values of scalars, inputs left out, seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from records.evaluation import CaseRole
from tasks.table import NAME, Table
from tasks.task import DTYPES, Case, ScalarSpec, TensorSpec

INTEGERS = ("i64", "i32", "i16", "i8", "u8", "bool")
INT32 = 2**31 - 1  # dims reach kernels as 32-bit ints
MOST_SEEDS = 16


def read_scalars(table: Table) -> tuple[ScalarSpec, ...]:
    """Read the `[scalars]` of a task; one without a value has a value in each case."""
    specs = []
    for name in list(table.left):
        if not NAME.fullmatch(name):
            table.wrong(name, "must be a name of letters, digits and underscores")
        item = Table(table.path, f"[scalars] {name}:", table.take(name))
        dtype = item.choice("dtype", DTYPES)
        value = item.left.pop("value", None)
        if value is not None:
            _check_value(item, "value", dtype, value)
        item.close()
        specs.append(ScalarSpec(name, dtype, value))
    return tuple(specs)


def _check_value(table: Table, key: str, dtype: str, value: Any) -> None:
    kinds = int if dtype in INTEGERS else (int, float)
    if isinstance(value, bool) != (dtype == "bool") or not isinstance(value, kinds):
        table.wrong(key, f"must be a value of type {dtype}, not {value!r}")


def read_cases(
    tables: list[Table], role: CaseRole, scalars: Sequence[ScalarSpec], inputs: Sequence[TensorSpec]
) -> tuple[Case, ...]:
    """Read the cases of one role; each of the seeds of a table makes one."""
    cases: dict[str, Case] = {}
    for table in tables:
        weight = table.number("weight", 1.0)
        seeds = _seeds(table)
        absent = _absent(table, inputs)
        case_values = _values(table, scalars)
        dims = {}
        for key in list(table.left):
            if not NAME.fullmatch(key):
                table.wrong(key, "must be a name of letters, digits and underscores")
            dims[key] = table.integer(key, 1, INT32)
        if not dims:
            table.fail("has no dims")
        values = {s.name: s.value for s in scalars if s.value is not None} | case_values
        name = (
            case_name(dims) + "".join(f",{n}={v}" for n, v in case_values.items()) + "".join(f",no {n}" for n in absent)
        )
        for number, seed in enumerate(seeds or [derived_seed(name)]):
            title = f"{name},seed={seed}" if number else name
            if title in cases:
                table.fail(f"repeats the case {title}")
            cases[title] = Case(title, dims, seed, weight / max(1, len(seeds)), role, values, absent)
    return tuple(cases.values())


def _seeds(table: Table) -> list[int]:
    """Read the seeds of a case, none where it has none of its own."""
    if "seed" in table.left:
        if "seeds" in table.left:
            table.wrong("seeds", "stands beside 'seed'; give one of them")
        return [table.integer("seed", 0, 2**32 - 1)]
    seeds = table.left.pop("seeds", [])
    fits = isinstance(seeds, list) and all(type(n) is int and 0 <= n < 2**32 for n in seeds)
    if not fits or len(set(seeds)) != len(seeds) or len(seeds) > MOST_SEEDS:
        table.wrong("seeds", f"must be a list of up to {MOST_SEEDS} different integers from 0 to {2**32 - 1}")
    return list(seeds)


def _absent(table: Table, inputs: Sequence[TensorSpec]) -> tuple[str, ...]:
    names = table.strings("absent") if "absent" in table.left else ()
    for name in names:
        if not any(s.name == name and s.optional for s in inputs):
            table.wrong("absent", f"names {name!r}, which is no input with 'optional = true'")
    return names


def _values(table: Table, scalars: Sequence[ScalarSpec]) -> dict[str, float | int]:
    values = {}
    for spec in scalars:
        if spec.name in table.left:
            values[spec.name] = table.take(spec.name)
            _check_value(table, spec.name, spec.dtype, values[spec.name])
        elif spec.value is None:
            table.fail(f"gives no value for the scalar {spec.name!r}, which has none in [scalars]")
    return values


def case_name(dims: Mapping[str, int]) -> str:
    """Write `rows=7,cols=1000`."""
    return ",".join(f"{key}={value}" for key, value in dims.items())


def derived_seed(name: str) -> int:
    """Derive the default seed of a case: 32 bits that depend on its dims only."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")

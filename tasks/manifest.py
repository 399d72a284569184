"""Reads `task.toml`: every unknown, missing or malformed field is a TaskError that names the file and the field."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar, cast

from records.errors import PlanError, TaskError
from records.evaluation import CaseRole
from tasks.dtypes import size_bytes
from tasks.expressions import evaluate, names_in
from tasks.table import NAME, Table
from tasks.task import DTYPES, Case, ScalarSpec, Statement, TensorSpec
from tasks.tolerance import Tolerance

LAYOUTS = ("row_major", "column_major")
INTEGERS = ("i64", "i32", "i16", "i8", "u8", "bool")
INT32 = 2**31 - 1  # dims reach kernels as 32-bit ints
BOUNDS = ("atol", "row_rtol")  # that a target may state for itself
Spec = TypeVar("Spec", TensorSpec, ScalarSpec)


@dataclass(frozen=True)
class Adaptation:
    """One `[target.NAME]` table of a task.toml."""

    dtypes: Mapping[str, str] = field(default_factory=dict)  # the type the file names, to the one this target has
    note: str = ""  # goes behind the description
    bounds: Mapping[str, float] = field(default_factory=dict)  # of the tolerance, where its hardware cannot keep them

    @property
    def mark(self) -> bytes:
        """The target's part of the task's digest; empty where the computation is that of the file."""
        changes: dict[str, str | float] = {**self.dtypes, **self.bounds}
        return json.dumps(changes, sort_keys=True).encode() if changes else b""

    def typed(self, specs: tuple[Spec, ...]) -> tuple[Spec, ...]:
        """The tensors or scalars with this target's types."""
        return tuple(replace(s, dtype=self.dtypes.get(s.dtype, s.dtype)) for s in specs)

    def described(self, text: str) -> str:
        """The description with this target's types, and the note behind it."""
        for old, new in self.dtypes.items():
            text = re.sub(rf"\b{old}\b", new, text)
        return f"{text}\n{self.note}" if self.note else text


@dataclass(frozen=True)
class Manifest:
    """The content of a task.toml, checked, and its changes for targets."""

    statement: Statement
    adaptations: Mapping[str, Adaptation]

    def adapted(self, target: str) -> tuple[Statement, bytes]:
        """The statement for a target, and the target's part of the task's digest."""
        plain, change = self.statement, self.adaptations.get(target, Adaptation())
        return replace(
            plain,
            inputs=change.typed(plain.inputs),
            outputs=change.typed(plain.outputs),
            scalars=change.typed(plain.scalars),
            description=change.described(plain.description),
            tolerance=replace(plain.tolerance, **change.bounds),
        ), change.mark


def read_manifest(path: Path, text: str) -> Manifest:
    """Parse and check the text of a task.toml; `path` is for messages only."""
    try:
        root = Table(path, "", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise TaskError(f"{path}: is not valid TOML: {error}") from None
    work = root.table("work", True)
    tests, benchmarks = _cases(root.tables("test"), "test"), _cases(root.tables("benchmark"), "benchmark")
    inputs = _tensors(root.tables("input"))
    statement = Statement(
        name=root.name("name"),
        title=root.text("title"),
        description=root.text("description"),
        targets=root.strings("targets"),
        inputs=inputs,
        outputs=_tensors(root.tables("output")),
        scalars=_scalars(root.table("scalars", False)),
        tests=tests,
        benchmarks=benchmarks,
        flops=work.text("flops"),
        bytes_moved=work.text("bytes"),
        peak=work.name("peak") if "peak" in work.left else "fp32_vector",
        tolerance=_tolerance(root.table("tolerance", True)),
        multiples=_multiples(root.table("dims", False), tests[0].dims),
        variant_names=root.strings("variants") if "variants" in root.left else (),
        mix=root.truth("mix", not any(t.dtype in INTEGERS for t in inputs)),
    )
    adaptations = _adaptations(root.table("target", False))
    for table in (work, root):
        table.close()
    _check_dims(root, statement)
    _check_names(root, statement)
    _check_adaptations(root, statement, adaptations)
    _check_expressions(root, statement)
    return Manifest(statement, adaptations)


def _tolerance(table: Table) -> Tolerance:
    tolerance = Tolerance(
        table.number("ratio", low=1.0, inclusive=True),
        table.number("rtol") if "rtol" in table.left else None,
        table.number("atol", 0.0, inclusive=True),
        table.number("row_rtol", 0.0, inclusive=True),
    )
    for name in BOUNDS:
        if getattr(tolerance, name) and tolerance.rtol is None:
            table.wrong(name, "needs 'rtol' beside it: a bound without it lets small outputs pass unseen")
    table.close()
    return tolerance


def _tensors(tables: list[Table]) -> tuple[TensorSpec, ...]:
    specs = []
    for table in tables:
        layout = cast(Literal["row_major", "column_major"], table.choice("layout", LAYOUTS, "row_major"))
        specs.append(TensorSpec(table.name("name"), table.choice("dtype", DTYPES), table.strings("shape"), layout))
        table.close()
    return tuple(specs)


def _scalars(table: Table) -> tuple[ScalarSpec, ...]:
    specs = []
    for name in list(table.left):
        if not NAME.fullmatch(name):
            table.wrong(name, "must be a name of letters, digits and underscores")
        item = Table(table.path, f"[scalars] {name}:", table.take(name))
        dtype, value = item.choice("dtype", DTYPES), item.take("value")
        kinds = int if dtype in INTEGERS else (int, float)
        if isinstance(value, bool) != (dtype == "bool") or not isinstance(value, kinds):
            item.wrong("value", f"must be a value of type {dtype}, not {value!r}")
        item.close()
        specs.append(ScalarSpec(name, dtype, value))
    return tuple(specs)


def _cases(tables: list[Table], role: CaseRole) -> tuple[Case, ...]:
    cases: dict[str, Case] = {}
    for table in tables:
        weight = table.number("weight", 1.0)
        seed = table.integer("seed", 0, 2**32 - 1) if "seed" in table.left else None
        dims = {}
        for key in list(table.left):
            if not NAME.fullmatch(key):
                table.wrong(key, "must be a name of letters, digits and underscores")
            dims[key] = table.integer(key, 1, INT32)
        if not dims:
            table.fail("has no dims")
        name = case_name(dims)
        if name in cases:
            table.fail(f"repeats the case {name}")
        cases[name] = Case(name, dims, derived_seed(name) if seed is None else seed, weight, role)
    return tuple(cases.values())


def case_name(dims: Mapping[str, int]) -> str:
    """`rows=7,cols=1000`."""
    return ",".join(f"{key}={value}" for key, value in dims.items())


def derived_seed(name: str) -> int:
    """The default seed of a case: 32 bits that depend on its dims only."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")


def _multiples(table: Table, dims: Mapping[str, int]) -> dict[str, int]:
    result = {}
    for name in list(table.left):
        if name not in dims:
            table.wrong(name, f"is no dim of this task; its dims are {', '.join(dims)}")
        item = Table(table.path, f"[dims] {name}:", table.take(name))
        result[name] = item.integer("multiple", 1, INT32)
        item.close()
    return result


def _adaptations(table: Table) -> dict[str, Adaptation]:
    found = {}
    for name in list(table.left):
        one = Table(table.path, f"[target.{name}]", table.take(name))
        types = Table(table.path, f"[target.{name}] dtypes", one.take("dtypes", {}))
        dtypes = {old: types.choice(old, DTYPES) for old in list(types.left)}
        bounds = {key: one.number(key, 0.0, inclusive=True) for key in BOUNDS if key in one.left}
        found[name] = Adaptation(dtypes, one.text("note") if "note" in one.left else "", bounds)
        one.close()
    return found


def _check_adaptations(root: Table, statement: Statement, adaptations: Mapping[str, Adaptation]) -> None:
    used = {t.dtype for t in statement.inputs + statement.outputs} | {s.dtype for s in statement.scalars}
    for name, adaptation in adaptations.items():
        if name not in statement.targets:
            root.fail(f"[target.{name}] is for a target that 'targets' does not list")
        for old, new in adaptation.dtypes.items():
            if old not in used:
                root.fail(f"[target.{name}] field 'dtypes' replaces {old}, which no tensor or scalar has")
            if size_bytes(old) != size_bytes(new) or (old in INTEGERS) != (new in INTEGERS):
                root.fail(f"[target.{name}] field 'dtypes' replaces {old} by {new}, a type of another kind or size")


def _check_dims(root: Table, statement: Statement) -> None:
    dims = tuple(statement.tests[0].dims)
    for case in statement.tests + statement.benchmarks:
        if tuple(case.dims) != dims:
            root.fail(f"the {case.role} case {case.name} must have the dims {', '.join(dims)} in this order")
        for name, multiple in statement.multiples.items():
            if case.dims[name] % multiple:
                root.fail(f"the {case.role} case {case.name} breaks [dims]: {name} must be a multiple of {multiple}")


def _check_names(root: Table, statement: Statement) -> None:
    names = [t.name for t in statement.inputs + statement.outputs] + [s.name for s in statement.scalars]
    names += statement.tests[0].dims
    for name in names:
        if names.count(name) > 1:
            root.fail(f"the name {name!r} is used more than once among inputs, outputs, scalars and dims")


def _check_expressions(root: Table, statement: Statement) -> None:
    places = [("[work] field 'flops'", statement.flops, 0), ("[work] field 'bytes'", statement.bytes_moved, 1)]
    for tensor in statement.inputs + statement.outputs:
        places += [(f"the shape of {tensor.name!r}", text, 1) for text in tensor.shape]
    for where, text, low in places:
        unknown = names_in(text) - set(statement.tests[0].dims)
        if unknown:
            root.fail(f"{where} uses {', '.join(sorted(unknown))}, which is no dim of the cases")
        for case in statement.tests + statement.benchmarks:
            try:
                value = evaluate(text, case.dims)
            except PlanError as error:
                root.fail(f"{where}: {error}")
            if value < low:
                root.fail(f"{where} is {value} for the case {case.name}; it must be at least {low}")
